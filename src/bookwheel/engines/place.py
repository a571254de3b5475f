"""Where an index lies: the file that the settings name, else one of its folders' own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel.errors import IndexUnusable
from bookwheel.model import Collection

if TYPE_CHECKING:
    from bookwheel.settings import Settings

DATABASE = "catalog.db"


def named_place(settings: Settings) -> Path | None:
    """Return the database that the settings name outright, if they do."""
    if settings["index"]:
        return Path(settings["index"]).absolute() / DATABASE
    if settings["search_db_path"]:
        return Path(settings["search_db_path"]).absolute()
    return None


def default_place(settings: Settings, collections: Sequence[Collection]) -> Path:
    """Return where the index of these folders lies when no place is named."""
    import hashlib

    from platformdirs import user_cache_path

    root = Path(settings["cache_root"]).absolute() if settings["cache_root"] else None
    paths = "\0".join(sorted(os.path.realpath(each.path) for each in collections))
    digest = hashlib.blake2b(os.fsencode(paths), digest_size=8).hexdigest()
    return (root or user_cache_path("bookwheel")) / digest / DATABASE


def make_place(settings: Settings, database: Path) -> None:
    """Make the folder that a database lies in, where it is not named."""
    if named_place(settings) is None:  # in the user's own cache: nobody else's to read
        try:
            database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnusable(
                f"The folder {database.parent} cannot be made: {error.strerror}.",
                hint="--index or CACHE_ROOT names another one.",
            ) from None
