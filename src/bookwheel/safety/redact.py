"""The one door for text: whatever a caller is shown of a document passes here."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from bookwheel.model import SafeText, Span

# Characters that steer or hide text without being seen: tags, bidirectional controls, invisible
# operators, byte order marks, other controls. Joiners stay: Persian, Indic and emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_ZERO_WIDTH_SPACE = "\u200b"
_CONTROLS = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])
"""Those of them that ASCII has, as a table: most texts have no others."""


def make_safe(text: str) -> SafeText:
    """Return the text without characters that are invisible yet act on a reader or a model."""
    if text.isascii():
        return SafeText(text if text.isprintable() else text.translate(_CONTROLS))
    return SafeText(_INVISIBLE.sub("", text.replace(_ZERO_WIDTH_SPACE, " ")))


def in_bytes(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in characters of a text as spans in the bytes of its UTF-8 form."""
    if not spans or text.isascii():
        return tuple(spans)
    moved: list[Span] = []
    at = size = 0
    for span in spans:
        start = size + len(text[at : span.start].encode())
        size = start + len(text[span.start : span.end].encode())
        at = span.end
        moved.append(Span(start, size, span.kind))
    return tuple(moved)


def cover(data: bytes, spans: Iterable[Span], *, start: int = 0) -> bytes:
    """Return a stretch of a text, which begins at `start` in it, with each span named instead.

    A span that only reaches into the stretch goes as a whole: no half of it can be seen. Its line
    breaks stay, so that lines keep their numbers.
    """
    parts: list[bytes] = []
    done = 0
    for span in spans:
        begin, end = max(span.start - start, done), min(span.end - start, len(data))
        if begin < end:
            parts += (data[done:begin], _named(span, data[begin:end]))
            done = end
    return b"".join((*parts, data[done:])) if parts else data


def _named(span: Span, hidden: bytes) -> bytes:
    return f"[redacted:{span.kind}]".encode() + b"\n" * hidden.count(b"\n")


class Moves:
    """Where the places of a text lie once its spans are covered."""

    def __init__(self, data: bytes, spans: Iterable[Span]) -> None:
        self._ends = [0]
        self._shifts = [0]
        self._spans: list[tuple[int, int]] = [(0, 0)]
        shift = 0
        for span in spans:
            length = len(_named(span, data[span.start : span.end]))
            self._spans.append((span.start, span.start + shift))
            shift += length - (span.end - span.start)
            self._ends.append(span.end)
            self._shifts.append(shift)

    def __call__(self, position: int) -> int:
        """Return where a position lies now; one inside a span lies where its name begins."""
        number = bisect_right(self._ends, position) - 1
        if number + 1 < len(self._spans) and self._spans[number + 1][0] < position:
            return self._spans[number + 1][1]
        return position + self._shifts[number]
