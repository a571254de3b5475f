"""Spaces that a page shows and PDFium does not see: gaps between letters that overlap otherwise.

Programs that print web pages write no spaces, and each letter wider than it is: to PDFium a
narrow gap then looks like none, and words run together.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from statistics import median

import pypdfium2.raw as pdfium

from bookwheel.formats.pdf_file import Handle, Page

_MAX_LETTERS = 4_000_000
"""Letters of a document that are measured, each of which takes two millionths of a second."""
_PAGES_LOOKED_AT = 2
_SPACES_LOOKED_AT = 20
_FEWEST_SPACES = 3
_LETTERS_LOOKED_AT = 300
_FEWEST_GAPS = 100
_OVERLAP = -0.02
"""The usual gap on such a page, in heights of a letter."""
_WIDE = 0.14
"""A gap that is so much wider than the usual one parts two words."""

_Gap = tuple[int, float]
"""Where a letter stands in the text, and how far it is from the one before."""


class Spaces:
    """Parts the words of one document, page by page; its first pages tell whether it has to."""

    def __init__(self) -> None:
        self._pages_to_try = _PAGES_LOOKED_AT
        self._letters_left = _MAX_LETTERS

    def part_words(self, page: Page, raw: str) -> str:
        """Return a page's text with the spaces that PDFium has missed."""
        if min(self._pages_to_try, self._letters_left - len(raw)) <= 0 or not _writes_no_spaces(
            page.letters, raw
        ):
            return raw
        first = _measure(page.letters, raw[:_LETTERS_LOOKED_AT])
        if len(first) < _FEWEST_GAPS:
            return raw
        if median(gap for _, gap in first) > _OVERLAP:
            self._pages_to_try -= 1
            return raw
        self._pages_to_try = _PAGES_LOOKED_AT
        self._letters_left -= len(raw)
        starts = _find_words(raw, _measure(page.letters, raw))
        return " ".join(raw[a:b] for a, b in zip([0, *starts], [*starts, len(raw)], strict=True))


def _find_words(raw: str, gaps: list[_Gap]) -> list[int]:
    """Return where a word begins that the one before runs into."""
    behind: dict[str, list[float]] = defaultdict(list)  # an `f` reaches far over what follows it
    for at, gap in gaps:
        behind[raw[at - 1]].append(gap)
    usual = median(gap for _, gap in gaps)
    least = {letter: min(usual, median(found)) for letter, found in behind.items()}
    return [at for at, gap in gaps if gap - least[raw[at - 1]] > _WIDE]


def _writes_no_spaces(letters: Handle, raw: str) -> bool:
    """Tell a page on which PDFium itself has made every space."""
    spaces = (at for at, letter in enumerate(raw) if letter == " ")
    first = list(islice(spaces, _SPACES_LOOKED_AT))
    return len(first) >= _FEWEST_SPACES and all(
        pdfium.FPDFText_IsGenerated(letters, _index(letters, at)) == 1 for at in first
    )


def _measure(letters: Handle, raw: str) -> list[_Gap]:
    """Return the gaps before letters that follow another one in their word."""
    box = pdfium.FS_RECTF()
    found: list[_Gap] = []
    left = right = 0.0
    is_inside = False
    for at, letter in enumerate(raw):
        if letter.isspace() or not pdfium.FPDFText_GetLooseCharBox(
            letters, _index(letters, at), box
        ):
            is_inside = False
            continue
        if is_inside and box.left > left and box.top > box.bottom:
            found.append((at, (box.left - right) / (box.top - box.bottom)))
        left, right, is_inside = box.left, box.right, True
    return found


def _index(letters: Handle, at: int) -> int:
    return int(pdfium.FPDFText_GetCharIndexFromTextIndex(letters, at))
