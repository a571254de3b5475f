"""Charts and diagrams inside Office files: their titles, series, values and words."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from bookwheel.formats.composing import cell, plain
from bookwheel.formats.drawing import (
    Paragraph,
    capped_table,
    child,
    local_name,
    markdown,
    read_paragraphs,
)

MAX_POINTS = 200
_MAX_SERIES = 50
_MAX_NODES = 5_000
_KEYS = ("cat", "xVal")
_VALUES = ("val", "yVal")
_UNSEEN = frozenset({"pres", "parTrans", "sibTrans"})
"""Points of a diagram that carry its looks, not its words."""

Points = dict[int, str]


def read_chart(root: etree._Element) -> Iterator[str]:
    """Yield the blocks of a chart: its titles, then a table of what it shows."""
    for element in root.iter("{*}title"):
        lines = ("".join(p.itertext("{*}t")) for p in element.iter("{*}p"))
        if text := " ".join(" ".join(lines).split()):
            yield plain(text)
    series = list(root.iter("{*}ser"))[:_MAX_SERIES]
    if series:
        yield _table(series)
    elif words := [t for e in root.iter("{*}pt") if (t := (e.text or "").strip())]:
        yield plain(" ".join(words[: MAX_POINTS * _MAX_SERIES]))


def _table(series: list[etree._Element]) -> str:
    names = [_name(element) for element in series]
    keys = _points(series[0], _KEYS)
    values = [_points(element, _VALUES) for element in series]
    indexes = sorted({*keys, *(index for points in values for index in points)})
    rows = [["", *names]] if any(names) else []
    rows += [[keys.get(i, ""), *(v.get(i, "") for v in values)] for i in indexes[:MAX_POINTS]]
    if len(indexes) > MAX_POINTS:
        rows.append([f"... {len(indexes) - MAX_POINTS:,} more points"])
    return capped_table([[cell(text) for text in row] for row in rows]) if rows else ""


def _name(series: etree._Element) -> str:
    text = child(series, "tx")
    return "" if text is None else " ".join("".join(text.itertext("{*}v")).split())


def _points(series: etree._Element, names: tuple[str, ...]) -> Points:
    """Return the cached values by their index; labels of several levels are joined."""
    source = next((e for name in names if (e := child(series, name)) is not None), None)
    if source is None:
        return {}
    found: dict[int, list[str]] = {}
    for value in source.iter("{*}v"):
        point = value.getparent()
        index = "" if point is None else point.get("idx", "")
        if index.isdecimal() and value.text:
            found.setdefault(int(index), []).append(value.text)
    return {index: _number(" ".join(reversed(parts))) for index, parts in found.items()}


def _number(text: str) -> str:
    """Return a value without the digits that only a computer sees in it."""
    if len(text) < 12:
        return text
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text


def read_diagram(root: etree._Element) -> str:
    """Return the words of a SmartArt diagram as the list that it draws."""
    points: dict[str, etree._Element] = {}
    tops: list[str] = []
    for point in root.iterfind("{*}ptLst/{*}pt"):
        name = str(point.get("modelId", ""))
        if point.get("type") not in _UNSEEN:
            points[name] = point
            tops.append(name)
    children = _children(root)
    below = {name for names in children.values() for name in names}
    tops = [name for name in tops if name not in below]
    return markdown(_nodes(points, children, tops))


def _children(root: etree._Element) -> dict[str, list[str]]:
    ties: dict[str, list[tuple[int, str]]] = {}
    for tie in root.iterfind("{*}cxnLst/{*}cxn"):
        if tie.get("type", "parOf") == "parOf":
            order = tie.get("srcOrd", "")
            place = int(order) if order.isdecimal() else 0
            ties.setdefault(str(tie.get("srcId", "")), []).append((place, tie.get("destId", "")))
    return {source: [name for _, name in sorted(found)] for source, found in ties.items()}


def _nodes(
    points: dict[str, etree._Element], children: dict[str, list[str]], tops: list[str]
) -> Iterator[Paragraph]:
    """Yield the words of each point below its parent; one that no parent reaches comes last."""
    waiting = [(name, 0) for name in reversed([*tops, *points])]
    seen: set[str] = set()
    while waiting and len(seen) < _MAX_NODES:
        name, level = waiting.pop()
        if name in seen or name not in points:
            continue
        seen.add(name)
        body = next((e for e in points[name] if local_name(e) == "t"), None)
        words = [] if body is None else [p.text for p in read_paragraphs(body, {})]
        if words:
            yield Paragraph(" ".join(words), level)
        inner = level + 1 if words else level
        waiting += [(below, inner) for below in reversed(children.get(name, []))]
