"""Tables of reStructuredText as Markdown tables; what has no Markdown form stays as it is drawn."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from bookwheel.formats.composing import cell, fenced, table

_BORDER = re.compile(r"[=-]+(?: +[=-]+)*\s*")
_GRID_LINE = re.compile(r"\+(?:[-=]+\+)+\s*")
_COLUMN = re.compile(r"[=-]+")

_ROW_ITEM = re.compile(r"([*+-] +)[*+-](?=\s|$)(.*)")
_CELL_ITEM = re.compile(r"[*+-](?: |$)")

Inline = Callable[[str], str]


def is_grid(line: str) -> bool:
    """Tell the border of a grid table."""
    return line.startswith("+") and _GRID_LINE.fullmatch(line) is not None


def is_simple(line: str) -> bool:
    """Tell the border of a simple table; one of a single column looks like other things."""
    return line.startswith("=") and " =" in line and not line.strip("= ")


def simple_table(lines: list[str], inline: Inline) -> str:
    """Return a simple table: columns are where its first border says."""
    spans = [found.span() for found in _COLUMN.finditer(lines[0])]
    starts = [start for start, _ in spans]
    rows: list[list[str]] = []
    for line in lines[1:]:
        if _BORDER.fullmatch(line) or not line.strip():
            continue
        ends = [*starts[1:], len(line)]
        if any(start and line[start - 1 : start].strip() for start in starts[1:]):
            ends = [end for _, end in spans[:-1]] + [len(line)]
        cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        if cells[0] or not rows:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
    return _shown(rows, inline) or fenced("\n".join(lines))


def grid_table(lines: list[str], inline: Inline) -> str:
    """Return a grid table, or the drawing of one whose cells span rows or columns."""
    spots = [at for at, letter in enumerate(lines[0].rstrip()) if letter == "+"]
    rows: list[list[str]] = [[""] * (len(spots) - 1)]
    for line in lines[1:]:
        if _GRID_LINE.fullmatch(line):
            rows.append([""] * (len(spots) - 1))
        elif any(line[at : at + 1] != "|" for at in spots):
            return fenced("\n".join(lines))
        else:
            parts = [line[a + 1 : b].strip() for a, b in pairwise(spots)]
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], parts, strict=True)]
    return _shown([row for row in rows if any(row)], inline)


def csv_table(lines: list[str], header: str, inline: Inline) -> str:
    """Return a table whose rows are written with commas."""
    source = [header, *lines] if header else lines
    try:
        return _shown(list(csv.reader(source, skipinitialspace=True)), inline)
    except csv.Error:
        return fenced("\n".join(source))


def list_table(lines: list[str], inline: Inline) -> str:
    """Return a table whose rows are items of a list, and its cells items in them."""
    rows: list[list[str]] = []
    column = 0
    for line in lines:
        if found := _ROW_ITEM.match(line):
            column = len(found[1])
            rows.append([found[2].strip()])
        elif rows and not line[:column].strip() and _CELL_ITEM.match(line, column):
            rows[-1].append(line[column + 1 :].strip())
        elif rows:
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    return _shown(rows, inline)


def _shown(rows: list[list[str]], inline: Inline) -> str:
    filled = [row for row in rows if row]
    return table(list(_cells(filled, inline))) if filled else ""


def _cells(rows: list[list[str]], inline: Inline) -> Iterator[list[str]]:
    for row in rows:
        yield [cell(inline(text)) for text in row]
