"""What the tests of the embedded engine begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.drafts import draft, fill
from tests.engines.embedded.scenes import engine_in


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Give a folder with an index of three documents, closed."""
    engine = engine_in(tmp_path)
    fill(engine, *[draft(name, f"walrus {name[0]}x") for name in ("a.md", "b.md", "c.md")])
    engine.close()
    return tmp_path
