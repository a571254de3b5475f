"""`bookwheel index --watch`: what it brings in is found by words and by meaning."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Shelf, find
from tests.waiting import wait_until

_WITHIN = 30.0


def watch(shelf: Shelf, log: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "bookwheel", "index", str(shelf.folder), "--watch"]
    with log.open("wb") as said:
        return subprocess.Popen(
            [*words, "--index", str(shelf.place / "index")], stdout=said, stderr=said
        )


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_what_comes_later_is_found_by_meaning_too(
    shelf: Shelf, stop: signal.Signals, code: int
) -> None:
    shelf.put("a.md", "# Zebra\n\nA zebra has stripes.\n")
    log = shelf.place / "log"
    with watch(shelf, log) as process:
        try:
            wait_until(lambda: b"Watching for changes" in log.read_bytes(), _WITHIN)
            shelf.put("b.md", "# Otter\n\nAn otter swims in rivers.\n")
            with shelf.open() as library:
                wait_until(lambda: find(library, "otter") == ["b.md"], _WITHIN)
                wait_until(lambda: library.is_embedded, _WITHIN)
        finally:
            process.send_signal(stop)
        assert process.wait(_WITHIN) == code
    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert "1 file indexed" in text
