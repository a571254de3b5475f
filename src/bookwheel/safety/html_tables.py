"""Secrets and phone numbers in tables that stand in a text as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from bookwheel.safety.columns import HEAD, Judge, judges_of
from bookwheel.safety.density import Allowance, Found, Stretches, places

_HEAD_CELL = (
    r"(?i)<t[hd](?:\s[^<>]{0,200})?>\s{0,20}(?:<[a-z][^<>]{0,60}>\s{0,9}){0,2}"
    rf"[^<>]{{0,40}}?{HEAD}"
)
_ROW = re.compile(rb"<tr\b", re.I)
_CELL = re.compile(rb"<t([hd])\b[^<>]*>((?:<(?!/?t[hdr]\b|/?table\b)[^<>]*>|[^<])*)", re.I)
_TAG = re.compile(rb"<[^<>]*>")
_TEXT = re.compile(rb"((?<![^>\s])[^\s<>][^<>]*)")
_TABLE_ENDS = re.compile(rb"</table\b", re.I)
_FAR = 4000
"""Bytes of the longest row."""
_LONGEST_TABLE = 200_000


def find_in_html_tables(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield what stands below a head such as `Password` in a table of HTML."""
    if b"<t" not in data and b"<T" not in data:
        return
    done = 0
    dense = Stretches(allowance)
    for match in places(_HEAD_CELL, data, dense):
        if match.start() < done:
            continue
        before = max(done, match.start() - _FAR)
        row = data[before : match.start()].lower().rfind(b"<tr")
        if row < 0:
            continue
        start = before + row
        ends = _TABLE_ENDS.search(data, match.end(), match.end() + _LONGEST_TABLE)
        done = ends.start() if ends else min(len(data), match.end() + _LONGEST_TABLE)
        yield from _below(data, start, done)
    yield from dense.let_go()


def _below(data: bytes, start: int, end: int) -> Iterator[Found]:
    rows = [row.start() for row in _ROW.finditer(data, start, end)] + [end]
    head = list(_CELL.finditer(data, rows[0], rows[1]))
    judges = judges_of([_TAG.sub(b" ", cell[2]) for cell in head])
    is_head = len(head) > 1 and len({cell[1].lower() for cell in head}) == 1
    if not is_head or (head[0][1] in b"dD" and 0 in judges):  # a name, and its value beside it
        return
    for first, last in pairwise(rows[1:]):
        cells = list(_CELL.finditer(data, first, last))
        for number, (kind, judge) in judges.items():
            if number < len(cells):
                yield from _in_cell(data, *cells[number].span(2), kind=kind, judge=judge)


def _in_cell(data: bytes, start: int, end: int, *, kind: str, judge: Judge) -> Iterator[Found]:
    for text in _TEXT.finditer(data, start, end):
        if judge(text[1].strip()):
            yield *text.span(1), kind
