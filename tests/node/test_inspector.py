"""The MCP Inspector, on its command line, finds no fault with any toolset, transport or era."""

from __future__ import annotations

import json
import sys

import pytest

from bookwheel.serve.toolsets import ALL, choose, load_contracts
from tests.node.conftest import MODULES, Ended, run_node

INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
KNOWN = load_contracts()
SEARCH = ("tools/call", "--tool-name", "documents_search", "--tool-args-json", '{"query": "zebra"}')

Target = list[str]
pytestmark = pytest.mark.requirement("P-078")


def inspect(target: Target, *question: str) -> Ended:
    """Ask one method of a server; the exit code tells whether the Inspector is content."""
    options = ("--cli", "--method", *question, "--format", "json", "--quiet")
    return run_node(INSPECTOR, *options, *target)


def over_http(site: str, toolset: str | None) -> Target:
    return ["--transport", "http", f"{site}/mcp/{toolset}" if toolset else f"{site}/mcp"]


def over_stdio(place: tuple[str, ...], toolset: str | None) -> Target:
    choice = ["--toolsets", toolset] if toolset else []
    return ["--", sys.executable, "-m", "bookwheel", "serve", *place, *choice]


@pytest.fixture(params=["http", "stdio"])
def target(request: pytest.FixtureRequest, place: tuple[str, ...]) -> Target:
    """The way to the server as it comes, over the one transport and the other."""
    if request.param == "http":
        return over_http(request.getfixturevalue("site"), None)
    return over_stdio(place, None)


@pytest.mark.parametrize("toolset", [None, *KNOWN, ALL])
def test_the_schemas_of_every_address_are_portable(site: str, toolset: str | None) -> None:
    check_schemas(over_http(site, toolset), toolset)


@pytest.mark.parametrize("toolset", [None, ALL])
def test_the_schemas_on_stdio_are_portable(place: tuple[str, ...], toolset: str | None) -> None:
    check_schemas(over_stdio(place, toolset), toolset)


def check_schemas(target: Target, toolset: str | None) -> None:
    answer = inspect(target, "tools/list", "--strict").value
    offered = choose(KNOWN, toolset).tools()
    assert [tool["name"] for tool in answer["result"]["tools"]] == [tool.name for tool in offered]
    assert "schemaFindings" not in answer  # where errors and mere warnings would stand


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_a_search_is_answered_in_every_era(target: Target, era: str) -> None:
    result = inspect(target, *SEARCH, "--protocol-era", era).value["result"]

    assert result["isError"] is False
    assert json.loads(result["content"][0]["text"])[0]["documentId"] == "zebra.md"


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_resources_are_listed_in_every_era(site: str, era: str) -> None:
    ended = inspect(over_http(site, None), "resources/list", "--protocol-era", era)

    uris = [each["uri"] for each in ended.value["result"]["resources"]]
    assert len(uris) == len(set(uris)) > 100
    assert "docs://zebra.md" in uris


@pytest.mark.requirement("X-020")
def test_every_tool_has_a_title_and_tells_whether_it_only_reads(site: str) -> None:
    listed = inspect(over_http(site, ALL), "tools/list").value["result"]["tools"]

    assert all(tool["title"] for tool in listed)
    assert {tool["name"]: tool["annotations"] for tool in listed} == {
        tool.name: {
            "readOnlyHint": tool.name != "indexFolder",
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": tool.name in ("summarizeResults", "rewriteQuery"),
        }
        for tool in choose(KNOWN, ALL).tools()
    }
