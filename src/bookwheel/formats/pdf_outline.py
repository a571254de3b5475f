"""A PDF's outline: its bookmarks by page, and the lines of a page that are their headings."""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pypdfium2.raw as pdfium

from bookwheel.formats.base import MAX_SECTIONS
from bookwheel.formats.blocks import MAX_HEADING
from bookwheel.formats.pdf_file import Handle, read_string
from bookwheel.formats.pdf_text import clean
from bookwheel.text.cut import cut

_DEEPEST = 20
_MOST_ON_PAGE = 500
_TOP_LEVEL = 2
"""The outline's chapters stand below the document's title."""
_LOWEST_LEVEL = 6
_LONGEST_NUMBER = 20
_SHORTEST_BEGINNING = 4
_TELLING = 20
"""So many letters of a title that goes on in the next line tell it from others."""
_MOST_LINES = 3
"""So many printed lines may make up one heading."""
_NUMBER = re.compile(
    r"(?:(?:chapter|part|section|appendix|annex|kapitel|teil|anhang|chapitre|annexe)\b)?[\s.:]*"
    r"(?:(?:\d{1,4}|[a-z]|[ivxlc]{1,7})(?:[.-]\w{1,4})*(?:[\s.:)\u2013\u2014-]+|$))?",
    re.I,
)
_NOT_LETTER = re.compile(r"[\W_]+")


class Bookmark(NamedTuple):
    """An entry of the outline."""

    level: int
    title: str


def read_bookmarks(document: Handle) -> dict[int, list[Bookmark]]:
    """Return the outline's entries by the index of the page that they lead to."""
    found: dict[int, list[Bookmark]] = defaultdict(list)
    seen: set[int] = set()
    stack = [(pdfium.FPDFBookmark_GetFirstChild(document, None), 0)]
    while stack and len(seen) < MAX_SECTIONS:
        mark, depth = stack.pop()
        if not mark:
            continue
        address = ctypes.addressof(mark.contents)
        if address in seen:
            continue
        seen.add(address)
        page = _page_of(document, mark)
        title = _title_of(mark)
        if page >= 0 and title and len(found[page]) < _MOST_ON_PAGE:
            found[page].append(Bookmark(min(_LOWEST_LEVEL, depth + _TOP_LEVEL), title))
        stack.append((pdfium.FPDFBookmark_GetNextSibling(document, mark), depth))
        if depth < _DEEPEST:
            stack.append((pdfium.FPDFBookmark_GetFirstChild(document, mark), depth + 1))
    return found


def _title_of(mark: Handle) -> str:
    return cut(clean(read_string(pdfium.FPDFBookmark_GetTitle, mark)), limit=MAX_HEADING)


def _page_of(document: Handle, mark: Handle) -> int:
    target = pdfium.FPDFBookmark_GetDest(document, mark)
    return int(pdfium.FPDFDest_GetDestPageIndex(document, target)) if target else -1


class Marked(NamedTuple):
    """A page's lines with the headings that its bookmarks name; each bookmark with its line."""

    lines: list[str]
    headings: list[tuple[int, Bookmark]]


def mark_headings(lines: list[str], bookmarks: list[Bookmark]) -> Marked:
    """Make headings of the lines that bookmarks name, as far as these are printed."""
    placed, missing = _place(bookmarks, lines)
    done: list[str] = []
    found: list[tuple[int, Bookmark]] = []
    index = 0
    while index < len(lines):
        count, mark = placed.get(index, (1, None))
        if mark is None:
            done.append(lines[index])
        else:
            if done and done[-1]:
                done.append("")
            found.append((len(done), mark))
            shown = " ".join(lines[index : index + count]).lstrip("\\")
            done += (f"{'#' * mark.level} {shown}", "")
        index += count
        # The blank line behind a heading may stand in the page already.
        index += mark is not None and index < len(lines) and not lines[index]
    if done and not done[-1]:
        done.pop()
    return Marked(done, [*_guess_lines(missing, done), *found])


def _guess_lines(bookmarks: list[Bookmark], lines: list[str]) -> Iterator[tuple[int, Bookmark]]:
    """Yield bookmarks with a line that begins or ends with their title, else with the first."""
    letters = [_letters(line[:MAX_HEADING]) for line in lines] if bookmarks else []
    for mark in bookmarks:
        title = _without_number(mark.title) or _letters(mark.title)
        yield next((i for i, line in enumerate(letters) if _belongs(line, title)), 0), mark


def _belongs(line: str, title: str) -> bool:
    if len(title) < _SHORTEST_BEGINNING:
        return False
    if len(line) < len(title):
        return len(line) >= _TELLING and title.startswith(line)
    return line.startswith(title) or (line.endswith(title) and len(line) < 2 * len(title))


_Placed = dict[int, tuple[int, Bookmark | None]]
"""By the line where a heading begins: how many lines it takes, and its bookmark."""


def _place(bookmarks: list[Bookmark], lines: list[str]) -> tuple[_Placed, list[Bookmark]]:
    """Find each bookmark's heading on its page; the second list are those not printed there."""
    longest = max(len(mark.title) for mark in bookmarks)
    places = _headings(lines, longest + _LONGEST_NUMBER)
    placed: _Placed = {}
    taken: set[int] = set()
    missing: list[Bookmark] = []
    for mark in bookmarks:
        spots = places.get(_without_number(mark.title) or _letters(mark.title), ())
        spot = next((s for s in spots if taken.isdisjoint(range(s[0], s[0] + s[1]))), None)
        if spot is None:
            missing.append(mark)
        else:
            placed[spot[0]] = (spot[1], mark)
            taken.update(range(spot[0], spot[0] + spot[1]))
    return placed, missing


def _headings(lines: list[str], longest: int) -> dict[str, list[tuple[int, int]]]:
    """Return where each line, and each run of a few lines, stands by its letters alone."""
    letters = ["" if len(line) > longest else _letters(line) for line in lines]
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for index, line in enumerate(lines):
        if not letters[index]:
            continue
        run = _without_number(line)
        found[run or letters[index]].append((index, 1))
        for count in range(2, _MOST_LINES + 1):
            more = letters[index + count - 1] if index + count <= len(lines) else ""
            if not more or len(run) > longest:
                break
            run += more
            found[run].append((index, count))
    return found


def _letters(text: str) -> str:
    """Return a text without blanks and case, as which two of a kind are compared."""
    return _NOT_LETTER.sub("", text).casefold()


def _without_number(text: str) -> str:
    number = _NUMBER.match(text)
    return _letters(text[number.end() :] if number else text)
