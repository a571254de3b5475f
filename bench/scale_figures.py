"""What was measured at several sizes, as rows of the table and as lines of a drawing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from bench.chart import Line, Panel, draw_panels, short
from bench.figures import Figure

SEARCH_LIMIT = 60.0
UPDATE_LIMIT = 2.0
MEMORY_LIMITS = ((100_000, 200.0), (1_000_000, 1200.0))
"""Megabytes of a serving process up to so many chunks, give or take a tenth."""
_ABOUT = 1.1

Measured = dict[str, Any]
Value = Callable[[Measured], float]


def late(took: Sequence[float]) -> float:
    """Return the milliseconds within which all but one in twenty were answered."""
    return sorted(took)[len(took) * 95 // 100] * 1e3


def median(took: Sequence[float]) -> float:
    """Return the median in milliseconds."""
    return statistics.median(took) * 1e3


def rate(part: str) -> Value:
    """Return how many chunks a CPU second gave."""
    return lambda size: size["search"]["chunks"] / max(size[part]["cpu"], 1e-9)


def search_late(kind: str) -> Value:
    """Return how long a kind of search takes at most, but for one in twenty."""
    return lambda size: late(size["search"]["took"][kind])


def own_memory(size: Measured) -> float:
    return float(size["server"]["own"]) / 1e6


def reader_memory(size: Measured) -> float:
    return float(max(size["server"]["readers"], default=0)) / 1e6


def update_ratio(size: Measured) -> float:
    spent = size["update"]
    return float(median(spent["update"]) / max(median(spent["floor"]), 1e-6))


def cold(size: Measured) -> float:
    return float(median(size["cold"]))


def disk(size: Measured) -> float:
    return float(size["search"]["disk"] / max(1, size["search"]["chunks"]))


def rows(sizes: Sequence[Measured]) -> list[Figure]:
    """Return one row for each measure, with its value at every size."""
    return [
        _row("indexing, chunks a CPU second", sizes, rate("index"), how=_seconds(sizes, "index")),
        _row("vectors, chunks a CPU second", sizes, rate("embed"), how=_seconds(sizes, "embed")),
        _row("disk, bytes for each chunk", sizes, disk, how="vectors included"),
        *(_search(sizes, kind, name) for kind, name in _SEARCHES),
        _memory("memory of the server", sizes, own_memory),
        _memory("memory of each process that answers for it", sizes, reader_memory),
        _update(sizes),
        _row("vectors of 100 changed documents, CPU ms", sizes, _of_update("embed")),
        _row("look through all files, nothing changed, CPU ms", sizes, _of_update("rescan")),
        _row("cold search, CPU ms", sizes, cold, how="`bookwheel search`, words and meaning"),
    ]


_SEARCHES = (
    ("words", "search by words"),
    ("hybrid", "search by words and meaning"),
    ("half", "the same in half of the documents"),
    ("few", "the same in one document of 23"),
)


def _row(name: str, sizes: Sequence[Measured], value: Value, *, how: str = "") -> Figure:
    values = [value(size) for size in sizes]
    return Figure(name, values[-1], _side_by_side(values), how=how)


def _search(sizes: Sequence[Measured], kind: str, name: str) -> Figure:
    values = [late(size["search"]["took"][kind]) for size in sizes]
    middles = [median(size["search"]["took"][kind]) for size in sizes]
    asked = len(sizes[-1]["search"]["took"][kind])
    how = f"95 % of {asked} questions are answered in less; medians {_side_by_side(middles)}"
    if kind == "words":
        return Figure(f"{name}, CPU ms", values[-1], _side_by_side(values), how=how)
    met = values[-1] < SEARCH_LIMIT
    target = f"< {SEARCH_LIMIT:.0f}"
    return Figure(f"{name}, CPU ms", values[-1], _side_by_side(values), target, met, how)


def _memory(name: str, sizes: Sequence[Measured], value: Value) -> Figure:
    values = [value(size) for size in sizes]
    met = all(
        each < limit
        for each, size in zip(values, sizes, strict=True)
        for chunks, limit in MEMORY_LIMITS
        if size["search"]["chunks"] <= chunks * _ABOUT
    )
    target = ", ".join(f"< {limit:.0f} at {short(chunks)}" for chunks, limit in MEMORY_LIMITS)
    how = f"no file behind it (RssAnon), after {2 * len(sizes[0]['search']['took']['hybrid'])}"
    how = f"{how} searches and more by sixteen clients"
    return Figure(f"{name}, MB", values[-1], _side_by_side(values), target, met, how)


def _update(sizes: Sequence[Measured]) -> Figure:
    values = [update_ratio(size) for size in sizes]
    pairs = [
        f"{median(size['update']['update']):.0f} against {median(size['update']['floor']):.0f} ms"
        for size in sizes
    ]
    times = len(sizes[-1]["update"]["update"])
    return Figure(
        "100 changed documents, CPU",
        values[-1],
        " · ".join(f"{each:.2f}" for each in values) + " x",
        f"<= {UPDATE_LIMIT:.0f} x",
        all(each <= UPDATE_LIMIT for each in values),
        f"of the bare libraries in stores of the same size: {'; '.join(pairs)}; "
        f"medians of {times}, in turn",
    )


def _of_update(part: str) -> Value:
    return lambda size: median(size["update"][part])


def _seconds(sizes: Sequence[Measured], part: str) -> str:
    spent = [f"{size[part]['cpu']:,.0f} s" for size in sizes]
    return f"{' · '.join(spent)}; workers included"


def _side_by_side(values: Sequence[float]) -> str:
    return " · ".join(_number(each) for each in values)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def draw(sizes: Sequence[Measured]) -> str:
    """Return the drawing."""
    chunks = [size["search"]["chunks"] for size in sizes]

    def line(name: str, value: Value) -> Line:
        return Line(name, tuple(map(value, sizes)))

    panels = [
        Panel("Search, CPU ms (95 %)", (line("words", search_late("words")), *_meaning(line))),
        Panel("Memory, MB", (line("server", own_memory), line("reader", reader_memory))),
        Panel("100 changed documents, x the engines", (line("", update_ratio),)),
        Panel("Indexing, chunks a CPU second", (line("words", rate("index")),)),
        Panel("Disk, bytes a chunk", (line("", disk),)),
        Panel("Cold search, CPU ms", (line("", cold),)),
    ]
    return draw_panels(chunks, panels)


def _meaning(line: Callable[[str, Value], Line]) -> tuple[Line, ...]:
    return line("and meaning", search_late("hybrid")), line("in half", search_late("half"))
