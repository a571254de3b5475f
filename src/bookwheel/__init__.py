"""Bookwheel: a document search server for AI assistants.

from bookwheel import Library, load_settings
from bookwheel.query import SearchRequest

with Library.open(load_settings(), ["notes"]) as library:
    library.update()
    for hit in library.search(SearchRequest("rotate the key")).hits:
        print(hit.document, hit.pointer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bookwheel.errors import BookwheelError

if TYPE_CHECKING:
    from bookwheel.library import Library
    from bookwheel.settings import Settings
    from bookwheel.settings import load as load_settings

__version__ = "0.1.0"
__all__ = ["BookwheelError", "Library", "Settings", "__version__", "load_settings"]

_HOMES = {
    "Library": ("bookwheel.library", "Library"),
    "Settings": ("bookwheel.settings", "Settings"),
    "load_settings": ("bookwheel.settings", "load"),
}


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: the worker needs none of it."""
    if name not in _HOMES:
        raise AttributeError(name)
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
