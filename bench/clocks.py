"""Measuring CPU seconds: of this process, and of a child with everything that it started."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Spent:
    """What a stretch of work took: CPU seconds, user and system, and seconds on the wall."""

    cpu: float
    wall: float

    @property
    def cores(self) -> float:
        """Return how many cores were at work on average."""
        return self.cpu / self.wall if self.wall else 0.0


class Stopwatch:
    """Runs from its making; counts this process and its children, living or ended."""

    def __init__(self) -> None:
        self._cpu, self._wall = _cpu_now(), time.perf_counter()

    def read(self) -> Spent:
        return Spent(_cpu_now() - self._cpu, time.perf_counter() - self._wall)


def _cpu_now() -> float:
    # The process clock counts in nanoseconds; that of ended children is read from their usage.
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(map(_cpu_of, children(os.getpid())))
    return time.process_time() + ended.ru_utime + ended.ru_stime + living


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and not yet buried."""
    found: list[int] = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += map(int, each.read_text().split())
    return found


def _cpu_of(pid: int) -> float:
    return time.clock_gettime(cpu_clock(pid))


def run_python(arguments: Sequence[str]) -> Spent:
    """Run this Python in a new process and return what it and its own children took."""
    return run([sys.executable, *arguments])


def run(command: Sequence[str]) -> Spent:
    """Run a command with its output thrown away; raises when it fails."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=REPOSITORY) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - began)


def cpu_clock(pid: int) -> int:
    """Return the clock that counts the CPU of a process, as Linux numbers them."""
    return (~pid << 3) | 2


@contextmanager
def bytecode_kept(folder: Path) -> Iterator[None]:
    """Let children compile a module once, as it is when installed, whatever is set outside."""
    with patch.dict(os.environ, PYTHONPYCACHEPREFIX=str(folder)):
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        yield
