"""Searching beside the filters in a query's words: which words are some, and which are words."""

from __future__ import annotations

from datetime import date

import pytest

from bookwheel.query import Filters, SearchRequest
from bookwheel.search.beside import search_beside
from bookwheel.search.wishes import Wishes, add_wishes
from tests.search.shelf import Shelf

TODAY = date(2026, 6, 1)
NONE = Filters()
PAGES = {
    "walrus.csv": "name,amount\nwalrus,7\nbudget,9\n",
    "walrus.md": "# Walrus\n\nThe budget of the walrus, in Excel and on slides.\n",
    "freeze.md": "# Freeze rows\n\nHow rows are frozen in a spreadsheet.\n",
    "old/slides.md": "# Water slides\n\nHow fast one goes down.\n",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("beside"))
    shelf.put(PAGES)
    return shelf


def ask(
    shelf: Shelf, text: str, given: Filters = NONE, *, limit: int = 10, offset: int = 0
) -> tuple[list[str], Wishes]:
    def make_request(wishes: Wishes) -> SearchRequest:
        filters = add_wishes(given, wishes.filters)
        return SearchRequest(wishes.text, filters=filters, limit=limit, offset=offset)

    results, _, wishes = search_beside(
        text, TODAY, [("shelf", "old")], make_request=make_request, search=shelf.ask
    )
    return [hit.document for hit in results.hits], wishes


def test_a_type_that_may_be_meant_is_kept_to_where_a_file_has_all_words(pages: Shelf) -> None:
    found, wishes = ask(pages, "walrus in a spreadsheet")
    assert found == ["walrus.csv"]
    assert len(wishes.notes) == 1
    assert " taken as the type " in wishes.notes[0]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("freeze rows in a spreadsheet", "freeze.md"),
        ("walrus slides", "walrus.md"),
        ("water slides", "old/slides.md"),
        ("budget in Word", "walrus.csv"),
    ],
)
def test_else_its_words_are_looked_for_and_the_answer_says_so(
    pages: Shelf, query: str, first: str
) -> None:
    found, wishes = ask(pages, query)
    assert first in found[:2]
    assert len(wishes.notes) == 1
    assert wishes.notes[0].endswith("but none has all other words")


def test_a_filter_that_is_stated_is_never_let_go(pages: Shelf) -> None:
    assert ask(pages, "pdf files about walrus")[0] == []


def test_words_for_filters_alone_are_looked_for_where_nothing_meets_them(pages: Shelf) -> None:
    found, wishes = ask(pages, "slides")
    assert set(found) == {"walrus.md", "old/slides.md"}
    assert wishes.notes[0].endswith("but there is none: taken as words")


def test_a_filter_beside_a_mere_guess_still_holds(pages: Shelf) -> None:
    found, wishes = ask(pages, "water slides in folder old")
    assert found == ["old/slides.md"]
    assert [note.rpartition(", but ")[0] != "" for note in wishes.notes] == [False, True]


def test_what_the_request_names_is_never_let_go(pages: Shelf) -> None:
    given = Filters(extensions=(".pdf",))
    for query in ("walrus", "walrus in csv", "walrus slides"):
        assert ask(pages, query, given)[0] == []


def test_every_page_of_an_answer_is_read_alike(pages: Shelf) -> None:
    whole = ask(pages, "walrus slides")[0]
    assert [
        *ask(pages, "walrus slides", limit=1)[0],
        *ask(pages, "walrus slides", offset=1)[0],
    ] == whole
