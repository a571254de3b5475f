"""Broken frames of every kind, over stdio and HTTP: each gets its own answer or none, none harms.

Between them go calls whose answers are known. A failure names its seed: `SEED` repeats it.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.toolsets import choose, load_contracts
from tests.conftest import Shelf
from tests.faults.sizes import PropertyRecorder, size
from tests.serve.conftest import PATIENCE, Site, serving
from tests.serve.mutations import HANDSHAKE, MODERN, SESSIONS, WORDS, Mutations, id_of
from tests.serve.test_stdio import Talk, command

SEED = int(os.environ.get("BOOKWHEEL_TEST_SEED", "1"))
FRAMES = 5_000
MANY = size("FRAMES", 200_000) // 4
"""For each of stdio and HTTP, and each era."""
_SOUND_EVERY = 25
_CLIENTS = 4
_WITHIN = 300
_INSIDE = (
    *("Traceback", "pydantic", "site-packages", "bookwheel/serve", "bookwheel/contracts", ".py"),
    *("mcp_types", "ValidationError", "RuntimeError", "object at 0x", "NoneType", "<class"),
)
"""What no answer may hold."""

eras = pytest.mark.parametrize("era", [SESSIONS, MODERN])


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("fuzzed"))
    for name, word in WORDS.items():
        title = name.removesuffix(".md").title()
        shelf.put(name, f"# {title}\n\nA {title} has {word}.\n\n## More\n\nMuch about it.\n")
    shelf.update()
    return shelf


def check(answer: dict[str, Any], sent: Any, seed: int) -> None:
    """Fail if an answer bears an id that was not sent, or tells of the inside."""
    text = json.dumps(answer, ensure_ascii=False)
    leaks = [word for word in _INSIDE if word in text]
    assert not leaks, f"seed {seed}: {leaks} in {text[:2000]}"
    found = answer.get("id")
    kind = "result" in answer or "error" in answer
    assert not kind or found is None or (type(found), found) in sent, f"seed {seed}: {text[:2000]}"
    code = answer["error"]["code"] if isinstance(answer.get("error"), dict) else None
    assert code is None or is_known(code), f"seed {seed}: {text[:2000]}"


def is_known(code: int) -> bool:
    """Tell whether a code is JSON-RPC's own, or one that a revision of the protocol defines."""
    return code in (-32700, -32600, -32601, -32602, -32603, -32002) or -32099 <= code <= -32020


def check_known(answer: dict[str, Any], document: str, seed: int) -> None:
    """Fail unless a known call found its document, first and alone."""
    told = answer["result"]["content"][0]["text"]
    assert told.startswith(f"Found 1 results:\n\n1. {document} "), f"seed {seed}: {told}"


class Ears:
    """Reads what a server writes until it ends, so that it never waits."""

    def __init__(self, talk: Talk) -> None:
        self.lines: list[bytes] = []
        self._talk = talk
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._talk.process.stdout is not None
        self.lines += iter(self._talk.process.stdout.readline, b"")

    def end(self) -> list[dict[str, Any]]:
        """Close the server's input and return all that it wrote until its end."""
        assert self._talk.process.stdin is not None
        self._talk.process.stdin.close()
        assert self._talk.process.wait(PATIENCE) == 0
        self._thread.join(PATIENCE)
        return [json.loads(line) for line in self.lines]


@contextmanager
def talking(shelf: Shelf, seed: int) -> Iterator[Talk]:
    """Start a server whose log must tell of no defect in the end."""
    log = shelf.place / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            command(shelf, "--toolsets", "all"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
        ) as process,
    ):
        try:
            yield Talk(process)
        finally:
            process.kill()
    text = log.read_text(errors="replace")
    assert "defect" not in text, f"seed {seed}: {text[text.index('defect') :][:4000]}"


def fuzz_stdio(shelf: Shelf, era: str, seed: int, frames: int) -> None:
    mutations = Mutations(seed, era)
    sent: set[tuple[type, Any]] = {(int, 0)}
    known: dict[str, str] = {}
    with talking(shelf, seed) as talk:
        first = mutations._frame("initialize", HANDSHAKE, 0)
        talk.say(first if era == SESSIONS else mutations._frame("server/discover", {}, 0))
        assert "result" in talk.hear()
        ears = Ears(talk)
        for number in range(frames):
            frame = mutations.broken()
            sent.add((type(id_of(frame)), id_of(frame)))
            talk.say(frame)
            if number % _SOUND_EVERY == 0:
                name = f"sound-{number}"
                known[name] = mutations.chance.choice(list(WORDS))
                sent.add((str, name))
                talk.say(mutations.sound(known[name], name))
        last = mutations.sound("zebra.md", "last")
        sent.add((str, "last"))
        talk.say(last)
        answers = ears.end()
    known["last"] = "zebra.md"
    for answer in answers:
        check(answer, sent, seed)
    given = [each for each in answers if each.get("id") in known]
    assert Counter(each["id"] for each in given) == Counter(list(known)), f"seed {seed}"
    for each in given:
        check_known(each, known[each["id"]], seed)


@pytest.fixture(scope="module")
def site(stocked: Shelf) -> Iterator[Site]:
    with stocked.open() as library:
        calls = Calls(library)
        with serving({"/mcp": DocumentServer(calls, choose(load_contracts(), "all"))}) as made:
            yield made
        calls.close()


class Visitor:
    """One client over HTTP that keeps its connection as long as the server does."""

    def __init__(self, site: Site, era: str, seed: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
        self._era = era
        self._seed = seed
        self._mutations = Mutations(seed, era)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": era,
        }
        if era == SESSIONS:
            shake = self._mutations._frame("initialize", HANDSHAKE, 0)
            answer = self._send("POST", json.dumps(shake).encode(), self._headers)
            self._headers["Mcp-Session-Id"] = answer[1]["mcp-session-id"]
            notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            self._send("POST", json.dumps(notice).encode(), self._headers)

    def _send(
        self, method: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], list[dict[str, Any]]]:
        self._connection.request(method, "/mcp", body, headers)
        answer = self._connection.getresponse()
        data = answer.read()
        named = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, named, list(_messages(data, named.get("content-type", "")))

    def run(self, frames: int) -> None:
        """Send broken frames, and now and then one whose answer is known."""
        for number in range(frames):
            frame = self._mutations.broken()
            headers = self._mutate_headers(self._add_routing(frame))
            status, named, messages = self._send("POST", frame, headers)
            assert status < 500, f"seed {self._seed}: {status} for {frame[:2000]!r} {headers}"
            own = id_of(frame)
            for message in messages:
                check(message, {(type(own), own)}, self._seed)
            opened = named.get("mcp-session-id")
            if opened and opened != self._headers.get("Mcp-Session-Id"):
                self._send("DELETE", None, {**self._headers, "Mcp-Session-Id": opened})
            if number % _SOUND_EVERY == 0:
                self._ask_known(f"sound-{number}")
        self._connection.close()

    def _ask_known(self, name: str) -> None:
        document = self._mutations.chance.choice(list(WORDS))
        frame = json.dumps(self._mutations.sound(document, name)).encode()
        status, _, (answer,) = self._send("POST", frame, self._add_routing(frame))
        assert (status, answer["id"]) == (200, name), f"seed {self._seed}: {answer}"
        check_known(answer, document, self._seed)

    def _add_routing(self, frame: bytes) -> dict[str, str]:
        """Return the headers that go with a frame, as far as it can be read."""
        if self._era == SESSIONS:
            return self._headers
        try:
            value = json.loads(frame.decode())
            params = value.get("params") or {}
            named = (value["method"], params.get("name", params.get("uri", "x")))
            pairs = zip(("Mcp-Method", "Mcp-Name"), named, strict=True)
            return self._headers | {name: _plain(text) for name, text in pairs}
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
            return self._headers

    def _mutate_headers(self, headers: dict[str, str]) -> dict[str, str]:
        chance = self._mutations.chance
        if chance.random() < 0.7:
            return headers
        made = dict(headers)
        name = chance.choice([*made, "Mcp-Method", "Mcp-Name", "Origin", "Last-Event-ID"])
        values = (
            *("", "x", "\xff\xfe", "text/plain", "*/*", "application/json", SESSIONS, MODERN),
            *("2024-11-05", "9999-99-99", "tools/call", "=?base64?eA==?=", "a" * 3000, "0", "-1"),
        )
        if chance.random() < 0.3:
            made.pop(name, None)
        else:
            made[name] = chance.choice(values)
        return made


def _plain(text: Any) -> str:
    return "".join(each for each in str(text) if " " <= each <= "~")[:200]


def _messages(body: bytes, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the messages of an answer; any other text is given as one, to be looked at."""
    if kind.startswith("text/event-stream"):
        for line in body.splitlines():
            if line.startswith(b"data: {"):
                yield json.loads(line.removeprefix(b"data: "))
    elif body and kind.startswith("application/json"):
        yield json.loads(body)
    elif body:
        yield {"text": body.decode("utf-8", "replace")}


def fuzz_http(site: Site, log: pytest.LogCaptureFixture, era: str, seed: int, frames: int) -> None:
    def visit(number: int) -> None:
        Visitor(site, era, seed * 1000 + number).run(frames // _CLIENTS)

    with ThreadPoolExecutor(_CLIENTS) as threads:
        list(threads.map(visit, range(_CLIENTS)))
    # The toolset `archives` logs each refusal as an error: its contract says so.
    errors = [each for each in log.records if each.levelno >= logging.ERROR]
    worst = [each.getMessage() for each in errors if not each.name.endswith(".archives")]
    assert not worst, f"seed {seed}: {log.text[-4000:]}"
    log.clear()


@pytest.mark.requirement("P-047")
@eras
def test_t10_broken_lines_do_no_harm(stocked: Shelf, era: str) -> None:
    fuzz_stdio(stocked, era, SEED, FRAMES)


@pytest.mark.requirement("P-047")
@eras
def test_t10_broken_requests_do_no_harm(
    site: Site, caplog: pytest.LogCaptureFixture, era: str
) -> None:
    fuzz_http(site, caplog, era, SEED, FRAMES)


@pytest.mark.faults
@pytest.mark.timeout(_WITHIN * 6)
@eras
def test_t10_very_many_broken_lines_do_no_harm(
    stocked: Shelf, era: str, record_property: PropertyRecorder
) -> None:
    for seed in range(SEED, SEED + 5):
        fuzz_stdio(stocked, era, seed, MANY // 5)
    record_property("figure", f"{MANY:,} broken lines on stdio, {era}: 0 crashes, 0 wrong answers")


@pytest.mark.faults
@pytest.mark.timeout(_WITHIN * 6)
@eras
def test_t10_very_many_broken_requests_do_no_harm(
    site: Site, caplog: pytest.LogCaptureFixture, era: str, record_property: PropertyRecorder
) -> None:
    for seed in range(SEED, SEED + 5):
        fuzz_http(site, caplog, era, seed, MANY // 5)
    record_property("figure", f"{MANY:,} broken requests over HTTP, {era}: 0 crashes, 0 wrong")
