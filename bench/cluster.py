"""A cluster of two nodes on this machine: how fast it is loaded and asked, and a node killed.

Its nodes have 2 GB of heap each. Copies of the folders make up the chunks. They are loaded by two
writers at a time without replicas, which the cluster then makes by itself, as docs/scale.md says.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.cluster.nodes import Cluster

from bench.clocks import REPOSITORY, cpu_clock
from bench.cluster_faults import answer, lose_while_asking, lose_while_writing, wait_for_copies
from bench.cluster_writer import copies, fill
from bench.corpus import Corpus
from bench.figures import Figure
from bookwheel.engines.base import WritableEngine
from bookwheel.engines.choice import open_cluster
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.engines.place import DATABASE

_HEAP = "2g"
_WRITERS = 2
_QUESTIONS = 1_000
_DIMENSIONS = 256
_MOST_VECTORS = 20_000
_DURING, _MOST_DURING = 0.02, 5_000
"""The share of all chunks that is written while a node is killed, and the most of them."""


def measure(corpus: Corpus) -> list[Figure]:
    """Start the cluster, load it, and put it to the test."""
    corpus.queries = max(corpus.queries, _QUESTIONS)
    figures = []
    for each in _steps(corpus, corpus.index / DATABASE):
        print(f"  {each.name}: {each.shown} ({each.how})", file=sys.stderr, flush=True)
        figures.append(each)
    return figures


def _steps(corpus: Corpus, database: Path) -> Iterator[Figure]:
    """Yield each figure as it is known: what follows may take an hour, and fail."""
    with running(corpus.work) as cluster:
        loaded = Loaded(cluster, database)
        yield from loaded.load(corpus.cluster_chunks, corpus.cluster_seconds)
        yield from loaded.sizes()
        floor = EmbeddedEngine(corpus.work / "many" / DATABASE)
        base = EmbeddedEngine(database)
        yield from _load_floor(floor, base, loaded.chunks)
        yield from loaded.compare(floor, corpus.questions)
        floor.close()
        yield lose_while_asking(cluster, loaded.open, corpus.questions[:_QUESTIONS])
        cluster.start_node(cluster.nodes[1])
        engine = loaded.open()
        wait_for_copies(engine)
        engine.close()
        chunks = min(_MOST_DURING, max(1_000, int(loaded.chunks * _DURING)))
        yield lose_while_writing(cluster, loaded.open, base, chunks)
        yield from loaded.vectors()
        base.close()


@contextmanager
def running(below: Path) -> Iterator[Cluster]:
    """Run a cluster; its data is removed at the end."""
    below.chmod(0o755)
    cluster = Cluster(heap=_HEAP, below=below)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


class Loaded:
    """A library in the cluster, made of copies of another."""

    def __init__(self, cluster: Cluster, database: Path) -> None:
        self._cluster = cluster
        self._database = database
        self.documents = self.chunks = 0

    def address(self, replicas: int = 1) -> str:
        hosts = ",".join(f"127.0.0.1:{node.http}" for node in self._cluster.nodes)
        return f"opensearch+http://{hosts}/bench?shards=2&replicas={replicas}"

    def open(self) -> OpenSearchEngine:
        engine = open_cluster(self.address(), self._database, None)
        assert isinstance(engine, OpenSearchEngine)
        return engine

    def load(self, chunks: int, seconds: float) -> list[Figure]:
        """Write all chunks, or as many as can be in so long; then let the cluster copy them."""
        engine = open_cluster(self.address(replicas=0), self._database, None)
        fill(engine, iter(()), "none")  # the indices are made, once
        engine.close()
        began, busy = time.perf_counter(), self._cpu()
        said = [_end(writer) for writer in self._start_writers(chunks, seconds)]
        spent, busy = time.perf_counter() - began, self._cpu() - busy
        self.documents = sum(each[0] for each in said)
        self.chunks = sum(each[1] for each in said)
        copied = self._make_replicas()
        rate = self.chunks / spent
        return [
            Figure(
                "chunks loaded, a second",
                rate,
                f"{rate:,.0f}",
                how=f"{self.chunks:,} chunks of {self.documents:,} documents in {spent:,.0f} s by "
                f"{_WRITERS} writers, whose CPU was {sum(each[2] for each in said):,.0f} s, "
                f"and that of both nodes {busy:,.0f} s",
            ),
            Figure("replicas made afterwards", copied, f"{copied:,.0f} s", how="by the cluster"),
        ]

    def _start_writers(self, chunks: int, seconds: float) -> list[subprocess.Popen[str]]:
        share = -(-chunks // _WRITERS)
        return [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "bench.cluster_writer", self.address(replicas=0)),
                    *(str(self._database), f"part-{number}", str(share), str(1000 * number)),
                    str(seconds),
                ],
                stdout=subprocess.PIPE,
                text=True,
                cwd=REPOSITORY,
            )
            for number in range(_WRITERS)
        ]

    def _make_replicas(self) -> float:
        engine = self.open()
        began = time.perf_counter()
        engine._cluster.ask("POST", "/bench-*/_flush")  # else each change is made again in the copy
        engine._cluster.ask("PUT", "/bench-*/_settings", {"index": {"number_of_replicas": 1}})
        wait_for_copies(engine)
        spent = time.perf_counter() - began
        engine.close()
        return spent

    def sizes(self) -> list[Figure]:
        """Return what a chunk takes on disk, and the heap that the nodes use."""
        engine = self.open()
        stats = engine._cluster.ask("GET", "/bench-*/_stats/store,docs")["indices"]
        each = {
            name.removeprefix("bench-").partition("-v")[0]: _bytes(index) / self.chunks
            for name, index in sorted(stats.items())
        }
        nodes = engine._cluster.ask("GET", "/_nodes/stats/jvm")["nodes"].values()
        heap = [node["jvm"]["mem"]["heap_used_in_bytes"] / 1e6 for node in nodes]
        engine.close()
        whole = sum(each.values())
        parts = ", ".join(f"{name} {size:,.0f}" for name, size in each.items())
        return [
            Figure("bytes on disk for a chunk, one copy", whole, f"{whole:,.0f}", how=parts),
            Figure(
                "heap in use after loading",
                max(heap),
                " and ".join(f"{used:,.0f} MB" for used in heap),
                how=f"of {_HEAP} on each node, garbage included",
            ),
        ]

    def compare(self, floor: EmbeddedEngine, questions: Sequence[str]) -> list[Figure]:
        """Ask both engines the same, one after the other, each question twice: once for warmth."""
        engine = self.open()
        some = questions[:200]
        began = self._cpu(), time.process_time()
        ours = [_timed(engine, question) for question in some]
        ended = self._cpu(), time.process_time()
        theirs = [_timed(floor, question) for question in some]
        engine.close()
        nodes, here = ((b - a) * 1e3 / (2 * len(some)) for a, b in zip(began, ended, strict=True))
        rows = [_ratio(name, _share(ours, at), _share(theirs, at), len(some)) for name, at in _AT]
        how = f"and {here:.0f} ms in the process that asks"
        return [*rows, Figure("CPU of both nodes for a search", nodes, f"{nodes:.0f} ms", how=how)]

    def _cpu(self) -> float:
        return sum(time.clock_gettime(cpu_clock(node.pid)) for node in self._cluster.nodes)

    def vectors(self) -> list[Figure]:
        """Write vectors for some documents, all of one length in random directions."""
        engine = self.open()
        rng = np.random.default_rng(7)
        rows: dict[int, Any] = {}
        for known in engine.known("part-0").values():
            if sum(map(len, rows.values())) >= min(_MOST_VECTORS, self.chunks // 4):
                break
            document = engine.documents_by_key([known.key])[known.key]
            made = rng.standard_normal((document.chunks, _DIMENSIONS)).astype(np.float32)
            rows[known.key] = made / np.linalg.norm(made, axis=1, keepdims=True)
        count = sum(map(len, rows.values()))
        began = time.perf_counter()
        engine.begin_writing(["part-0"])
        keys = list(rows)
        for first in range(0, len(keys), 500):
            some = {key: rows[key] for key in keys[first : first + 500]}
            engine.write_vectors("bench", _DIMENSIONS, some)
        engine.end_writing()
        spent = time.perf_counter() - began
        query = rows[keys[0]][0]
        near = [_timed_call(lambda: engine.nearest("bench", query, 100)) for _ in range(20)]
        stats = engine._cluster.ask("GET", "/bench-vectors-*/_stats/store")["indices"]
        size = sum(_bytes(index) for index in stats.values()) / count
        engine.close()
        return [
            Figure(
                f"vectors of {_DIMENSIONS} numbers, a second",
                count / spent,
                f"{count / spent:,.0f}",
                how=f"{count:,} with one replica; {size:,.0f} bytes each on disk, in one copy; "
                f"the 100 nearest in {statistics.median(near) * 1e3:.0f} ms",
            )
        ]


_AT = (("median", 0.5), ("95 of 100 below", 0.95))


def _ratio(name: str, ours: float, floor: float, count: int) -> Figure:
    return Figure(
        f"search in the cluster, {name}",
        ours / floor,
        f"{ours / floor:.1f} x",
        how=f"of the embedded engine: {ours * 1e3:.0f} against {floor * 1e3:.0f} ms on the wall; "
        f"{count} questions by words, each asked once before",
    )


def _timed(engine: WritableEngine, question: str) -> float:
    answer(engine, question)
    return _timed_call(lambda: answer(engine, question))


def _timed_call(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _share(times: Sequence[float], at: float) -> float:
    return statistics.quantiles(times, n=100)[int(at * 100) - 1]


def _bytes(index: Any) -> int:
    return int(index["primaries"]["store"]["size_in_bytes"])


def _load_floor(floor: EmbeddedEngine, base: EmbeddedEngine, chunks: int) -> list[Figure]:
    began = time.perf_counter()
    _, written = fill_floor(floor, base, chunks)
    rate = written / (time.perf_counter() - began)
    return [Figure("the same into a file, chunks a second", rate, f"{rate:,.0f}", how="one writer")]


def fill_floor(floor: WritableEngine, base: EmbeddedEngine, chunks: int) -> tuple[int, int]:
    """Write as many chunks into the embedded engine."""
    return fill(floor, copies(base, "part-0", chunks, 0), "part-0")


def _end(writer: subprocess.Popen[str]) -> list[Any]:
    said, _ = writer.communicate()
    if writer.returncode:
        raise RuntimeError(f"a writer failed with code {writer.returncode}")
    written: list[Any] = json.loads(said)
    return written
