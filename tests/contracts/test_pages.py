"""The toolset `pages`: its schemas, its layouts to the letter, and its errors."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bookwheel.contracts.pages import CONTRACT
from bookwheel.contracts.tool import Contract, Tool
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from tests.conftest import Shelf
from tests.contracts.conftest import FILLER, ask, fill, refuse, told


def search(library: Library, query: str, **arguments: Any) -> str:
    return ask(library, CONTRACT, "search_docs", query=query, **arguments).text


def found(text: str) -> list[str]:
    """Return the paths of the hits in a text."""
    return re.findall(r"^\d+\. (.+) \(score: [1-9]\d*\)$", text, re.MULTILINE)


def pages(library: Library, **arguments: Any) -> str:
    return ask(library, CONTRACT, "list_doc_pages", **arguments).text


def test_the_three_tools_have_these_schemas() -> None:
    assert {tool.name: tool.input_schema() for tool in CONTRACT.tools} == {
        "search_docs": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 500,
                    "description": "Words to look for",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 50,
                    "default": 10,
                    "description": "Maximum number of results",
                },
            },
            "required": ["query"],
        },
        "get_doc_page": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Path of the page, such as api/endpoints.md",
                },
                "sections": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Headings of the sections to give, instead of the whole page",
                },
            },
            "required": ["path"],
        },
        "list_doc_pages": {
            "type": "object",
            "properties": {
                "category": {
                    "type": "string",
                    "description": "Category to list, instead of all pages",
                }
            },
        },
    }
    assert not CONTRACT.resources


# ---------------------------------------------------------------------------- search_docs


def test_the_layout_of_hits_is_this_to_the_letter(two: Library) -> None:
    assert search(two, "wombat") == (
        "Found 2 results:\n"
        "\n"
        "1. alpha/same.md (score: 85)\n"
        "   'Same The alpha wombat.'\n"
        "\n"
        "2. beta/same.md (score: 85)\n"
        "   'Same The beta wombat.'"
    )


def test_nothing_found_says_what_comes_near(handbook: Library) -> None:
    assert search(handbook, "zzzqq") == (
        "Found 0 results:\n"
        "\n"
        "Nothing was found for \"zzzqq\" in the documentation (no document has 'zzzqq'). "
        "No other spelling comes near; fewer or other words may find more."
    )


def test_a_title_comes_before_a_heading_and_that_before_text_however_often_it_is_there(
    shelf: Shelf,
) -> None:
    files = {f"text/{n:02}.md": f"# Page {n}\n\n{'gecko ' * 30}\n" for n in range(80)}
    files["heading.md"] = f"# Reptiles\n\n{FILLER * 9}\n\n## On a gecko\n\n{FILLER * 9}\n"
    files["title.md"] = f"# What there is to say of the gecko and its kin\n\n{FILLER * 20}\n"
    with fill(shelf, files) as library:
        text = search(library, "GECKO", limit=50)

    hits = found(text)
    scores = [int(score) for score in re.findall(r"\(score: (\d+)\)", text)]
    assert len(hits) == len(set(hits)) == 50
    assert hits[:2] == ["title.md", "heading.md"]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] >= 1


def test_a_title_comes_first_even_if_hundreds_of_pages_match_better_in_their_text(
    shelf: Shelf,
) -> None:
    files = {f"text/{n:03}.md": f"# Page {n}\n\n{'gecko ' * 30}\n" for n in range(250)}
    files["title.md"] = f"# {FILLER[:100]} gecko\n\n{FILLER * 90}\n"
    with fill(shelf, files) as library:
        assert found(search(library, "gecko", limit=5))[0] == "title.md"


def test_a_page_with_all_words_in_its_title_comes_before_one_with_some_in_its_title(
    shelf: Shelf,
) -> None:
    files = {
        "some.md": f"# Rate of exchange\n\n{'limiting the rate ' * 20}\n",
        "all.md": f"# On limiting the rate of requests\n\n{FILLER * 9}\n",
        "heading.md": f"# Server\n\n{FILLER}\n\n## Rate limits\n\n{FILLER * 9}\n",
    }
    with fill(shelf, files) as library:
        hits = found(search(library, "how is the rate limited"))

    assert hits == ["all.md", "heading.md", "some.md"]


def test_the_limit_is_10_unless_given(shelf: Shelf) -> None:
    with fill(shelf, {f"{n:02}.md": f"# {n}\n\nA shared word.\n" for n in range(60)}) as library:
        assert len(found(search(library, "shared"))) == 10
        assert len(found(search(library, "shared", limit=None))) == 10
        assert len(found(search(library, "shared", limit=1))) == 1
        assert len(found(search(library, "shared", limit=50))) == 50


def test_the_operators_number_of_results_is_the_default_and_the_ceiling(shelf: Shelf) -> None:
    files = {f"{n:02}.md": f"# {n}\n\nA shared word.\n" for n in range(30)}
    with fill(shelf, files, max_search_results=20, snippet_length=40) as library:
        assert len(found(search(library, "shared"))) == 20
        assert len(found(search(library, "shared", limit=3))) == 3
        assert len(found(search(library, "shared", limit=50))) == 20
        assert refuse(library, CONTRACT, "search_docs", query="shared", limit=51).code == -32602


def test_a_snippet_is_as_long_as_the_operator_says_and_ends_at_words(shelf: Shelf) -> None:
    text = f"{FILLER} The platypus swims. {FILLER}"
    with fill(shelf, {"a.md": text}, snippet_length=60) as library:
        (snippet,) = re.findall(r"^   '(.*)'$", search(library, "platypus"), re.MULTILINE)

    inner = snippet.removeprefix("...").removesuffix("...")
    assert len(snippet) == len(inner) + 6
    assert 30 <= len(inner) <= 60
    assert "platypus" in inner
    assert f" {inner} " in " ".join(text.split())


@pytest.mark.parametrize(
    ("arguments", "message", "data"),
    [
        ({}, "Argument 'query' is missing.", {}),
        (
            {"query": ""},
            "Argument 'query': string should have at least 1 character.",
            {"query": ""},
        ),
        (
            {"query": "x" * 501},
            "Argument 'query': string should have at most 500 characters.",
            {"query": "x" * 501},
        ),
        (
            {"query": "x", "limit": 0},
            "Argument 'limit': input should be greater than or equal to 1.",
            {"query": "x"},
        ),
        (
            {"query": "x", "limit": 51},
            "Argument 'limit': input should be less than or equal to 50.",
            {"query": "x"},
        ),
        ({"query": ["x"]}, "Argument 'query': input should be a valid string.", {}),
    ],
)
def test_wrong_arguments_of_a_search_are_protocol_errors_with_the_query(
    handbook: Library, arguments: dict[str, Any], message: str, data: dict[str, Any]
) -> None:
    error = refuse(handbook, CONTRACT, "search_docs", **arguments)

    assert told(error) == (-32602, message, data)


# ------------------------------------------------------------------------- list_doc_pages


def test_all_pages_are_listed_this_way(handbook: Library, two: Library) -> None:
    assert pages(handbook) == (
        "Documentation Pages:\n"
        "\n"
        "- README.md\n"
        "- api/reference.html\n"
        "- birds/heading.md\n"
        "- birds/text.md\n"
        "- birds/title.md\n"
        "- guides/setup.md\n"
        "- guides/strange name #1?100%.md\n"
        "- notes/memo.txt"
    )
    assert pages(two) == (
        "Documentation Pages:\n\n- alpha/only/here.md\n- alpha/same.md\n- beta/same.md"
    )


def test_a_category_is_the_top_folder_where_there_is_no_sidebar(
    handbook: Library, two: Library
) -> None:
    assert pages(handbook, category=" GUIDES") == (
        "Documentation Pages:\n\n- guides/setup.md\n- guides/strange name #1?100%.md"
    )
    assert pages(two, category="(top)") == (
        "Documentation Pages:\n\n- alpha/same.md\n- beta/same.md"
    )


def test_a_category_is_a_heading_of_the_sidebar_where_there_is_one(shelf: Shelf) -> None:
    files = {
        "sidebar.md": "# First steps\n\n- [B](b.md)\n- [A](a.md)\n\n# More\n\n- [C](x/c.md)\n",
        "a.md": "zebra",
        "b.md": "zebra",
        "x/c.md": "zebra",
    }
    with fill(shelf, files) as library:
        assert pages(library, category="first steps") == "Documentation Pages:\n\n- b.md\n- a.md"
        assert pages(library, category="x") == (
            'There is no category "x". The categories are "First steps", "More".'
        )


def test_a_library_without_pages_says_so(shelf: Shelf) -> None:
    with fill(shelf, {}) as library:
        assert pages(library) == "Documentation Pages:\n\nThere are no pages."
        assert pages(library, category="x") == 'There is no category "x".'


def test_more_than_a_thousand_pages_are_all_listed(shelf: Shelf) -> None:
    with fill(shelf, {f"{n:04}.txt": "zebra" for n in range(1005)}) as library:
        lines = pages(library).split("\n")

    assert lines[2:] == [f"- {n:04}.txt" for n in range(1005)]


def test_a_listing_beyond_all_bounds_says_how_much_is_missing(
    handbook: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.contracts.pages.MOST_PAGES", 2)

    assert pages(handbook) == (
        "Documentation Pages:\n\n- README.md\n- api/reference.html\n\n"
        "6 more are not shown; ask for a `category`."
    )
    assert pages(handbook, category="birds").endswith(
        "- birds/text.md\n\n1 more are not shown; ask for a `category`."
    )


def test_a_path_that_would_spoil_a_line_is_written_as_an_address_that_can_be_read(
    shelf: Shelf,
) -> None:
    with fill(shelf, {"a\n- evil.md": "The zebra."}) as library:
        assert pages(library) == "Documentation Pages:\n\n- docs://a%0A-%20evil.md"
        assert found(search(library, "zebra")) == ["docs://a%0A-%20evil.md"]
        read = ask(library, CONTRACT, "get_doc_page", path="docs://a%0A-%20evil.md")

    assert read.text == "The zebra."


# --------------------------------------------------------------------------------- errors


def _break_down(_: Work, __: Any) -> Any:
    raise RuntimeError("the inner text")


BROKEN = Contract(
    "pages",
    tuple(
        Tool(each.name, each.title, each.description, each.arguments, _break_down)
        for each in CONTRACT.tools
    ),
    CONTRACT.shape_error,
)


def test_a_defect_is_an_inner_error_with_a_reference_and_none_of_its_text(
    handbook: Library,
) -> None:
    error = refuse(handbook, BROKEN, "search_docs", query="zebra")

    assert error.code == -32603
    assert re.fullmatch(r"Something went wrong inside \(reference [0-9a-f]{12}\)\.", error.message)
    assert error.data == {"query": "zebra"}


def test_details_of_a_defect_are_in_the_data_only_while_debugging(shelf: Shelf) -> None:
    with shelf.open(debug=True) as library:
        error = refuse(library, BROKEN, "get_doc_page", path="a.md")

    assert "the inner text" not in error.message
    assert error.data is not None
    assert error.data["path"] == "a.md"
    assert "RuntimeError: the inner text" in error.data["details"]
    assert "_break_down" in error.data["details"]


def test_an_index_that_cannot_be_used_is_an_inner_error_that_tells_no_path(shelf: Shelf) -> None:
    with fill(shelf, {"a.md": "zebra"}):
        pass
    for file in (shelf.place / "index").iterdir():
        if file.is_file():
            file.write_bytes(b"not a database" * 100)
    with shelf.open() as library:
        error = refuse(library, CONTRACT, "search_docs", query="zebra")

    assert (error.code, error.data) == (-32603, {"query": "zebra"})
    assert re.fullmatch(r"The index cannot be used now \(reference [0-9a-f]{12}\)\.", error.message)
