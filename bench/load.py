"""Load on one server: so many clients that call one tool as fast as they get answers.

A program of its own, so that its work is not the server's and both servers get the same:
`python -m bench.load` reads an Order as JSON from standard input and prints a Yield.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice

from bench.wire import SESSIONS, Client

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
    official: bool = False
    """Whether the clients are the SDK's own, which do much themselves, or lean ones."""


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
    connect = _official if order.official else _lean
    async with connect(order) as call:
        for query in islice(queries, WARM):
            await call(query)
        await barrier.wait()
        began = now = time.perf_counter()
        for query in queries:
            is_right = await call(query)
            before, now = now, time.perf_counter()
            done.calls += 1
            done.milliseconds.append((now - before) * 1e3)
            done.wrong += not is_right
            if now - began >= order.seconds:
                break
        done.seconds = max(done.seconds, now - began)


Call = Callable[[str], Awaitable[bool]]
"""Asks one query; tells whether the answer was right."""


@asynccontextmanager
async def _lean(order: Order) -> AsyncIterator[Call]:
    async with Client(order.url, order.era) as client:

        async def call(query: str) -> bool:
            number, answer = await client.call(order.tool, {"query": query})
            return (
                answer.status == 200
                and b'"id":%d' % number in answer.body
                and b'"result":' in answer.body
                and b'"isError":true' not in answer.body
            )

        yield call


@asynccontextmanager
async def _official(order: Order) -> AsyncIterator[Call]:
    from mcp import Client as Official

    mode = "legacy" if order.era == SESSIONS else "auto"
    async with Official(order.url, mode=mode) as client:

        async def call(query: str) -> bool:
            return not (await client.call_tool(order.tool, {"query": query})).is_error

        yield call


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(run(Order(**json.load(sys.stdin)))))))
