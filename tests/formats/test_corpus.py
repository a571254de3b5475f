"""Real files of every format through the real worker pool, where a folder of them is at hand.

BOOKWHEEL_TEST_FORMATS names the folder; its MANIFEST.tsv says in the column `status_seen` what
became of each file elsewhere.
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path

import pytest

from bookwheel.indexing.outcomes import REASONS
from bookwheel.indexing.prepare import MAX_FILE_BYTES
from bookwheel.indexing.wire import unpack
from bookwheel.indexing.worker import Limits, Task, WorkerPool
from bookwheel.model import Draft, Status

pytestmark = pytest.mark.corpus
READ = {"ok", "text"}
HANDLER = "bookwheel.indexing.prepare:make_prepare"


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("BOOKWHEEL_TEST_FORMATS")
    if not named:
        pytest.skip("BOOKWHEEL_TEST_FORMATS names no folder of files")
    return Path(named)


def read_manifest(folder: Path) -> dict[str, str]:
    with (folder / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row["status_seen"] for row in csv.DictReader(file, delimiter="\t")}


def is_worse(seen: str, status: str) -> bool:
    """Tell a file that was read elsewhere and not here; cells that are all empty are no text."""
    return seen in READ and status not in (Status.OK, Status.NO_TEXT)


@pytest.mark.timeout(600)
def test_every_file_is_read_at_least_as_well_as_elsewhere(folder: Path) -> None:
    expected = read_manifest(folder)
    paths = [path for path in expected if (folder / path).is_file()]
    tasks = [
        Task(number, (path, b""), (folder / path).stat().st_size)
        for number, path in enumerate(paths)
    ]
    limits = Limits(batch_tasks=8)
    seen: dict[str, tuple[str, str]] = {}
    started = time.monotonic()
    setup = ("corpus", str(folder), None, None, MAX_FILE_BYTES)
    with WorkerPool(HANDLER, setup, workers=2, limits=limits) as pool:
        for outcome in pool.run(tasks):
            path = paths[outcome.task.key]
            if outcome.failure is not None:
                seen[path] = (Status.FAILED, outcome.failure.detail)
                assert outcome.failure.kind in REASONS
            else:
                draft = unpack(outcome.result)
                assert isinstance(draft, Draft)
                seen[path] = (draft.status, draft.reason)
                assert (draft.parsed is not None) == (draft.status is Status.OK)
    assert time.monotonic() - started < limits.most_seconds * len(paths)
    assert sorted(seen) == sorted(paths)
    worse = {
        path: (expected[path], *seen[path])
        for path in paths
        if is_worse(expected[path], seen[path][0])
    }
    failed = {path: seen[path] for path in paths if seen[path][0] == Status.FAILED}
    assert (worse, failed) == ({}, {})
