"""The ways in which a program is asked: by MCP on its standard input, or by a process each time."""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from bench.rivals import costs
from bench.rivals.base import Command

_VERSION = "2025-06-18"
"""Of the protocol: all programs speak it."""
_PATIENCE, _ENDING = 120.0, 10.0
_NONE = (0, 0)

Paths = Callable[[Any], list[str]]
Arguments = Callable[[str], dict[str, Any]]


class McpAsker:
    """A server started once, asked over its standard input and output."""

    def __init__(
        self, command: Command, log: Path, tool: str, arguments: Arguments, paths: Paths
    ) -> None:
        self._name = " ".join(command.line)
        self._tool, self._arguments, self._paths = tool, arguments, paths
        self._last = 0
        self._read = b""
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            command.line,
            env=command.surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )

    def __enter__(self) -> Self:
        about = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": about}
        try:
            self.request("initialize", hello)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # The end of its input is what ends a server on stdio.
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def __call__(self, query: str) -> list[str]:
        called = {"name": self._tool, "arguments": self._arguments(query)}
        answer = self.request("tools/call", called)
        # A refusal of a query is an answer in which nothing is found.
        return [] if answer.get("isError") else self._paths(answer)

    def cpu(self) -> float:
        return costs.cpu(self._process.pid)

    def memory(self) -> int:
        return costs.memory(self._process.pid)

    def tool_list(self) -> tuple[int, int]:
        tools = self.request("tools/list", {})["tools"]
        text = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
        return len(tools), len(text.encode())

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result; an error of the protocol is a result with it."""
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        deadline = time.monotonic() + _PATIENCE
        while True:
            message = json.loads(self._line(deadline))
            if message.get("id") == self._last and "method" not in message:
                result: dict[str, Any] = message.get("result") or {
                    "isError": True,
                    "error": message.get("error"),
                }
                return result

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # what has ended is found when its answer is read
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        number = self._process.stdout.fileno()
        while b"\n" not in self._read:
            ready, _, _ = select.select([number], [], [], max(0, deadline - time.monotonic()))
            part = os.read(number, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError(f"no answer from {self._name}; see {self._log.name}")
            self._read += part
        line, _, self._read = self._read.partition(b"\n")
        return line


class ProcessAsker:
    """A program that is started for every query; the next command is tried when one finds none."""

    def __init__(
        self, commands: Callable[[str], Sequence[Command]], paths: Callable[[str], list[str]]
    ) -> None:
        self._commands, self._paths = commands, paths

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, query: str) -> list[str]:
        # Whoever refuses a query ends with a code, and has found nothing.
        for command in self._commands(query):
            if found := self._paths(command.answer().stdout):
                return found
        return []

    def cpu(self) -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def memory(self) -> int:
        return 0

    def tool_list(self) -> tuple[int, int]:
        return _NONE


class InsideAsker:
    """A library in this very process."""

    def __init__(self, search: Callable[[str], list[str]], close: Callable[[], object]) -> None:
        self._search, self._close = search, close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __call__(self, query: str) -> list[str]:
        return self._search(query)

    def cpu(self) -> float:
        return time.process_time()

    def memory(self) -> int:
        return 0

    def tool_list(self) -> tuple[int, int]:
        return _NONE
