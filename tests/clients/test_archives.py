"""The toolset `archives` as a client sees it: schema, results, highlights, citations, errors."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any

import pytest

from bookwheel.addresses import document_id
from bookwheel.contracts.archives import MOST_CITATIONS
from bookwheel.library import Library
from bookwheel.model import Redact
from bookwheel.query import Scope, SearchRequest
from tests.clients.archive import RESEARCH, fill_archive
from tests.clients.assistant import LEGACY, Assistant, assisting
from tests.clients.handbook import asking, fill
from tests.conftest import Shelf

INTRO = "research/2025-05-20/machine_learning_intro.md"
DOCUMENT = {"id", "title", "path", "source", "date", "score"}
CITATION = {"sourceId", "targetId", "targetUrl", "context", "confidence"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """Two collections, `research` and `saved`."""
    with asking(fill_archive(Shelf(tmp_path_factory.mktemp("archive"))), "archives") as assistant:
        yield assistant


def search(assistant: Assistant, query: str, **arguments: Any) -> dict[str, Any]:
    """Return an answer that is no error."""
    reply = assistant.call("searchLocalArchives", query=query, **arguments)
    assert not reply.is_error, reply.text
    assert reply.structured == reply.json
    found: dict[str, Any] = reply.json
    return found


def refused(assistant: Assistant, **arguments: Any) -> str:
    """Return what a call is told that is an error."""
    reply = assistant.call("searchLocalArchives", **arguments)
    assert reply.is_error
    return reply.text


def found(answer: dict[str, Any]) -> list[str]:
    return [result["document"]["path"] for result in answer["results"]]


def citations(assistant: Assistant, query: str, **arguments: Any) -> dict[str, Any]:
    """Return the citations of the first result."""
    answer = search(assistant, query, includeCitations=True, **arguments)
    lists: dict[str, Any] = answer["results"][0]["citations"]
    return lists


@pytest.mark.requirement("A-001", "A-002", "A-003", "A-004", "A-005", "A-006")
def test_the_one_tool_has_the_schema_that_its_clients_know(archive: Assistant) -> None:
    (tool,) = archive.tools()

    assert tool["name"] == "searchLocalArchives"
    assert tool["description"].startswith("Searches the local research and URL content archives")
    assert tool["inputSchema"] == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The search query"},
            "fuzzy": {
                "type": "boolean",
                "description": "Whether to enable fuzzy matching",
                "default": True,
            },
            "includeCitations": {
                "type": "boolean",
                "description": "Whether to include citation information",
                "default": False,
            },
            "citationDepth": {
                "type": "integer",
                "description": "How many levels of citations to include",
                "default": 1,
                "minimum": 1,
                "maximum": 3,
            },
            "limit": {
                "type": "integer",
                "description": "Maximum number of results to return",
                "default": 10,
                "minimum": 1,
                "maximum": 50,
            },
        },
        "required": ["query"],
    }


@pytest.mark.requirement("A-002", "A-003", "A-004", "A-005", "A-006", "A-036", "A-037")
@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({}, "Argument 'query' is missing."),
        ({"query": " \t"}, "Argument 'query': must not be empty."),
        ({"query": 5}, "Argument 'query': input should be a valid string."),
        ({"query": "a", "fuzzy": "perhaps"}, "Argument 'fuzzy': input should be a valid boolean"),
        ({"query": "a", "includeCitations": 7}, "Argument 'includeCitations': input should be"),
        ({"query": "a", "citationDepth": 0}, "must be a whole number from 1 to 3."),
        ({"query": "a", "citationDepth": 4}, "must be a whole number from 1 to 3."),
        ({"query": "a", "citationDepth": True}, "must be a whole number."),
        ({"query": "a", "limit": 0}, "must be a whole number from 1 to 50."),
        ({"query": "a", "limit": 51}, "must be a whole number from 1 to 50."),
        ({"query": "a", "limit": 2.5}, "Argument 'limit': input should be a valid integer"),
        ({"query": "a", "citationdepth": 2}, "did you mean 'citationDepth'?"),
    ],
)
def test_wrong_arguments_are_refused_with_their_rule_and_an_example(
    archive: Assistant, caplog: pytest.LogCaptureFixture, wrong: dict[str, Any], rule: str
) -> None:
    with caplog.at_level(logging.ERROR):
        told = refused(archive, **wrong)

    assert told.startswith("Failed to search local archives: ")
    assert rule in told
    assert 'Example: {"query": "machine learning"' in told
    assert f"Error in searchLocalArchives tool: {told.partition(': ')[2]}" in caplog.messages


@pytest.mark.requirement("A-036", "A-037")
def test_a_defect_is_told_without_its_details_which_go_to_the_log(
    archive: Assistant, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Library, "search", lambda *_: 1 / 0)
    with caplog.at_level(logging.ERROR):
        told = refused(archive, query="anything")

    assert re.fullmatch(
        r"Failed to search local archives: Something went wrong inside \(reference \w+\)\.", told
    )
    assert any(text.startswith("Error in searchLocalArchives tool: ") for text in caplog.messages)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.requirement("A-042", "A-007", "A-008", "A-022", "A-023", "A-030", "A-034")
def test_the_example_of_the_design_is_answered_field_by_field(archive: Assistant) -> None:
    answer = search(archive, "machine learning", fuzzy=True, includeCitations=True, limit=5)

    assert list(answer) == ["results", "citationGraph", "metadata"]
    first, second = answer["results"]
    own = document_id("research", "2025-05-20/machine_learning_intro.md")
    target = document_id("saved", "ml-algorithms.html")
    bayes = document_id("research", "2025-05-21/naïve bayes & <friends>.md")
    assert set(first) == {"document", "highlights", "citations"}
    assert 0 < first["document"].pop("score") <= 1
    assert first["document"] == {
        "id": own,
        "title": "Introduction to Machine Learning",
        "path": INTRO,
        "source": "research",
        "date": "2025-05-20",
    }
    assert first["highlights"][0] == {
        "field": "title",
        "snippets": ["Introduction to <mark>Machine Learning</mark>"],
    }
    assert first["highlights"][1]["field"] == "content"
    (snippet,) = first["highlights"][1]["snippets"]
    assert "<mark>Machine learning</mark> is a subset of artificial intelligence." in snippet
    assert first["citations"]["citing"] == [
        {
            "sourceId": own,
            "targetId": target,
            "targetUrl": "https://example.com/ml-algorithms",
            "context": "For more information on ML algorithms, see [this resource]"
            "(https://example.com/ml-algorithms).",
            "confidence": 1.0,
        }
    ]
    assert [each["sourceId"] for each in first["citations"]["cited"]] == [bayes]
    assert second["document"]["path"] == "saved/ml-algorithms.html"
    graph = answer["citationGraph"]
    assert graph["nodes"] == [
        {"id": own, "label": "Introduction to Machine Learning", "type": "source"},
        {"id": target, "label": "Machine Learning Algorithms", "type": "source"},
        {"id": bayes, "label": "Naïve Bayes &", "type": "target"},
    ]
    assert {"from": own, "to": target, "confidence": 1.0} in graph["edges"]
    assert answer["metadata"] == {
        "totalResults": 2,
        "query": "machine learning",
        "fuzzy": True,
        "includeCitations": True,
        "citationDepth": 1,
        "limit": 5,
    }


@pytest.mark.requirement("A-007", "A-021", "A-034")
def test_citations_come_only_when_asked_for(archive: Assistant) -> None:
    answer = search(archive, "machine learning")

    assert list(answer) == ["results", "metadata"]
    assert all(set(each) == {"document", "highlights"} for each in answer["results"])
    assert all(set(each["document"]) == DOCUMENT for each in answer["results"])
    assert answer["metadata"]["includeCitations"] is False
    assert (answer["metadata"]["citationDepth"], answer["metadata"]["limit"]) == (1, 10)


@pytest.mark.requirement("A-011", "A-012", "A-013")
def test_source_and_date_come_from_the_document_its_path_or_its_file(archive: Assistant) -> None:
    by_path = {
        each["document"]["path"]: (each["document"]["source"], each["document"]["date"])
        for query in ("chain four", "zebrafish", "pangolin")
        for each in search(archive, query)["results"]
    }
    assert by_path["research/loops/four.md"] == ("diary", "2024-02-29")
    assert by_path["research/2025-05-22/chain one.md"] == ("research", "2025-05-22")
    assert by_path["saved/ml-algorithms.html"] == ("saved", "2023-11-14")
    for _, day in by_path.values():
        date.fromisoformat(day)


@pytest.mark.requirement("A-009", "A-010")
def test_ids_are_the_same_after_indexing_anew_and_elsewhere(
    archive: Assistant, tmp_path: Any
) -> None:
    def ids(assistant: Assistant) -> dict[str, str]:
        hits = [each for word in WORDS for each in search(assistant, word)["results"]]
        return {each["document"]["path"]: each["document"]["id"] for each in hits}

    shelf = Shelf(tmp_path / "another machine")
    shelf.put("../research/0 first of all.md", "# A zebrafish\n")
    library = fill_archive(shelf)
    library.update(full=True)
    with asking(library, "archives") as elsewhere:
        others = ids(elsewhere)

    own = ids(archive)
    assert own
    assert own.items() <= others.items()
    assert len(set(others.values())) == len(others)
    assert all(re.fullmatch("doc-[a-z0-9]+", each) for each in others.values())


WORDS = ("machine", "chain", "head", "wombat", "zebrafish", "quokka", "walrus")


@pytest.mark.requirement("A-014")
@pytest.mark.parametrize("query", ["machine learning", "chain next", "the head says", "machne"])
def test_scores_lie_between_0_and_1_and_never_grow(archive: Assistant, query: str) -> None:
    scores = [each["document"]["score"] for each in search(archive, query)["results"]]

    assert scores
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.requirement("A-015", "A-016")
def test_highlights_mark_words_together_and_escape_all_else(archive: Assistant) -> None:
    (result,) = search(archive, "quokka classifier friends", limit=1)["results"]

    (content,) = [each for each in result["highlights"] if each["field"] == "content"]
    (snippet,) = content["snippets"]
    assert "<mark>quokka classifier</mark>" in snippet
    assert "&amp; &lt;<mark>friends</mark>&gt;" in snippet
    plain = html.unescape(re.sub("</?mark>", "", snippet))
    assert "\"naïve\" & 'cheap', if x < y." in plain
    assert not re.search(r"<(?!/?mark>)|&(?!(amp|lt|gt);)", snippet)


@pytest.mark.requirement("A-015")
def test_a_field_without_a_match_is_not_highlighted(archive: Assistant) -> None:
    (result,) = search(archive, "pangolin")["results"]
    assert [each["field"] for each in result["highlights"]] == ["content"]


@pytest.mark.requirement("A-016")
def test_a_snippet_shows_where_its_document_goes_on(tmp_path: Any) -> None:
    text = "word and word again, " * 60
    library = fill(Shelf(tmp_path), {"a.md": f"# A\n\n{text} The aardvark. {text}\n"})
    with asking(library, "archives") as assistant:
        (result,) = search(assistant, "aardvark")["results"]
    (snippet,) = result["highlights"][0]["snippets"]
    assert snippet.startswith("...")
    assert snippet.endswith("...")
    assert "<mark>aardvark</mark>" in snippet


@pytest.mark.requirement("A-017", "A-018")
@pytest.mark.parametrize("slip", ["zebrafsh", "zebraffish", "zerbafish", "zebrefish"])
def test_a_slip_is_forgiven_and_the_documents_word_is_marked(archive: Assistant, slip: str) -> None:
    answer = search(archive, slip)

    assert found(answer)[0] == "research/2025-05-22/chain one.md"
    assert "<mark>zebrafish</mark>" in answer["results"][0]["highlights"][0]["snippets"][0]
    assert f"'{slip}' also as 'zebrafish'" in answer["note"]


@pytest.mark.requirement("A-019", "A-035", "X-034")
@pytest.mark.parametrize("query", ["zebrafsh", "machne learning", "quokka classifiar"])
def test_without_fuzziness_a_misspelt_query_finds_nothing(archive: Assistant, query: str) -> None:
    answer = search(archive, query, fuzzy=False)

    assert answer["results"] == []
    assert answer["metadata"]["totalResults"] == 0
    assert answer["note"].startswith("Nothing was found (no document has '")


@pytest.mark.requirement("A-019")
def test_without_fuzziness_inflected_forms_are_found(archive: Assistant) -> None:
    answer = search(archive, "classifiers", fuzzy=False)
    assert found(answer) == ["research/2025-05-21/naïve bayes & <friends>.md"]


@pytest.mark.requirement("A-020")
def test_a_document_that_matches_exactly_stands_above_others(tmp_path: Any) -> None:
    files = {
        f"many/{n}.md": f"# Page {n}\n\nThe carts are here, carts all over.\n" for n in range(60)
    }
    files["exact.md"] = "# Other\n\nLunch is served à la carte, and there is more to it.\n"
    with asking(fill(Shelf(tmp_path), files), "archives") as assistant:
        assert found(search(assistant, "carte", limit=5))[0] == "notes/exact.md"


@pytest.mark.requirement("A-024", "A-025", "A-026", "A-028")
def test_papers_are_cited_by_their_ids_with_less_confidence(archive: Assistant) -> None:
    citing = citations(archive, "walrus")["citing"]

    paper = document_id("research", "papers/attention.md")
    assert [(each["targetId"], each["targetUrl"], each["confidence"]) for each in citing] == [
        (paper, "https://dx.doi.org/10.48550/ARXIV.1706.03762", 0.9),
        (None, "https://doi.org/10.1000/182", 0.8),
    ]
    assert citing[0]["context"].startswith("Then https://dx.doi.org/10.48550/ARXIV")
    assert all(set(each) == CITATION for each in citing)


@pytest.mark.requirement("A-027")
def test_chains_are_followed_as_deep_as_asked(archive: Assistant) -> None:
    paths = ["2025-05-22/chain one.md", "2025-05-23/chain-two.md", "2025-05-23/chain three.md"]
    ids = [document_id("research", path) for path in (*paths, "loops/four.md")]
    links = list(pairwise(ids))

    for depth in (1, 2, 3):
        lists = citations(archive, "zebrafish", citationDepth=depth)
        pairs = [(each["sourceId"], each["targetId"]) for each in lists["citing"]]
        assert pairs == links[:depth]
        assert lists["cited"] == []
        back = citations(archive, "chain four", citationDepth=depth, limit=1)
        pairs = [(each["sourceId"], each["targetId"]) for each in back["cited"]]
        assert pairs == links[::-1][:depth]


@pytest.mark.requirement("A-027", "A-032")
def test_circles_come_to_an_end_and_nothing_is_repeated(archive: Assistant) -> None:
    answer = search(archive, "ouroboros", includeCitations=True, citationDepth=3, limit=1)

    for listed in answer["results"][0]["citations"].values():
        pairs = [(each["sourceId"], each["targetId"]) for each in listed]
        assert len(pairs) == len(set(pairs)) == 2
    graph = answer["citationGraph"]
    assert [node["label"] for node in graph["nodes"]] == ["Ouroboros", "The tail"]
    assert len(graph["edges"]) == 2


@pytest.mark.requirement("A-030", "A-031", "A-032")
@pytest.mark.parametrize("query", ["machine learning", "the next chain", "wombat", "walrus heads"])
@pytest.mark.parametrize("depth", [1, 3])
def test_a_graph_has_each_node_and_edge_once_and_both_ends_of_each(
    archive: Assistant, query: str, depth: int
) -> None:
    answer = search(archive, query, includeCitations=True, citationDepth=depth)

    graph = answer["citationGraph"]
    ids = [node["id"] for node in graph["nodes"]]
    edges = [(edge["from"], edge["to"]) for edge in graph["edges"]]
    assert len(ids) == len(set(ids))
    assert len(edges) == len(set(edges))
    assert {end for edge in edges for end in edge} <= set(ids)
    results = {each["document"]["id"] for each in answer["results"]}
    assert {node["id"] for node in graph["nodes"] if node["type"] == "source"} == results
    outside = [node for node in graph["nodes"] if not node["id"].startswith("doc-")]
    assert all(node["id"].endswith(node["label"]) for node in outside)
    assert all(node["type"] == "target" for node in outside)


@pytest.mark.requirement("A-033", "A-035")
def test_an_answer_without_results_has_no_graph(archive: Assistant) -> None:
    answer = search(archive, "xyzzyplugh", includeCitations=True)

    assert set(answer) == {"results", "metadata", "note"}
    assert (answer["results"], answer["metadata"]["totalResults"]) == ([], 0)


@pytest.mark.requirement("A-027")
def test_a_flood_of_citations_is_cut_and_that_is_said(tmp_path: Any) -> None:
    links = "".join(f"- [page {n}](pages/{n}.md)\n" for n in range(80))
    files = {"hub.md": f"# The aardvark\n\n{links}", "pages/0.md": "# A leaf\n\n[up](../hub.md)\n"}
    with asking(fill(Shelf(tmp_path), files), "archives") as assistant:
        answer = search(assistant, "aardvark", includeCitations=True)

    assert len(answer["results"][0]["citations"]["citing"]) == MOST_CITATIONS
    assert answer["note"] == "Not all citations are given: each list holds at most 50."


@pytest.mark.requirement("A-029")
def test_cited_documents_may_come_go_and_be_renamed(tmp_path: Any) -> None:
    shelf = Shelf(tmp_path)
    library = fill(shelf, {"a.md": "# Aardvark\n\nSee [b](b.md) and [[Bee]].\n"})
    with asking(library, "archives") as assistant:

        def targets() -> list[str | None]:
            library.update()
            return [each["targetId"] for each in citations(assistant, "aardvark")["citing"]]

        b, other = document_id("notes", "b.md"), document_id("notes", "sub/bee.md")
        assert targets() == [None, None]
        file = shelf.put("b.md", "# Something\n")
        assert targets() == [b, None]
        (shelf.folder / "sub").mkdir()
        file.rename(shelf.folder / "sub" / "bee.md")
        assert targets() == [None, other]
        (shelf.folder / "sub" / "bee.md").unlink()
        assert targets() == [None, None]


def test_t26_secrets_are_not_shown_in_citations_either(tmp_path: Any) -> None:
    secret = "https://example.com/?to=joe.bloggs@example.com"
    text = f"# Aardvark\n\nAsk jane.doe@example.com for [it]({secret}) now.\n"
    with fill(Shelf(tmp_path), {"a.md": text, "hidden/b.md": "# B\n\n[a](../a.md)\n"}) as library:
        view = library.view(Scope(within=(("notes", ""),), redact=Redact.ALL))
        (found_citations,) = view.citations([view.document("a.md")])
        (cited,) = found_citations.citing
        assert "jane.doe" not in cited.context
        assert "joe.bloggs" not in cited.address
        narrow = library.view(Scope(within=(("notes", "hidden"),)))
        (own,) = narrow.citations([narrow.document("hidden/b.md")])
        assert [each.target for each in own.citing] == [None]
        assert narrow.graph().nodes == ()


def test_a_document_can_be_read_by_its_id_and_its_path(archive: Assistant) -> None:
    (result,) = search(archive, "pangolin")["results"]
    assert "pangolin" in archive.read(f"docs://{result['document']['path']}")["text"]


def test_older_clients_are_answered_alike(tmp_path: Any) -> None:
    with asking(fill_archive(Shelf(tmp_path)), "archives", LEGACY) as assistant:
        assert found(search(assistant, "machine learning"))[0] == INTRO


def test_resources_come_with_archives(archive: Assistant) -> None:
    assert len(archive.resources()) == len(RESEARCH) + 1


def test_by_default_the_tool_is_not_listed_but_can_be_called(tmp_path: Any) -> None:
    library = fill_archive(Shelf(tmp_path))
    with library, assisting(library) as assistant:
        assert "searchLocalArchives" not in {tool["name"] for tool in assistant.tools()}
        assert found(search(assistant, "machine learning"))[0] == INTRO


def test_where_documents_have_the_words_none_comes_by_meaning_alone(tmp_path: Any) -> None:
    files = {
        "ward.md": "# Ward\n\nThe physician treated sick patients.\n",
        "fruit.md": "# Orchard\n\nApples and pears ripen in autumn.\n",
    }
    library = fill(Shelf(tmp_path), files)
    library.embed()
    with asking(library, "archives") as assistant:
        near = library.search(SearchRequest("doctors eat apples"))
        assert {hit.document for hit in near.hits} == set(files)
        assert found(search(assistant, "pysician")) == ["notes/ward.md"]
        assert found(search(assistant, "doctors eat apples")) == ["notes/fruit.md"]
