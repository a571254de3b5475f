"""Load on one server: so many clients that call one tool as fast as they get answers.

A program of its own, so that its work is not the server's and both servers get the same:
`python -m bench.load` reads an Order as JSON from standard input and prints a Yield.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice

from bench.wire import Client

WARM = 2
"""Calls of each client that are not counted."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to do: every client draws its next query from one list, none is asked twice."""

    url: str
    era: str
    tool: str
    queries: list[str]
    clients: int
    seconds: float


@dataclass(slots=True)
class Yield:
    """What came of it; a wrong answer is one with another id, an error or another status."""

    calls: int = 0
    seconds: float = 0.0
    wrong: int = 0
    milliseconds: list[float] = field(default_factory=list)


async def run(order: Order) -> Yield:
    """Let all clients shake hands and warm up, then call until the time is over."""
    queries = iter(order.queries)
    done = Yield()
    async with asyncio.TaskGroup() as tasks:
        barrier = asyncio.Barrier(order.clients)
        for _ in range(order.clients):
            tasks.create_task(_call(order, queries, barrier, done))
    return done


async def _call(
    order: Order, queries: Iterator[str], barrier: asyncio.Barrier, done: Yield
) -> None:
    async with Client(order.url, order.era) as client:
        for query in islice(queries, WARM):
            await client.call(order.tool, {"query": query})
        await barrier.wait()
        began = now = time.perf_counter()
        for query in queries:
            number, answer = await client.call(order.tool, {"query": query})
            before, now = now, time.perf_counter()
            done.calls += 1
            done.milliseconds.append((now - before) * 1e3)
            done.wrong += not (
                answer.status == 200
                and b'"id":%d' % number in answer.body
                and b'"result":' in answer.body
                and b'"isError":true' not in answer.body
            )
            if now - began >= order.seconds:
                break
        done.seconds = max(done.seconds, now - began)


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(run(Order(**json.load(sys.stdin)))))))
