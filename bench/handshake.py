"""From starting a server to its answer to `initialize` on standard output, against the SDK's own.

Both are started as modules with their bytecode made, in turn, and ended once they have answered.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from bench.clocks import REPOSITORY, Spent, cpu_clock
from bench.corpus import Corpus
from bench.figures import Figure, at_most
from bench.wire import SESSIONS

LIMIT = 1.25
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": SESSIONS,
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def measure(corpus: Corpus) -> list[Figure]:
    """Shake hands in turn and compare the medians; the first round makes the bytecode."""
    floor = ["-m", "bench.floors.server"]
    ours = ["-m", "bookwheel", "serve", *corpus.folders, "--index", str(corpus.index)]
    rounds = [(shake_hands(floor), shake_hands(ours)) for _ in range(corpus.repeats + 1)][1:]
    return [
        row("CPU", [(bare.cpu, full.cpu) for bare, full in rounds]),
        row("wall clock", [(bare.wall, full.wall) for bare, full in rounds]),
    ]


def row(clock: str, pairs: list[tuple[float, float]]) -> Figure:
    """Compare the medians of one clock."""
    floor, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    return at_most(
        f"handshake on stdio, {clock}",
        *(ours / floor, LIMIT),
        shown=f"{ours / floor:.2f} x",
        target=f"<= {LIMIT} x",
        how=f"{ours * 1e3:.0f} ms against {floor * 1e3:.0f} ms of the SDK's bare server with three "
        f"empty tools, medians of {len(pairs)}",
    )


def shake_hands(arguments: Sequence[str]) -> Spent:
    """Start a server, read its answer to `initialize`, and return what it took until then."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=REPOSITORY,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            wall = time.perf_counter() - began
            cpu = time.clock_gettime(cpu_clock(process.pid))
        finally:
            process.kill()
    if "serverInfo" not in answer["result"]:
        raise RuntimeError(f"no handshake: {answer}")
    return Spent(cpu, wall)
