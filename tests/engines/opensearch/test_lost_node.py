"""A node is lost while questions are asked and documents written: no wrong answer, nothing lost."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.engines.base import Match
from bookwheel.engines.opensearch.address import read_address
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.errors import BookwheelError, IndexUnreachable
from tests.cluster.nodes import Cluster
from tests.engines.drafts import NOTES, body, draft, fill, found, problems

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("lost"),
]
_DOCUMENTS = 200
_PATIENCE = 120


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    made.start()
    yield made
    made.stop()


def engine_on(cluster: Cluster, prefix: str) -> OpenSearchEngine:
    hosts = ",".join(f"127.0.0.1:{node.http}" for node in cluster.nodes)
    address = read_address(f"opensearch+http://{hosts}/{prefix}?shards=2&replicas=1")
    return OpenSearchEngine(address, home=Path("/nowhere/catalog.db"))


def wait_for_copies(engine: OpenSearchEngine) -> None:
    until = time.monotonic() + _PATIENCE
    while engine.facts()["health"] != "green" and time.monotonic() < until:
        time.sleep(0.5)
    assert engine.facts()["health"] == "green"


def wait_for_loss(engine: OpenSearchEngine) -> None:
    """Wait until the leader has noticed that a part of the index is gone."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            engine.require_whole()
        except IndexUnreachable:
            return
        time.sleep(0.1)
    pytest.fail("the library still counts as whole")


def test_replicas_answer_and_writing_goes_on_while_a_node_is_lost(cluster: Cluster) -> None:
    engine = engine_on(cluster, "lost")
    fill(engine, *[draft(f"{n:03}.md", f"walrus number{n}") for n in range(_DOCUMENTS)])
    wait_for_copies(engine)
    wanted = {n: [f"{n:03}.md"] for n in range(_DOCUMENTS)}
    wrong: list[tuple[int, list[str]]] = []
    refused: list[str] = []
    ending = threading.Event()

    def ask() -> None:
        reader = engine_on(cluster, "lost")
        while not ending.is_set():
            for n in range(0, _DOCUMENTS, 7):
                try:
                    answer = found(reader, f"number{n}")
                except BookwheelError as error:
                    refused.append(type(error).__name__)
                    continue
                if answer != wanted[n]:
                    wrong.append((n, answer))
        reader.close()

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(1)
    cluster.nodes[1].stop(signal.SIGKILL)
    engine.begin_writing()
    engine.declare([NOTES])
    for n in range(_DOCUMENTS, _DOCUMENTS + 60, 10):
        engine.write([draft(f"{each:03}.md", f"penguin number{each}") for each in range(n, n + 10)])
    engine.commit()
    engine.end_writing()
    time.sleep(2)
    ending.set()
    asking.join()

    assert wrong == []
    assert set(refused) <= {"IndexUnreachable", "Incomplete", "TimedOut"}
    assert len(found(engine, "penguin")) == 60
    cluster.start_node(cluster.nodes[1])
    wait_for_copies(engine)
    assert engine.match_pages(Match(body("walrus")), 1, count=True).total == _DOCUMENTS
    assert problems(engine) == []
    engine.close()


@pytest.mark.faults
def test_what_one_half_of_an_index_knows_is_no_answer(cluster: Cluster) -> None:
    address = read_address(f"opensearch+{cluster.url}/half?shards=2&replicas=0")
    engine = OpenSearchEngine(address, home=Path("/nowhere/catalog.db"))
    fill(engine, *[draft(f"{n:03}.md", "walrus") for n in range(50)])
    for kind in ("state", "documents", "texts", "words"):
        where = {"index.routing.allocation.require._name": "one"}
        engine._cluster.ask("PUT", f"/half-{kind}/_settings", where)
    engine._cluster.ask("GET", "/_cluster/health/half-*?wait_for_no_relocating_shards=true")
    assert engine.match_pages(Match(body("walrus")), 50).total == 50
    engine.require_whole()

    cluster.nodes[1].stop(signal.SIGKILL)
    for ask in (
        lambda: engine.match_pages(Match(body("walrus")), 50),
        lambda: engine.match_passages(Match(body("walrus")), 50),
        lambda: engine.match_each([Match(body("walrus"))], 50),
        lambda: engine._count("pages", {"match_all": {}}),
    ):
        with pytest.raises(IndexUnreachable, match="a part of the index is missing"):
            ask()
    wait_for_loss(engine)
    cluster.start_node(cluster.nodes[1])
    wait_for_copies(engine)
    engine.require_whole()
    assert engine.match_pages(Match(body("walrus")), 50).total == 50
    engine.close()


@pytest.mark.faults
def test_an_engine_recovers_by_itself_when_the_cluster_comes_back(cluster: Cluster) -> None:
    engine = engine_on(cluster, "back")
    fill(engine, draft("a.md", "walrus"))
    wait_for_copies(engine)
    for node in cluster.nodes:
        node.stop(signal.SIGKILL)
    with pytest.raises(IndexUnreachable):
        found(engine, "walrus")

    cluster.start()
    wait_for_copies(engine)
    assert found(engine, "walrus") == ["a.md"]
    fill(engine, draft("b.md", "walrus"))
    assert found(engine, "walrus") == ["a.md", "b.md"]
    assert problems(engine) == []
    engine.close()


@pytest.mark.faults
def test_without_a_leader_nothing_is_written_and_what_is_there_is_found(cluster: Cluster) -> None:
    address = read_address(f"opensearch+{cluster.nodes[1].url}/headless?shards=1&replicas=1")
    engine = OpenSearchEngine(address, home=Path("/nowhere/catalog.db"))
    fill(engine, draft("a.md", "walrus"))
    wait_for_copies(engine)
    cluster.nodes[0].stop(signal.SIGKILL)
    for ask in (engine.begin_writing, engine.facts, lambda: problems(engine)):
        with pytest.raises(IndexUnreachable, match="has no leader just now"):
            ask()
    wait_for_loss(engine)
    assert found(engine, "walrus") == ["a.md"]
    cluster.start_node(cluster.nodes[0])
    wait_for_copies(engine)
    fill(engine, draft("b.md", "walrus"))
    assert found(engine, "walrus") == ["a.md", "b.md"]
    engine.close()
