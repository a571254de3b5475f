"""`bookwheel show --pointer`: a place of a document as a hit names it."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Call
from tests.conftest import Shelf


def notebook(*cells: str) -> str:
    made = [{"cell_type": "markdown", "source": text, "metadata": {}} for text in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A library that no test changes."""
    shelf = Shelf(tmp_path_factory.mktemp("pointers").resolve())
    shelf.put("plan.ipynb", notebook("# Plan\n\nA zebra.", "A quagga.", "An okapi."))
    shelf.put("lines.md", "one\ntwo\nthree\n")
    shelf.update()
    return shelf


@pytest.fixture
def here(made: Shelf) -> list[str]:
    """The arguments that name this library."""
    return [str(made.folder), "--index", str(made.place / "index")]


def test_a_place_is_printed_by_the_pointer_of_its_hit(call: Call, here: list[str]) -> None:
    (hit,) = call("search", "quagga", *here, "--json").value["results"]
    assert hit["pointer"] == "cell 2"
    assert call("show", "plan.ipynb", *here, "--pointer", hit["pointer"]).out == "A quagga.\n"
    assert call("show", "plan.ipynb", *here, "-p", "Cells 2-3").out == "A quagga.\n\nAn okapi.\n"


def test_lines_are_a_pointer_too(call: Call, here: list[str]) -> None:
    assert call("show", "lines.md", *here, "--pointer", "lines 2-3").out == "two\nthree\n"


def test_a_place_is_given_as_json_with_its_lines(call: Call, here: list[str]) -> None:
    assert call("show", "plan.ipynb", *here, "-p", "cell 1", "--json").value == {
        "collection": "notes",
        "document": "plan.ipynb",
        "pointer": "cell 1",
        "content": "# Plan\n\nA zebra.",
        "startLine": 1,
        "endLine": 3,
    }


@pytest.mark.parametrize(
    ("document", "pointer", "said"),
    [
        ("plan.ipynb", "cell 4", '"plan.ipynb" has no "cell 4". It has cell 1, cell 2, cell 3.'),
        ("plan.ipynb", "page 1", "It has cell 1, cell 2, cell 3."),
        ("lines.md", "page 1", "It has lines 1-3."),
        ("lines.md", "lines 7-8", "The document has 3 lines."),
        ("lines.md", "", '"lines.md" has no "".'),
    ],
)
def test_a_place_that_is_not_there_is_an_error_that_says_what_is(
    call: Call, here: list[str], document: str, pointer: str, said: str
) -> None:
    for form in ([], ["--json"]):
        answer = call("show", document, *here, "--pointer", pointer, *form)
        assert answer.out == ""
        assert answer.code != 0
        assert said in " ".join(answer.err.split())


@pytest.mark.parametrize("others", [["--lines", "1"], ["--section", "x"]])
def test_only_one_way_to_choose_a_part_is_taken(
    call: Call, here: list[str], others: list[str]
) -> None:
    answer = call("show", "lines.md", *here, "--pointer", "line 1", *others)
    assert answer.code != 0
    assert "Only one of --section, --lines and --pointer" in answer.err
