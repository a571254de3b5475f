"""How cost grows with size: the same measures on ten thousand, a hundred thousand and a million
chunks made out of the folders (`bench/recombined.py`).

Every measure runs in a process of its own. With a folder to keep things in, what was measured there
is not measured again, so that a long run can be made in parts.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from bench import scale_figures
from bench.clocks import REPOSITORY, Spent, children, run, run_python
from bench.cold import program
from bench.corpus import Corpus
from bench.figures import Figure
from bench.known_items import swap_middle
from bench.recombined import Recombined
from bench.scale_probe import WARM, anonymous
from bench.servers import document_server
from bench.throughput import make_question
from bench.wire import Client

CHANGED = 100
_EDITIONS = 3
_COLD = 7
_CLIENTS = 16
_KINDS = 20
_TITLES, _SLIPS = 3, 6
"""Of twenty questions, three are titles and three have a word with two letters swapped."""


def measure(corpus: Corpus) -> list[Figure]:
    """Measure at every size, the smallest first, and draw what was found."""
    documents = Recombined(corpus.folders, corpus.seed)
    sizes = [Size(corpus, documents, chunks).measure() for chunks in sorted(corpus.sizes)]
    if corpus.drawing is not None:
        corpus.drawing.write_text(scale_figures.draw(sizes), encoding="utf-8")
    return scale_figures.rows(sizes)


class Size:
    """One size: its documents, its index, and what was measured of them."""

    def __init__(self, corpus: Corpus, documents: Recombined, chunks: int) -> None:
        self._corpus = corpus
        self._documents = documents
        self._chunks = chunks
        self._place = (corpus.kept or corpus.work) / f"scale-{chunks}"
        self._place.mkdir(parents=True, exist_ok=True)
        self._tree, self._index = self._place / "tree", self._place / "index"
        self._notes = self._place / "measured.json"
        self._done: dict[str, Any] = json.loads(self._notes.read_text()) if self._kept else {}

    @property
    def _kept(self) -> bool:
        return self._notes.exists()

    def measure(self) -> dict[str, Any]:
        """Return what was measured, by name."""
        for name in ("tree", "index", "embed", "search", "cold", "server", "floor", "update"):
            if name not in self._done:
                print(f"  {self._chunks:,} chunks: {name} ...", file=sys.stderr, flush=True)
                work: Callable[[], Any] = getattr(self, f"_{name}_figures")
                self._done[name] = work()
                self._notes.write_text(json.dumps(self._done), encoding="utf-8")
        return self._done

    def _tree_figures(self) -> dict[str, int]:
        number = max(2 * CHANGED, self._documents.documents_for(self._chunks))
        self._documents.write(self._tree, range(number))
        return {"documents": number}

    def _index_figures(self) -> dict[str, float]:
        return _as_dict(run_python(["-m", "bench.indexing", str(self._index), str(self._tree)]))

    def _embed_figures(self) -> dict[str, float]:
        return _as_dict(run_python(["-m", "bench.scale_probe", "embed", str(self._index)]))

    def _search_figures(self) -> Any:
        return self._probe("search", self.questions)

    @property
    def questions(self) -> list[str]:
        """Return what is asked: questions, titles, and questions with a slip."""
        rng = random.Random(self._corpus.seed)
        number = self._done["tree"]["documents"]
        return [
            _question(rng, kind % _KINDS, self._documents.document(rng.randrange(number))[1])
            for kind in range(WARM + self._corpus.queries)
        ]

    def _cold_figures(self) -> list[float]:
        place = [str(self._tree), "--index", str(self._index), "--json"]
        asked = self.questions[WARM : WARM + _COLD + 1]
        return [run([*program(), "search", each, *place]).cpu for each in asked][1:]

    def _server_figures(self) -> dict[str, Any]:
        """Ask a server over HTTP, several clients at once, and look at its memory."""
        log = self._place / "server.log"
        with document_server([str(self._tree)], self._index, log) as server:
            asyncio.run(_ask(server.url, self.questions * 2))
            readers = [anonymous(child) for child in children(server.pid)]
            return {"own": anonymous(server.pid), "readers": [each for each in readers if each]}

    def _floor_figures(self) -> dict[str, str]:
        store = self._place / "floor"
        run_python(["-m", "bench.floors.update", "make", str(self._index), str(store)])
        return {"store": str(store)}

    def _update_figures(self) -> dict[str, Any]:
        """Change documents of one folder in turn with the floor, which gets the same."""
        documents = self._done["tree"]["documents"]
        first = documents // 2 // (2 * CHANGED) * (2 * CHANGED)
        numbers = list(range(first, min(documents, first + CHANGED)))
        found: dict[str, list[float]] = {}
        for edition in range(1, _EDITIONS + 1):
            order = {
                "folders": list(self._corpus.folders),
                "seed": self._corpus.seed,
                "tree": str(self._tree),
                "numbers": numbers,
                "editions": [2 * edition, 2 * edition + 1],
            }
            for name, values in self._probe("update", order).items():
                found.setdefault(name, []).extend(values)
            found.setdefault("floor", []).append(self._update_floor(numbers))
        return found

    def _update_floor(self, numbers: list[int]) -> float:
        files = self._place / "files.tsv"
        paths = [self._documents.place(number) for number in numbers]
        lines = [f"{self._tree.name}\t{self._tree}\t{path}" for path in paths]
        files.write_text("\n".join(lines), encoding="utf-8")
        store = self._done["floor"]["store"]
        return float(_said(["-m", "bench.floors.update", "write", store, str(files)]))

    def _probe(self, kind: str, order: object) -> Any:
        file = self._place / "order.json"
        file.write_text(json.dumps(order), encoding="utf-8")
        command = ["-m", "bench.scale_probe", kind, str(self._index), str(file)]
        return json.loads(_said(command))


def _said(arguments: list[str]) -> bytes:
    command = [sys.executable, *arguments]
    around = {"OPENBLAS_NUM_THREADS": "1", **os.environ}  # as the program has it
    done = subprocess.run(command, cwd=REPOSITORY, env=around, check=True, stdout=subprocess.PIPE)
    return done.stdout


def _as_dict(spent: Spent) -> dict[str, float]:
    return {"cpu": spent.cpu, "wall": spent.wall}


def _question(rng: random.Random, kind: int, text: str) -> str:
    if kind < _TITLES:
        return str(json.loads(text.splitlines()[1].removeprefix("title: ")))
    question = make_question(rng, text)
    if kind < _SLIPS:
        word = max(question.split(), key=len)
        question = question.replace(word, swap_middle(word))
    return question


async def _ask(url: str, questions: list[str]) -> None:
    """Ask as several clients at once do."""
    waiting = iter(questions)

    async def ask() -> None:
        async with Client(url) as client:
            for question in waiting:
                _, answer = await client.call("documents_search", {"query": question})
                if answer.status != 200:
                    raise RuntimeError(f"the server answered {answer.status}")

    await asyncio.gather(*(ask() for _ in range(_CLIENTS)))
