"""markdown-vault-mcp: a server for a vault of Markdown notes, on SQLite FTS5."""

from __future__ import annotations

import json
from typing import Any

from bench.rivals.askers import McpAsker, ProcessAsker
from bench.rivals.base import (
    LIMIT,
    MCP,
    Asker,
    Command,
    Rival,
    make_venv,
    packages_size,
    unique,
)

VERSION = "5.1.0"


class MarkdownVault(Rival):
    """Its own Python environment, the vault read-only."""

    name = "markdown-vault-mcp"
    asked = "tool `search`, mode keyword; `markdown-vault-mcp search`"
    not_run = "vectors: a model from a hub, or an endpoint"

    def install(self) -> None:
        make_venv(self.home, f"markdown-vault-mcp=={VERSION}")

    def version(self) -> str:
        return VERSION

    def installed(self) -> int:
        return packages_size(self.home)

    def index(self) -> Command:
        return self._command("index")

    def rescan(self) -> Command:
        return self._command("reindex")

    def asking(self, way: str) -> Asker:
        if way == MCP:
            log = self.place.with_name(f"{self.place.name}.log")
            return McpAsker(self._command("serve"), log, "search", arguments, paths_of_answer)
        many = ["--json", "-n", str(LIMIT)]
        return ProcessAsker(
            lambda query: [self._command("search", *many, "--", query)], paths_of_output
        )

    def _command(self, *words: str) -> Command:
        environment = {
            "MARKDOWN_VAULT_MCP_SOURCE_DIR": str(self.docs),
            "MARKDOWN_VAULT_MCP_READ_ONLY": "true",
            "MARKDOWN_VAULT_MCP_INDEX_PATH": str(self.place / "index.db"),
        }
        return Command([str(self.home / "bin" / "markdown-vault-mcp"), *words], environment)


def arguments(query: str) -> dict[str, Any]:
    """Return what the tool is called with."""
    return {"query": query, "limit": LIMIT, "mode": "keyword"}


def paths_of_answer(answer: dict[str, Any]) -> list[str]:
    """Return the documents of a tool's answer."""
    return unique(hit["path"] for hit in answer["structuredContent"]["result"])


def paths_of_output(text: str) -> list[str]:
    """Return the documents of what its command prints as JSON, behind lines of its log."""
    start = next((at for at, line in enumerate(text.splitlines()) if line[:1] == "["), None)
    if start is None:
        return []
    hits = json.loads("\n".join(text.splitlines()[start:]))
    return unique(hit["path"] for hit in hits)
