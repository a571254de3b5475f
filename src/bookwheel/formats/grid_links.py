"""Links in the rows of tables.

Only lines that may hold a link are read as Markdown: a walk over every cell costs more than all the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bookwheel.formats.base import MAX_LINKS
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.links import (
    MAX_CONTEXT,
    find_bare_urls,
    find_references,
    has_doi,
    sentence_around,
)
from bookwheel.model import Link

_MAX_LINKED_LINES = 20_000
_LINK_MARKS = (("/", "://"), ("[", "]("), ("w", "www."), ("[", "[["))
"""What a link has, each after a sign of it that is found many times faster."""
_OTHER_MARKS = (("[", "]("), ("[", "[["), ("v", "iv:"))
"""The same for links that are no written URLs."""


def find_row_links(text: str) -> list[Link]:
    """Return the links of a document of tables in order, each with the row in which it stands."""
    found: list[Link] = []
    dois = has_doi(text)
    if not (dois or any(sign in text and mark in text for sign, mark in _LINK_MARKS)):
        return found
    if not (dois or any(sign in text and mark in text for sign, mark in _OTHER_MARKS)):
        return list(islice(_written_links(text), MAX_LINKS))
    linked: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if "](" in line or "[[" in line:
            linked.append((number, line))
        elif _has_mark(line) or (dois and "10." in line):
            found += _bare_links(line, number)
    found += _marked_links(linked[:_MAX_LINKED_LINES])
    found.sort(key=lambda each: each.line)
    return found[:MAX_LINKS]


def _written_links(text: str) -> Iterator[Link]:
    """Yield the URLs of rows that have no other kind of link, found in one search."""
    lines = iter(text.split("\n"))
    line, row, number, start, end = "", "", 0, 0, 0
    for at, url in find_bare_urls(text):
        if at >= end:  # in another row than the one before
            while at >= end:
                line = next(lines)
                number, start, end = number + 1, end, end + len(line) + 1
            row = line.strip("| ") if len(line) <= MAX_CONTEXT else ""
        if "://" in url or _has_mark(line):
            yield Link("bare", url, url, row or _around(line, at - start, url), number)


def _has_mark(line: str) -> bool:
    return "://" in line or "www." in line


def _marked_links(lines: list[tuple[int, str]]) -> Iterator[Link]:
    """Yield the links of rows that have marks of them, which are read as paragraphs in one walk."""
    for found in read_outline("\n\n".join(line for _, line in lines)).links:
        yield found._replace(line=lines[found.line // 2][0])


def _bare_links(line: str, number: int) -> Iterator[Link]:
    """Yield the links of a row that are only written out; their sentence is the row or the cell."""
    row = line.strip("| ") if len(line) <= MAX_CONTEXT else ""
    for at, kind, target in find_references(line):
        context = row or _around(line, at, target)
        yield Link(kind, target, target, context, number)


def _around(line: str, at: int, target: str) -> str:
    """Return the cell of a long row in which a link stands, or as much of it as is kept."""
    first, last = line.rfind(" | ", 0, at), line.find(" | ", at)
    cell = line[first + 3 if first >= 0 else 2 : last if last >= 0 else -1]
    if len(cell) <= MAX_CONTEXT:
        return cell
    return sentence_around(line, at, at + len(target))
