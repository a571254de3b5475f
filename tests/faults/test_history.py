"""An index that followed a folder through whatever happened to it is one made afresh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.engines.embedded.scenes import ROOT
from tests.faults.sizes import PropertyRecorder, size

# Root reads where it likes unless it gives that up.
BOUND = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.getuid() == 0 else ()


def follow(seed: int, steps: int, each: int) -> dict[str, Any]:
    """Let so many things happen to folders, so many to each; return what was done."""
    numbers = map(str, (seed, steps, each))
    ended = subprocess.run(
        [*BOUND, sys.executable, "-m", "tests.faults.history", *numbers],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"seed {seed}: {ended.stderr[-8000:]}"
    said: dict[str, Any] = json.loads(ended.stdout)
    return said


@pytest.mark.timeout(300)
def test_f09_any_history_of_a_folder_leaves_the_index_that_a_fresh_look_gives() -> None:
    done = follow(4, 120, 40)
    assert sum(done["steps"].values()) >= 120
    assert done["compared"] >= 3
    assert done["documents"] > 0


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_f09_ten_thousand_steps_leave_the_index_that_a_fresh_look_gives(
    record_property: PropertyRecorder,
) -> None:
    steps = size("STEPS", 10_000)
    done = follow(1, steps, 100)
    assert sum(done["steps"].values()) >= steps
    record_property(
        "figure",
        f"{sum(done['steps'].values()):,} steps of {len(done['steps'])} kinds, "
        f"{done['updates']:,} updates, compared {done['compared']} times: 0 differ",
    )
