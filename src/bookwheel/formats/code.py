"""Source code and other text without a format of its own: the file's name is its title."""

from __future__ import annotations

import re

from bookwheel.formats.base import require_length, shorten_description, title_from_path
from bookwheel.formats.decoding import decode
from bookwheel.model import Parsed

_COMMENT = re.compile(r"^\s*(?:#!.*|[/*#;%<!\"'-]{1,4})\s?|\s*(?:\*/|-->|\"{3}|'{3})\s*$")
_LETTER = re.compile(r"[^\W\d_]{2}")


def read(data: bytes, path: str) -> Parsed:
    """Read a text file of any kind."""
    text = require_length(decode(data))
    lines = (_COMMENT.sub("", line) for line in text[:5_000].split("\n"))
    first = next((line for line in lines if _LETTER.search(line)), "")
    return Parsed(
        title=path.rpartition("/")[2] or title_from_path(path),
        description=shorten_description(first),
        text=text,
    )
