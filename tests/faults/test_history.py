"""An index that followed a folder through whatever happened to it is one made afresh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.embedded.scenes import ROOT
from tests.faults.sizes import PropertyRecorder, size

# Root reads where it likes unless it gives that up.
BOUND = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.getuid() == 0 else ()


def follow(folder: Path, seed: int, steps: int, compare_every: int) -> dict[str, int]:
    """Let so many things happen to a folder; return what was done."""
    numbers = map(str, (seed, steps, compare_every))
    ended = subprocess.run(
        [*BOUND, sys.executable, "-m", "tests.faults.history", str(folder), *numbers],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"seed {seed}: {ended.stderr[-4000:]}"
    said = json.loads(ended.stdout)
    assert sum(said["steps"].values()) == steps
    return {"compared": said["compared"], "updates": said["updates"]}


@pytest.mark.timeout(300)
def test_f09_any_history_of_a_folder_leaves_the_index_that_a_fresh_look_gives(
    tmp_path: Path,
) -> None:
    assert follow(tmp_path, 4, 120, 40)["compared"] == 3


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_f09_ten_thousand_steps_leave_the_index_that_a_fresh_look_gives(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    steps, done = size("STEPS", 10_000), {"compared": 0, "updates": 0}
    for seed in range(10):
        place = tmp_path / str(seed)
        place.mkdir()
        ended = follow(place, seed, steps // 10, 100)
        done = {name: done[name] + ended[name] for name in done}
    record_property(
        "figure",
        f"{steps:,} steps, {done['updates']:,} updates, compared "
        f"{done['compared']} times: 0 differ",
    )
