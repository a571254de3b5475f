"""Index one folder with every program, ask all the same, and note what it took."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from bench.known_items import rank, score
from bench.rivals import costs
from bench.rivals.base import MCP, Asker, Rival, size_of
from bench.rivals.costs import Cost
from bench.rivals.questions import Asked
from bench.rivals.table import Result, Timing

FEW = 3
"""Queries of each kind for the ways that are not that of the known items."""
_REST, _PATIENCE = 0.5, 120.0

Questions = Mapping[str, list[Asked]]
Say = Callable[[str], None]


@dataclass
class Turn:
    """One program, asked in one way: what it answered and took."""

    asker: Asker
    ranks: dict[str, list[int | None]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0

    def ask(self, kind: str, query: str, document: str) -> None:
        """Ask once; what it does between queries is not counted."""
        before, began = self.asker.cpu(), time.perf_counter()
        answer = self.asker(query)
        self.seconds.append(time.perf_counter() - began)
        self.cpu += self.asker.cpu() - before
        self.ranks.setdefault(kind, []).append(rank(answer, document))

    @property
    def timing(self) -> Timing:
        return Timing(tuple(self.seconds), self.cpu / max(1, len(self.seconds)))


def index(rival: Rival, result: Result) -> None:
    """Index afresh, then once more with nothing changed; what was noted before is kept."""
    noted = rival.place.with_name(f"{rival.place.name}.json")
    if not noted.exists():
        shutil.rmtree(rival.place)
        rival.place.mkdir()
        log = rival.place.with_name(f"{rival.place.name}.log")
        spent = costs.run(rival.index(), log)
        again = rival.rescan()
        rescan = costs.run(again, log) if again else None
        figures = [spent, rescan, size_of(rival.place)]
        noted.write_text(json.dumps(figures, default=asdict), encoding="utf-8")
    first, second, result.disk = json.loads(noted.read_text(encoding="utf-8"))
    result.index, result.rescan = Cost(**first), Cost(**second) if second else None


def ask(rivals: Sequence[Rival], results: Sequence[Result], asked: Questions, say: Say) -> None:
    """Ask for the known items in each program's first way, and for a few in its others."""
    pairs = list(zip(rivals, results, strict=True))
    first = [(rival, result, rival.ways[0]) for rival, result in pairs]
    for (rival, result, _), turn in zip(first, ask_in_turn(first, asked, say), strict=True):
        result.scores = {kind: score(ranks) for kind, ranks in turn.ranks.items()}
        if not any(each.hit10 for each in result.scores.values()):
            raise RuntimeError(f"{rival.name} finds nothing at all, so it does not work here")
    few = {kind: queries[:FEW] for kind, queries in asked.items()}
    for way in dict.fromkeys(way for rival in rivals for way in rival.ways[1:]):
        having = [(rival, result, way) for rival, result in pairs if way in rival.ways[1:]]
        ask_in_turn(having, few, say)


def ask_in_turn(
    programs: Iterable[tuple[Rival, Result, str]], asked: Questions, say: Say
) -> list[Turn]:
    """Ask each query of every program, so that what else the machine does meets all alike."""
    with ExitStack() as stack:
        turns = []
        for rival, _, way in programs:
            say(f"starting {rival.name}, {way} ...")
            turns.append(Turn(stack.enter_context(rival.asking(way))))
            warm(turns[-1].asker, asked)
        for kind, queries in asked.items():
            say(f"asking: {kind} ...")
            for query, document in queries:
                for turn in turns:
                    turn.ask(kind, query, document)
        for (_, result, way), turn in zip(programs, turns, strict=True):
            result.timings[way] = turn.timing
            if way == MCP:
                result.tools, result.serving = turn.asker.tool_list(), turn.asker.memory()
    return turns


def warm(asker: Asker, asked: Questions) -> None:
    """Ask once of each kind, then wait until what it does on its own at the start is done."""
    for queries in asked.values():
        for query, _ in queries[:1]:
            asker(query)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        before = asker.cpu()
        time.sleep(_REST)
        if asker.cpu() - before < _REST / 10:
            return
