"""Plain text: the first line names it, the next three describe it, all of it is its text."""

from __future__ import annotations

from bookwheel.formats.base import (
    MAX_LINKS,
    require_length,
    shorten_description,
    shorten_title,
    title_from_path,
)
from bookwheel.formats.decoding import decode
from bookwheel.formats.links import read_plain_links
from bookwheel.model import Parsed


def read(data: bytes, path: str) -> Parsed:
    """Read a plain text file."""
    text = require_length(decode(data))
    first, *following = text.split("\n", 4)[:4]
    return Parsed(
        title=shorten_title(first) or title_from_path(path),
        description=shorten_description("\n".join(following)),
        text=text,
        links=tuple(read_plain_links(text, MAX_LINKS)),
    )
