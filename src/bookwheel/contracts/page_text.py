"""A page as `get_doc_page` gives it: whole or some sections, and never longer than an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from bookwheel.contracts.wording import listed
from bookwheel.errors import BadRequest
from bookwheel.model import Document
from bookwheel.reading.sections import SectionText
from bookwheel.view import View

LONGEST = 50_000
"""Characters of a page that one answer may hold; what is said about it comes on top."""
_LINES = re.compile(r"lines (\d{1,9})-(\d{1,9})", re.IGNORECASE)
_NUMBERED = re.compile(r" #\d+\s*$")
_DEEPEST = 6


def read_page(library: View, document: Document) -> str:
    """Return a page, or as many of its sections as one answer holds and what else there is."""
    return _fit(library, document, library.text(document).text, first=1)


def read_sections(library: View, document: Document, wanted: Sequence[str]) -> str:
    """Return the sections asked for, in that order; say which are missing or do not fit."""
    names = list(dict.fromkeys(wanted))
    parts: list[str] = []
    missing: list[str] = []
    crowded: list[str] = []
    further: dict[str, None] = {}
    room = LONGEST
    for name, section in zip(names, library.sections(document, names), strict=True):
        found = _text_of(section) if section else _read_lines(library, document, name)
        if found is None:
            missing.append(name)
            continue
        text, first = found
        if room <= 0 or (parts and len(text) > room):
            crowded.append(name)
            continue
        room -= len(text)
        parts.append(_fit(library, document, text, first=first))
        if section and not _NUMBERED.search(name):
            further |= dict.fromkeys(section.others)
    if crowded:
        parts.append(f"[No room in this answer for {listed(crowded)}. Ask for them again.]")
    if further:
        parts.append(f"[Other sections of such a heading: {listed(list(further))}.]")
    if missing:
        parts.append(_explain_missing(library, document, missing))
    return "\n\n".join(part.strip("\n") for part in parts)


def _text_of(section: SectionText) -> tuple[str, int]:
    """Return the text of a section and the line of the page that it begins at."""
    return section.text, section.start_line


def _read_lines(library: View, document: Document, name: str) -> tuple[str, int] | None:
    """Return the lines that a name such as `lines 10-20` stands for, if it does and they are."""
    lines = _LINES.fullmatch(name.strip())
    if lines is None:
        return None
    first, last = int(lines[1]), int(lines[2])
    try:
        return library.lines(document, first, last).text, first
    except BadRequest:
        return None


def _explain_missing(library: View, document: Document, missing: list[str]) -> str:
    headings = _headings(library, document)
    there = f"The headings of this page: {listed(headings)}" if headings else "It has no headings"
    kind = "Section" if len(missing) == 1 else "Sections"
    return f"[{kind} not found: {listed(missing)}. {there}.]"


def _headings(library: View, document: Document, *, first: int = 1, last: int = 0) -> list[str]:
    """Return the headings from one line to another, or to the end."""
    return [
        each.text
        for each in library.outline(document, depth=_DEEPEST)
        if each.line >= first and (not last or each.line <= last)
    ]


def _fit(library: View, document: Document, text: str, *, first: int) -> str:
    """Return a text that begins at a line of the page, cut at a section border if too long."""
    if len(text) <= LONGEST:
        return text
    lines = text.removesuffix("\n").split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    fitting = sum(1 for end in ends if end <= LONGEST)
    borders = [each.line - first for each in library.outline(document, depth=_DEEPEST)]
    kept = max((border for border in borders if 0 < border <= fitting), default=fitting)
    shown = "\n".join(lines[:kept]).rstrip("\n") if kept else text[:LONGEST]
    return f"{shown}\n\n{_explain_cut(library, document, text, shown, lines, max(kept, 1), first)}"


def _explain_cut(
    library: View,
    document: Document,
    text: str,
    shown: str,
    lines: list[str],
    kept: int,
    first: int,
) -> str:
    last = first + len(lines) - 1
    begin = first + kept
    rest = _headings(library, document, first=begin, last=last)
    by_heading = f" Headings that `sections` may ask for: {listed(rest)}." if rest else ""
    by_lines = f' Going on: `sections` ["lines {begin}-{last}"].' if begin <= last else ""
    left_out = f"{len(text) - len(shown):,} of {len(text):,} characters are left out."
    return f"[Too long for one answer: {left_out}{by_heading}{by_lines}]"
