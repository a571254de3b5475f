"""What a Word file holds and does not show: hidden text, and hints in fields nobody has filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lxml import etree

from bookwheel.formats.elements import OFF, local_name, value

_MUCH = 4
"""Hints that are more than a quarter of a document are much of it."""
_MARKS = (b"vanish", b"showingPlcHdr")


def may_hide(data: bytes) -> bool:
    """Tell a document in which anything may be hidden, as it is in few."""
    return any(mark in data for mark in _MARKS)


def drop_hidden(root: etree._Element) -> None:
    """Take the letters of what is not shown out of a document.

    Hints stay where they are much of it: then it is a form or a template, and they are its text.
    """
    for hidden in _holders(root, "vanish"):
        if local_name(hidden.tag) == "r":  # that of a paragraph's end hides no text
            _empty(hidden.iter("{*}t"))
    hints = {text for hint in _holders(root, "showingPlcHdr") for text in hint.iter("{*}t")}
    if _MUCH * _length(hints) <= _length(root.iter("{*}t")):
        _empty(hints)


def keep_shown(paragraph: etree._Element) -> bool:
    """Take out of a paragraph that its style hides all letters but those of runs that are shown.

    What a run says itself counts more than the style. False when no run is shown.
    """
    marked = _holders(paragraph, "vanish", is_on=False)
    shown = {run for run in marked if local_name(run.tag) == "r"}
    if not shown:
        return False
    letters = (text for text in paragraph.iter("{*}t") if text.getparent() not in shown)
    # Those in a text box belong to paragraphs of their own.
    _empty(text for text in letters if next(text.iterancestors("{*}p"), None) is paragraph)
    return True


def _holders(root: etree._Element, name: str, *, is_on: bool = True) -> Iterator[etree._Element]:
    """Yield the elements whose properties have a mark, switched on or off."""
    for mark in root.iter("{*}" + name):
        around = mark.getparent()
        holder = around.getparent() if around is not None else None
        if holder is not None and (value(mark) not in OFF) is is_on:
            yield holder


def _length(texts: Iterable[etree._Element]) -> int:
    return sum(len(text.text or "") for text in texts)


def _empty(texts: Iterable[etree._Element]) -> None:
    for text in texts:
        text.text = ""
