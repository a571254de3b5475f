"""A server that is asked little for long: what it holds must not grow.

Eight clients of both eras ask twenty times a second, two files a second change. Memory, descriptors
and threads of the server and of the processes that answer, and the log of the database, are read
every few seconds; what comes before the first third is over counts as warming up. While something
is written more is held: what counts is the least of each stretch of time.
"""

from __future__ import annotations

import asyncio
import random
import re
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench.clocks import children
from bench.corpus import Corpus
from bench.crowd import Asker, Tally, changing
from bench.crowd_questions import QUESTIONS, make_pages
from bench.figures import Figure, at_most
from bench.servers import Running, document_server
from bench.wire import MODERN, SESSIONS, Client
from bookwheel.engines.place import DATABASE

CLIENTS = 8
RATE = 20
_CHANGE_SECONDS = 0.5
_SAMPLES = 360
"""As many for a soak of any length: every five seconds in thirty minutes."""
_WARM = 1 / 3
_STRETCHES = 16
_ANONYMOUS = re.compile(r"^RssAnon:\s+(\d+) kB$", re.MULTILINE)
_THREADS = re.compile(r"^Threads:\s+(\d+)$", re.MULTILINE)
_MEMORY_A_HOUR = 8.0
_LOG_MEGABYTES = 64


class Sample(NamedTuple):
    """What the processes of a server held at one moment."""

    hour: float
    memory: float
    """Megabytes that no file backs: those of files come and go with the room there is."""
    own: float
    """Of these the server's own: processes that answer or read files end and begin anew."""
    descriptors: float
    threads: float
    log: float
    processes: float


def measure(corpus: Corpus) -> list[Figure]:
    """Ask for the time of a soak and return what grew."""
    folder, index = corpus.work / "soak" / "crowd", corpus.work / "soak-index"
    rng = random.Random(corpus.seed)
    folder.parent.mkdir()
    pages = make_pages(rng, folder)
    with corpus.open(index, [str(folder)]) as library:
        library.update()
        library.embed()
    tally = Tally()
    seconds = corpus.soak_minutes * 60
    with (
        document_server([str(folder)], index, corpus.work / "soak.log") as server,
        changing(folder / "moving", rng, tally, every=_CHANGE_SECONDS),
        sampling(server, index, seconds / _SAMPLES) as samples,
    ):
        askers = [
            Asker(random.Random(number), pages, tally, QUESTIONS) for number in range(CLIENTS)
        ]
        asyncio.run(ask_slowly(server, askers, seconds))
    warm = samples[int(len(samples) * _WARM) :]
    return [answers(tally, seconds), *rows(warm, corpus.soak_minutes)]


def answers(tally: Tally, seconds: float) -> Figure:
    """Return how many answers were not right: none should be."""
    return at_most(
        *("soak: errors and wrong answers", tally.errors + tally.wrong, 0),
        shown=f"{tally.errors} and {tally.wrong} of {tally.calls:,}",
        target="0",
        how=f"{CLIENTS} clients, {tally.calls / seconds:.0f} calls/s of {len(QUESTIONS)} kinds; "
        f"{tally.changes:,} files written, changed or removed meanwhile{tally.first}",
    )


async def ask_slowly(server: Running, askers: Sequence[Asker], seconds: float) -> None:
    """Let each client ask at its times, whatever the answers take."""
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as tasks:
        for number, asker in enumerate(askers):
            opened = Client(server.url, (SESSIONS, MODERN)[number % 2])
            tasks.create_task(asker.ask(opened, until, every=len(askers) / RATE))


@contextmanager
def sampling(server: Running, index: Path, every: float) -> Iterator[list[Sample]]:
    """Read what the server holds again and again."""
    ended, samples, began = threading.Event(), list[Sample](), time.monotonic()

    def watch() -> None:
        while not ended.wait(every):
            samples.append(take((time.monotonic() - began) / 3600, server.pid, index))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def take(hour: float, pid: int, index: Path) -> Sample:
    """Read what a server and the processes below it hold now."""
    memory = own = descriptors = threads = processes = 0
    for each in (pid, *below(pid)):
        try:
            status = Path(f"/proc/{each}/status").read_text(encoding="ascii", errors="replace")
            held = len(list(Path(f"/proc/{each}/fd").iterdir()))
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
        if found := _ANONYMOUS.search(status):
            memory += int(found[1])
            own = own or memory
            threads += int(_THREADS.findall(status)[0])
            descriptors += held
            processes += 1
    log = index / f"{DATABASE}-wal"
    size = log.stat().st_size if log.exists() else 0
    return Sample(hour, memory / 1e3, own / 1e3, descriptors, threads, size / 1e6, processes)


def below(pid: int) -> list[int]:
    """Return the processes that a process started, and theirs."""
    return [each for child in children(pid) for each in (child, *below(child))]


def rows(samples: Sequence[Sample], minutes: float) -> list[Figure]:
    """Return how memory, descriptors, threads and log went, from warm to the end."""
    most_log = max(each.log for each in samples)
    grown = {name: slope(lows(samples, name)) for name in Sample._fields[1:]}
    return [
        at_most(
            *("soak: memory of the server", grown["own"], _MEMORY_A_HOUR),
            shown=f"{grown['own']:+.1f} MB an hour",
            target=f"<= {_MEMORY_A_HOUR:.0f} MB",
            how=f"{minutes:.0f} minutes without the first third, anonymous memory, "
            f"{span(samples, 'own')} MB; median of the slopes between the least of each of "
            f"{_STRETCHES} stretches",
        ),
        at_most(
            *("soak: memory with all its processes", grown["memory"], _MEMORY_A_HOUR),
            shown=f"{grown['memory']:+.1f} MB an hour",
            target=f"<= {_MEMORY_A_HOUR:.0f} MB",
            how=f"{span(samples, 'memory')} MB, {span(samples, 'processes')} processes",
        ),
        *(
            at_most(
                *(f"soak: {name}", grown[name], 0),
                shown=f"{grown[name]:+.1f} an hour",
                target="0",
                how=f"{span(samples, name)} at any moment",
            )
            for name in ("descriptors", "threads")
        ),
        at_most(
            *("soak: log of the database", most_log, _LOG_MEGABYTES),
            shown=f"{most_log:.1f} MB at most",
            target=f"<= {_LOG_MEGABYTES} MB",
            how=f"{span(samples, 'log')} MB, {grown['log']:+.1f} MB an hour",
        ),
    ]


def lows(samples: Sequence[Sample], name: str) -> list[tuple[float, float]]:
    """Return the hour and the least of a figure for each stretch of time."""
    step = max(1, len(samples) // _STRETCHES)
    stretches = [samples[first : first + step] for first in range(0, len(samples), step)]
    return [(each[0].hour, min(getattr(one, name) for one in each)) for each in stretches]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the median of the slopes between all points: single ones do not move it."""
    between = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x2 > x1]
    return statistics.median(between) if between else 0.0


def span(samples: Sequence[Sample], name: str) -> str:
    """Say between which values a figure stayed."""
    values = [getattr(each, name) for each in samples]
    digits = 1 if name in ("memory", "own", "log") else 0
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"
