"""Collections with known documents, and short ways to ask the `documents` tools about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.documents import CONTRACT
from bookwheel.contracts.tool import Reply
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from bookwheel.settings import load

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
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def open_library(place: Path) -> Iterator[Library]:
    """Yield a library of three collections: one with an alias, one without, an empty one."""
    manifest = {"manifest.json": '{"version": "2.1", "description": "How we work."}'}
    write(place / "handbook", HANDBOOK | manifest)
    write(place / "plain", PLAIN)
    write(place / "void", {})
    (place / "config.toml").write_text(CONFIG, encoding="utf-8")
    flags = {"index": str(place / "index"), "workers": 1}
    with Library.open(load(flags, config=str(place / "config.toml"), environment={})) as opened:
        opened.update()
        yield opened


def reply(library: Library, tool: str, **arguments: Any) -> Reply:
    return call(Work(library), Offered((CONTRACT,), (CONTRACT,)), f"documents_{tool}", arguments)


def ask(library: Library, tool: str, **arguments: Any) -> Any:
    """Return the answer's JSON, having seen that the structured content says the same."""
    answer = reply(library, tool, **arguments)
    assert not answer.is_error, answer.text
    value = json.loads(answer.text)
    assert answer.text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert answer.structured is not None
    if isinstance(value, list):
        assert list(answer.structured.values()) == [value]
    else:
        assert answer.structured == value
    return value


def refusal(library: Library, tool: str, **arguments: Any) -> str:
    answer = reply(library, tool, **arguments)
    assert answer.is_error
    assert answer.structured is None
    return answer.text
