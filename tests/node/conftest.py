"""Documents, a server of them, and programs that run in the private Node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.assistant import http_server
from tests.conftest import Shelf

HERE = Path(__file__).parent
NODE = Path(sys.executable).parent / "node"
MODULES = HERE / "node_modules"
PAGES = 120
PATIENCE = 50


class Ended(NamedTuple):
    """A program that has ended."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value that the program wrote."""
        assert self.code == 0, self.err or self.out
        return json.loads(self.out)


def run_node(program: Path, *arguments: str) -> Ended:
    """Run a program in the Node that `make` installed, and no other."""
    environment = {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }
    done = subprocess.run(
        [str(NODE), str(program), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        env=environment,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A folder of more documents than one page of the listing holds, indexed."""
    shelf = Shelf(tmp_path_factory.mktemp("documents"))
    shelf.put("zebra.md", "# Zebra\n\nA zebra has stripes.\n")
    for number in range(PAGES):
        shelf.put(f"page-{number:03}.md", f"# Page {number}\n\nNothing much.\n")
    shelf.update()
    return shelf


@pytest.fixture(scope="session")
def place(documents: Shelf) -> tuple[str, ...]:
    """The arguments of `bookwheel serve` for the documents."""
    return (str(documents.folder), "--index", str(documents.place / "index"))


@pytest.fixture(scope="session")
def site(place: tuple[str, ...]) -> Iterator[str]:
    """Serve the documents over HTTP; give the address."""
    with http_server(*place) as address:
        yield address
