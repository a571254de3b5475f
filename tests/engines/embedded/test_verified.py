"""Which files of a word index are remembered as whole."""

from __future__ import annotations

import pickle
from pathlib import Path

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
