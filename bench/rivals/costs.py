"""What a command costs: CPU and memory of its process and of all that it starts."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench.rivals.base import Command

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU and wall-clock seconds, and the most bytes held at once."""

    cpu: float
    wall: float
    peak: int


def run(command: Command, log: Path) -> Cost:
    """Run a command to its end; raises when it fails. What it prints goes to the log."""
    began = time.perf_counter()
    with log.open("wb") as said:
        process = subprocess.Popen(
            command.line,
            env=command.surroundings,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        watcher = _Watcher(process.pid)
        watcher.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # whoever stops the run stops what it started
            process.terminate()
            raise
        finally:
            watcher.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    if process.returncode:
        said_last = log.read_text(encoding="utf-8", errors="replace")[-1500:]
        raise RuntimeError(f"{' '.join(command.line)}: {process.returncode}\n{said_last}")
    # A process too short to be looked at still has its own greatest size.
    return Cost(usage.ru_utime + usage.ru_stime, wall, watcher.peak or usage.ru_maxrss * 1024)


class _Watcher(threading.Thread):
    """Looks again and again how much memory a process and its children hold."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._pid = pid
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(_PAUSE):
            self.peak = max(self.peak, memory(self._pid))

    def stop(self) -> None:
        self._ended.set()
        self.join()


def family(pid: int) -> list[int]:
    """Return a process and all that come from it and still live."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (about := _stat(int(entry.name))):
            children.setdefault(int(about[1]), []).append(int(entry.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def memory(pid: int) -> int:
    """Return the bytes that a process and its children hold; shared pages count in parts."""
    return sum(_held(each) for each in family(pid))


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process and of its children, living and ended."""
    stats = [about for each in family(pid) if (about := _stat(each))]
    return sum(sum(map(int, about[11:15])) for about in stats) * _TICK


def _held(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0) * 1024


def _stat(pid: int) -> list[str]:
    """Return what /proc says of a process from its state on; nothing when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
