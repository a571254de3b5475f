"""A node of the cluster killed while questions are asked, and while documents are written."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.cluster.nodes import Cluster

from bench.cluster_writer import copies, steps
from bench.figures import Figure
from bookwheel.engines.base import Match, WritableEngine
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BookwheelError
from bookwheel.model import Collection, Draft, Known
from bookwheel.query import Filters, SearchMode, SearchRequest
from bookwheel.search.run import search

Answer = tuple[tuple[str, str, int, float], ...]
Open = Callable[[], WritableEngine]
_THREADS = 4
_PATIENCE = 900.0
_COLLECTION = "during"


def answer(engine: WritableEngine, question: str) -> Answer:
    """Return what a question is answered with, as it can be compared."""
    results = search(engine, SearchRequest(question, mode=SearchMode.LEXICAL))
    return tuple((hit.collection, hit.document, hit.chunk, hit.score) for hit in results.hits)


def lose_while_asking(cluster: Cluster, open_engine: Open, questions: Sequence[str]) -> Figure:
    """Ask all questions twice; the second time a node is killed after a third of them."""
    engine = open_engine()
    with ThreadPoolExecutor(_THREADS) as pool:
        wanted = list(pool.map(lambda question: answer(engine, question), questions))
    wrong: list[str] = []
    refused: list[str] = []
    done = 0
    counted = threading.Lock()

    def ask(number: int) -> None:
        nonlocal done
        try:
            if (given := answer(engine, questions[number])) != wanted[number]:
                wrong.append(_unlike(given, wanted[number]))
        except BookwheelError as error:
            refused.append(type(error).__name__)
        with counted:
            done += 1
            is_third = done == len(questions) // 3
        if is_third:
            cluster.nodes[1].stop(signal.SIGKILL)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(ask, range(len(questions))))
    engine.close()
    return Figure(
        "node killed while questions are asked, wrong answers",
        len(wrong),
        f"{len(wrong)} of {len(questions):,}",
        "0",
        not wrong,
        f"after a third, by SIGKILL; compared with the answers before it; {len(refused)} were "
        f"refused with an error that says so ({', '.join(sorted(set(refused))) or 'none'})"
        + "".join(f"; {each}" for each in wrong[:3]),
    )


def _unlike(given: Answer, wanted: Answer) -> str:
    """Say in what an answer differs: in its documents, or in how they are scored alone."""
    lost = len({hit[:3] for hit in wanted} - {hit[:3] for hit in given})
    apart = max((abs(a[3] - b[3]) for a, b in zip(given, wanted, strict=False)), default=0.0)
    return f"wrong: {lost} of {len(wanted)} not given, scores up to {apart:.2g} apart"


def lose_while_writing(
    cluster: Cluster, open_engine: Open, base: EmbeddedEngine, chunks: int
) -> Figure:
    """Write documents, a node killed after a third of them, and look for every one afterwards."""
    drafts = list(copies(base, _COLLECTION, chunks, 0))
    engine = open_engine()
    engine.begin_writing([_COLLECTION])
    engine.declare([Collection(name=_COLLECTION, path=f"/srv/{_COLLECTION}")])
    batches = list(steps(iter(drafts)))
    for number, batch in enumerate(batches):
        if number == len(batches) // 3:
            cluster.nodes[1].stop(signal.SIGKILL)
        engine.write(batch)
    engine.commit()
    engine.end_writing()
    cluster.start_node(cluster.nodes[1])
    wait_for_copies(engine)
    lost = _lost(engine, drafts)
    engine.close()
    return Figure(
        "node killed while documents are written, lost",
        len(lost),
        f"{len(lost)} of {len(drafts):,}",
        "0",
        not lost,
        "after a third, by SIGKILL; afterwards each one is looked for: its row, its whole text, "
        "its page and its passages",
    )


def _lost(engine: WritableEngine, drafts: Sequence[Draft]) -> list[str]:
    """Return the documents that are not there, or not as they were written."""
    known = engine.known(_COLLECTION)
    lost = [draft.path for draft in drafts if not _is_whole(engine, known, draft)]
    every = Match((), filters=Filters(collections=(_COLLECTION,)))
    found = engine.match_pages(every, 1, count=True).total
    return lost or ["some page"] * abs(found - len(drafts))


def _is_whole(engine: WritableEngine, known: dict[str, Known], draft: Draft) -> bool:
    if draft.parsed is None or draft.path not in known:
        return False
    key = known[draft.path].key
    wanted = [(key, chunk.ordinal) for chunk in draft.chunks]
    is_same = engine.text(key).decode() == draft.parsed.text
    return is_same and len(engine.passages(wanted)) == len(wanted)


def wait_for_copies(engine: WritableEngine) -> float:
    """Wait until every shard has its copy; return the seconds."""
    began = time.monotonic()
    while engine.facts()["health"] != "green":
        if time.monotonic() - began > _PATIENCE:
            raise RuntimeError(f"the cluster has not all copies: {engine.facts()}")
        time.sleep(0.5)
    return time.monotonic() - began
