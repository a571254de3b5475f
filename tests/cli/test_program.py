"""How the program starts, before any command."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = (
    "import os, bookwheel.cli, bookwheel.__main__ as program;"
    "bookwheel.cli.main = lambda: print(os.environ['OPENBLAS_NUM_THREADS']);"
    "program.run()"
)


@pytest.mark.parametrize(("given", "used"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_vectors_are_compared_in_one_thread_unless_the_environment_says_otherwise(
    given: dict[str, str], used: str
) -> None:
    around = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=around | given, capture_output=True, text=True
    )

    assert (ended.stdout.strip(), ended.returncode) == (used, 0), ended.stderr
