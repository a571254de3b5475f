"""`bookwheel related`: documents like another one."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Call
from tests.conftest import Shelf


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The arguments that name a library of three documents."""
    shelf = Shelf(tmp_path_factory.mktemp("related").resolve())
    shelf.put("doctor.md", "# Ward\n\nThe physician treated sick patients.\n")
    shelf.put("hospital.md", "# Clinic\n\nDoctors at hospitals cure patients.\n")
    shelf.put("fruit.md", "# Orchard\n\nApples and pears ripen in autumn.\n")
    return [str(shelf.folder), "--index", str(shelf.place / "index")]


def test_related_gives_hits_as_search_does(call: Call, here: list[str]) -> None:
    answer = call("related", "doctor.md", *here, "--json")
    (hit,) = answer.value["related"]
    (found,) = call("search", "clinic", *here, "--json", "--mode", "lexical").value["results"]

    assert answer.code == 0
    assert answer.value | {"related": []} == {
        "collection": "notes",
        "document": "doctor.md",
        "title": "Ward",
        "related": [],
    }
    assert hit.keys() == found.keys()
    assert (hit["document"], hit["lines"]) == ("hospital.md", found["lines"])


def test_related_prints_lines(call: Call, here: list[str]) -> None:
    lines = call("related", "doctor.md", *here).out.splitlines()

    assert lines[0].startswith("1. Clinic (")
    assert lines[1].strip().startswith("hospital.md · ")


def test_a_text_is_compared_instead_of_the_document(call: Call, here: list[str]) -> None:
    answer = call("related", "doctor.md", *here, "--text", "ripe fruit on trees", "--json")

    assert [hit["document"] for hit in answer.value["related"]] == ["fruit.md"]


def test_a_text_that_meaning_alone_finds_has_met_no_word_and_scores_low(
    call: Call, here: list[str]
) -> None:
    answer = call("related", "doctor.md", *here, "--text", "ripe fruit on trees", "--json")
    (hit,) = answer.value["related"]

    assert 0 < hit["score"] < 0.5


def test_nothing_alike_is_said_and_no_error(call: Call, here: list[str]) -> None:
    answer = call("related", "fruit.md", *here)

    assert (answer.code, answer.out) == (0, "")
    assert "Nothing is like fruit.md." in answer.err


def test_an_unknown_document_is_an_error_that_names_it(call: Call, here: list[str]) -> None:
    answer = call("related", "none.md", *here)

    assert answer.code == 4
    assert 'Document "none.md" not found.' in answer.err
