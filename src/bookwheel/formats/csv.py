"""Tables as text: CSV with any of the usual delimiters, and TSV.

Rows are counted as records, so that a cell with line breaks in it does not shift them.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from bookwheel.formats.base import require_length
from bookwheel.formats.composing import About, Composer
from bookwheel.formats.decoding import decode
from bookwheel.formats.grid import MAX_TEXT, Grid, finish_tables, name_columns
from bookwheel.model import Parsed

_DELIMITERS = ("\t", ";", "|", ",")
"""In the order of trust: numbers and prose hold commas, hardly ever tabs."""
_SAMPLE = 64_000
_SAMPLE_RECORDS = 50
_MAX_CELL = 50_000
_LONGEST = 2**31 - 1
_NAMED = re.compile(r'"?sep=([,;|\t:])"?[ \t]*\n', re.I)
"""A first line that tells Excel the delimiter."""


def read(data: bytes, path: str) -> Parsed:
    """Read a table whose first record names the columns."""
    text = require_length(decode(data))
    # The module's own limit is for all of the process; here the length of the text bounds cells.
    csv.field_size_limit(_LONGEST)
    named = _NAMED.match(text)
    delimiter = named[1] if named else _choose_delimiter(text)
    body = text[named.end() :] if named else text
    grid = Grid(MAX_TEXT)
    grid.gather(_records(body, delimiter), _join_rows)
    composer = Composer()
    grid.add_to(composer, "")
    about = About(description=name_columns(grid.head))
    return finish_tables(composer, path, about, left=grid.left)


def _choose_delimiter(text: str) -> str:
    """Return the delimiter that gives the most records the same width of two or more."""
    sample = text[:_SAMPLE]
    if len(sample) < len(text):
        sample = sample[: sample.rfind("\n") + 1] or sample
    best, most = ",", 0.0
    for delimiter in _DELIMITERS:
        if delimiter in sample:
            share = _agreement(sample, delimiter)
            if share > most:
                best, most = delimiter, share
    return best


def _agreement(sample: str, delimiter: str) -> float:
    """Return which part of the records has the width that is most common, one cell apart."""
    records = islice(filter(None, _parse(sample, delimiter)), _SAMPLE_RECORDS)
    widths = Counter(map(len, records))
    total = sum(widths.values())
    return max((count for width, count in widths.items() if width > 1), default=0) / (total or 1)


def _parse(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(StringIO(text, newline="\n"), delimiter=delimiter)


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the records."""
    records = _parse(text, delimiter)
    if _has_stray_quote(text, delimiter):
        lines = StringIO(text, newline="\n")
        records = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    for record in records:
        if len("".join(record)) > _MAX_CELL:
            record = [_shorten(cell) for cell in record]
        yield record


def _join_rows(rows: list[list[str]]) -> list[str]:
    return list(map(" | ".join, rows))


def _has_stray_quote(text: str, delimiter: str) -> bool:
    """Tell a text with a quote that opens a cell and is never closed: all the rest is in it."""
    if text.count('"') % 2 == 0:
        return False
    last = deque(_parse(text, delimiter), maxlen=1)
    return bool(last) and any("\n" in cell.rstrip("\n") for cell in last[0])


def _shorten(cell: str) -> str:
    more = len(cell) - _MAX_CELL
    return cell if more <= 0 else f"{cell[:_MAX_CELL]} ... ({more:,} more characters left out)"
