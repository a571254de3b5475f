"""OLE files, in which the old Office formats lie: their streams, and what damaged ones raise."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from bookwheel.formats.base import Unreadable
from bookwheel.model import Status

if TYPE_CHECKING:
    from olefile import OleFileIO

DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    struct.error,
)
"""What olefile raises over damaged files."""


def read_stream(ole: OleFileIO[Any], name: str) -> bytes:
    """Return the bytes of a stream; Unreadable where it is damaged, or there is none."""
    try:
        with ole.openstream(name) as stream:
            return bytes(stream.read())
    except DAMAGE as error:
        raise damaged_ole(error) from None


def damaged_ole(error: BaseException) -> Unreadable:
    """Return the refusal of a file of which olefile has raised an error."""
    return Unreadable(Status.UNREADABLE, f"a damaged OLE file ({str(error)[:80]})")
