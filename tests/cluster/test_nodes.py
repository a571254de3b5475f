"""Whoever starts nodes takes them along when it ends, however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cluster import parts
from tests.waiting import wait_until

_PATIENCE = 30.0
_NODE = """#!/bin/sh
trap 'touch told; sleep 1; exit 0' TERM
echo $$ > starting && mv starting started
while :; do sleep 0.05 & wait; done
"""
"""It never answers, and takes its time to end."""


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder that everybody may look into: nodes do not run as the superuser."""
    made = Path(tempfile.mkdtemp(prefix="bookwheel-nodes-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def starting(place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python -m tests.cluster` with programs that only seem to be nodes."""
    home = place / f"opensearch-{parts.VERSION}"
    java = place / "java"
    for file, text in {
        home / "complete": "",
        home / "config" / "jvm.options": "",
        home / "bin" / "opensearch": _NODE,
        java / "release": 'JAVA_VERSION="25"\n',
        java / "bin" / "java": "",
    }.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (home / "bin" / "opensearch").chmod(0o755)
    places = {"BOOKWHEEL_TEST_CLUSTER_CACHE": place, "JAVA_HOME": java, "TMPDIR": place}
    environment = {**os.environ, **{name: str(each) for name, each in places.items()}}
    with subprocess.Popen([sys.executable, "-m", "tests.cluster", "true"], env=environment) as run:
        yield run
        run.kill()
    for node in _nodes(place):
        with suppress(ProcessLookupError):
            os.kill(node, signal.SIGKILL)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_no_node_is_left_of_a_cluster_ended_while_it_starts(
    place: Path, starting: subprocess.Popen[bytes], by: signal.Signals
) -> None:
    if by is signal.SIGKILL and shutil.which("setpriv") is None:
        pytest.skip("nothing here binds a program to the one that started it")
    wait_until(lambda: len(_nodes(place)) == 2, _PATIENCE)
    nodes = _nodes(place)
    starting.send_signal(by)
    if by is signal.SIGTERM:
        wait_until(lambda: _marks(place, "told"), _PATIENCE)
        starting.send_signal(by)  # as `timeout` does, which means the group too
    starting.wait(_PATIENCE)
    wait_until(lambda: not any(map(_lives, nodes)), _PATIENCE)


def _nodes(place: Path) -> list[int]:
    return [int(mark.read_text()) for mark in _marks(place, "started")]


def _marks(place: Path, name: str) -> list[Path]:
    return list(place.glob(f"bookwheel-cluster-*/*/{name}"))


def _lives(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # one that has ended has none
    except OSError:
        return False
