"""A citation graph as a drawing in SVG: one colour per collection, arrows by confidence.

It needs no network, font or script, and is legible on light and dark ground.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple
from unicodedata import east_asian_width
from xml.sax.saxutils import escape, quoteattr

from bookwheel.reading.graph import Edge, Graph, Node
from bookwheel.reading.layout import Box, lay_out
from bookwheel.safety.redact import make_safe
from bookwheel.text.cut import cut

COLOURS = ("#3b6fd4", "#d9722b", "#2f9e6e", "#b5539c", "#c9a227", "#4aa8c0", "#8a63c7", "#c0504d")
_OUTSIDE = "#8b929c"
_FONT = 12.0
_LETTER = 0.56
_LINE = 15.0
_LINE_LETTERS = 22
_LONGEST_LINE = 30
_MARGIN = 36.0
_MANY = 80
"""Of more arrows than this, each is drawn the fainter."""
_TURNING = 0.5
"""How much more of a node's arrows must go down than up for it to stand below its label."""
_SMALLEST, _LARGEST = 6.0, 18.0
_STYLE = (
    "svg{background:#fff;color:#1d2329;--halo:#fff}"
    "@media(prefers-color-scheme:dark){svg{background:#14181d;color:#e4e8ec;--halo:#14181d}}"
    f"text{{font:{_FONT}px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:currentColor}}"
    ".l{text-anchor:middle;paint-order:stroke;stroke:var(--halo);stroke-width:3px;"
    "stroke-linejoin:round}"
    ".r .l{font-weight:600}.o .l{fill-opacity:.7}.e{fill:none;stroke:currentColor}"
    ".h{fill:currentColor}.k{fill-opacity:.75;font-size:11px}"
)


class _Spot(NamedTuple):
    """A node as it is drawn."""

    node: Node
    lines: tuple[str, ...]
    radius: float
    colour: str
    x: float = 0.0
    y: float = 0.0
    is_below: bool = False
    """The node stands below its label, out of the way of arrows from below."""


def draw(
    graph: Graph,
    *,
    link: Callable[[Node], str | None] = lambda node: None,
    styled: bool = True,
) -> str:
    """Return a graph as an SVG document; `link` gives the address that a node leads to.

    One that is not `styled` takes its look from the page around it. Arrows and nodes stand in the
    order of the graph.
    """
    colours = _colours(graph.nodes)
    spots = _place(graph, colours)
    by_id = {spot.node.id: spot for spot in spots}
    legend = _legend(colours, graph)
    right = max((s.x + _box(s).half for s in spots), default=0) + _MARGIN
    low = max((s.y + (_box(s).up if s.is_below else _box(s).down) for s in spots), default=0)
    low += _MARGIN
    width, height = max(right, 420.0), low + _LINE * 1.6 * len(legend) + _MARGIN / 2
    has_roots = any(node.level for node in graph.nodes if node.document)
    pairs = {(edge.source, edge.target) for edge in graph.edges}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" '
        f"aria-label={quoteattr(_summary(graph))}>",
        *([f"<style>{_STYLE}</style>"] if styled else []),
        f'<g opacity="{min(1.0, (_MANY / max(1, len(graph.edges))) ** 0.3):.2f}">',
        *(
            _arrow(edge, by_id, is_mutual=(edge.target, edge.source) in pairs)
            for edge in graph.edges
        ),
        "</g>",
        *(_node(spot, link(spot.node), has_roots=has_roots) for spot in spots),
        *(_legend_line(at, low, line) for at, line in enumerate(legend)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _summary(graph: Graph) -> str:
    documents = sum(node.document is not None for node in graph.nodes)
    cut_short = ", not all that there are" if graph.is_cut else ""
    return f"Citation graph: {documents} documents and {len(graph.edges)} citations{cut_short}"


def _colours(nodes: Sequence[Node]) -> dict[str, str]:
    names = sorted({node.document.collection for node in nodes if node.document})
    return {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}


def _place(graph: Graph, colours: dict[str, str]) -> list[_Spot]:
    cited = Counter(edge.target for edge in graph.edges)
    spots = [
        _Spot(
            node,
            _wrap(node.label),
            min(_LARGEST, _SMALLEST + 2 * math.sqrt(cited[node.id])),
            colours[node.document.collection] if node.document else _OUTSIDE,
        )
        for node in graph.nodes
    ]
    number = {spot.node.id: at for at, spot in enumerate(spots)}
    ties = [(number[edge.source], number[edge.target]) for edge in graph.edges]
    boxes = [_box(spot) for spot in spots]
    places = lay_out(boxes, [tie for tie in ties if tie[0] != tie[1]])
    left = min((x - box.half for (x, _), box in zip(places, boxes, strict=True)), default=0.0)
    top = min((y - box.up for (_, y), box in zip(places, boxes, strict=True)), default=0.0)
    placed = [
        spot._replace(x=x - left + _MARGIN, y=y - top + _MARGIN)
        for spot, (x, y) in zip(spots, places, strict=True)
    ]
    return _turn(placed, ties)


def _turn(spots: Sequence[_Spot], ties: Sequence[tuple[int, int]]) -> list[_Spot]:
    """Return nodes with their labels away from their arrows; each keeps to its own box."""
    pulls = [0.0] * len(spots)
    for one, other in ties:
        _, down = _unit(spots[other].x - spots[one].x, spots[other].y - spots[one].y)
        pulls[one] += down
        pulls[other] -= down
    return [
        spot._replace(y=spot.y + box.down - box.up, is_below=True) if pull > _TURNING else spot
        for spot, box, pull in zip(spots, map(_box, spots), pulls, strict=True)
    ]


def _box(spot: _Spot) -> Box:
    """Return what a node with its label takes up."""
    half = max(spot.radius + 2, *(_width(line) / 2 for line in spot.lines))
    return Box(half, spot.radius + 2, spot.radius + 4 + _LINE * len(spot.lines))


def _width(line: str) -> float:
    letters = sum(1.0 if east_asian_width(each) in "WF" else _LETTER for each in line)
    return letters * _FONT + 4


def _wrap(label: str) -> tuple[str, ...]:
    """Return a label on one or two short lines."""
    whole = cut(label, limit=2 * _LINE_LETTERS) or "?"
    if len(whole) <= _LINE_LETTERS:
        return (whole,)
    middle = len(whole) / 2
    places = range(max(1, len(whole) - _LONGEST_LINE), min(len(whole), _LONGEST_LINE))
    at = min(places, key=lambda place: abs(place - middle) + _harm(whole, place))
    lines = (whole[:at].rstrip(), whole[at:].lstrip())
    return tuple(cut(line, limit=_LONGEST_LINE) for line in lines if line)


def _harm(text: str, at: int) -> float:
    """Return how bad it is to end a line before a place: at a blank, a joint, a capital, else."""
    before, after = text[at - 1], text[at]
    if before == " ":
        return 0
    if before in "/-_:.(":
        return 4
    return 8 if before.islower() and after.isupper() else 40


def _arrow(edge: Edge, spots: dict[str, _Spot], *, is_mutual: bool) -> str:
    """Return an arrow from rim to rim; of two that go both ways, each bends to its own side."""
    source, target = spots[edge.source], spots[edge.target]
    dx, dy = target.x - source.x, target.y - source.y
    bend = 0.12 if is_mutual else 0.0
    mid_x, mid_y = source.x + dx / 2 - dy * bend, source.y + dy / 2 + dx * bend
    out_x, out_y = _unit(mid_x - source.x, mid_y - source.y)
    in_x, in_y = _unit(target.x - mid_x, target.y - mid_y)
    size, rim = 6 + 2 * edge.confidence, target.radius + 3
    tip_x, tip_y = target.x - in_x * rim, target.y - in_y * rim
    end_x, end_y = tip_x - in_x * size, tip_y - in_y * size
    wing_x, wing_y = -in_y * size * 0.45, in_x * size * 0.45
    start_x, start_y = source.x + out_x * source.radius, source.y + out_y * source.radius
    line = f"M{start_x:.1f} {start_y:.1f}Q{mid_x:.1f} {mid_y:.1f} {end_x:.1f} {end_y:.1f}"
    corners = ((tip_x, tip_y), (end_x + wing_x, end_y + wing_y), (end_x - wing_x, end_y - wing_y))
    head = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z"
    return (
        f'<g opacity="{0.2 + 0.35 * edge.confidence**2:.2f}"><path class="e" {_stroke(edge)} '
        f'd="{line}"/><path class="h" d="{head}"/></g>'
    )


def _unit(dx: float, dy: float) -> tuple[float, float]:
    length = math.hypot(dx, dy) or 1.0
    return dx / length, dy / length


def _stroke(edge: Edge) -> str:
    """Return how a line looks: the surer, the stronger; unbroken for an explicit link."""
    width = f'stroke-width="{0.7 + edge.confidence:.1f}"'
    if edge.confidence >= 1:
        return width
    return f'{width} stroke-dasharray="{"6 3" if edge.confidence >= 0.9 else "3 3"}"'


def _node(spot: _Spot, address: str | None, *, has_roots: bool) -> str:
    node = spot.node
    kind = "o" if node.document is None else "r" if has_roots and node.level == 0 else "n"
    where = f"{node.document.collection}/{node.document.path}" if node.document else node.id
    hollow = f'fill="var(--halo)" stroke="{spot.colour}" stroke-width="2"'
    ring = f'fill="{spot.colour}" stroke="var(--halo)" stroke-width="1.5"'
    first = spot.y + spot.radius + 3 + _FONT
    if spot.is_below:
        first = spot.y - spot.radius - 5 - _LINE * (len(spot.lines) - 1)
    lines = "".join(
        f'<text class="l" x="{spot.x:.1f}" y="{first + at * _LINE:.1f}">{escape(line)}</text>'
        for at, line in enumerate(spot.lines)
    )
    drawn = (
        f'<g class="{kind}"><title>{escape(make_safe(f"{node.label} ({where})"))}</title>'
        f'<circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{spot.radius:.1f}" '
        f"{ring if node.document else hollow}/>{lines}</g>"
    )
    return f"<a href={quoteattr(address)}>{drawn}</a>" if address else drawn


class _Line(NamedTuple):
    """A line of the legend: what is shown, and what it means."""

    mark: str
    text: str


def _legend(colours: dict[str, str], graph: Graph) -> list[_Line]:
    lines = [_Line(colour, name) for name, colour in colours.items()]
    if any(node.document is None for node in graph.nodes):
        lines.append(_Line("", "not a document here"))
    if any(edge.confidence < 1 for edge in graph.edges):
        lines.append(_Line("-", "dashed: cited without an explicit link"))
    return [*lines, _Line(" ", _summary(graph))]


def _legend_line(at: int, top: float, line: _Line) -> str:
    y = top + _LINE * 1.6 * at
    x = _MARGIN + 6
    mark = {
        "": f'<circle cx="{x}" cy="{y:.1f}" r="5" fill="none" stroke="{_OUTSIDE}"/>',
        "-": f'<path class="e" stroke-dasharray="6 3" d="M{x - 7} {y:.1f}h16"/>',
        " ": "",
    }.get(line.mark, f'<circle cx="{x}" cy="{y:.1f}" r="6" fill="{line.mark}"/>')
    start = x + 16 if mark else x - 6
    return f'{mark}<text class="k" x="{start}" y="{y + 4:.1f}">{escape(line.text)}</text>'
