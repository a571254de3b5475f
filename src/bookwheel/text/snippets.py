"""The stretch of a passage that shows best why it was found, with the words that matched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bookwheel.text.words import find_words, word_forms

_LINK_TARGET = re.compile(
    r"!?\[([^\]\[]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"
)
_TIES = re.compile(r"[-._:'’()&/ ]{0,2}\Z")
_LINE_MARKS = re.compile(
    r"(?m)^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|(?:---+|===+|```+\w*|~~~+\w*)[ \t]*$)"
)


@dataclass(frozen=True, slots=True)
class Cutting:
    """A cut stretch of text: spans of marked words, and whether text was left out around it."""

    text: str
    marks: tuple[tuple[int, int], ...]
    cut_before: bool
    cut_after: bool
    matched: frozenset[str]


def plain(markdown: str) -> str:
    """Return Markdown on one line, without what only steers its look."""
    return " ".join(_LINE_MARKS.sub("", _LINK_TARGET.sub(r"\1", markdown)).split())


def cut_snippet(markdown: str, worth: Mapping[str, float], language: str, length: int) -> Cutting:
    """Return the best stretch of about `length` characters; `worth` tells which terms count."""
    text = plain(markdown)
    found: list[tuple[int, int, str]] = []
    for start, end, word in find_words(text):
        hits = [form for form in word_forms(word, language) if form in worth]
        if hits:
            found.append((start, end, max(hits, key=lambda form: worth[form])))
    begin, stop = _window(text, found, worth, length)
    marks = _merge(
        text, [(start, end) for start, end, _ in found if start >= begin and end <= stop]
    )
    return Cutting(
        text[begin:stop],
        tuple((start - begin, end - begin) for start, end in marks),
        begin > 0,
        stop < len(text),
        frozenset(term for _, _, term in found),
    )


def _window(
    text: str, found: list[tuple[int, int, str]], worth: Mapping[str, float], length: int
) -> tuple[int, int]:
    """Return where the stretch with the most telling words begins and ends."""
    if len(text) <= length:
        return 0, len(text)
    best, span = -1.0, (0, 0)
    for i, (start, _, _) in enumerate(found):
        seen: dict[str, float] = {}
        last = start
        for _, end, term in found[i:]:
            if end - start > length:
                break
            seen.setdefault(term, worth[term])
            last = end
        value = sum(seen.values())
        if value > best:
            best, span = value, (start, last)
    spare = max(0, length - (span[1] - span[0]))
    begin = max(0, min(span[0] - spare // 3, len(text) - length))
    return _at_words(text, begin, min(len(text), begin + length), span)


def _at_words(text: str, begin: int, stop: int, keep: tuple[int, int]) -> tuple[int, int]:
    """Move both ends to a blank, not into what must be kept and not far in unspaced text."""
    if begin > 0:
        blank = text.find(" ", begin - 1, min(keep[0], begin + 40) or begin)
        begin = blank + 1 if blank >= 0 else begin
    if stop < len(text):
        blank = text.rfind(" ", max(keep[1], stop - 40), stop + 1)
        stop = blank if blank > begin else stop
    return begin, stop


def _merge(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join marks that overlap or that only a tie such as a dot or blank separates."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and (start <= merged[-1][1] or _TIES.match(text[merged[-1][1] : start])):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
