"""What a crowd of clients asks, in all five toolsets, and how each answer is judged.

The documents are made here, each with words of its own and a link to the next one, so that what
must be answered is known.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench.floors.server import NAMES

_PAGES = 300


class Page(NamedTuple):
    """A document that stays, and what is known of it."""

    path: str
    file: str
    word: str
    part: str
    cited: str
    """The word of the one document that it links to."""
    text: str


def make_pages(rng: random.Random, folder: Path) -> list[Page]:
    """Write documents whose title, first part and last part have a word each that no other has."""
    folder.mkdir()
    words = make_words(rng, 3 * _PAGES)
    places = [f"{'abcde'[number % 5]}/{number}.md" for number in range(_PAGES)]
    pages = []
    for number, path in enumerate(places):
        word, part, last = words[3 * number : 3 * number + 3]
        following = (number + 1) % _PAGES
        text = f"# About {word}\n\nHere is {word}.\n\n## Part {part}\n\nThis is {part}.\n\n"
        text += f"## Last\n\nThe end of {last}, and [on](../{places[following]}).\n"
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        pages.append(Page(path, str(file), word, part, words[3 * following], text))
    return pages


def make_words(rng: random.Random, count: int) -> list[str]:
    """Return words of ten letters; by chance alone no two are near each other."""
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(rng.choice("bdfgklmnprtvz") + rng.choice("aiou") for _ in range(5))] = None
    return list(made)


class Question(NamedTuple):
    """One kind of question: how it is put, and how its answer is judged."""

    method: str
    params: Callable[[Page], dict[str, Any]]
    is_right: Callable[[dict[str, Any], Page], bool]


def _text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def _call(
    tool: str,
    arguments: Callable[[Page], dict[str, Any]],
    is_right: Callable[[str, Page], bool],
) -> Question:
    return Question(
        "tools/call",
        lambda page: {"name": tool, "arguments": arguments(page)},
        lambda result, page: is_right(_text(result), page),
    )


def _named(page: Page) -> dict[str, Any]:
    return {"collection": "crowd", "document": page.path}


def _cites(answer: dict[str, Any], page: Page) -> bool:
    """Tell whether a document was found first, and that it links to the next one."""
    graph = answer["citationGraph"]
    labels = {node["id"]: node["label"] for node in graph["nodes"]}
    edges = {(labels[edge["from"]], labels[edge["to"]]) for edge in graph["edges"]}
    first = answer["results"][0]["document"]["path"] == f"crowd/{page.path}"
    return first and (f"About {page.word}", f"About {page.cited}") in edges


QUESTIONS = (
    _call(
        "documents_search",
        lambda page: {"query": page.word},
        lambda text, page: json.loads(text)[0]["documentId"] == page.path,
    ),
    _call(
        "search_documents",
        lambda page: {"query": page.part},
        lambda text, page: f"1. docs://{page.path} - " in text,
    ),
    _call(
        "search_docs",
        lambda page: {"query": page.word},
        lambda text, page: f"\n1. {page.path} (score" in text,
    ),
    _call(
        "documents_get_document",
        _named,
        lambda text, page: json.loads(text)["content"] == page.text,
    ),
    _call(
        "documents_get_section",
        lambda page: _named(page) | {"section": f"part {page.part}"},
        lambda text, page: (
            json.loads(text)["content"].strip() == f"## Part {page.part}\n\nThis is {page.part}."
        ),
    ),
    _call(
        "documents_get_outline",
        _named,
        lambda text, page: (
            [each["text"] for each in json.loads(text)["outline"]]
            == [f"About {page.word}", f"Part {page.part}", "Last"]
        ),
    ),
    _call(
        "get_doc_page",
        lambda page: {"path": page.path},
        lambda text, page: text.strip() == page.text.strip(),
    ),
    _call(
        "documents_search_batch",
        lambda page: {"queries": [{"query": page.part}, {"query": page.cited}]},
        lambda text, page: (
            [each["results"][0]["documentTitle"] for each in json.loads(text)["results"]]
            == [f"About {page.word}", f"About {page.cited}"]
        ),
    ),
    _call(
        "searchFiles",
        lambda page: {"query": page.word, "k": 3},
        lambda text, page: json.loads(text)["items"][0]["path"] == page.file,
    ),
    _call(
        "openFile",
        lambda page: {"path": page.file, "pointer": "lines 5-7"},
        lambda text, page: f"This is {page.part}." in json.loads(text)["preview"],
    ),
    _call(
        "searchLocalArchives",
        lambda page: {"query": page.word, "includeCitations": True, "limit": 1},
        lambda text, page: _cites(json.loads(text), page),
    ),
    Question(
        "resources/read",
        lambda page: {"uri": f"docs://{page.path}"},
        lambda result, page: result["contents"][0]["text"] == page.text,
    ),
)
BARE = (_call(NAMES[0], lambda page: {"query": page.word}, lambda text, _: text == ""),)
