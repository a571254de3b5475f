"""Files of judged queries: reading them, mistakes in them, and examples to begin with."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, NotFound
from bookwheel.evaluation.judged import Judged, propose_queries, read_judged, write_judged
from tests.conftest import Shelf

FILE = """\
# A remark.
[[query]]
ask = "what eats the grass?"
find = ["zebra.md", "deep/gnu.md"]
also = "grass.md"

[[query]]
ask = "Otters"
find = "otter.md"
example = true
"""
READ = [
    Judged("what eats the grass?", {"grass.md": 1, "zebra.md": 2, "deep/gnu.md": 2}),
    Judged("Otters", {"otter.md": 2}, example=True),
]


def put(folder: Path, content: str) -> Path:
    file = folder / "judged.toml"
    file.write_text(content, encoding="utf-8")
    return file


def test_what_answers_counts_twice_what_helps(tmp_path: Path) -> None:
    assert read_judged(put(tmp_path, FILE)) == READ


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    odd = [Judged('"quotes" \\ and \x7f\n', {"a b/ü.md": 2}, example=True)]

    assert read_judged(put(tmp_path, write_judged([*READ, *odd]))) == [*READ, *odd]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it has no query"),
        ("[query]\nask = 1", "it has no query"),
        ("query = [1]", "query 1: write [[query]], with two brackets."),
        ("[[querry]]", "'querry' means nothing here"),
        ("[[query]]\nfind = 'a.md'", 'query 1: write what is asked, as ask = "words".'),
        ("[[query]]\nask = ' '\nfind = 'a.md'", "query 1: write what is asked"),
        (FILE + "[[query]]\nask = 'x'", 'query 3: name the document to find, as find = ["path"].'),
        ("[[query]]\nask = 'x'\nfind = [3]", "query 1: find is a list of paths"),
        ("[[query]]\nask = 'x'\nfinds = 'a'", "query 1: 'finds' is none of also, ask, example"),
        (FILE + "[[query]]\nask = 'Otters'\nfind = 'x'", "'Otters' is asked twice."),
        ("[[query", "cannot be read:"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_judged(put(tmp_path, content))

    assert said in caught.value.message


def test_a_missing_file_is_told_how_to_come_by(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"none\.toml") as caught:
        read_judged(tmp_path / "none.toml")

    assert "`bookwheel eval init FOLDER` writes one" in caught.value.advice


@pytest.fixture
def animals(shelf: Shelf) -> Shelf:
    for number in range(40):
        shelf.put(f"{number:02}.md", f"# Animal {number}\n\nText.\n\n## Food {number}\n\nGrass.")
    shelf.put("twice.md", "# Animal 0\n\nAnother one of this title.")
    shelf.put("signs.md", "# ---!\n\nA title without a word.")
    shelf.update()
    return shelf


def test_examples_are_titles_and_headings_of_documents_far_apart(animals: Shelf) -> None:
    with animals.open() as library:
        proposed = propose_queries(library, 4)

    assert proposed == [
        Judged("Animal 1", {"01.md": 2}, example=True),
        Judged("Animal 10 Food 10", {"10.md": 2}, example=True),
        Judged("Animal 20", {"20.md": 2}, example=True),
        Judged("Animal 30 Food 30", {"30.md": 2}, example=True),
    ]


def test_a_small_folder_gives_as_many_examples_as_it_can(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebras")
    shelf.update()

    with shelf.open() as library:
        text = write_judged(propose_queries(library))

    assert tomllib.loads(text)["query"] == [
        {"ask": "Zebras", "find": ["zebra.md"], "example": True}
    ]
