"""Serving one client over standard input and output: a line is a message, nothing else passes."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncIterator, Callable
from typing import Any, BinaryIO

import anyio
import anyio.to_thread

from bookwheel.serve.changes import ChangeBell, stopping_on_signals
from bookwheel.serve.envelope import (
    INVALID_REQUEST,
    Message,
    Refusal,
    RequestId,
    find_misnamed,
    read_message,
)
from bookwheel.serve.mcp import DocumentServer

log = logging.getLogger(__name__)

LONGEST_LINE = 4 * 1024 * 1024
LAST_ANSWERS_SECONDS = 1.5
_GREETING_SECONDS = 0.5
_ENDLESS = "subscriptions/listen"


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for the protocol; what others print goes to stderr.

    Worker processes and stray prints find an empty input and standard error in their places.
    """
    reader, writer = os.fdopen(os.dup(0), "rb", buffering=-1), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reader, writer  # never closed: a thread may wait for a line when the server ends


class Lines:
    """The client's side of the wire: reads its messages, writes answers, refuses the rest."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._writing = anyio.Lock()
        self._unanswered: set[RequestId] = set()
        self._answered = anyio.Event()
        self.has_written = anyio.Event()

    async def messages(self) -> AsyncIterator[Message]:
        """Give each sound message; at the end of input, wait a little for the last answers."""
        while (line := await self._next_line()) is not None:
            if line.isspace():
                continue
            read = self._check(line)
            if isinstance(read, Refusal):
                await self.write(read.as_json())
            else:
                self._expect(read)
                yield read
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            while self._unanswered:
                self._answered = anyio.Event()
                await self._answered.wait()

    async def _next_line(self) -> bytes | None:
        line = await anyio.to_thread.run_sync(self._read_line, abandon_on_cancel=True)
        return line or None

    def _read_line(self) -> bytes:
        line = self._reader.readline(LONGEST_LINE + 1)
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = self._reader.readline(LONGEST_LINE + 1)
        return line

    def _check(self, line: bytes) -> Message | Refusal:
        if len(line) > LONGEST_LINE:
            return Refusal(INVALID_REQUEST, f"Invalid request: longer than {LONGEST_LINE} bytes.")
        read = read_message(line)
        if isinstance(read, Message) and read.id is not None and read.id in self._unanswered:
            message = "Invalid request: a request with this id is still being answered."
            return Refusal(INVALID_REQUEST, message, read.id)
        misnamed = find_misnamed(read) if isinstance(read, Message) else None
        return misnamed or read

    def _expect(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            self._settle(message.body.get("params", {}).get("requestId"))
        elif message.id is not None and message.method != _ENDLESS:
            self._unanswered.add(message.id)

    def _settle(self, request: Any) -> None:
        if isinstance(request, (str, int)):
            self._unanswered.discard(request)
            self._answered.set()

    async def write(self, message: dict[str, Any]) -> None:
        """Write one message on its line."""
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
        async with self._writing:
            await anyio.to_thread.run_sync(
                self._write, text.encode("utf-8", "replace"), abandon_on_cancel=True
            )
        self.has_written.set()
        if "method" not in message:
            self._settle(message.get("id"))

    def _write(self, line: bytes) -> None:
        self._writer.write(line)
        self._writer.flush()


async def _start_after_greeting(lines: Lines, start: Callable[[], None]) -> None:
    """Leave the processor to the handshake, which the client waits for, unless none comes."""
    with anyio.move_on_after(_GREETING_SECONDS):
        await lines.has_written.wait()
    start()


async def serve_stdio(
    server: DocumentServer,
    streams: tuple[BinaryIO, BinaryIO],
    bell: ChangeBell,
    start_indexing: Callable[[], None],
) -> None:
    """Serve until the client closes its end or the process is told to stop."""
    lines = Lines(*streams)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bell.notify, [server])
        tasks.start_soon(_start_after_greeting, lines, start_indexing)
        with stopping_on_signals(tasks.cancel_scope.cancel):
            try:
                await server.serve_messages(lines.messages(), lines.write)
            except* (BrokenPipeError, ConnectionError):
                log.info("the client is gone")
        tasks.cancel_scope.cancel()
