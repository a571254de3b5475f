"""docs/tools.md describes every tool and argument, and its examples are what a client gets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bookwheel.contracts.tool import Contract, Tool
from bookwheel.library import Library
from bookwheel.serve.background import Indexing
from bookwheel.serve.toolsets import load_contracts
from tests.clients.assistant import Assistant, assisting
from tests.clients.documents_shelf import configured, write
from tests.docs_tables import DOCS

PAGE = (DOCS / "tools.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```(?!call)\w.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
"""The page without the contents of files and answers."""
TOOLSETS = ("documents", "folder", "pages", "files", "archives")
CONTRACTS: list[Contract] = [load_contracts()[name] for name in TOOLSETS]
TOOLS = [tool for contract in CONTRACTS for tool in contract.tools]

BOUNDS = ("minimum", "maximum", "minItems", "maxItems", "maxLength")

_FILE = re.compile(r"^```md (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CONFIG = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(
    r"^```call\n(.*?)^```\n(?:\n[^`]*)?\n```(json|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_CHANGING = re.compile(
    r"(\"(?:relevanceS|s)core\": ?|\"d(?:istance|uration_ms)\": ?|relevance: |score: )"
    r"(?:[0-9.]+|null)"
)
"""Scores may change whenever ranking gets better, distances come when vectors are made; the page
shows what they look like."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SHARE = "/mnt/shared"
"""Where the page has its folder."""


class Example(NamedTuple):
    """A call as the page shows it, and the answer that it shows."""

    tool: str
    arguments: dict[str, Any]
    kind: str
    answer: str


def read_examples() -> list[Example]:
    found = []
    for call, kind, answer in _EXAMPLE.findall(PAGE):
        made = json.loads(call)
        assert list(made) == ["name", "arguments"]
        found.append(Example(made["name"], made["arguments"], kind, answer))
    return found


EXAMPLES = read_examples()


def section(tool: str) -> str:
    """Return what the page says under the heading of a tool, answers left out."""
    (said,) = re.findall(rf"^### {tool}\n(.*?)(?=^##|\Z)", PROSE, re.DOTALL | re.MULTILINE)
    return str(said)


def rows(tool: str) -> dict[str, list[str]]:
    """Return value, default and purpose of each argument in a tool's table."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section(tool).split("\n")
        if line.startswith("| `")
    ]
    return {name.strip("`"): rest for name, *rest in cells}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folder of the page lies here."""
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def assistant(place: Path) -> Iterator[Assistant]:
    """A client of the folder that the page describes."""
    write(place / "operations", dict(_FILE.findall(PAGE)))
    (config,) = _CONFIG.findall(PAGE)
    (place / "config.toml").write_text(config, encoding="utf-8")
    with configured(place / "config.toml") as library, assisting(library, "all") as connected:
        thread = Indexing(partial(Library.open, library.settings))
        thread.start()
        yield connected
        thread.stop()


@pytest.mark.requirement("D-071")
def test_every_tool_stands_under_its_toolset_in_the_order_of_tools_list() -> None:
    headings = re.findall(r"^##+ (\w+)$", PROSE, re.MULTILINE)

    assert headings == [
        name
        for contract in CONTRACTS
        for name in (contract.name, *(tool.name for tool in contract.tools))
    ]


@pytest.mark.requirement("D-071")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_is_described_with_its_default_and_bounds(tool: Tool) -> None:
    schema = tool.input_schema()
    described = rows(tool.name)

    assert list(described) == list(schema["properties"])
    for name, (value, default, what) in described.items():
        made = schema["properties"][name]
        assert ("required" in value) == (name in schema.get("required", []))
        if "default" in made:
            assert default == json.dumps(made["default"]).strip('"')
        numbers = {int(number) for number in re.findall(r"\d+", value)}
        bounds = {made.get(bound) for bound in BOUNDS}
        assert bounds - {None} <= numbers
        assert all(f"`{choice}`" in value for choice in made.get("enum", ()))
        inner = made.get("items", {}).get("properties", {})
        assert all(f"`{key}`" in what for key in inner)


@pytest.mark.requirement("D-071")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_an_example_under_its_heading(tool: Tool) -> None:
    named = re.findall(r'^```call\n\{"name": "(\w+)"', section(tool.name), re.MULTILINE)

    assert named
    assert set(named) == {tool.name}


@pytest.mark.requirement("D-071")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.tool)
def test_the_examples_are_answered_as_the_page_shows(
    assistant: Assistant, example: Example, place: Path
) -> None:
    arguments = json.loads(json.dumps(example.arguments).replace(_SHARE, str(place)))
    answer = assistant.call(example.tool, **arguments)
    text = _TIME.sub("2026-01-05T09:30:00Z", answer.text.replace(str(place), _SHARE))
    said, shown = (_CHANGING.sub(r"\g<1>0", each) for each in (text, example.answer))

    if example.kind == "json":
        assert json.loads(said) == json.loads(shown)
    else:
        assert said.rstrip("\n") == shown.rstrip("\n")


def test_no_example_is_passed_over() -> None:
    assert len(EXAMPLES) == PAGE.count("```call\n")
