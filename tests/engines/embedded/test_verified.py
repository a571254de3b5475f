"""Which files of a word index are remembered as whole."""

from __future__ import annotations

import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from bookwheel.engines.embedded.files import is_whole
from bookwheel.engines.embedded.verified import VerifiedFiles
from tests.engines.drafts import draft, fill
from tests.engines.embedded.scenes import engine_in


def test_of_files_that_are_no_more_nothing_is_remembered(index: Path) -> None:
    follower, engine = VerifiedFiles(index / "catalog.db.words"), engine_in(index)
    held = []
    for number in range(24):
        fill(engine, draft("x.md", f"walrus {number}"))
        assert follower.find_damage() == []
        held.append(len(pickle.dumps(follower)))
    engine.close()
    # Segments are merged when there are eight, so that as many are there again and again.
    assert max(held[12:]) <= max(held[:12])


def test_of_many_who_ask_at_once_one_reads_what_looks_other(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def slow(file: Path) -> bool:
        read.append(file)
        time.sleep(0.005)
        return is_whole(file)

    monkeypatch.setattr("bookwheel.engines.embedded.files.is_whole", slow)
    with closing(engine_in(index)) as engine, ThreadPoolExecutor(4) as threads:
        engine.refresh()
        read.clear()
        files = [*index.rglob("*.idx"), *index.rglob("*.term")]
        for file in files:
            os.utime(file, (1, 1))
        each = [threads.submit(engine.refresh) for _ in range(4)]
        assert [future.result(20) for future in each] == [False] * 4
    assert sorted(read) == sorted(files)
