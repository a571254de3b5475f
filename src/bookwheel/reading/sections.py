"""Outlines, and single sections found by their heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bookwheel.engines.base import Engine
from bookwheel.errors import BadRequest, NotFound
from bookwheel.model import Document, SafeText, Section
from bookwheel.reading.documents import nearest
from bookwheel.safety.redact import make_safe

DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Heading:
    """One line of an outline."""

    level: int
    text: SafeText
    line: int


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section as it stands in the document, heading line included."""

    heading: SafeText
    level: int
    text: SafeText
    start_line: int
    end_line: int
    others: tuple[str, ...]
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
    sections = engine.sections(document.key)
    matches = find_sections(sections, wanted)
    if not matches:
        raise _not_found(document, sections, wanted)
    chosen = sections[matches[0]]
    end, end_line = chosen.end, chosen.end_line
    if not subsections and matches[0] + 1 < len(sections):
        following = sections[matches[0] + 1]
        if following.start < chosen.end:
            end, end_line = following.start, following.start_line - 1
    data = engine.text(document.key)
    text = data[chosen.start : end].decode("utf-8", "replace")
    return SectionText(
        heading=make_safe(chosen.heading),
        level=chosen.level,
        text=make_safe(text.removesuffix("\n")),
        start_line=chosen.start_line,
        end_line=end_line,
        others=tuple(_address(sections, index) for index in matches[1:]),
    )


def _address(sections: Sequence[Section], index: int) -> str:
    """Return a name that finds exactly this section: its trail, numbered where need be."""
    trail = " > ".join(_trails(sections)[index])
    same = [i for i, other in enumerate(_trails(sections)) if other == _trails(sections)[index]]
    return trail if len(same) == 1 else f"{trail} #{same.index(index) + 1}"


def _trails(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    trails: list[tuple[str, ...]] = []
    stack: list[Section] = []
    for section in sections:
        while stack and stack[-1].level >= section.level:
            stack.pop()
        stack.append(section)
        trails.append(tuple(each.heading for each in stack))
    return trails


def find_sections(sections: Sequence[Section], wanted: str) -> list[int]:
    """Return the sections a text names: exact headings, else trails, else parts of headings."""
    name, number = _numbered(wanted)
    text = _plain(name)
    exact = [i for i, section in enumerate(sections) if _plain(section.heading) == text]
    if not exact and ">" in name:
        exact = _by_trail(sections, [_plain(part) for part in name.split(">")])
    if not exact and text:
        exact = [i for i, section in enumerate(sections) if text in _plain(section.heading)]
    if number and number <= len(exact):
        return [exact[number - 1], *(i for i in exact if i != exact[number - 1])]
    return exact if not number else find_sections(sections, name) if exact else []


def _by_trail(sections: Sequence[Section], wanted: list[str]) -> list[int]:
    found = []
    for index, trail in enumerate(_trails(sections)):
        plain = [_plain(heading) for heading in trail]
        if plain[-len(wanted) :] == wanted:
            found.append(index)
    return found


def _numbered(wanted: str) -> tuple[str, int]:
    """Split `Examples #2` into its heading and number; a number of 0 means none."""
    name, mark, number = wanted.rpartition(" #")
    if mark and number.isascii() and number.isdigit() and name.strip():
        return name, int(number)
    return wanted, 0


def _plain(heading: str) -> str:
    return " ".join(heading.strip().lstrip("#").split()).casefold()


def _not_found(document: Document, sections: Sequence[Section], wanted: str) -> NotFound:
    headings = [section.heading for section in sections]
    near = nearest(wanted, headings) or headings[:10]
    listed = ", ".join(f'"{make_safe(heading)}"' for heading in near)
    return NotFound(
        f'Section "{wanted}" not found in document "{document.path}".',
        hint=f"Its headings include {listed}." if near else "It has no headings.",
    )
