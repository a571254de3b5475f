"""Servers under measurement: started as users start them, asked for their address and their CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.clocks import REPOSITORY, cpu_clock

_UNLIMITED = {"MCP_RATE_LIMIT_REQUESTS": "0", "BOOKWHEEL_TOOL_LIMITS": "off"}
_PATIENCE = 60.0
_SAID = re.compile(r"serving (http://\S+)")


class Running(NamedTuple):
    """A server that listens."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Return the CPU seconds that the process took so far, its threads included."""
        return time.clock_gettime(cpu_clock(self.pid))


@contextmanager
def floor_server(log: Path) -> Iterator[Running]:
    """Run the SDK's bare server."""
    with _running(["-m", "bench.floors.server", "http"], log) as running:
        yield running


@contextmanager
def document_server(folders: Sequence[str], index: Path, log: Path) -> Iterator[Running]:
    """Run ours over folders, without limits on requests or calls of a tool."""
    where = [*folders, "--index", str(index), "--http", "127.0.0.1:0"]
    with _running(["-m", "bookwheel", "serve", *where], log) as running:
        yield running


@contextmanager
def _running(arguments: Sequence[str], log: Path) -> Iterator[Running]:
    environment = {**os.environ, **_UNLIMITED}
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=environment,
            cwd=REPOSITORY,
        ) as process,
    ):
        try:
            yield Running(_wait_for_address(process, log), process.pid)
        finally:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for_address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        found = _SAID.search(log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"no server came up: {log.read_text(errors='replace')[-2000:]}")
