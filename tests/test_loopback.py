"""The watch over connections sees them, in the tests' process and in those that it starts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import loopback

REACH_OUT = (
    "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
)


@pytest.fixture(autouse=True)
def _attempts_of_these_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loopback.NOTED, str(tmp_path / "attempts"))


def attempts(tmp_path: Path) -> list[str]:
    file = tmp_path / "attempts"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_t19_a_connection_to_another_machine_is_refused_and_noted(tmp_path: Path) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made,
        pytest.raises(loopback.Outside),
    ):
        made.connect(("192.0.2.1", 9))
    with pytest.raises(loopback.Outside):
        socket.getaddrinfo("example.org", 80)
    assert [line.split(" by ")[0] for line in attempts(tmp_path)] == [
        "socket.connect '192.0.2.1'",
        "socket.getaddrinfo 'example.org'",
    ]


def test_t19_processes_that_tests_start_are_watched_too(tmp_path: Path) -> None:
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {REACH_OUT!r}])"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "Outside: socket.connect '192.0.2.1'" in ended.stderr
    assert len(attempts(tmp_path)) == 1


def test_this_machine_may_be_reached(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()),
    ):
        pass
    here = [None, "", b"localhost", "127.0.0.2", "::1", "[::1]", "0.0.0.0"]
    assert [host for host in here if not loopback.is_here(host)] == []
    assert not loopback.is_here("10.0.0.1")
    assert not loopback.is_here("localhost.example.org")
    assert attempts(tmp_path) == []
    assert os.environ["PYTHONPATH"]
