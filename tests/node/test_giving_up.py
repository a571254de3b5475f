"""A client that gives a call up ends its work on the server, and goes on with the connection."""

from __future__ import annotations

import json
import threading

import pytest

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract, Reply, Tool
from bookwheel.contracts.work import Cancelled, Work
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from tests.node.conftest import HERE, run_node
from tests.node.test_clients import KINDS
from tests.serve.conftest import ECHO, PATIENCE, Nothing, serving, shape_error
from tests.serve.conftest import calls as calls
from tests.serve.conftest import library as library

ROUNDS = 10_000


class Endless:
    """A tool that works for minutes unless it is given up."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def run(self, work: Work, _: Nothing) -> Reply:
        try:
            for done in range(1, ROUNDS):
                self.ended.wait(0.01)
                work.advance(done, ROUNDS, "waiting")
        except Cancelled:
            self.ended.set()
            raise
        return Reply("Nobody gave it up.")


@pytest.mark.parametrize("name", KINDS)
def test_a_call_that_is_given_up_ends(calls: Calls, name: str) -> None:
    kind, endless = KINDS[name], Endless()
    wait = Tool("wait", "Wait", "Work for ever.", Nothing, endless.run)
    waiting = Contract("waiting", (ECHO, wait), shape_error, resources=True)
    server = DocumentServer(calls, Offered(listed=(waiting,), callable=(waiting,)))

    with serving({"/mcp": server}) as site:
        wanted = {"mode": kind.mode, "url": f"{site.url}/mcp", "giveUp": True}
        seen = run_node(HERE / kind.program, json.dumps(wanted)).value
        assert endless.ended.wait(PATIENCE)

    assert "enough" in seen["error"]["message"]
    assert seen["next"]["structuredContent"] == {"word": "zebra"}
