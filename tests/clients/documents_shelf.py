"""Collections with known documents, and short ways for a client to ask the `documents` tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bookwheel.library import Library
from bookwheel.settings import load
from tests.clients.assistant import Assistant, Result

SETUP = """\
---
tags: [setup]
---
# Setup Guide

How a quagga is installed.

Install
-------

```sh
# Not a heading
pip install quagga
```

### Linux

The penguin way.

#### Details

Deep water.

## Usage

First usage.

## Other

### Usage

Second usage.
"""
PENGUIN = "Penguins swim in antarctic waters and hunt krill near the ice shelf."
HANDBOOK = {
    "guides/setup.md": SETUP,
    "birds/emperor.md": f"# Emperor\n\n{PENGUIN} The emperor breeds in winter.\n",
    "birds/adelie.md": f"# Adélie\n\n{PENGUIN} The adélie nests on stones.\n",
    "birds/krill.md": "# Krill\n\nKrill swarm in antarctic waters under the ice.\n",
    "money/tax.md": "# Tax\n\nInvoices, deductions and yearly returns.\n",
}
LONG = "# Long\n\n" + "".join(
    f"## Part {n}\n\n" + f"Línea {n} of many words 🐧 here.\n" * 20 for n in range(1, 101)
)
PLAIN = {
    "bare.md": "no heading, only an okapi\n",
    "emperor.md": f"# Emperor elsewhere\n\n{PENGUIN}\n",
    "long.md": LONG,
}
CONFIG = """\
[[collections]]
path = "handbook"
name = "company-handbook"
alias = "hb"

[[collections]]
path = "plain"

[[collections]]
path = "void"
description = "Empty so far."
version = "0.1"
"""
HB = {"collection": "hb", "collectionId": "company-handbook"}


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")


def write_shelf(place: Path) -> Path:
    """Write three collections, with an alias, without one and empty; return their config."""
    manifest = {"manifest.json": '{"version": "2.1", "description": "How we work."}'}
    write(place / "handbook", HANDBOOK | manifest)
    write(place / "plain", PLAIN)
    write(place / "void", {})
    config = place / "config.toml"
    config.write_text(CONFIG, encoding="utf-8")
    return config


@contextmanager
def configured(config: Path) -> Iterator[Library]:
    """Open and index the library of a configuration file; its index lies beside it."""
    flags = {"index": str(config.parent / "index"), "workers": 1}
    with Library.open(load(flags, config=str(config), environment={})) as library:
        library.update()
        yield library


def reply(assistant: Assistant, tool: str, **arguments: Any) -> Result:
    return assistant.call(f"documents_{tool}", **arguments)


def ask(assistant: Assistant, tool: str, **arguments: Any) -> Any:
    """Return the answer's JSON, having seen that the structured content says the same."""
    answer = reply(assistant, tool, **arguments)
    assert not answer.is_error, answer.text
    value = answer.json
    assert answer.text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    wrapper = "collections" if tool == "list_collections" else "results"
    assert answer.structured == ({wrapper: value} if isinstance(value, list) else value)
    return value


def refusal(assistant: Assistant, tool: str, **arguments: Any) -> str:
    """Return what is said of a call that fails: as a tool's result, never of JSON-RPC."""
    answer = reply(assistant, tool, **arguments)
    assert answer.is_error, answer.text
    assert answer.structured is None
    return answer.text
