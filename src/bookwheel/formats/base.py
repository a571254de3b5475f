"""What every format reader shares: the limits on what it returns and how it refuses a file."""

from __future__ import annotations

import re

from bookwheel.model import Status
from bookwheel.text.cut import cut

MAX_TEXT = 50_000_000
"""Characters of a document; a longer one is refused, since a part would pass for the whole."""
MAX_CONVERTED = 20_000_000
"""Characters of one in another format, where a small file may hold any amount of text.

While it is written, the process that serves holds some twelve bytes for each: 240 MB at most.
"""
MAX_SECTIONS = 20_000
MAX_LINKS = 100_000
MAX_TITLE = 200
MAX_DESCRIPTION = 150

_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """A file that gives no document, with the status and the reason to show for it."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


def require_length(text: str, limit: int | None = None) -> str:
    """Return a text that is not too long to be a document."""
    most = MAX_TEXT if limit is None else limit
    if len(text) > most:
        raise too_long(most)
    return text


def too_long(most: int) -> Unreadable:
    """Return the refusal of a text of more than so many characters."""
    return Unreadable(Status.TOO_LARGE, f"more than {most:,} characters of text")


def title_from_path(path: str) -> str:
    """Return the file name without its extension."""
    name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    stem = name[: name.rfind(".")] if name.rfind(".") > 0 else name
    return shorten_title(_SURROGATE.sub("\ufffd", stem)) or "untitled"


def shorten_title(title: str) -> str:
    """Return the title on one line, cut where nobody would read on."""
    return cut(title, limit=MAX_TITLE)


def shorten_description(text: str) -> str:
    """Return the text on one line, cut to a description's length."""
    return cut(text, limit=MAX_DESCRIPTION)
