"""Secrets and phone numbers in columns that nothing but blanks sets apart, below a head."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from bookwheel.safety.columns import HEAD, Judge, judges_of
from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.values import is_named_in_prose

_HEADED = (
    rf"(?m)^(?:[^\n|,;\t]*[ ]{{2}})?[^\s|,;]*(?: [^\s|,;]*)?{HEAD}[^\s|,;]*"
    r"(?:[ ]{2}[^\n|,;\t]*)?[ \r]*$"
)
_CELL = re.compile(r"\S+(?: \S+)*")
_HEAD_CELL = re.compile(r"[^\W\d][\w ./()#-]{0,30}")
_RULE = re.compile(r"(?: |[-=](?![-=]))*[-=]{2}[-= ]*")
_MOST_ROWS = 20_000
_LONGEST_LINE = 1000


def find_in_aligned_columns(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield what stands right below a head such as `password`, beginning or ending where it does.

    Blanks may part anything: every head must be a name, and every cell begin or end as its head.
    """
    done = 0
    dense = Stretches(allowance)
    for match in places(_HEADED, data, dense):
        start, end = match.span()
        if start >= done and b"  " in data[start:end].strip():
            heads = list(_CELL.finditer(data[start:end].decode("utf-8", "replace").rstrip()))
            judges = judges_of([head[0].encode() for head in heads])
            if judges and len(heads) > 1 and all(_HEAD_CELL.fullmatch(each[0]) for each in heads):
                columns = [(heads[at].span(), *judge) for at, judge in judges.items()]
                done = yield from _below(data, end + 1, columns)
    yield from dense.let_go()


def _below(
    data: bytes, at: int, columns: list[tuple[tuple[int, int], str, Judge]]
) -> Generator[Found, None, int]:
    """Yield the secrets of one table; return where it ends."""
    for _ in range(_MOST_ROWS):
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        line = data[at : min(end, at + _LONGEST_LINE)].decode("utf-8", "replace").rstrip()
        cells = list(_CELL.finditer(line))
        if len(cells) < 2 and not _RULE.fullmatch(line):
            break
        for (first, last), kind, judge in columns:
            for cell in cells:
                if (cell.start() == first or cell.end() == last) and _is_one(cell[0], kind, judge):
                    start = at + len(line[: cell.start()].encode())
                    yield start, start + len(cell[0].encode()), kind
        at = end + 1
    return at


def _is_one(cell: str, kind: str, judge: Judge) -> bool:
    return is_named_in_prose(cell) if kind == "password" else judge(cell.encode())
