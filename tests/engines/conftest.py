"""The engines that the common suite runs against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bookwheel.engines.base import WritableEngine as Engine
from bookwheel.engines.embedded.engine import EmbeddedEngine
from tests.cluster.library import open_engine

Make = Callable[[Path], Engine]


def _embedded(folder: Path) -> Engine:
    return EmbeddedEngine(folder / "catalog.db")


ENGINES = [
    pytest.param(_embedded, id="embedded"),
    pytest.param(open_engine, id="opensearch", marks=pytest.mark.cluster),
]
"""How to open the engine of a place; the first opening finds nothing there."""


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest) -> Make:
    """Give what opens one engine after another at the same place."""
    made: Make = request.param
    return made


@pytest.fixture
def engine(make: Make, tmp_path: Path) -> Iterator[Engine]:
    """Give an engine with nothing in it."""
    made = make(tmp_path)
    made.begin_writing()
    made.end_writing()
    yield made
    made.close()
