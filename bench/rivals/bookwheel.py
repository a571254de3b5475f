"""Bookwheel itself, installed as a user installs it, with and without vectors."""

from __future__ import annotations

import json
from typing import Any

from bench.clocks import REPOSITORY
from bench.corpus import settings_for
from bench.rivals.askers import InsideAsker, McpAsker, ProcessAsker
from bench.rivals.base import (
    INSIDE,
    LIMIT,
    MCP,
    PROCESS,
    Asker,
    Command,
    Rival,
    make_venv,
    packages_size,
    unique,
)
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest


class Bookwheel(Rival):
    """Words and meaning, as it comes."""

    name = "bookwheel"
    asked = "`documents_search`; `bookwheel search`; `Library.search`"
    ways = (MCP, PROCESS, INSIDE)
    embedder = "static"
    mode = SearchMode.HYBRID

    def install(self) -> None:
        # What is measured is the working tree, so it is installed anew each time.
        make_venv(self.home, str(REPOSITORY), force=True)

    def version(self) -> str:
        return self._command("--version").output().split()[-1]

    def installed(self) -> int:
        return packages_size(self.home)

    def index(self) -> Command:
        return self._command("index", str(self.docs), "--index", str(self.place))

    def rescan(self) -> Command:
        return self.index()

    def asking(self, way: str) -> Asker:
        if way == MCP:
            serve = self._command("serve", str(self.docs), "--index", str(self.place))
            log = self.place.with_name(f"{self.place.name}.log")
            return McpAsker(serve, log, "documents_search", arguments, paths_of_answer)
        if way == PROCESS:
            return ProcessAsker(lambda query: [self._search(query)], paths_of_output)
        library = Library.open(settings_for(self.place), [str(self.docs)])

        def search(query: str) -> list[str]:
            hits = library.search(SearchRequest(query, mode=self.mode)).hits
            return [hit.document for hit in hits]

        return InsideAsker(search, library.close)

    def _search(self, query: str) -> Command:
        where = ["--index", str(self.place), "--no-refresh", "--json"]
        return self._command("search", *where, "--", query, str(self.docs))

    def _command(self, *words: str) -> Command:
        return Command(
            [str(self.home / "bin" / "bookwheel"), *words],
            {"BOOKWHEEL_EMBEDDER": self.embedder},
        )


class BookwheelWords(Bookwheel):
    """Words alone, as its rivals search here."""

    name = "bookwheel, words alone"
    asked = "the same with `embedder = none`"
    embedder = "none"
    mode = SearchMode.LEXICAL

    def install(self) -> None:
        if not (self.home / "bin" / "bookwheel").exists():
            super().install()


def arguments(query: str) -> dict[str, Any]:
    """Return what the tool is called with."""
    return {"query": query, "limit": LIMIT}


def paths_of_answer(answer: dict[str, Any]) -> list[str]:
    """Return the documents of a tool's answer."""
    return unique(hit["documentId"] for hit in answer["structuredContent"]["results"])


def paths_of_output(text: str) -> list[str]:
    """Return the documents of what `bookwheel search --json` prints."""
    return unique(hit["document"] for hit in json.loads(text)["results"]) if text else []
