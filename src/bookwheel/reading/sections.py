"""Outlines, and single sections found by their heading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import BadRequest, NotFound
from bookwheel.model import Document, SafeText, Section
from bookwheel.reading.documents import nearest, quoted
from bookwheel.safety.redact import make_safe

DEEPEST = 6
_MOST_OTHERS = 20
_NUMBER = re.compile("[1-9][0-9]{0,5}")
_ARROW = re.compile(" ?> ?")


class Heading(NamedTuple):
    """One line of an outline."""

    level: int
    text: SafeText
    line: int


class SectionText(NamedTuple):
    """A section as it stands in the document, heading line included."""

    heading: SafeText
    level: int
    text: SafeText
    start_line: int
    end_line: int
    others: tuple[SafeText, ...]
    """How further sections with the same heading are asked for."""


def read_outline(engine: Engine, document: Document, *, depth: int = 3) -> list[Heading]:
    """Return the headings of a document down to a level."""
    if not 1 <= depth <= DEEPEST:
        raise BadRequest(f"The depth is {depth}, but it must lie between 1 and {DEEPEST}.")
    return [
        Heading(section.level, make_safe(section.heading), section.start_line)
        for section in engine.sections(document.key)
        if section.level <= depth
    ]


def read_section(
    engine: Engine, document: Document, wanted: str, *, subsections: bool = True
) -> SectionText:
    """Return the section that a heading, a heading trail or a numbered heading names."""
    headings = Headings(engine.sections(document.key))
    matches = headings.find(wanted)
    if not matches:
        raise _not_found(document, headings.sections, wanted)
    return _read(engine.text(document.key), headings, matches, subsections=subsections)


def read_sections(
    engine: Engine, document: Document, wanted: Sequence[str]
) -> list[SectionText | None]:
    """Return the section that each name stands for, or None where there is none."""
    headings, data = Headings(engine.sections(document.key)), engine.text(document.key)
    found = [headings.find(name) for name in wanted]
    return [_read(data, headings, matches) if matches else None for matches in found]


def _read(
    data: bytes, headings: Headings, matches: list[int], *, subsections: bool = True
) -> SectionText:
    sections = headings.sections
    chosen = sections[matches[0]]
    end, end_line = chosen.end, chosen.end_line
    if not subsections and matches[0] + 1 < len(sections):
        following = sections[matches[0] + 1]
        if following.start < chosen.end:
            end, end_line = following.start, following.start_line - 1
    text = data[chosen.start : end].decode("utf-8", "replace")
    return SectionText(
        heading=make_safe(chosen.heading),
        level=chosen.level,
        text=make_safe(text.removesuffix("\n")),
        start_line=chosen.start_line,
        end_line=end_line,
        others=tuple(headings.address(index) for index in matches[1 : _MOST_OTHERS + 1]),
    )


class Headings:
    """The headings of one document, read once to find sections by many names."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = sections
        self._plain = [_plain(section.heading) for section in sections]

    @cached_property
    def _trails(self) -> list[str]:
        trails: list[str] = []
        stack: list[Section] = []
        for section in self.sections:
            while stack and stack[-1].level >= section.level:
                stack.pop()
            stack.append(section)
            trails.append(" > ".join(each.heading for each in stack))
        return trails

    @cached_property
    def _plain_trails(self) -> list[str]:
        return [_plain(trail) for trail in self._trails]

    def find(self, wanted: str) -> list[int]:
        """Return the sections a text names: exact headings, else trails, else parts of headings."""
        exact = self._by_name(wanted)
        if exact:
            return exact
        name, number = _numbered(wanted)
        found = (self._by_name(name) or self._by_part(name)) if number else []
        if number and number <= len(found):
            chosen = found.pop(number - 1)
            return [chosen, *found]
        return self._by_part(wanted)

    def address(self, index: int) -> SafeText:
        """Return a name that finds exactly this section: its trail, numbered where need be."""
        heading = make_safe(self.sections[index].heading)
        for name in (make_safe(self._trails[index]), heading):
            found = self._by_name(name)
            if found == [index]:
                return name
            if index in found:
                numbered = SafeText(f"{name} #{found.index(index) + 1}")
                if self.find(numbered)[0] == index:
                    return numbered
        return heading

    def _by_name(self, wanted: str) -> list[int]:
        plain = _plain(wanted)
        exact = [i for i, heading in enumerate(self._plain) if heading == plain]
        if exact or ">" not in plain:
            return exact
        whole = [i for i, trail in enumerate(self._plain_trails) if trail == plain]
        ending = " > " + plain
        return whole or [i for i, trail in enumerate(self._plain_trails) if trail.endswith(ending)]

    def _by_part(self, wanted: str) -> list[int]:
        plain = _plain(wanted)
        return [i for i, heading in enumerate(self._plain) if plain and plain in heading]


def _numbered(wanted: str) -> tuple[str, int]:
    """Split `Examples #2` into its heading and number; a number of 0 means none."""
    name, mark, number = wanted.rpartition(" #")
    if mark and _NUMBER.fullmatch(number):
        return name, int(number)
    return wanted, 0


def _plain(heading: str) -> str:
    words = " ".join(make_safe(heading).strip().lstrip("#").split()).casefold()
    return _ARROW.sub(" > ", words).strip() if ">" in words else words


def _not_found(document: Document, sections: Sequence[Section], wanted: str) -> NotFound:
    headings = list(dict.fromkeys(section.heading for section in sections))
    near = nearest(wanted, headings) or headings[:10]
    listed = ", ".join(quoted(heading) for heading in near)
    return NotFound(
        f"Section {quoted(wanted)} not found in document {quoted(document.path)}.",
        hint=f"Its headings include {listed}." if near else "It has no headings.",
    )
