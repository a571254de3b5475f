"""Documents of several megabytes: outline and section in one pass and in bounded memory.

Measured in a process of its own that only reads: by the calls that the tools make, which no busy
machine changes, and by the most memory that the process ever held.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Shelf

PART = "\n".join(["words and more words " * 5] * 120)
SMALL, LARGE = 48, 384


def text_of(parts: int) -> str:
    return "# Big\n\n" + "".join(f"## Part {n}\n\n{PART}\n\n" for n in range(parts))


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process saw that read a document and one of eight times its size."""
    shelf = Shelf(tmp_path_factory.mktemp("large"))
    shelf.put("small.md", text_of(SMALL))
    shelf.put("large.md", text_of(LARGE))
    shelf.update()
    asked = ["small.md", f"Part {SMALL - 1}", "large.md", f"Part {LARGE - 1}"]
    command = [sys.executable, "-m", "tests.clients.large_reader"]
    said = subprocess.run(
        [*command, shelf.folder, shelf.place / "index", *asked],
        stdout=subprocess.PIPE,
        check=True,
        cwd=Path(__file__).parent.parent.parent,
    )
    return json.loads(said.stdout)


@pytest.mark.requirement("D-069")
def test_outline_and_section_of_several_megabytes_are_right(read: Any) -> None:
    text = text_of(LARGE)
    assert len(text) > 4_800_000
    outline = read["answers"]["documents_get_outline"]["outline"]
    lines = text.removesuffix("\n").split("\n")
    assert len(outline) == LARGE + 1
    assert all(lines[each["line"] - 1].endswith(each["text"]) for each in outline)

    section = read["answers"]["documents_get_section"]
    assert (section["startLine"], section["endLine"]) == (outline[-1]["line"], len(lines))
    assert section["content"] == "\n".join(lines[outline[-1]["line"] - 1 :])


@pytest.mark.requirement("D-069")
def test_they_take_one_pass_over_the_headings(read: Any) -> None:
    for small, large in zip(*read["steps"], strict=True):
        assert large <= small * (LARGE / SMALL) * 1.2


@pytest.mark.requirement("D-069")
def test_they_hold_no_more_than_the_document_a_few_times(read: Any) -> None:
    size = len(text_of(LARGE))

    assert read["peaks"]["documents_get_outline"] < size
    assert read["peaks"]["documents_get_section"] < 4 * size
