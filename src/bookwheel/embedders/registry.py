"""Finds an embedder by the name that the setting gives; imports only the one that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.settings import Settings

NONE = "none"


def load(name: str, settings: Settings) -> Embedder | None:
    """Return the embedder of that name, ready to use; None where the operator wants none."""
    if name == NONE:
        return None
    if name == "static":
        from bookwheel.embedders.static import StaticEmbedder

        return StaticEmbedder()
    raise BadRequest(f"There is no embedder {name!r}.", hint="Known are static and none.")
