"""A figure: what was measured, what it should be, and how a table of them is printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

_HEAD = ("figure", "measured", "target", "", "how")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table; `met` is None where a figure has no target of its own."""

    name: str
    value: float
    shown: str
    target: str = ""
    met: bool | None = None
    how: str = ""

    @property
    def verdict(self) -> str:
        return {True: "pass", False: "MISS", None: ""}[self.met]


def at_most(name: str, value: float, limit: float, *, shown: str, target: str, how: str) -> Figure:
    """Return a figure that must not exceed its limit."""
    return Figure(name, value, shown, target, value <= limit, how)


def at_least(name: str, value: float, limit: float, *, shown: str, target: str, how: str) -> Figure:
    """Return a figure that must reach its limit."""
    return Figure(name, value, shown, target, value >= limit, how)


def as_text(figures: Sequence[Figure]) -> str:
    """Return the table for a terminal."""
    rows = [_HEAD, *map(_cells, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    return "\n".join(
        "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    )


def as_markdown(figures: Iterable[Figure]) -> str:
    """Return the table as docs/benchmarks.md holds it."""
    lines = ["| figure | measured | target | | how |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(_cells(figure)) + " |" for figure in figures]
    return "\n".join(lines)


def as_json(figures: Iterable[Figure]) -> str:
    """Return the figures for a script."""
    return json.dumps([asdict(figure) for figure in figures], ensure_ascii=False, indent=2)


def _cells(figure: Figure) -> tuple[str, ...]:
    return (figure.name, figure.shown, figure.target, figure.verdict, figure.how)
