"""Tests write to memory only where there is a fit place for it, and nobody named another."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests import temporary


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary, "MEMORY", tmp_path)
    monkeypatch.setattr(temporary, "ROOM", 0)
    monkeypatch.setattr(tempfile, "tempdir", "/elsewhere")
    monkeypatch.setenv("TMPDIR", "/elsewhere")


def test_a_fit_place_is_taken_by_this_process_and_those_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR")
    temporary.write_to_memory()
    assert (os.environ["TMPDIR"], tempfile.gettempdir()) == (str(tmp_path), str(tmp_path))


def test_a_place_that_was_named_is_kept() -> None:
    temporary.write_to_memory()
    assert (os.environ["TMPDIR"], tempfile.gettempdir()) == ("/elsewhere", "/elsewhere")


def test_a_place_without_room_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(temporary, "ROOM", 2**60)
    temporary.write_to_memory()
    assert ("TMPDIR" in os.environ, tempfile.gettempdir()) == (False, "/elsewhere")


def test_where_there_is_no_such_place_it_is_not_taken(tmp_path: Path) -> None:
    assert not temporary.is_fit(tmp_path / "missing")
