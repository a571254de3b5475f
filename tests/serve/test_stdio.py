"""The server as assistants start it: a process that speaks over standard input and output."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.conftest import Shelf
from tests.serve.conftest import PATIENCE, within

STOP = 5 + 3
"""Seconds that are promised, and some for a busy machine."""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def command(shelf: Shelf, *options: str) -> list[str]:
    where = [str(shelf.folder), "--index", str(shelf.place / "index")]
    return [sys.executable, "-m", "bookwheel", "serve", *where, *options]


class Talk:
    """A conversation with the server, one line at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, message: Any) -> None:
        assert self.process.stdin is not None
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> tuple[bytes, bytes]:
        """Close the server's input; return the rest of what it writes."""
        return self.process.communicate(timeout=PATIENCE)


@contextmanager
def talking(shelf: Shelf, *options: str) -> Iterator[Talk]:
    process = subprocess.Popen(
        command(shelf, *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield Talk(process)
        finally:
            process.kill()


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_client_starts_it_calls_and_hears_of_changes(shelf: Shelf, era: str) -> None:
    shelf.put("zebra.md", "# Zebra\n\nA zebra has stripes.")
    heard = anyio.Event()
    program, *arguments = command(shelf, "--toolsets", "folder")
    environment = {**os.environ}

    async def hear(message: Any) -> None:
        heard.set()

    async def main() -> None:
        server = StdioServerParameters(command=program, args=arguments, env=environment)
        async with Client(server, mode=era, message_handler=hear) as client:
            said = ""
            while "docs://zebra.md" not in said:  # a slow machine may still be indexing
                result = await client.call_tool("search_documents", {"query": "zebra"})
                said = result.content[0].model_dump()["text"]
            if era == "auto":
                async with client.listen(resources_list_changed=True) as subscription:
                    shelf.put("new.md", "giraffe")
                    await anext(aiter(subscription))
            else:
                shelf.put("new.md", "giraffe")
                await heard.wait()

    within(main, 40)


@pytest.mark.requirement("X-017")
def test_t10_bad_lines_get_their_codes_and_do_not_stop_it(shelf: Shelf) -> None:
    with talking(shelf) as talk:
        for line in (b"{bad", b'{"id":7}', b"[]", b"\xff", b"", b'{"jsonrpc":"2.0","id":8}'):
            talk.say(line)
        refused = [talk.hear() for _ in range(5)]
        talk.say(INITIALIZE)
        greeted = talk.hear()
        talk.say(PING)
        pinged = talk.hear()
        rest, _ = talk.end()

    assert [(each["id"], each["error"]["code"]) for each in refused] == [
        (None, -32700),
        (7, -32600),
        (None, -32600),
        (None, -32700),
        (8, -32600),
    ]
    assert greeted["result"]["serverInfo"]["name"] == "bookwheel"
    assert pinged == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert rest == b""
    assert talk.process.returncode == 0


def test_t12_a_line_without_end_is_refused_and_the_next_one_answered(shelf: Shelf) -> None:
    with talking(shelf) as talk:
        talk.say(b'"' + b"x" * 9_000_000)
        refused = talk.hear()
        talk.say(INITIALIZE)
        assert talk.hear()["id"] == 0
        talk.end()

    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


def test_answers_still_come_when_the_input_ends_after_the_question(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")
    shelf.update()
    call = {"name": "search_documents", "arguments": {"query": "zebra"}}

    with talking(shelf, "--toolsets", "folder") as talk:
        talk.say(INITIALIZE)
        talk.say(INITIALIZED)
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        out, _ = talk.end()

    answers = [json.loads(line) for line in out.splitlines()]
    assert [each["id"] for each in answers if "id" in each] == [0, 1]
    assert "docs://zebra.md" in answers[-1]["result"]["content"][0]["text"]


def test_f19_it_ends_in_time_when_told_to_and_leaves_a_sound_index(shelf: Shelf) -> None:
    for number in range(300):
        shelf.put(f"{number}.md", f"# Page {number}\n\nzebra {number}")

    with talking(shelf) as talk:
        talk.say(INITIALIZE)
        talk.hear()
        talk.process.send_signal(signal.SIGTERM)
        out, _ = talk.process.communicate(timeout=STOP)

    assert talk.process.returncode == 0
    assert out == b""
    with shelf.open() as library:
        assert not library.exists or library.check() == []
        library.update()
        assert library.check() == []


@pytest.mark.parametrize("told", ["by a signal", "by the end of input"])
def test_f19_it_ends_in_time_though_its_answers_are_not_read(shelf: Shelf, told: str) -> None:
    with talking(shelf) as talk:
        talk.say(INITIALIZE)
        talk.hear()
        assert talk.process.stdout is not None
        fcntl.fcntl(talk.process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        for number in range(400):  # more answers than the pipe holds
            talk.say({**PING, "id": number + 1})
        if told == "by a signal":
            talk.process.send_signal(signal.SIGTERM)
        else:
            assert talk.process.stdin is not None
            talk.process.stdin.close()

        assert talk.process.wait(STOP) == 0


def test_the_handshake_does_not_wait_for_the_index(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")

    with shelf.open() as other, other.writing(), talking(shelf) as talk:
        talk.say(INITIALIZE)
        said = talk.hear()["result"]
        _, errors = talk.end()

    assert '"notes"' in said["instructions"]
    assert b"up to date" not in errors


@pytest.mark.requirement("X-018")
def test_t11_a_request_whose_id_is_in_use_is_refused(shelf: Shelf) -> None:
    with talking(shelf) as talk:
        talk.say(INITIALIZE)
        talk.hear()
        for _ in range(200):
            talk.say(PING)
        out, _ = talk.end()

    answers = [json.loads(line) for line in out.splitlines()]
    assert {each["id"] for each in answers} == {1}
    assert len(answers) == 200
    assert {each["error"]["code"] for each in answers if "error" in each} <= {-32600}


def test_an_unknown_toolset_is_named_with_those_there_are(shelf: Shelf) -> None:
    ended = subprocess.run(
        command(shelf, "--toolsets", "nonsense"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "There is no toolset 'nonsense'" in ended.stderr
    assert "folder" in ended.stderr


def test_a_cold_search_imports_nothing_of_the_server(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    where = [str(shelf.folder), "--index", str(shelf.place / "index")]
    code = (
        "import sys; from bookwheel.cli import main\n"
        f"sys.argv = ['bookwheel', 'search', 'zebra', *{where!r}]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([n for n in sys.modules if n.startswith(('bookwheel.serve', 'mcp', 'starlette'))])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    ).stdout

    assert out.splitlines()[-1] == "[]"


def test_over_http_it_says_where_answers_and_ends_in_time(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command(shelf, "--toolsets", "folder", "--http", "127.0.0.1:0"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    with process:
        try:
            assert process.stderr is not None
            said = next(line.decode() for line in process.stderr if b"serving http" in line)
            url = said.split()[-1]

            async def main() -> None:
                async with Client(url) as client:
                    while True:  # on a slow machine it may not be indexed yet, and says so
                        result = await client.call_tool("search_documents", {"query": "zebra"})
                        text = result.content[0].model_dump()["text"]
                        if "docs://zebra.md" in text:
                            break
                        assert "index" in text
                        await anyio.sleep(0.1)

            within(main)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=STOP)
        finally:
            process.kill()
    assert process.returncode == 0
