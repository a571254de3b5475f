"""Libraries that the tests of the toolsets share: one folder, and two with paths in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.tool import Contract, Reply, RpcError
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from tests.conftest import Shelf

FILLER = "Other matters are told here at some length, with plain words. " * 4

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


def ask(library: Library, contract: Contract, tool: str, /, **arguments: Any) -> Reply:
    """Call a tool as a client of one toolset does."""
    return call(Work(library), Offered((contract,), (contract,)), tool, arguments)


def refuse(library: Library, contract: Contract, tool: str, /, **arguments: Any) -> RpcError:
    """Call a tool that must answer with a JSON-RPC error; return the error."""
    with pytest.raises(RpcError) as caught:
        ask(library, contract, tool, **arguments)
    return caught.value


def told(error: RpcError) -> tuple[int, str, dict[str, Any] | None]:
    """Return all that a JSON-RPC error says."""
    return error.code, error.message, error.data


def fill(shelf: Shelf, files: dict[str, str], **flags: Any) -> Library:
    """Write files, index them and return the library."""
    for path, content in files.items():
        shelf.put(path, content)
    library = shelf.open(**flags)
    library.update()
    return library


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """One collection, `notes`."""
    with fill(Shelf(tmp_path_factory.mktemp("one")), HANDBOOK) as library:
        yield library


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Two collections, `alpha` and `beta`; both have `same.md`."""
    shelf = Shelf(tmp_path_factory.mktemp("two"))
    shelf.put("../alpha/same.md", "# Same\n\nThe alpha wombat.\n")
    shelf.put("../alpha/only/here.md", "# Here\n\nThe lone numbat.\n")
    shelf.put("../beta/same.md", "# Same\n\nThe beta wombat.\n")
    with shelf.open(shelf.place / "alpha", shelf.place / "beta") as library:
        library.update()
        yield library
