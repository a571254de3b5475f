"""Many clients of both eras and all toolsets while files change: every answer is checked.

The documents are made here, each with words of its own, so that what must be answered is known;
others come, change and go meanwhile. Before and after the same clients call the empty tool of the
SDK's bare server, so that it can be told what waiting is ours.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.corpus import Corpus
from bench.crowd_questions import BARE, QUESTIONS, Page, Question, make_pages, make_words
from bench.figures import Figure, at_most
from bench.servers import Running, document_server, floor_server
from bench.wire import MODERN, SESSIONS, Client

_MOVING = 50
_CHANGE_SECONDS = 0.1
_BARE_SHARE = 0.1
"""How long the bare server is asked, before and after, as a share of the crowd's time."""


class Tally:
    """What the clients counted together."""

    def __init__(self) -> None:
        self.calls = 0
        self.errors = 0
        self.wrong = 0
        self.changes = 0
        self.milliseconds: list[float] = []
        self.first = ""
        """The first answer that was not right, for whoever looks for the reason."""

    def within(self, share: float) -> float:
        """Return the milliseconds within which such a share of the calls were answered."""
        return sorted(self.milliseconds)[int(len(self.milliseconds) * share)]


def measure(corpus: Corpus) -> list[Figure]:
    """Let the crowd ask for its time and count what was not right."""
    folder, index = corpus.work / "crowd", corpus.work / "crowd-index"
    rng = random.Random(corpus.seed)
    pages = make_pages(rng, folder)
    with corpus.open(index, [str(folder)]) as library:
        library.update()
        library.embed()
    ours, bare = Tally(), Tally()
    with (
        floor_server(corpus.work / "crowd-floor.log") as floor,
        document_server([str(folder)], index, corpus.work / "crowd.log") as server,
        changing(folder / "moving", rng, ours),
    ):
        asyncio.run(ask_all(corpus, floor, pages, bare, questions=BARE, share=_BARE_SHARE))
        asyncio.run(ask_all(corpus, server, pages, ours))
        asyncio.run(ask_all(corpus, floor, pages, bare, questions=BARE, share=_BARE_SHARE))
    return [right_answers(corpus, ours), waiting(corpus, ours, bare)]


def right_answers(corpus: Corpus, tally: Tally) -> Figure:
    """Return how many answers were not right: none should be."""
    return at_most(
        f"crowd of {corpus.crowd} clients, both eras, errors and wrong answers",
        *(tally.errors + tally.wrong, 0),
        shown=f"{tally.errors} and {tally.wrong} of {tally.calls:,}",
        target="0",
        how=f"{corpus.crowd_seconds:.0f} s, {tally.calls / corpus.crowd_seconds:.0f} calls/s "
        f"of {len(QUESTIONS)} kinds in five toolsets; {tally.changes} files written, changed or "
        f"removed meanwhile{tally.first}",
    )


def waiting(corpus: Corpus, ours: Tally, bare: Tally) -> Figure:
    """Return how long a call of the crowd waits at worst, against the bare server."""
    ratio = ours.within(0.99) / bare.within(0.99)
    return Figure(
        f"crowd of {corpus.crowd} clients, all but one call in a hundred",
        ratio,
        f"{ours.within(0.99):,.0f} ms, {ratio:.1f} x",
        how=f"of {bare.within(0.99):,.0f} ms of an empty tool of the SDK's bare server, asked by "
        f"the same clients before and after; half the calls {ours.within(0.5):,.0f} against "
        f"{bare.within(0.5):,.0f} ms; {bare.errors + bare.wrong} of {bare.calls:,} calls of the "
        f"bare server went wrong",
    )


@contextmanager
def changing(
    folder: Path, rng: random.Random, tally: Tally, *, every: float = _CHANGE_SECONDS
) -> Iterator[None]:
    """Write, change and remove files meanwhile, ten in a second if not told otherwise."""
    ended = threading.Event()
    words = make_words(rng, _MOVING)

    def change() -> None:
        folder.mkdir()
        while not ended.wait(every):
            file = folder / f"{rng.randrange(_MOVING)}.md"
            if rng.random() < 0.3:
                file.unlink(missing_ok=True)
            else:
                file.write_text(f"# {rng.choice(words)}\n\n{rng.random()}\n", encoding="utf-8")
            tally.changes += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


async def ask_all(
    corpus: Corpus,
    server: Running,
    pages: list[Page],
    tally: Tally,
    *,
    questions: Sequence[Question] = (),
    share: float = 1.0,
) -> None:
    """Run all clients, half of them of each era, for a share of the crowd's time."""
    until = time.monotonic() + corpus.crowd_seconds * share
    async with asyncio.TaskGroup() as tasks:
        for number in range(corpus.crowd):
            era = (SESSIONS, MODERN)[number % 2]
            asker = Asker(
                random.Random(corpus.seed * 1000 + number), pages, tally, questions or QUESTIONS
            )
            tasks.create_task(asker.ask(Client(server.url, era), until))


class Asker(NamedTuple):
    """Who asks about one document after the other and checks each answer."""

    rng: random.Random
    pages: list[Page]
    tally: Tally
    questions: Sequence[Question]

    async def ask(self, opened: Client, until: float, *, every: float = 0.0) -> None:
        """Ask until the time is over, at once after each answer or every so many seconds."""
        async with opened as client:
            due = time.monotonic()
            while due < until:
                await self.ask_once(client)
                due = max(due + every, time.monotonic())
                await asyncio.sleep(due - time.monotonic())

    async def ask_once(self, client: Client) -> None:
        """Ask one question and count what came."""
        tally, page, question = self.tally, self.rng.choice(self.pages), self.choose()
        began = time.perf_counter()
        number, answer = await client.ask(question.method, question.params(page))
        tally.milliseconds.append((time.perf_counter() - began) * 1e3)
        tally.calls += 1
        message = answer.message()
        result = message.get("result", {})
        if answer.status != 200 or "error" in message or result.get("isError"):
            tally.errors += 1
        elif message["id"] != number or not question.is_right(result, page):
            tally.wrong += 1
        else:
            return
        tally.first = tally.first or f"; first: {question} {page.path} {str(message)[:500]}"

    def choose(self) -> Question:
        """Return the next question."""
        return self.rng.choice(self.questions)
