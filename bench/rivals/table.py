"""The one table: what was found of each program, a column each."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from bench.known_items import Score
from bench.rivals.base import INSIDE, MCP, PROCESS
from bench.rivals.costs import Cost

NONE = "–"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds on the wall of each query, and the mean of their CPU seconds."""

    seconds: tuple[float, ...]
    cpu: float


@dataclass
class Result:
    """All that is known of one program; what it does not have stays empty."""

    name: str
    version: str = ""
    asked: str = ""
    not_run: str = ""
    installed: int = 0
    index: Cost | None = None
    rescan: Cost | None = None
    disk: int = 0
    serving: int = 0
    tools: tuple[int, int] = (0, 0)
    scores: dict[str, Score] = field(default_factory=dict)
    timings: dict[str, Timing] = field(default_factory=dict)


Cell = Callable[[Result], str]


def as_markdown(results: Sequence[Result]) -> str:
    """Return the table, and under it how each program was asked and what was not run."""
    kinds = dict.fromkeys(kind for result in results for kind in result.scores)
    head = ["", *(f"{result.name} {result.version}".strip() for result in results)]
    lines = [head, ["---"] * len(head)]
    for name, cell in [*((_named(kind), _score(kind)) for kind in kinds), *_ROWS]:
        lines.append([name, *map(cell, results)])
    asked = [f"- {each.name}: {each.asked}." + _left_out(each) for each in results]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *asked])


def as_json(results: Iterable[Result]) -> str:
    """Return all figures for a script."""
    return json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=2)


def _left_out(result: Result) -> str:
    return f" Not run: {result.not_run}." if result.not_run else ""


def _named(kind: str) -> str:
    return f"{kind}: hit@1 / hit@10 / MRR"


def _score(kind: str) -> Cell:
    def cell(result: Result) -> str:
        got = result.scores.get(kind)
        return f"{got.hit1:.3f} / {got.hit10:.3f} / {got.mrr:.3f}" if got else NONE

    return cell


def _empty(result: Result) -> str:
    asked = sum(score.queries for score in result.scores.values())
    return f"{sum(score.empty for score in result.scores.values())} of {asked}"


def _median(way: str) -> Cell:
    def cell(result: Result) -> str:
        timing = result.timings.get(way)
        return f"{_ms(statistics.median(timing.seconds))} / {_ms(timing.cpu)}" if timing else NONE

    return cell


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f}" if seconds < 0.01 else f"{seconds * 1e3:.0f}"


def _seconds(cost: Cost | None) -> str:
    return f"{cost.cpu:.1f}" if cost else NONE


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f}" if count else NONE


def _tools(result: Result) -> str:
    count, size = result.tools
    return f"{size:,} ({count} tools)" if count else NONE


_ROWS: tuple[tuple[str, Cell], ...] = (
    ("empty answers", _empty),
    *((f"a query, {way}: p50 / CPU, ms", _median(way)) for way in (MCP, PROCESS, INSIDE)),
    ("indexing, CPU s", lambda result: _seconds(result.index)),
    ("indexing, peak memory, MB", lambda r: _megabytes(r.index.peak if r.index else 0)),
    ("index on disk, MB", lambda result: _megabytes(result.disk)),
    ("rescan, nothing changed, CPU s", lambda result: _seconds(result.rescan)),
    ("server after the queries, memory, MB", lambda result: _megabytes(result.serving)),
    ("tools/list, bytes", _tools),
    ("installed, MB", lambda result: _megabytes(result.installed)),
)
