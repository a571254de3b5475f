"""The engines that the common suite runs against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bookwheel.engines.base import WritableEngine as Engine
from bookwheel.engines.embedded.engine import EmbeddedEngine


def _embedded(folder: Path) -> Engine:
    return EmbeddedEngine(folder / "catalog.db")


ENGINES: dict[str, Callable[[Path], Engine]] = {"embedded": _embedded}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Give an engine with nothing in it."""
    made = ENGINES[request.param](tmp_path)
    made.begin_writing()
    made.end_writing()
    yield made
    made.close()
