"""An indexing run whose disk fails at any point leaves each document as before or after."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engines.embedded.scenes import ROOT
from tests.faults.sizes import PropertyRecorder, size


def fail_runs(folder: Path, documents: int, step: int) -> dict[str, Any]:
    """Fail every so-many-th write, sync or truncation of a run, one at a time."""
    numbers = map(str, (documents, step))
    ended = subprocess.run(
        [sys.executable, "-m", "tests.faults.failing_disk", str(folder), *numbers],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    said: dict[str, Any] = json.loads(ended.stdout)
    return said


@pytest.mark.timeout(300)
def test_f02_a_run_on_a_failing_disk_is_told_and_mended_by_the_next(tmp_path: Path) -> None:
    answer = fail_runs(tmp_path, 20, 29)
    assert answer["bad"] == []
    assert answer["points"] >= 5


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_f02_a_run_failing_at_any_point_is_told_and_mended_by_the_next(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    documents = size("DOCUMENTS", 200)
    answer = fail_runs(tmp_path, documents, 1)
    assert answer["bad"] == []
    record_property(
        "figure",
        f"a run over {documents} documents failing at each of {answer['points']} writes, syncs "
        "and truncations: 0 bad",
    )
