"""Which engine holds a library: a file on this machine, or the cluster that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from bookwheel.engines.base import WritableEngine
    from bookwheel.settings import Settings


def open_engine(settings: Settings, database: Path) -> WritableEngine:
    """Return the engine of a library; a file of its own is `database`."""
    if settings["engine"]:
        return open_cluster(settings["engine"], database, settings["engine_key"])
    from bookwheel.engines.embedded.engine import EmbeddedEngine

    return EmbeddedEngine(database)


def open_cluster(text: str, home: Path, api_key: str | None) -> WritableEngine:
    """Return the engine at an address; BadRequest, which repeats no password, for a bad one."""
    from bookwheel.engines.opensearch.address import read_address
    from bookwheel.engines.opensearch.engine import OpenSearchEngine

    try:
        address = read_address(text)
    except ValueError as error:
        raise BadRequest(
            f"The address of the engine {error}.",
            hint="As: opensearch+https://user:password@host:9200/prefix.",
        ) from None
    return OpenSearchEngine(address, home=home, api_key=api_key)
