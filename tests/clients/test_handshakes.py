"""Clients of years past are still greeted in the revision they know."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import Shelf

PATIENCE = 20


@pytest.mark.requirement("X-016")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_handshake_of_any_age_is_answered_on_stdio(shelf: Shelf, version: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"},
        },
    }
    where = [str(shelf.folder), "--index", str(shelf.place / "index")]

    done = subprocess.run(
        [sys.executable, "-m", "bookwheel", "serve", *where],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )

    answer = json.loads(done.stdout)
    assert (answer["id"], answer["result"]["protocolVersion"]) == (1, version)
