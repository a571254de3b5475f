"""The walk for newcomers does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.nodes import free_port
from tests.docs_tables import DOCS

BLOCK = re.compile(r"^```(sh|)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "--- the end of a step ---"


def steps() -> list[tuple[str, str]]:
    """Return the commands of the page, each with what it is said to print."""
    found: list[tuple[str, str]] = []
    for kind, text in BLOCK.findall((DOCS / "walk.md").read_text(encoding="utf-8")):
        if kind == "sh":
            found.append((text, ""))
        else:
            found[-1] = (found[-1][0], text)
    return found


def pattern_of(shown: str) -> str:
    """Return what matches an output of which parts were left out."""
    return ".*?".join(re.escape(part) for part in re.split(r"\n?\.\.\.\n?", shown.strip()))


@pytest.mark.on_disk
@pytest.mark.timeout(120)
def test_every_step_of_the_walk_prints_what_stands_there(tmp_path: Path) -> None:
    script = "".join(f"{command}\necho '{END}'\n" for command, _ in steps())
    script = script.replace("8765", str(free_port()))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-m", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": programs, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=110,
        check=True,
    )
    printed = ended.stdout.split(f"{END}\n")
    assert len(printed) == len(steps()) + 1
    for (command, shown), seen in zip(steps(), printed, strict=False):
        assert re.search(pattern_of(shown), seen, re.DOTALL), f"{command}\nprinted:\n{seen}"
