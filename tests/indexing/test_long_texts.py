"""A long text is indexed whole, and moves the memory of the process that writes it no more than
the same text in many files does.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from bookwheel.query import SearchRequest
from tests.conftest import Shelf

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def prose(size: int) -> str:
    """Return paragraphs of made-up words, as often used as those of a language are."""
    draw = random.Random(4)
    words = ["".join(draw.choices(LETTERS, k=draw.randint(2, 10))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    text = " ".join(draw.choices(words, weights, k=100_000))
    lines = [text[at : at + 700] for at in range(0, len(text), 700)]
    draw.shuffle(lines)
    whole = "\n\n".join(lines)
    return (whole * (size // len(whole) + 1))[:size]


def linked(text: str) -> str:
    """Return paragraphs, each with a heading and three links."""
    made = (
        f"## Part {number}\n\n{part} [one](a{number}.md) [two](b{number}.md) [three](c{number}.md)"
        for number, part in enumerate(text.split("\n\n"))
    )
    return "\n\n".join(made)


def peak_of(folder: Path, index: Path, files: int) -> int:
    command = [sys.executable, "-m", "tests.indexing.one_folder", str(folder), str(index)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    peak, indexed = map(int, done.stdout.split())
    assert indexed == files
    return peak


@pytest.mark.timeout(180)
def test_one_long_text_takes_no_more_memory_than_the_same_in_many_files(tmp_path: Path) -> None:
    text, size = linked(prose(7_000_000)), 100_000
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "long.md").write_text(text, encoding="utf-8")
    (tmp_path / "many").mkdir()
    for number in range(len(text) // size):
        part = text[number * size : (number + 1) * size]
        (tmp_path / "many" / f"{number}.md").write_text(part, encoding="utf-8")
    many = peak_of(tmp_path / "many", tmp_path / "index-many", len(text) // size)
    one = peak_of(tmp_path / "one", tmp_path / "index-one", 1)
    assert one < many + 30_000_000  # 48 MB more before long texts came in pieces


def test_a_long_text_is_found_by_its_last_words_and_read_whole(shelf: Shelf) -> None:
    begin, end = "# Begin\n\nthe first otter\n\n", "\n\n## End\n\nthe last wolverine sleeps\n"
    text = begin + prose(2_700_000) + end
    shelf.put("long.md", text)
    shelf.update()
    with shelf.open() as library:
        (hit,) = library.search(SearchRequest("last wolverine")).hits
        assert (hit.document, "the last wolverine sleeps" in hit.passage) == ("long.md", True)
        assert library.text(library.document("long.md")).text == text
        assert [*library.check()] == []
        for phrase, found in (('"first otter"', 1), ('"wolverine otter"', 0)):
            hits = library.search(SearchRequest(phrase)).hits
            assert len(hits) == found


def test_a_long_text_that_changed_replaces_the_one_before(shelf: Shelf) -> None:
    shelf.put("long.txt", "otter\n\n" + prose(1_200_000))
    shelf.update()
    shelf.put("long.txt", "badger\n\n" + prose(1_300_000), at=10**18)
    shelf.update()
    assert (shelf.find("otter"), shelf.find("badger")) == ([], ["long.txt"])
