"""A short stretch of a document around a place: never more than a preview."""

from __future__ import annotations

import re
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.engines.sight import LONGEST_PREVIEW
from bookwheel.errors import BadRequest
from bookwheel.model import Document, Place, SafeText
from bookwheel.reading.pointers import name_absence, name_range
from bookwheel.safety.redact import make_safe
from bookwheel.text.cut import head_of, tail_of
from bookwheel.text.pointers import Pointers, find_stretch

_MARKDOWN = "text/markdown"
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LOOK = 4 * LONGEST_PREVIEW
"""Bytes of a long text that are looked at on each side; no more could be shown."""


class Preview(NamedTuple):
    """What is shown of a document, where, and whether the document goes on beyond it."""

    text: SafeText
    pointer: str
    is_cut: bool


def read_preview(
    engine: Engine, document: Document, pointer: str | None, *, before: int, after: int
) -> Preview:
    """Return what stands at a pointer with some characters around it; without one, the beginning.

    What is asked for around the place gives way where there is no room for it.
    """
    if before < 0 or after < 0:
        raise BadRequest("The characters before and after are counted from 0.")
    data, places = engine.text(document.key), engine.places(document.key)
    asked = (pointer or "").strip()
    start, end = _find(document, data, places, asked) if asked else (0, len(data))
    shown, first, last = _fit(data, start, end, before=before, after=after)
    if not asked:
        lines = 1 + shown.count("\n")
        asked = Pointers(data, places).name(0, max(1, last), 1, lines)
    if document.mime == _MARKDOWN:
        shown = _without_comments(shown, is_inside=_is_open(data, first))
    is_cut = bool(data[:first].strip() or data[last:].strip())
    return Preview(SafeText(shown), make_safe(asked), is_cut)


def _fit(data: bytes, start: int, end: int, *, before: int, after: int) -> tuple[str, int, int]:
    """Return as much as there is room for, and where in the text it begins and ends."""
    core = head_of(_read(data, start, min(end, start + _LOOK)), LONGEST_PREVIEW)
    last = start + len(core.encode())
    room = LONGEST_PREVIEW - (last - start)
    left = right = ""
    if last >= end and room > 0:
        following = _read(data, end, end + _LOOK)
        wanted = len(following[:after].encode())
        share = max(room // 2, room - wanted)
        left = tail_of(_read(data, max(0, start - _LOOK), start), share, most=before)
        right = head_of(following, room - len(left.encode()), most=after)
    first, last = start - len(left.encode()), last + len(right.encode())
    return make_safe(f"{left}{core}{right}").strip("\n"), first, last


def _is_open(data: bytes, place: int) -> bool:
    """Tell whether a comment begins before a place and goes on at it."""
    return data.rfind(b"<!--", 0, place) > data.rfind(b"-->", 0, place)


def _without_comments(text: str, *, is_inside: bool) -> str:
    """Return Markdown without what no reader of it sees, also where a comment is cut."""
    whole = f"<!--{text}" if is_inside else text
    return _COMMENT.sub("", whole).strip("\n")


def _read(data: bytes, start: int, end: int) -> str:
    """Return a stretch of a text whose ends may lie inside a character, without such halves."""
    return data[start:end].decode("utf-8", "ignore")


def _find(document: Document, data: bytes, places: list[Place], pointer: str) -> tuple[int, int]:
    """Return where a pointer's place begins and ends; BadRequest says which places there are."""
    found = find_stretch(data, places, pointer)
    span = _span_of_lines(data, *found.lines) if found and found.lines else None
    if found and not found.lines:
        span = (found.start, found.end)
    if span is None:
        raise BadRequest(name_absence(document, places, pointer), hint=name_range(data, places))
    return span


def _span_of_lines(data: bytes, first: int, last: int) -> tuple[int, int] | None:
    lines = data.removesuffix(b"\n").split(b"\n")
    if last < first or first > len(lines):
        return None
    start = sum(len(line) + 1 for line in lines[: first - 1])
    return start, start + sum(len(line) + 1 for line in lines[first - 1 : last])
