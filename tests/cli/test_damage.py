"""A search from the command line over an index that is damaged somewhere."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.cli.conftest import Call
from tests.conftest import Shelf

PAGE = 4096


@pytest.mark.parametrize("refresh", [[], ["--no-refresh"]])
def test_a_search_that_meets_damage_builds_the_index_anew(
    shelf: Shelf, call: Call, refresh: list[str]
) -> None:
    for number in range(40):
        shelf.put(f"{number}.md", f"# Note {number}\n\nzebra {number}\n\n" + "word " * 200)
    shelf.update()
    sound, broken = shelf.place / "index", shelf.place / "broken"
    rebuilt = 0
    pages = (sound / "catalog.db").stat().st_size // PAGE
    for page in {*range(10), *range(10, pages, 5)}:
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(sound, broken)
        with (broken / "catalog.db").open("r+b") as file:
            file.seek(page * PAGE)
            file.write(os.urandom(PAGE))
        answer = call("search", "Note 7", shelf.folder, "--index", broken, "--json", *refresh)
        assert answer.code == 0
        assert answer.value["results"][0]["document"] == "7.md"
        rebuilt += "set aside" in answer.err
    assert rebuilt
