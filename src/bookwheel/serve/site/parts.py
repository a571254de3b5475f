"""Long documents, shown part by part."""

from __future__ import annotations

from typing import NamedTuple

from bookwheel.errors import NotFound
from bookwheel.model import Document
from bookwheel.view import View

LONGEST_PART = 200_000
"""Characters on one page; longer documents are shown part by part."""


class Part(NamedTuple):
    """One of the stretches that a long document is shown in."""

    text: str
    first_line: int
    number: int
    parts: int


def choose_part(
    library: View, document: Document, text: str, *, number: int, line: int | None
) -> Part:
    """Return the part that holds a line, or the one asked for, else the first."""
    if len(text) <= LONGEST_PART:
        return Part(text, 1, 1, 1)
    headings = {each.line for each in library.outline(document, depth=6)}
    parts = split_text(text, headings)
    if line:
        number = max(n for n, (first, _) in enumerate(parts, 1) if first <= line or n == 1)
    if not 1 <= number <= len(parts):
        raise NotFound(f"The document has {len(parts)} parts.")
    first, stretch = parts[number - 1]
    return Part(stretch, first, number, len(parts))


def split_text(text: str, headings: set[int]) -> list[tuple[int, str]]:
    """Return the parts of a long text with their first lines, cut before headings where it can."""
    parts: list[tuple[int, str]] = []
    held: list[str] = []
    size, first, border = 0, 1, 0
    for number, line in enumerate(_short_lines(text), 1):
        if number in headings and size > LONGEST_PART // 4:
            border = len(held)
        held.append(line)
        size += len(line) + 1
        if size > LONGEST_PART and len(held) > 1:
            cut = border or len(held) - 1
            parts.append((first, "\n".join(held[:cut])))
            first, held, border = first + cut, held[cut:], 0
            size = sum(len(each) + 1 for each in held)
    return [*parts, (first, "\n".join(held))]


def _short_lines(text: str) -> list[str]:
    """Return the lines of a text; one that no page could hold is shortened."""
    lines = text.split("\n")
    return [line if len(line) <= LONGEST_PART else line[:LONGEST_PART] + " …" for line in lines]
