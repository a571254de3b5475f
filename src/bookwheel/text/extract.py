"""A summary without a model: the sentences of some texts that say most about a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bookwheel.text.language import filler_words
from bookwheel.text.words import analyze, stem

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=\S)|(?<=[\u3002\uff01\uff1f])|\s…\s|\n+")
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|no|nr|mr|mrs|ms|dr|st|art|fig|cf|inc|ltd|z\.b)|\b\w)\.$", re.I
)
_MOST_SENTENCES = 400
_MOST_PICKED = 12
_ALIKE = 0.6
"""A sentence that shares so much of its words with one that was picked says nothing new."""


class Sentence(NamedTuple):
    """A sentence, and which text it stands in."""

    text: str
    source: int


class _Candidate(NamedTuple):
    sentence: Sentence
    place: int
    words: frozenset[str]
    asked: frozenset[str]


def pick_sentences(
    texts: Sequence[str], question: str, language: str, *, longest: int
) -> list[Sentence]:
    """Return sentences of at most so many characters in all, in the order of the texts."""
    empty = frozenset(stem(word, language) for word in filler_words(language))
    wanted = _stems(question, language) - empty
    left = [
        _Candidate(each, place, words, words & wanted)
        for place, each in enumerate(_sentences(texts))
        if (words := _stems(each.text, language) - empty)
    ]
    left = [each for each in left if each.asked] or left
    picked: list[_Candidate] = []
    room = longest
    while left and room > 0 and len(picked) < _MOST_PICKED:
        best = max(left, key=lambda each: (_worth(each, picked), -each.place))
        left.remove(best)
        if any(_are_alike(best, other) for other in picked):
            continue
        if len(best.sentence.text) <= room:
            picked.append(best)
            room -= len(best.sentence.text) + 1
        elif not picked:
            text = best.sentence.text[:longest].rpartition(" ")[0] or best.sentence.text[:longest]
            return [best.sentence._replace(text=text)]
    return [each.sentence for each in sorted(picked, key=lambda each: each.place)]


def _worth(candidate: _Candidate, picked: Sequence[_Candidate]) -> float:
    """Return what a sentence adds: words of the question, new ones first; then earlier texts."""
    told = frozenset[str]().union(*(each.asked for each in picked))
    known = any(each.sentence.source == candidate.sentence.source for each in picked)
    return (
        2 * len(candidate.asked - told)
        + len(candidate.asked)
        - 0.5 * known
        - (0.01 * candidate.sentence.source)
    )


def _are_alike(one: _Candidate, other: _Candidate) -> bool:
    return len(one.words & other.words) >= _ALIKE * min(len(one.words), len(other.words))


def _sentences(texts: Sequence[str]) -> list[Sentence]:
    found: list[Sentence] = []
    for source, text in enumerate(texts):
        open_part = ""
        for part in _SENTENCE_END.split(text):
            open_part = f"{open_part} {part}".strip() if open_part else (part or "").strip()
            if open_part and not _NO_END.search(open_part):
                found.append(Sentence(open_part, source))
                open_part = ""
        if open_part:
            found.append(Sentence(open_part, source))
    return found[:_MOST_SENTENCES]


def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(analyze(text, language).stems.split())
