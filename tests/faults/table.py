"""The table at the end of `make faults`: row by row what was tried, and how it came out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.faults.rows import ROWS

_NUMBER = re.compile(r"::test_([ft]\d\d)_")
_LONGEST = 60


def is_wanted(item: pytest.Item) -> bool:
    """Tell whether a test shows a row, or takes long."""
    is_of_a_row = re.match(r"test_f\d\d_", item.name) is not None
    return is_of_a_row or item.get_closest_marker("faults") is not None


def make_table(stats: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Give the lines of the table: a row for each fault, and for each threat tried at length."""
    reports: dict[str, list[tuple[str, pytest.TestReport]]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in stats.get(outcome, ()):
            if outcome != "passed" or report.when == "call":
                found = _NUMBER.search(report.nodeid)
                row = found[1].upper() if found else "other"
                reports.setdefault(row, []).append((outcome, report))
    for row in sorted({*reports, *ROWS}):
        yield from _lines(row, reports.get(row, []))


def _lines(row: str, reports: Sequence[tuple[str, pytest.TestReport]]) -> Iterator[str]:
    about = ROWS[row].fault if row in ROWS else "see docs/security.md" if row[0] == "T" else ""
    counts = [
        f"{sum(outcome == kind for kind, _ in reports)} {outcome}"
        for outcome in ("passed", "failed", "error", "skipped")
        if any(outcome == kind for kind, _ in reports)
    ]
    seconds = sum(report.duration for _, report in reports)
    short = about if len(about) <= _LONGEST else about[: _LONGEST - 1] + "…"
    yield f"{row:6} {short:{_LONGEST}} {', '.join(counts) or 'not tried':20} {seconds:7.1f} s"
    for _, report in reports:
        for name, value in report.user_properties:
            if name == "figure":
                yield f"{'':6} {value}"
