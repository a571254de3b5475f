"""Small line charts side by side, as SVG that is readable on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

_COLUMNS = 3
_WIDTH, _HEIGHT = 300, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 18, 100, 42, 34
_CLOSE = 13
"""Labels nearer to each other than this would overlap."""
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600; fill: #24292f }
.axis { stroke: #d0d7de; stroke-width: 1 }
.line { fill: none; stroke-width: 2 }
.a { stroke: #0969da } .b { stroke: #bc4c00 } .c { stroke: #6639ba }
.dot.a, text.a { fill: #0969da } .dot.b, text.b { fill: #bc4c00 } .dot.c, text.c { fill: #6639ba }
text.a, text.b, text.c { stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 } .title { fill: #e6edf3 } .axis { stroke: #3d444d }
  .a { stroke: #4493f8 } .b { stroke: #f0883e } .c { stroke: #ab7df8 }
  .dot.a, text.a { fill: #4493f8 } .dot.b, text.b { fill: #f0883e }
  .dot.c, text.c { fill: #ab7df8 }
}
"""


class Line(NamedTuple):
    """Values of one measure, one for each size."""

    name: str
    values: tuple[float, ...]


class Panel(NamedTuple):
    """One chart."""

    title: str
    lines: tuple[Line, ...]


def draw_panels(sizes: Sequence[int], panels: Sequence[Panel]) -> str:
    """Return the charts as one drawing; sizes grow from left to right by powers of ten."""
    rows = math.ceil(len(panels) / _COLUMNS)
    width, height = _COLUMNS * _WIDTH, rows * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<style>{_STYLE}</style>",
    ]
    for number, panel in enumerate(panels):
        row, column = divmod(number, _COLUMNS)
        parts.append(f'<g transform="translate({column * _WIDTH} {row * _HEIGHT})">')
        parts += [*_frame(panel, sizes), *_lines(panel, sizes), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(panel: Panel, sizes: Sequence[int]) -> Iterator[str]:
    yield f'<text class="title" x="{_LEFT}" y="20">{escape(panel.title)}</text>'
    bottom = _HEIGHT - _BOTTOM
    yield f'<path class="axis" d="M{_LEFT} {bottom}H{_WIDTH - _RIGHT}"/>'
    for size in sizes:
        x = _across(size, sizes)
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{short(size)}</text>'


def _lines(panel: Panel, sizes: Sequence[int]) -> Iterator[str]:
    top = max((value for line in panel.lines for value in line.values), default=0.0) or 1.0
    taken: list[float] = []
    # The highest first, so that labels which give way to others keep their order.
    every = sorted(zip(panel.lines, "abc", strict=False), key=lambda each: -each[0].values[-1])
    for line, kind in every:
        points = [
            (_across(size, sizes), _up(value, top))
            for size, value in zip(sizes, line.values, strict=True)
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        yield f'<path class="line {kind}" d="M{path}"/>'
        for x, y in points:
            yield f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
        yield from _labels(line, kind, points, taken)


def _labels(
    line: Line, kind: str, points: Sequence[tuple[float, float]], taken: list[float]
) -> Iterator[str]:
    """Write the last value and the name beside the end, where no other label stands."""
    x, y = points[-1]
    y += 4
    while any(abs(y - other) < _CLOSE for other in taken):
        y += 1
    taken.append(y)
    said = f"{_shown(line.values[-1])} {line.name}".strip()
    yield f'<text class="{kind}" x="{x + 8:.1f}" y="{y:.1f}">{escape(said)}</text>'


def _across(size: int, sizes: Sequence[int]) -> float:
    low, high = math.log10(min(sizes)), math.log10(max(sizes))
    share = (math.log10(size) - low) / (high - low) if high > low else 0.5
    return _LEFT + 12 + share * (_WIDTH - _LEFT - _RIGHT - 24)


def _up(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _TOP - _BOTTOM)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def short(size: int) -> str:
    """Return a number of chunks as people say it, to three digits at most: 9.7k, 965k, 1M."""
    for unit, letter in ((1_000_000, "M"), (1000, "k")):
        if size >= 0.9995 * unit:
            shown = f"{size / unit:.1f}" if size < 9.95 * unit else f"{size / unit:.0f}"
            return shown.removesuffix(".0") + letter
    return str(size)
