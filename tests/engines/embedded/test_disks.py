"""Disks that are full, read-only or failing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.embedded.scenes import play
from tests.faults.sizes import PropertyRecorder, size


def test_f05_an_index_on_a_read_only_medium_is_searched_and_says_so(tmp_path: Path) -> None:
    assert play("readonly", tmp_path) == {
        "found": ["a.md"],
        "readonly": True,
        "refresh": False,
        "vocabulary": ["walrus"],
        "problems": [],
        "write": f"IndexUnusable: The index {tmp_path}/index/catalog.db cannot be used: "
        "its folder cannot be written.",
        "left": [],
    }


def test_f05_changes_not_merged_on_a_read_only_medium_are_refused_clearly(tmp_path: Path) -> None:
    assert play("readonly_with_log", tmp_path) == {
        "read": f"IndexUnusable: The index {tmp_path}/copy/catalog.db cannot be used: "
        "its folder is read-only and holds changes not yet merged."
    }


def test_f05_without_words_on_a_read_only_medium_documents_are_still_read(tmp_path: Path) -> None:
    assert play("readonly_behind", tmp_path) == {
        "search": f"IndexUnusable: The index {tmp_path}/index/catalog.db cannot be used: "
        "its folder cannot be written.",
        "read": ["a.md"],
    }


@pytest.mark.parametrize("leave", [0, 80_000, 450_000, 1_000_000])
def test_f04_a_full_disk_is_told_reading_goes_on_and_nothing_is_lost(
    tmp_path: Path, leave: int
) -> None:
    answer = play("full_disk", tmp_path, leave)
    assert answer.pop("refusal").startswith(
        f"IndexUnusable: The index {tmp_path}/disk/index/catalog.db cannot be used: "
    )
    assert answer == {
        "kept": True,
        "found": True,
        "found by another": True,
        "lost": [],
        "problems": [],
    }


def test_f04_a_lagging_index_on_a_full_disk_is_searched_as_it_is(tmp_path: Path) -> None:
    assert play("full_disk_opening", tmp_path) == {
        "found": True,
        "texts": ["a.md", "b.md"],
        "problems": ["the word index is behind the catalogue"],
        "found later": ["a.md", "b.md"],
    }


def test_f02_an_error_of_the_disk_leaves_a_state_that_was(tmp_path: Path) -> None:
    answer = play("io_errors", tmp_path, 7)
    assert answer["bad"] == []
    assert answer["points"] > 10


@pytest.mark.faults
@pytest.mark.timeout(1800)
def test_f02_an_error_of_the_disk_at_any_point_leaves_a_state_that_was(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    answer = play("io_errors", tmp_path, 1, seconds=1700)
    assert answer["bad"] == []
    assert answer["points"] > 80
    record_property("figure", f"{answer['points']} failing writes, syncs and truncations: 0 bad")


def test_f03_a_power_failure_leaves_a_state_that_was_and_what_was_told_as_written(
    tmp_path: Path,
) -> None:
    answer = play("power_cuts", tmp_path, 1, 12)
    assert answer["bad"] == []
    assert answer["cuts"] > 20


@pytest.mark.faults
@pytest.mark.timeout(1800)
def test_f03_a_power_failure_at_any_point_leaves_a_state_that_was(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    answer = play("power_cuts", tmp_path, size("CUTS", 3), 1, seconds=1700)
    assert answer["bad"] == []
    assert answer["cuts"] > 300
    record_property("figure", f"{answer['cuts']:,} power cuts, each with another loss: 0 bad")
