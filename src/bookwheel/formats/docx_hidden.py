"""What a Word file holds and does not show: hidden text, and hints in fields nobody has filled."""

from __future__ import annotations

from lxml import etree

from bookwheel.formats.elements import local_name, value

_MARKS = (b"vanish", b"showingPlcHdr")
_OFF = frozenset({"0", "false", "off"})


def may_hide(data: bytes) -> bool:
    """Tell a document in which anything may be hidden, as it is in few."""
    return any(mark in data for mark in _MARKS)


def drop_hidden(root: etree._Element) -> None:
    """Take the letters of what is not shown out of a document."""
    for mark in root.iter("{*}vanish", "{*}showingPlcHdr"):
        around = mark.getparent()
        holder = around.getparent() if around is not None else None
        if holder is None or value(mark) in _OFF:
            continue
        if local_name(holder.tag) in ("r", "sdt"):  # that of a paragraph's end hides no text
            _empty(holder)


def _empty(element: etree._Element) -> None:
    for text in element.iter("{*}t"):
        text.text = ""
