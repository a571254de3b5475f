"""The `files` tools as a client meets them: what is listed, how all of them answer and refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.contracts.files import CONTRACT
from bookwheel.library import Library
from bookwheel.view import View
from tests.clients.assistant import (
    LEGACY,
    MODERN,
    Assistant,
    assisting,
    command,
    connected,
    http_server,
)
from tests.clients.files_tree import SECRET, write_tree
from tests.conftest import Shelf

OWN = ["listRoots", "indexFolder", "searchFiles", "openFile"]
CODES = {
    *("FORBIDDEN", "BAD_REQUEST", "NOT_FOUND", "CONFLICT"),
    *("RATE_LIMITED", "INTERNAL_ERROR", "LLM_UPSTREAM"),
}
INPUT: dict[str, dict[str, Any]] = {
    "listRoots": {},
    "indexFolder": {
        "root": {"type": "string", "minLength": 1, "maxLength": 4096},
        "full": {"type": "boolean", "default": False},
        "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
    },
    "searchFiles": {
        "query": {"type": "string", "maxLength": 10_000},
        "k": {"type": "integer", "default": 10, "minimum": 1, "maximum": 100},
        "offset": {"type": "integer", "default": 0, "minimum": 0},
        "exts": {"type": "array", "items": {"type": "string"}},
        "years": {"type": "array", "items": {"type": "string"}},
        "roots": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 4096},
        },
    },
    "openFile": {
        "path": {"type": "string", "minLength": 1, "maxLength": 4096},
        "pointer": {"type": "string", "maxLength": 1000},
        "before": {"type": "integer", "default": 200, "minimum": 0},
        "after": {"type": "integer", "default": 200, "minimum": 0},
    },
}
OUTPUT = {
    "listRoots": {"roots"},
    "indexFolder": {"indexed", "skipped", "removed", "duration_ms"},
    "searchFiles": {"items", "pagination"},
    "openFile": {"path", "pointer", "preview", "truncated"},
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return write_tree(tmp_path_factory.mktemp("share"))


@pytest.fixture(scope="module")
def library(shelf: Shelf) -> Iterator[Library]:
    with shelf.open() as library:
        yield library


@pytest.fixture(scope="module", params=[LEGACY, MODERN])
def assistant(library: Library, request: pytest.FixtureRequest) -> Iterator[Assistant]:
    with assisting(library, "files", request.param) as assistant:
        yield assistant


def described(tools: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(tool for tool in tools if tool["name"] == name)


@pytest.mark.requirement("R-027", "R-039")
@pytest.mark.parametrize("name", OWN)
def test_each_tool_is_listed_with_exactly_these_arguments(assistant: Assistant, name: str) -> None:
    tool = described(assistant.tools(), name)
    schema = tool["inputSchema"]
    bare = {
        key: {word: value for word, value in made.items() if word != "description"}
        for key, made in schema["properties"].items()
    }

    assert bare == INPUT[name]
    assert schema.get("required", []) == list(INPUT[name])[:1]
    assert tool["annotations"]["readOnlyHint"] == (name != "indexFolder")


@pytest.mark.requirement("R-001")
@pytest.mark.parametrize("name", OWN)
def test_each_tool_promises_its_fields_or_an_error(assistant: Assistant, name: str) -> None:
    schema = described(assistant.tools(), name)["outputSchema"]

    assert schema["type"] == "object"
    assert schema["required"] == ["mcp_version"]
    fields, error = (set(each["required"]) for each in schema["anyOf"])
    assert (fields, error) == (OUTPUT[name], {"error"})
    assert set(schema["properties"]["error"]["properties"]["code"]["enum"]) == CODES


@pytest.mark.requirement("R-004")
def test_served_alone_it_has_no_resources(assistant: Assistant) -> None:
    assert assistant.client.server_capabilities.resources is None


@pytest.mark.requirement("R-001", "R-002", "R-011")
def test_the_roots_are_listed_as_json_in_text_and_structure(
    assistant: Assistant, shelf: Shelf
) -> None:
    answer = assistant.call("listRoots")

    assert answer.json == {"roots": [str(shelf.folder)], "mcp_version": "v1.0.0"}
    assert answer.structured == answer.json
    assert not answer.is_error


@pytest.mark.requirement("R-012")
def test_no_root_is_an_internal_error(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(View, "roots", lambda self: [])

    assert refusal(assistant, "listRoots")["code"] == "INTERNAL_ERROR"


def refusal(assistant: Assistant, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the error that a call must end with, its shape being checked."""
    answer = assistant.call(tool, **arguments)
    assert answer.is_error
    assert answer.structured == answer.json
    assert set(answer.json) == {"error", "mcp_version"}
    assert answer.json["mcp_version"] == "v1.0.0"
    error: dict[str, Any] = answer.json["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] in CODES
    assert error["details"]["hint"]
    return error


WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "listRoots": [({"root": "/"}, "root")],
    "indexFolder": [
        ({}, "root"),
        ({"root": ""}, "root"),
        ({"root": "finance"}, "finance"),
        ({"root": "/x", "full": "perhaps"}, "full"),
        ({"root": "/x", "priority": "urgent"}, "'low', 'normal' or 'high'"),
    ],
    "searchFiles": [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": " \n"}, "query"),
        ({"query": 5}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": "x", "k": 0}, "'k': input should be greater than or equal to 1 (from 1 to 100)"),
        (
            {"query": "x", "k": 101},
            "'k': input should be less than or equal to 100 (from 1 to 100)",
        ),
        ({"query": "x", "k": True}, "k"),
        ({"query": "x", "k": 1.5}, "k"),
        ({"query": "x", "offset": -1}, "offset"),
        ({"query": "x", "exts": ".pdf"}, "exts"),
        ({"query": "x", "exts": ["a/b"]}, "exts"),
        ({"query": "x", "exts": [f"{n}" for n in range(101)]}, "exts"),
        ({"query": "x", "years": ["21"]}, "years"),
        ({"query": "x", "years": ["last year"]}, "years"),
        ({"query": "x", "roots": [""]}, "roots"),
        ({"query": "x", "roots": ["finance"]}, "finance"),
        ({"query": "x", "root": ["/"]}, "did you mean 'roots'"),
    ],
    "openFile": [
        ({}, "path"),
        ({"path": ""}, "path"),
        ({"path": "notes/a.md"}, "notes/a.md"),
        ({"path": "/x", "before": -1}, "before"),
        ({"path": "/x", "after": -1}, "after"),
        ({"path": "/x", "pointer": 3}, "pointer"),
    ],
}


@pytest.mark.requirement("R-007", "R-008", "R-009", "R-026", "R-027", "R-042", "X-013")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [(tool, *row) for tool, rows in WRONG.items() for row in rows],
)
def test_wrong_arguments_are_named_with_their_bounds(
    assistant: Assistant, tool: str, arguments: dict[str, Any], named: str
) -> None:
    error = refusal(assistant, tool, **arguments)

    assert error["code"] == "BAD_REQUEST"
    assert named in error["message"]


@pytest.mark.requirement("R-010")
@pytest.mark.parametrize("tool", OWN)
def test_t29_a_defect_shows_a_reference_and_nothing_else(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"SELECT secret FROM /var/lib {SECRET}")

    for method in ("roots", "search", "file"):
        monkeypatch.setattr(View, method, fail)
    asked: dict[str, dict[str, Any]] = {
        "indexFolder": {"root": "/x"},
        "searchFiles": {"query": "x"},
        "openFile": {"path": "/x"},
    }
    error = refusal(assistant, tool, **asked.get(tool, {}))

    assert error["code"] == "INTERNAL_ERROR"
    assert "reference " in error["message"]
    assert not any(word in json.dumps(error) for word in (SECRET, "SELECT", "RuntimeError", "/var"))


def test_t26_whatever_is_asked_no_secret_and_no_address_comes_out(
    assistant: Assistant, shelf: Shelf
) -> None:
    said = [
        assistant.call("searchFiles", query=query, k=100).text
        for query in ("vendor", "ann", "ann@example.com", SECRET, "secrets of ann", "nonsuchword")
    ]
    items = json.loads(said[0])["items"]
    said += [assistant.call("openFile", path=item["path"]).text for item in items]
    for path in ("people/ann@example.com notes.md", "people/secrets of ann.md", ".env"):
        said.append(assistant.call("openFile", path=f"{shelf.folder}/{path}").text)
    said.append(assistant.call("openFile", path=f"{shelf.folder}/ann@example.com.md").text)

    assert not any("sk_live" in text or "ann@" in text for text in said)
    assert any("/people/[redacted:email]" in item["path"] for item in items)


@pytest.mark.parametrize("toolset", [None, "all"])
def test_it_can_be_called_at_a_default_server_and_among_all(
    library: Library, toolset: str | None
) -> None:
    with assisting(library, toolset) as assistant:
        listed = [tool["name"] for tool in assistant.tools()]
        assert ("searchFiles" in listed) == (toolset == "all")
        assert assistant.call("searchFiles", query="vendor").json["items"]


@pytest.mark.on_disk
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_stdio_and_http_give_the_same_answers(shelf: Shelf, library: Library, era: str) -> None:
    where = (shelf.folder, "--index", shelf.place / "index")
    seen = []
    with connected(
        command(*where, "--toolsets", "files", BOOKWHEEL_EMBEDDER="none"), era
    ) as assistant:
        seen.append(look_around(assistant, shelf))
    with http_server(*where, BOOKWHEEL_EMBEDDER="none") as url:
        for path in ("/mcp/files", "/mcp/all", "/mcp"):
            with connected(f"{url}{path}", era) as assistant:
                seen.append(look_around(assistant, shelf))

    assert all(each == seen[0] for each in seen)
    assert {tool.name for tool in CONTRACT.tools} >= set(OWN)


def look_around(assistant: Assistant, shelf: Shelf) -> list[Any]:
    found = assistant.call("searchFiles", query="vendor contract from 2021")
    item = found.json["items"][0]
    return [
        assistant.call("listRoots"),
        found,
        assistant.call("openFile", path=item["path"], pointer=item["pointer"]),
        assistant.call("openFile", path=f"{shelf.place}/outside"),
    ]
