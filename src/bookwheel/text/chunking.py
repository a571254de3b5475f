"""Cuts a parsed document into chunks: sections packed to 100-150 words, without overlap.

Every byte that is neither blank nor quiet lies in exactly one chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from bookwheel.model import Chunk, Parsed, Place
from bookwheel.text.cut import MARKS, UNSPACED
from bookwheel.text.pointers import Pointers, has_words

TARGET = 100
LIMIT = 150
CRUMB = 25
BYTES_PER_WORD = 20
"""A word counts for more when it is longer than this: base64 and minified code have no blanks."""

Span = tuple[int, int]
Trail = tuple[str, ...]
_Measured = tuple[int, int, int]
"""A span and the words in it."""

_FENCE = rb"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}|~{3,})([^\n]*)"
_FENCE_AT_TOP = re.compile(_FENCE)
_FENCE_OR_BLANK = re.compile(rb"\n(?:(?=[ \t>]*\n)|" + _FENCE + rb")")
_SENTENCE = re.compile(
    rb"[.!?][\"')\]]*[ \t\n]+|\xe3\x80\x82|\xef\xbc[\x81\x9f]|\n(?=[ \t]*(?:[-*+|>]|\d+[.)]))"
)
_LINE = re.compile(rb"\n")
_TOKEN = re.compile(
    f"[{UNSPACED}]{{1,2}}[{MARKS}]*\\s*|[^\\s{UNSPACED}]{{1,64}}[{MARKS}]*\\s*|\\s+"
)
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_UNSPACED_LEADS = b"\xe0\xe1\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xef\xf0"
_CERTAINLY_LONG = 2 * LIMIT * BYTES_PER_WORD
_NOT_BLANK = re.compile(rb"[^ \t\n\x0b\x0c\r]")


def chunk(parsed: Parsed) -> list[Chunk]:
    """Cut the document into chunks in the order of its text."""
    data = parsed.text.encode()
    # Deleting the bytes that such letters begin with is the fastest way to look for any.
    wide = len(data.translate(None, _UNSPACED_LEADS)) < len(data)
    packer = _Packer(data, wide=wide)
    trails = _trails(parsed)
    starts = [start for start, _ in trails]
    for start, end in _stretches(parsed, data):
        packer.pack(start, end, trails, bisect_right(starts, start))
    return _finish(parsed, data, packer.spans)


def _trails(parsed: Parsed) -> list[tuple[int, Trail]]:
    """Return start and heading path of each section, the title not repeated."""
    found: list[tuple[int, Trail]] = []
    stack: list[tuple[int, Trail]] = [(0, ())]
    for section in parsed.sections:
        level, heading = section.level, section.heading
        while stack[-1][0] >= level:
            stack.pop()
        path = stack[-1][1]
        if heading and (path or heading != parsed.title):
            path = (*path, heading)
        stack.append((level, path))
        found.append((section.start, path))
    return found


def _stretches(parsed: Parsed, data: bytes) -> Iterator[Span]:
    """Yield the spans between quiet ones; a new page, slide or sheet also starts a new one.

    So do comments and the like that follow the rows of a sheet, which point to rows by themselves.
    """
    size, borders = len(data), list(_borders(sorted(parsed.places), data))
    at = 0
    for start, end in (*sorted(parsed.quiet), (size, size)):
        if start > at:
            inner = borders[bisect_right(borders, at) : bisect_right(borders, start - 1)]
            yield from zip((at, *inner), (*inner, start), strict=True)
        at = max(at, end)


def _borders(places: list[Place], data: bytes) -> Iterator[int]:
    """Yield where a chunk must begin."""
    ends = [*(place.start for place in places), len(data)][1:]
    label, in_rows = None, False
    for place, end in zip(places, ends, strict=True):
        ends_rows = in_rows and not place.row and has_words(data[place.start : end])
        if place.label != label or ends_rows:
            yield place.start
            label, in_rows = place.label, False
        in_rows = in_rows or place.row > 0


def _finish(parsed: Parsed, data: bytes, spans: list[tuple[int, int, Trail]]) -> list[Chunk]:
    chunks: list[Chunk] = []
    pointers = Pointers(data, parsed.places)
    line, counted = 1, 0
    for start, end, trail in spans:
        first = line + data.count(b"\n", counted, start)
        line = first + data.count(b"\n", start, end)
        counted = end
        pointer = pointers.name(start, end, first, line)
        chunks.append(Chunk(len(chunks) + 1, start, end, first, line, trail, pointer))
    return chunks


class _Packer:
    """The state of one packing: spans that are done, and the one that is still growing."""

    def __init__(self, data: bytes, *, wide: bool) -> None:
        self.data = data
        self.wide = wide
        self.spans: list[tuple[int, int, Trail]] = []
        self.start = 0
        self.end = 0
        self.words = 0
        self.trail: Trail = ()
        self.last_words = 0

    def pack(self, start: int, end: int, trails: list[tuple[int, Trail]], section: int) -> None:
        """Pack one stretch; `section` is the first one that starts inside it."""
        data = self.data
        self.start = self.end = start
        self.words = self.last_words = 0
        self.trail = trails[section - 1][1] if section else ()
        trail, heading_only = self.trail, False
        while start < end:
            inside = section < len(trails) and trails[section][0] < end
            stop = trails[section][0] if inside else end
            if stop > start:
                if not self.words or heading_only:
                    self.trail = trail
                self.add(start, stop, trail)
                heading_only = self.words <= CRUMB and b"\n" not in data[self.start : stop].strip()
            if not inside:
                break
            trail = trails[section][1]
            start = stop
            section += 1
        self.close()
        self.trail = ()

    def add(self, start: int, end: int, trail: Trail) -> None:
        words = self.measure(start, end)
        if self.words + words > LIMIT and self.words >= CRUMB:
            self.close()
            self.start, self.trail = start, trail
        self.end = end
        self.words += words
        if self.words > LIMIT + CRUMB:
            self.cut_long(trail)
        elif self.words >= TARGET:
            self.close()

    def cut_long(self, trail: Trail) -> None:
        """Cut what has grown too long; a short rest stays open for its neighbours."""
        for start, end, words in _cut(self, self.start, self.end):
            if self.start < start:
                self.close()
                self.trail = trail
            self.start, self.end, self.words = start, end, words
        if self.words >= TARGET:
            self.close()

    def close(self) -> None:
        """End the growing span, without blank lines at either end."""
        inside = self.data[self.start : self.end]
        first = _NOT_BLANK.search(inside)
        if first:
            line_start = self.start + inside.rfind(b"\n", 0, first.start()) + 1
            stop = self.start + len(inside.rstrip(b" \t\n\x0b\x0c\r"))
            self.file(line_start, stop)
        self.start = self.end
        self.words = 0

    def file(self, start: int, end: int) -> None:
        # A crumb at the end of a stretch goes to the chunk before it.
        joins = self.last_words and self.words < CRUMB and self.last_words + self.words <= LIMIT
        if joins:
            start, _, trail = self.spans.pop()
            self.spans.append((start, end, trail))
            self.last_words += self.words
        else:
            self.spans.append((start, end, self.trail))
            self.last_words = self.words

    def measure(self, start: int, end: int) -> int:
        """Count words, those of scripts without blanks at two letters each."""
        if end - start > _CERTAINLY_LONG:
            return (end - start) // BYTES_PER_WORD
        piece = self.data[start:end]
        words = len(piece.split())
        if self.wide and not piece.isascii():
            text = piece.decode()
            letters = len(text) - len(_UNSPACED_RUN.sub("", text))
            return words + letters // 2
        return max(words, len(piece) // BYTES_PER_WORD)


def _cut(packer: _Packer, start: int, end: int, level: int = 0) -> list[_Measured]:
    """Cut a span into ones within the limit at the best borders there are."""
    if level == len(_LEVELS):
        return list(_cut_words(packer.data, start, end))
    done: list[_Measured] = []
    at, words = start, 0
    for first, stop in _LEVELS[level](packer.data, start, end):
        more = packer.measure(first, stop)
        if words + more > LIMIT and words >= CRUMB:
            done.append((at, first, words))
            at, words = first, 0
        words += more
        if words > LIMIT:
            done += _cut(packer, at, stop, level + 1)
            at, words = stop, 0
        elif words >= TARGET:
            done.append((at, stop, words))
            at, words = stop, 0
    if at < end:
        done.append((at, end, words))
    return done


def _paragraphs(data: bytes, start: int, end: int) -> Iterator[Span]:
    """Yield spans between blank lines; a fenced block is one, whatever it holds."""
    at = start
    top = _FENCE_AT_TOP.match(data, 0, end) if start == 0 else None
    fence = top[1] if top else b""
    for found in _FENCE_OR_BLANK.finditer(data, max(0, start - 1), end):
        mark = found[1]
        if mark is None:
            if not fence and found.end() > at:
                yield at, found.end()
                at = found.end()
        elif not fence:
            fence = mark
        elif mark.startswith(fence) and not found[2].strip():
            fence = b""
    if at < end:
        yield at, end


def _sentences(data: bytes, start: int, end: int) -> Iterator[Span]:
    return _between(_SENTENCE.finditer(data, start, end), start, end)


def _lines(data: bytes, start: int, end: int) -> Iterator[Span]:
    return _between(_LINE.finditer(data, start, end), start, end)


def _between(borders: Iterable[re.Match[bytes]], start: int, end: int) -> Iterator[Span]:
    for border in borders:
        yield start, border.end()
        start = border.end()
    if start < end:
        yield start, end


_LEVELS = (_paragraphs, _sentences, _lines)


def _cut_words(data: bytes, start: int, end: int) -> Iterator[_Measured]:
    """Yield spans within the limit that end with a word, or with a letter in an endless one."""
    text = data[start:end].decode()
    at, weight = 0, 0.0
    for token in _TOKEN.finditer(text):
        length = token.end() - token.start()
        more = length / 2 if length < 3 else 1 + length / BYTES_PER_WORD
        if weight + more > LIMIT and weight:
            stop = start + len(text[at : token.start()].encode())
            yield start, stop, int(weight)
            start, at, weight = stop, token.start(), 0.0
        weight += more
    if start < end:
        yield start, end, int(weight)
