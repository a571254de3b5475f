"""Clocks that jump: nothing is read anew for it, nobody is shut out, and changes are still seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import pytest

import bookwheel.serve.limits
from bookwheel.indexing.pipeline import Report
from tests.conftest import LONG_AGO, Shelf
from tests.indoors import IndoorPool

YEAR = 365 * 86_400
JUMPS = [-YEAR, YEAR, 30 * YEAR, -50 * YEAR]


@pytest.fixture(autouse=True)
def _indoors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bookwheel.indexing.pipeline.WorkerPool", IndoorPool)


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what sets the clock of the wall; the other one goes on as before."""
    seconds, nanoseconds = time.time, time.time_ns
    shifts = [0.0]
    monkeypatch.setattr(time, "time", lambda: seconds() + shifts[-1])
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds() + int(shifts[-1] * 1e9))
    return shifts.append


@pytest.mark.parametrize("shift", JUMPS)
def test_f12_a_clock_that_jumps_makes_nothing_be_read_anew(
    shelf: Shelf, jump: Callable[[float], None], shift: float
) -> None:
    for number in range(20):
        shelf.put(f"{number}.md", f"zebra {number}")
    shelf.update()
    jump(shift)
    assert shelf.update() == [Report("notes", unchanged=20)]
    shelf.put("0.md", "walrus", at=LONG_AGO + 1)
    assert shelf.update() == [Report("notes", indexed=1, unchanged=19)]
    jump(0)
    assert shelf.update() == [Report("notes", unchanged=20)]
    assert shelf.find("walrus") == ["0.md"]


@pytest.mark.parametrize("year", [1905, 1970, 2038, 2106, 2200])
def test_f12_files_of_any_year_are_indexed_once_and_followed(shelf: Shelf, year: int) -> None:
    at = (year - 1970) * YEAR * 10**9 + 1
    file = shelf.put("a.md", "# A\n\nzebra", at=at)
    assert file.stat().st_mtime_ns == at
    assert [(each.indexed, each.unreadable) for each in shelf.update()] == [(1, 0)]
    assert shelf.update() == [Report("notes", unchanged=1)]
    shelf.put("a.md", "# A\n\nzebra, walrus", at=at - 10**9)
    assert [each.indexed for each in shelf.update()] == [1]
    assert shelf.find("walrus") == ["a.md"]


def test_f12_files_dated_in_the_future_are_not_read_again_at_every_look(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra", at=time.time_ns() + YEAR * 10**9)
    shelf.update()
    monkeypatch.setattr("bookwheel.indexing.pipeline.WorkerPool", None)
    assert shelf.update() == [Report("notes", unchanged=1)]


def test_f12_a_clock_that_is_set_back_shuts_nobody_out(jump: Callable[[float], None]) -> None:
    limits = run_path(str(Path(bookwheel.serve.limits.__file__)))  # with the clocks as they are now
    limit = limits["RateLimit"](2, 60)
    assert [limit.take("ann") for _ in range(2)] == [0, 0]
    for shift in JUMPS:
        jump(shift)
        assert 0 < limit.take("ann") <= 60
