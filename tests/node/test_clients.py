"""Clients of the TypeScript SDK, of both generations, eras and transports, see what they should."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

import pytest

from tests.conftest import Shelf
from tests.node.conftest import HERE, PAGES, run_node

ZEBRA = "# Zebra\n\nA zebra has stripes.\n"
HINTS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}


class Kind(NamedTuple):
    """A client, how it is told to negotiate, and what then is to be seen."""

    program: str
    mode: str | None
    version: str
    missing: int
    """The code of an error that tells that a resource is not there."""
    says_code: bool = False
    """Whether its errors begin with the code."""


V1 = Kind("v1.mjs", None, "2025-11-25", -32002, says_code=True)
V2 = Kind("v2.mjs", None, "2025-11-25", -32602)  # it puts the newer code for the older itself
V2_AUTO = Kind("v2.mjs", "auto", "2026-07-28", -32602)
KINDS = {"v1": V1, "v2": V2, "v2-auto": V2_AUTO}


@pytest.fixture(scope="module", params=["http", "stdio"])
def target(request: pytest.FixtureRequest, place: tuple[str, ...]) -> dict[str, Any]:
    """Where a client connects: to the server that runs, or to one that it starts itself."""
    if request.param == "http":
        return {"url": request.getfixturevalue("site") + "/mcp"}
    return {"command": {"command": sys.executable, "args": ["-m", "bookwheel", "serve", *place]}}


@pytest.mark.requirement("X-016", "P-003")
@pytest.mark.parametrize("name", KINDS)
def test_a_client_connects_calls_reads_and_hears_of_changes(
    documents: Shelf, target: dict[str, Any], name: str
) -> None:
    kind, word = KINDS[name], f"{name}-{'http' if 'url' in target else 'stdio'}"
    wanted = {"mode": kind.mode, "folder": str(documents.folder), "word": word, **target}

    seen = run_node(HERE / kind.program, json.dumps(wanted)).value

    check_greeting(seen, kind)
    check_tools(seen, kind)
    check_resources(seen, kind)
    assert seen["changes"] == [
        {f"{word}-1.md": f"One {word}"},
        {f"{word}-1.md": f"First {word}"},
        {f"{word}-2.md": f"First {word}"},
        {},
    ]


def check_greeting(seen: Any, kind: Kind) -> None:
    assert seen["version"] == kind.version
    assert seen["server"]["name"] == "bookwheel"
    assert seen["capabilities"] == {
        "completions": {},
        "resources": {"subscribe": False, "listChanged": True},
        "tools": {},
    }
    assert "notes" in seen["instructions"]
    if kind is V2_AUTO:
        assert seen["honoured"] == {"resourcesListChanged": True}


def check_tools(seen: Any, kind: Kind) -> None:
    assert {tool["name"]: tool["annotations"] for tool in seen["tools"]} == {
        f"documents_{name}": HINTS
        for name in (
            "list_collections",
            "search",
            "get_document",
            "list_documents",
            "get_outline",
            "get_section",
            "search_batch",
            "find_related",
        )
    }
    (block,) = seen["found"]["content"]
    (hit,) = json.loads(block["text"])
    assert hit["documentId"] == "zebra.md"
    assert seen["found"]["structuredContent"] == {"results": [hit]}
    assert seen["misspelt"]["isError"] is True
    assert seen["misspelt"]["content"][0]["text"] == (
        "Argument 'query' is missing. Unknown argument 'qery': did you mean 'query'? "
        'Example: {"query": "rotate keys", "limit": 5}'
    )
    assert seen["progress"] == [{"progress": 1, "total": 2, "message": "searching"}]
    check_error(seen["unknownTool"], kind, -32602, "There is no tool 'no_such_tool'.")


def check_resources(seen: Any, kind: Kind) -> None:
    assert [len(page) for page in seen["pages"]] == [100, PAGES + 1 - 100]
    listed = {each["uri"]: each["title"] for page in seen["pages"] for each in page}
    pages = {f"docs://page-{number:03}.md": f"Page {number}" for number in range(PAGES)}
    assert listed == {**pages, "docs://zebra.md": "Zebra"}
    assert [each["uriTemplate"] for each in seen["templates"]] == ["docs://{+path}"]
    (content,) = seen["read"]["contents"]
    assert content == {"uri": "docs://zebra.md", "mimeType": "text/markdown", "text": ZEBRA}
    assert seen["completed"]["completion"]["values"] == ["zebra.md"]
    missing = 'Document "docs://missing.md" not found.'
    check_error(seen["missing"], kind, kind.missing, missing)


def check_error(error: Any, kind: Kind, code: int, message: str) -> None:
    prefix = f"MCP error {code}: " if kind.says_code else ""
    assert error["code"] == code
    assert error["message"].startswith(prefix + message)
