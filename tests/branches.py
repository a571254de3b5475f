"""Say how many of the branches the tests took, and fail if it is less than asked for.

Of the last run with coverage: `python -m tests.branches 90`. The total that coverage itself judges
counts statements and branches together.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main(wanted: float) -> int:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        subprocess.run(
            [sys.executable, "-m", "coverage", "json", "--quiet", "-o", str(report)], check=True
        )
        totals = json.loads(report.read_text())["totals"]
    taken = 100 * totals["covered_branches"] / totals["num_branches"]
    print(f"{taken:.1f} % of the branches taken, {wanted:g} % wanted")
    return int(taken < wanted)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
