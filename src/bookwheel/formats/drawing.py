"""Text in DrawingML, which slides, charts and diagrams share: paragraphs, lists, tables, links.

Tags are matched without their namespaces, of which strict and transitional files have two sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lxml import etree

from bookwheel.formats.composing import cell, link, plain, table, table_row
from bookwheel.formats.elements import LocalNames
from bookwheel.formats.ooxml import Relation

MAX_ROWS = 2_000
MAX_COLUMNS = 200
_MAX_LEVEL = 8
_BULLETS = frozenset({"buChar", "buAutoNum", "buBlip"})

Relations = Mapping[str, Relation]


class Paragraph(NamedTuple):
    """A paragraph in Markdown, and how deep it stands in a list; -1 outside of any."""

    text: str
    level: int


_NAMES = LocalNames()


def local_name(element: etree._Element) -> str:
    """Return the tag without its namespace; nothing for comments."""
    return _NAMES[element.tag]


def child(element: etree._Element | None, name: str) -> etree._Element | None:
    """Return the first child of this name."""
    return None if element is None else next(element.iterchildren("{*}" + name), None)


def relation_id(element: etree._Element, name: str = "id") -> str:
    """Return the id of a relation that an element names."""
    end = "relationships}" + name
    return next((str(v) for key, v in element.items() if str(key).endswith(end)), "")


def read_paragraphs(
    body: etree._Element, relations: Relations, *, listed: bool = False, url: str = ""
) -> list[Paragraph]:
    """Return the paragraphs that have text; `listed` where a shape has bullets by its kind."""
    found: list[Paragraph] = []
    for element in body.iterchildren("{*}p"):
        text = read_runs(element, relations, url).strip()
        if text:
            properties = child(element, "pPr")
            found.append(Paragraph(text, _level(properties, listed=listed)))
    return found


def _level(properties: etree._Element | None, *, listed: bool) -> int:
    if properties is None:
        return 0 if listed else -1
    value = properties.get("lvl", "0")
    level = min(int(value), _MAX_LEVEL) if value.isdecimal() else 0
    for element in properties:
        name = local_name(element)
        if name == "buNone":
            return -1
        listed = listed or name in _BULLETS
    return level if listed else -1


def read_runs(paragraph: etree._Element, relations: Relations, url: str = "") -> str:
    """Return the text of a paragraph with its links."""
    runs: list[tuple[str, str]] = []
    for element in paragraph:
        name = _NAMES[element.tag]
        if name == "r":
            text, target = _read_run(element, relations)
            target = target or url
            if runs and runs[-1][1] == target:
                text = runs.pop()[0] + text
            runs.append((text, target))
        elif name == "br":
            runs.append(("\n", runs[-1][1] if runs else ""))
        elif name == "fld":
            runs.append((element.findtext("{*}t") or "", ""))
        elif name in ("m", "AlternateContent"):
            runs.append((_formula(element), ""))
    return "".join(_linked(text, target) if target else text for text, target in runs)


def _formula(element: etree._Element) -> str:
    source = child(element, "Choice") if local_name(element) != "m" else element
    source = element if source is None else source
    return "".join(str(part.text) for part in source.iter("{*}t") if part.text)


def _linked(text: str, target: str) -> str:
    shown = text.strip()
    return text.replace(shown, link(shown, target)) if shown else text


def _read_run(run: etree._Element, relations: Relations) -> tuple[str, str]:
    text = target = ""
    for element in run:
        name = _NAMES[element.tag]
        if name == "t":
            text = element.text or ""
        elif name == "rPr" and len(element):
            target = click_target(element, relations)
    return text, target


def click_target(element: etree._Element | None, relations: Relations) -> str:
    """Return the URL that a click on a run or shape opens; nothing within the file."""
    if element is None or len(element) == 0:
        return ""
    click = child(element, "hlinkClick")
    relation = None if click is None else relations.get(relation_id(click))
    return relation.target if relation is not None and relation.is_external else ""


def markdown(paragraphs: Iterable[Paragraph]) -> str:
    """Return paragraphs and lists as Markdown; no item stands deeper than below the one before."""
    blocks: list[str] = []
    before = -1
    for text, level in paragraphs:
        if level < 0:
            blocks.append(("\n\n" if blocks else "") + plain(text))
            before = -1
            continue
        depth = min(level, before + 1)
        gap = "" if not blocks else "\n" if before >= 0 else "\n\n"
        blocks.append(f"{gap}{'  ' * depth}- {plain(' '.join(text.split()))}")
        before = depth
    return "".join(blocks)


def read_table(element: etree._Element, relations: Relations) -> str:
    """Return an `a:tbl` as a Markdown table; merged cells stand once, where they begin."""
    rows = [
        [_cell(part, relations) for part in row.iterchildren("{*}tc")]
        for row in element.iterchildren("{*}tr")
    ]
    rows = [row for row in rows if row]
    return capped_table(rows) if any(any(row) for row in rows) else ""


def _cell(element: etree._Element, relations: Relations) -> str:
    body = child(element, "txBody")
    if body is None:
        return ""
    return cell(" ".join(p.text for p in read_paragraphs(body, relations)))


def capped_table(rows: list[list[str]]) -> str:
    """Return a Markdown table, with a line for what is left out of a very large one."""
    width = max(map(len, rows))
    shown = [row[:MAX_COLUMNS] for row in rows[:MAX_ROWS]]
    left = [
        f"{count:,} more {what}"
        for count, what in ((len(rows) - MAX_ROWS, "rows"), (width - MAX_COLUMNS, "columns"))
        if count > 0
    ]
    return table(shown) + (f"\n{table_row(['... ' + ', '.join(left)])}" if left else "")
