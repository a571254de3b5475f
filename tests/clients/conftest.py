"""What tests of several toolsets start from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.assistant import LEGACY, MODERN, Assistant, assisting
from tests.clients.documents_shelf import configured, write_shelf


@pytest.fixture(scope="module", params=[LEGACY, MODERN])
def assistant(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Assistant]:
    """A client of either era before the shelf of documents."""
    config = write_shelf(tmp_path_factory.mktemp("documents"))
    with configured(config) as library, assisting(library, era=request.param) as connected:
        yield connected
