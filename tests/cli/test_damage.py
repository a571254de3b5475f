"""A search from the command line over an index that is damaged somewhere."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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


def make_old(database: Path) -> None:
    """Let it look as an early version has made it."""
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()


def cut_short(database: Path) -> None:
    """Take half of it away."""
    os.truncate(database, database.stat().st_size // 2)


@pytest.mark.parametrize("harm", [make_old, cut_short])
def test_of_several_searches_that_meet_it_at_once_one_builds_it_and_all_are_answered(
    shelf: Shelf, harm: Callable[[Path], None]
) -> None:
    for number in range(200):
        shelf.put(f"{number}.md", f"# Note {number}\n\nzebra {number}\n\n" + "word " * 200)
    shelf.update()
    index = shelf.place / "index"
    harm(index / "catalog.db")
    words = [sys.executable, "-m", "bookwheel", "search", "zebra 7", str(shelf.folder), "--json"]
    asking = [
        subprocess.Popen(
            [*words, "--index", str(index)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    answers = [(*each.communicate(timeout=60), each.returncode) for each in asking]
    assert [code for _, _, code in answers] == [0] * 4, answers
    assert len(list(index.glob("*.damaged-*"))) == 1
