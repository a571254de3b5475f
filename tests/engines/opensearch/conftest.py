"""Engines on one library of the cluster, and what happens to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bookwheel.engines.opensearch.engine import OpenSearchEngine
from tests.cluster.library import open_engine


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[], OpenSearchEngine]]:
    """Give what opens one engine after another on the same library."""
    made: list[OpenSearchEngine] = []

    def open_one() -> OpenSearchEngine:
        engine = open_engine(tmp_path)
        assert isinstance(engine, OpenSearchEngine)
        made.append(engine)
        return engine

    yield open_one
    for engine in made:
        engine._lease._clock = time.time  # for some it was later
        engine.close()
