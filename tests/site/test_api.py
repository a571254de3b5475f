"""The JSON API: what it finds and reads, how it refuses, and that its description is true."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from bookwheel.serve.api import OPERATIONS
from tests.conftest import Shelf
from tests.faults.sizes import PropertyRecorder, size
from tests.serve.conftest import Site
from tests.site.conftest import site_of


def get(site: Site, path: str) -> Any:
    answer = site.ask("GET", path)
    assert answer.headers["content-type"] == "application/json"
    return answer.status, answer.value


def error_of(site: Site, path: str) -> tuple[int, str]:
    status, body = get(site, path)
    return status, body["error"]["code"]


def test_a_search_tells_where_each_hit_stands_and_which_words_matched(site: Site) -> None:
    status, found = get(site, "/api/search?q=tiles")

    (hit,) = found["hits"]
    assert status == 200
    assert (hit["collection"], hit["document"], hit["title"]) == (
        "notes",
        "floors/dry.md",
        "Dry floors",
    )
    assert hit["line"] == 3
    assert [hit["snippet"]["text"][a:b].lower() for a, b in hit["snippet"]["marks"]] == [
        "tiles",
        "tiles",
    ]
    assert hit["address"] == "docs://floors/dry.md"
    assert hit["url"] == "/docs/notes/floors/dry.md?line=3&mark=tiles#bw-target"
    assert (found["unreadable"], found["files"]) == (1, 8)


def test_a_hit_leads_to_the_line_with_most_words_not_with_most_forms_of_one(shelf: Shelf) -> None:
    lines = [
        "Links of any kind, and more links.",
        "How sure a link is.",
        "Confidence.",
        "The confidence of a link goes by its kind.",
    ]
    shelf.put("links.md", "\n\n".join(["# Citing", *lines]))
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        _, found = get(site, "/api/search?q=link+confidence")

    assert found["hits"][0]["line"] == 9


def test_filters_hold_and_are_counted_as_if_each_were_not_set(site: Site) -> None:
    _, found = get(site, "/api/search?q=walrus&type=md&folder=guides&limit=2")
    _, facets = get(site, "/api/facets?q=walrus&type=md&folder=guides")

    assert {hit["document"] for hit in found["hits"]} == {"guides/setup.md", "guides/index.md"}
    assert facets["types"] == [{"value": ".md", "count": 2}]
    assert {each["value"]: each["count"] for each in facets["folders"]} == {
        "guides": 2,
        "floors": 1,
        "old": 1,
    }
    assert facets["complete"] is True


def test_years_are_a_filter(site: Site) -> None:
    _, found = get(site, "/api/search?q=walrus&year_to=2020")
    _, facets = get(site, "/api/facets?q=walrus")

    assert [hit["document"] for hit in found["hits"]] == ["old/news.md"]
    assert {"value": "2019", "count": 1} in facets["years"]


def test_an_empty_question_finds_nothing_and_says_so(site: Site) -> None:
    _, found = get(site, "/api/search?q=%20")

    assert (found["hits"], found["total"]) == ([], 0)
    assert found["relaxed"] != []


def test_documents_are_listed_page_by_page(site: Site) -> None:
    _, first = get(site, "/api/documents?collection=notes&limit=4")
    _, rest = get(site, f"/api/documents?collection=notes&offset={first['nextOffset']}")

    paths = [each["document"] for page in (first, rest) for each in page["documents"]]
    assert paths == sorted(paths)
    assert len(paths) == first["total"] == 7
    assert rest["nextOffset"] is None


def test_a_document_is_read_part_by_part_to_its_end(site: Site) -> None:
    text, offset = "", 0
    while offset is not None:
        _, part = get(site, f"/api/document?document=guides/setup.md&offset={offset}&length=100")
        text += part["text"]
        offset = part["nextOffset"]

    assert len(text) == part["totalCharacters"]
    assert text.startswith("---\ntitle: Setting up")


def test_outline_section_and_related_of_a_document(site: Site) -> None:
    _, outline = get(site, "/api/outline?document=guides/setup.md")
    _, section = get(site, "/api/section?document=guides/setup.md&heading=install")
    _, related = get(site, "/api/related?document=guides/setup.md&limit=2")

    assert [each["text"] for each in outline["headings"]] == ["Setting up", "Install", "Install"]
    assert section["text"].startswith("## Install\n\n1. Fetch")
    assert section["others"] == ["Setting up > Install #2"]
    assert len(related["related"]) == 2


def test_the_graph_tells_who_cites_whom(site: Site) -> None:
    _, graph = get(site, "/api/graph?document=api.md")
    _, found = get(site, "/api/graph?q=tiles&depth=0")
    _, nothing = get(site, "/api/graph?q=zzzyx")
    _, filtered = get(site, "/api/graph?q=tiles&depth=0&folder=no-such-folder")

    assert filtered["nodes"] == []
    assert [node["document"] for node in graph["nodes"]] == ["api.md", "guides/setup.md"]
    assert graph["nodes"][0]["url"] == "/docs/notes/api.md"
    assert [(edge["source"], edge["target"]) for edge in graph["edges"]] == [
        (graph["nodes"][1]["id"], graph["nodes"][0]["id"])
    ]
    assert [node["document"] for node in found["nodes"]] == ["floors/dry.md"]
    assert nothing == {"nodes": [], "edges": [], "cut": False}


def test_status_names_collections_types_and_what_could_not_be_read(site: Site) -> None:
    _, status = get(site, "/api/status")

    (collection,) = status["collections"]
    assert (status["ready"], status["indexing"]) == (True, None)
    assert (collection["name"], collection["documents"]) == ("notes", 7)
    assert {"value": ".md", "count": 5} in collection["types"]
    assert [row["document"] for row in collection["unreadable"]] == ["broken.pdf"]
    assert status["toolsets"] == {"documents": ["documents_search"]}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/search", (400, "BAD_REQUEST")),
        ("/api/search?q=a&limit=0", (400, "BAD_REQUEST")),
        ("/api/search?q=a&limit=x", (400, "BAD_REQUEST")),
        ("/api/search?q=a&q=b", (400, "BAD_REQUEST")),
        ("/api/search?q=a&what=1", (400, "BAD_REQUEST")),
        ("/api/search?q=a&mode=fast", (400, "BAD_REQUEST")),
        ("/api/search?q=a&collection=nope", (404, "NOT_FOUND")),
        ("/api/document?document=nope.md", (404, "NOT_FOUND")),
        ("/api/document?document=../../etc/passwd", (404, "NOT_FOUND")),
        ("/api/document?document=broken.pdf", (404, "NOT_FOUND")),
        ("/api/section?document=api.md&heading=nope", (404, "NOT_FOUND")),
        ("/api/graph?document=nope.md", (404, "NOT_FOUND")),
        ("/api/graph?depth=9", (400, "BAD_REQUEST")),
        ("/api/nothing", (404, "NOT_FOUND")),
    ],
)
def test_bad_requests_are_answered_with_what_is_wrong(
    site: Site, path: str, expected: tuple[int, str]
) -> None:
    assert error_of(site, path) == expected


def test_a_parameter_that_is_wanting_or_unknown_is_named(site: Site) -> None:
    assert b"The parameter 'q' is required." in site.ask("GET", "/api/search").body
    assert b"There is no parameter 'what'." in site.ask("GET", "/api/search?q=a&what=1").body


def test_what_changes_nothing_is_sent_once(site: Site) -> None:
    first = site.ask("GET", "/api/search?q=walrus")
    again = site.ask("GET", "/api/search?q=walrus", If_None_Match=first.headers["etag"])

    assert (again.status, again.body) == (304, b"")


@pytest.mark.requirement("X-038")
def test_t26_whole_texts_of_a_collection_for_previews_are_withheld(pair: Site) -> None:
    for path in ("document?", "section?heading=On%20tusks&"):
        assert error_of(pair, f"/api/{path}collection=papers&document=tusks.md") == (
            403,
            "FORBIDDEN",
        )
    _, found = get(pair, "/api/search?q=tusk")
    assert len(found["hits"][0]["snippet"]["text"]) < 400


def test_the_description_names_every_operation(site: Site) -> None:
    _, described = get(site, "/api/openapi.json")

    assert list(described["paths"]) == [each.path for each in OPERATIONS]
    assert described["openapi"] == "3.1.0"


def test_the_page_about_the_api_shows_every_parameter(site: Site) -> None:
    page = site.ask("GET", "/api/docs").body.decode()

    for operation in OPERATIONS:
        assert f"<code>{operation.path}</code>" in page
        for name in operation.asked.model_fields:
            assert f"<code>{name}</code>" in page
    assert "<td>string</td>" not in page, "types are named as people name them"


def test_t12_whatever_the_description_allows_gets_an_answer_that_fits_it(site: Site) -> None:
    ask_whatever_is_allowed(site, 20)


@pytest.mark.faults
@pytest.mark.timeout(3600)
def test_t12_much_that_the_description_allows_gets_an_answer_that_fits_it(
    site: Site, record_property: PropertyRecorder
) -> None:
    each = size("REQUESTS", 3_000) // len(OPERATIONS)
    ask_whatever_is_allowed(site, each)
    record_property("figure", f"{each} requests of each of {len(OPERATIONS)} operations: all fit")


def ask_whatever_is_allowed(site: Site, examples: int) -> None:
    """Ask every operation so many times for whatever its description allows."""
    schema = schemathesis.openapi.from_dict(json.loads(site.ask("GET", "/api/openapi.json").body))
    schema.config.update(base_url=site.url)
    checks = schemathesis.checks.CHECKS
    method, accepted = map(checks.get_one, ("unsupported_method", "positive_data_acceptance"))
    for operation in schema.get_all_operations():
        strategy = operation.ok().as_strategy()  # type: ignore[union-attr] # an error fails here

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def check(case: Any) -> None:
            excluded = [method]
            if case.query.get("mode") == "semantic":  # nothing here was read for meaning
                excluded.append(accepted)
            case.call_and_validate(excluded_checks=excluded)

        check()
