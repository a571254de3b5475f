"""Libraries that the tests of `folder` and `pages` share, and short ways to ask about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from bookwheel.library import Library
from tests.clients.assistant import MODERN, Assistant, assisting
from tests.conftest import Shelf

FILLER = "Other matters are told here at some length, with plain words. " * 4
STOP = "Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz"
"""A word that no snippet of 60 characters or less can hold beside another."""

HANDBOOK = {
    "README.md": "# Project Overview\n\nThis project turns pages.\n",
    "guides/setup.md": (
        "---\ntitle: Setup Guide\ndescription: How to install it.\n---\n"
        "# Setup\n\nFirst things first.\n\n## Requirements\n\nPython and patience.\n\n"
        "## Installation\n\nThe installation steps are as follows: unpack, turn, read.\n"
    ),
    "guides/strange name #1?100%.md": "# Strange\n\nA quokka hides here.\n",
    "api/reference.html": (
        "<html><head><title>API Reference</title></head>"
        "<body><h1>Reference</h1><p>Call the <b>turnPage</b> endpoint.</p>"
        "<script>alert('turnstile')</script></body></html>"
    ),
    "notes/memo.txt": "Memo on ravens\n\nThe raven is a clever bird.\n",
    "birds/title.md": f"# The kestrel\n\n{FILLER}\n",
    "birds/heading.md": f"# Birds\n\n{FILLER}\n\n## The kestrel\n\n{FILLER}\n",
    "birds/text.md": f"# Animals\n\n{FILLER} A kestrel, kestrel, kestrel. {FILLER}\n",
}
"""Files of the library of one folder, chosen so that each hit is known."""


def fill(shelf: Shelf, files: Mapping[str, str | bytes], **flags: Any) -> Library:
    """Write files, index them and return the library."""
    for path, content in files.items():
        shelf.put(path, content)
    library = shelf.open(**flags)
    library.update()
    return library


def fill_two(shelf: Shelf) -> Library:
    """Return a library of two collections, `alpha` and `beta`; both have `same.md`."""
    shelf.put("../alpha/same.md", "# Same\n\nThe alpha wombat.\n")
    shelf.put("../alpha/only/here.md", "# Here\n\nThe lone numbat.\n")
    shelf.put("../beta/same.md", "# Same\n\nThe beta wombat.\n")
    library = shelf.open(shelf.place / "alpha", shelf.place / "beta")
    library.update()
    return library


@contextmanager
def asking(library: Library, toolset: str, era: str = MODERN) -> Iterator[Assistant]:
    """Connect to a library that is closed at the end."""
    with library, assisting(library, toolset, era) as assistant:
        yield assistant


def refusal(ask: Callable[..., object], *args: Any, **named: Any) -> tuple[int, str, Any]:
    """Return code, message and data of the JSON-RPC error that a call must be answered with."""
    with pytest.raises(MCPError) as caught:
        ask(*args, **named)
    error = caught.value.error
    return error.code, error.message, error.data


def addresses(text: str) -> list[str]:
    """Return the addresses of the hits in an answer of `search_documents`."""
    return re.findall(r"^\d+\. (\S+) - ", text, re.MULTILINE)


def paths(text: str) -> list[str]:
    """Return the paths of the hits in an answer of `search_docs`."""
    return re.findall(r"^\d+\. (.+) \(score: [1-9]\d*\)$", text, re.MULTILINE)
