"""Reading a page, slide, sheet or other place of a document by its pointer."""

from __future__ import annotations

from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import NotFound
from bookwheel.model import Document, Place, SafeText
from bookwheel.reading.documents import quoted, read_lines
from bookwheel.safety.redact import make_safe
from bookwheel.text.pointers import find_before, find_stretch, last_row

_MOST_NAMED = 20
_PDF = "application/pdf"


class PlaceText(NamedTuple):
    """The text of one place of a document and its lines in the whole."""

    text: SafeText
    start_line: int
    end_line: int


def read_place(engine: Engine, document: Document, pointer: str) -> PlaceText:
    """Return what stands at a pointer; NotFound says which places there are."""
    data, places = engine.text(document.key), engine.places(document.key)
    found = find_stretch(data, places, pointer)
    if found is None:
        raise NotFound(name_absence(document, places, pointer), hint=name_range(data, places))
    if found.lines is not None:
        part = read_lines(engine, document, *found.lines)
        return PlaceText(part.text, found.lines[0], found.lines[0] + part.text.count("\n"))
    text = data[found.start : found.end].decode("utf-8", "replace").strip("\n")
    line = 1 + data.count(b"\n", 0, found.start)
    return PlaceText(make_safe(text), line, line + text.count("\n"))


def name_absence(document: Document, places: list[Place], pointer: str) -> str:
    """Say that a document has no such place, or that nothing stands or begins at it."""
    shown, wanted = quoted(document.path), quoted(pointer)
    before = find_before(places, pointer)
    if before is None:
        return f"{shown} has no {wanted}."
    if before.startswith("page ") and document.mime != _PDF:
        # Text of a word processor is found where its paragraph or row begins.
        begun = f"what stands there begins on {quoted(before)}, or it is a picture or blank."
        return f"{shown} has no text that begins on {wanted}: {begun}"
    return f"{shown} has no text on {wanted}, which may be a picture or blank."


def name_range(data: bytes, places: list[Place]) -> str:
    """Say which places a document has."""
    labels = list(dict.fromkeys(place.label for place in places if place.label))
    if not labels:
        rows = last_row(data, places)
        lines = 1 + data.removesuffix(b"\n").count(b"\n")
        return f"It has rows 1-{rows}." if rows else f"It has lines 1-{lines}."
    if len(labels) <= _MOST_NAMED:
        return make_safe("It has " + ", ".join(labels) + ".")
    return make_safe(f"It has {len(labels)} places, from {labels[0]} to {labels[-1]}.")
