"""Plain calls within a session go past the SDK, and nobody can tell but by the time it takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract, Reply, Tool
from bookwheel.contracts.work import Cancelled, Work
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from tests.serve.conftest import (
    OFFERED,
    PATIENCE,
    SECRET,
    Answer,
    Nothing,
    Site,
    serving,
    shape_error,
)
from tests.serve.test_http import BOTH, INITIALIZE

VERSION = "2025-11-25"


class Session:
    """A client with a session, of a revision."""

    def __init__(self, site: Site, version: str = VERSION) -> None:
        about = {**INITIALIZE["params"], "protocolVersion": version}  # type: ignore[dict-item] # it is one
        opened = site.post({**INITIALIZE, "params": about}, Accept=BOTH)
        self._site = site
        self._names = {
            "Accept": BOTH,
            "Mcp_Session_Id": opened.headers["mcp-session-id"],
            "Mcp_Protocol_Version": version,
        }
        self.send("notifications/initialized", {})

    def send(self, method: str, params: Any, **others: Any) -> Answer:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **others}
        return self._site.post(message, **self._names)

    def call(self, params: Any, number: Any = 1) -> Answer:
        return self.send("tools/call", params, id=number)

    def end(self) -> Answer:
        return self._site.ask("DELETE", "/mcp", None, **self._names)


@pytest.fixture(scope="module")
def site(calls: Calls) -> Iterator[Site]:
    with serving({"/mcp": DocumentServer(calls, OFFERED)}) as made:
        yield made


PLAIN = [
    {"name": "echo", "arguments": {"word": 'a "zebra"\n\u2028é\U0001f993'}},
    {"name": "echo", "arguments": {"word": "zebra"}, "_meta": {"example.org/a": 1}},
    {"name": "echo"},
    {"name": "echo", "arguments": {"wrd": 1}},
    {"name": "refuse"},
    {"name": "nothing"},
]
ODD = [
    {},
    {"name": 1},
    {"name": "echo", "arguments": []},
    {"name": "echo", "arguments": None},
    {"name": "echo", "arguments": {"word": "zebra"}, "_meta": 1},
    {"name": "echo", "arguments": {"word": "zebra"}, "other": 1},
]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", VERSION])
@pytest.mark.parametrize("params", [*PLAIN, *ODD])
def test_a_call_is_answered_as_the_sdk_answers_it(
    site: Site, params: dict[str, Any], version: str
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    ours = Session(site, version).call(params)
    sdks = site.post(message, Mcp_Protocol_Version=version)  # without a session all goes that way

    assert (ours.status, ours.headers["content-type"]) == (200, "application/json")
    assert ours.value == sdks.value


@pytest.mark.parametrize("number", [7, "7", "a-b", 0])
def test_the_answer_bears_the_id_of_the_call(site: Site, number: Any) -> None:
    params = {"name": "echo", "arguments": {"word": "zebra"}}

    answer = Session(site).call(params, number).value

    content = [{"type": "text", "text": "zebra"}]
    result = {"content": content, "structuredContent": {"word": "zebra"}, "isError": False}
    assert answer == {"jsonrpc": "2.0", "id": number, "result": result}


def test_t29_a_defect_is_answered_by_a_reference_only(site: Site) -> None:
    answer = Session(site).call({"name": "fail"})

    assert answer.value["error"]["code"] == -32603
    assert SECRET.encode() not in answer.body
    assert "reference" in answer.value["error"]["message"]


class Endless:
    """A tool that works until it is given up."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def run(self, work: Work, _: Nothing) -> Reply:
        self.begun.set()
        try:
            work.wait(PATIENCE)
        except Cancelled:
            self.ended.set()
            raise
        return Reply("Nobody gave it up.")


@contextmanager
def calling(calls: Calls, number: Any) -> Iterator[tuple[Session, Endless, list[Answer]]]:
    """Let a session have a call under way that does not end by itself."""
    endless = Endless()
    tool = Tool("wait", "", "", Nothing, endless.run)
    waiting = Contract("waiting", (tool,), shape_error)
    with serving({"/mcp": DocumentServer(calls, Offered((waiting,), (waiting,)))}) as site:
        session = Session(site)
        answers: list[Answer] = []
        thread = threading.Thread(
            target=lambda: answers.append(session.call({"name": "wait"}, number))
        )
        thread.start()
        assert endless.begun.wait(PATIENCE)
        yield session, endless, answers
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.mark.parametrize(("number", "named"), [(7, 7), ("a", "a"), (7, "7")])
def test_a_call_that_is_given_up_ends_and_is_answered_so(
    calls: Calls, number: Any, named: Any
) -> None:
    with calling(calls, number) as (session, endless, answers):
        session.send("notifications/cancelled", {"requestId": "another"})
        told = session.send("notifications/cancelled", {"requestId": named})
        assert endless.ended.wait(PATIENCE)

    assert told.status == 202
    error = {"code": -32800, "message": "Request cancelled"}
    assert answers[0].value == {"jsonrpc": "2.0", "id": number, "error": error}


def test_a_second_request_of_one_id_is_refused_while_the_first_is_under_way(calls: Calls) -> None:
    """To the SDK, and to some clients, 7 and "7" are one."""
    with calling(calls, 7) as (session, endless, answers):
        for number in (7, "7"):
            refused = session.call({"name": "wait"}, number)
            assert (refused.status, refused.value["id"]) == (400, number)
            assert "still being answered" in refused.value["error"]["message"]
        session.send("notifications/cancelled", {"requestId": 7})
        assert endless.ended.wait(PATIENCE)

    assert answers[0].value["error"]["code"] == -32800


def test_a_session_that_ends_ends_its_calls(calls: Calls) -> None:
    with calling(calls, 7) as (session, endless, answers):
        assert session.end().status == 200
        assert endless.ended.wait(PATIENCE)
        assert session.call({"name": "wait"}).status == 404

    assert answers[0].status == 500
