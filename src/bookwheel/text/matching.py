"""Where in a text the words of a query stand, in any of their forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from bookwheel.text.words import PAIRED, WORDS, script_run, shadow_of, unspaced_run, word_forms

_STEMS_LOSE_PREFIXES = frozenset(("ar", "fa", "ga", "id", "ne", "nl", "sr", "ta", "tr"))
_NO_WORD = re.compile(r"[^\w ]")
_WORDS_ALONE = {code: " " for code in range(128) if not chr(code).isalnum()}
"""Blanks out of ASCII what is no part of a word, leaving every word at its place."""


@cache
def _needs_care() -> re.Pattern[str]:
    """Match scripts without spaces, and the blocks in which combining marks are found."""
    return re.compile(
        f"[{PAIRED}"
        "\u0300-\u036f\u0483-\u0489\u0590-\u1dff\u20d0-\u20ff\u2cef-\u2dff\u302a-\u309a"
        "\ua66f-\uabff\ufb1e\ufe00-\ufe2f\U00010000-\U0010ffff]"
    )


def _part_words(text: str) -> str | None:
    """Return a text with a blank for all that is no word; None where words need more care."""
    if text.isascii():
        return text.translate(_WORDS_ALONE)
    return None if _needs_care().search(text) else _NO_WORD.sub(" ", text).replace("_", " ")


class Finder(dict[str, str]):
    """Tells for each word of a text the most telling term of a query that it matches, or none."""

    def __init__(
        self, worth: Mapping[str, float], language: str, unmarked: frozenset[str] = frozenset()
    ) -> None:
        super().__init__()
        self.unmarked = unmarked
        """Terms that are found, but say too little to be marked by themselves."""
        self._worth = worth
        self._language = language
        initials = {term[0] for term in worth if term}
        self._initials = initials | {letter.upper() for letter in initials}
        pairs = {term[:2] for term in worth}
        self._pairs = pairs | {pair.capitalize() for pair in pairs}
        self._keeps_initials = language not in _STEMS_LOSE_PREFIXES
        self._keeps_pairs = language == "en"

    def __missing__(self, word: str) -> str:
        terms = [term for term in word_forms(word, self._language) if term in self._worth]
        best = max(terms, key=lambda term: (self._worth[term], term)) if terms else ""
        self[word] = best
        return best

    def _may_match(self, words: Iterable[str]) -> Iterable[str]:
        """Leave out most words at a glance: a plain one and its stem begin alike.

        By two letters in English, but for short words and some with y (lying, lie); by one in most
        other languages.
        """
        if not self._keeps_initials:
            return words
        initials, pairs = self._initials, self._pairs
        if not self._keeps_pairs:
            return [
                word
                for word in words
                if word[0] in initials or not word[1:].islower() or not word.isascii()
            ]
        return [
            word
            for word in words
            if word[:2] in pairs
            or not word[1:].islower()
            or (word[0] in initials and (len(word) < 4 or word[1] == "y"))
            or not word.isascii()
        ]

    def terms(self, text: str) -> frozenset[str]:
        """Return the terms that words of a text match, wherever they stand."""
        words = _part_words(text)
        if words is None:
            return frozenset(term for _, _, term in self.find(text))
        return frozenset(filter(None, map(self.__getitem__, self._may_match(set(words.split())))))

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, term) for each word of a text that matches."""
        words = _part_words(text)
        if words is not None:
            return self._find_between_blanks(words)
        found: list[tuple[int, int, str]] = []
        for match in WORDS.finditer(shadow_of(text)):
            found += self._find_in_word(text, *match.span())
        return found

    def _find_between_blanks(self, words: str) -> list[tuple[int, int, str]]:
        """Look at each word once, then for the places of those that match."""
        found = []
        padded = f" {words} "
        for word in self._may_match(set(words.split())):
            term = self[word]
            if term:
                alone = f" {word} "
                start = padded.find(alone)
                while start >= 0:
                    found.append((start, start + len(word), term))
                    start = padded.find(alone, start + len(word) + 1)
        found.sort()
        return found

    def _find_in_word(self, text: str, start: int, end: int) -> list[tuple[int, int, str]]:
        """Look at one word of any script; unspaced runs match by their pairs of letters."""
        word = text[start:end]
        if not unspaced_run().search(word):
            term = self[word]
            return [(start, end, term)] if term else []
        found = []
        for run in script_run().finditer(word):
            first, last = start + run.start(), start + run.end()
            step = 2 if unspaced_run().match(run[0]) and last - first > 1 else last - first
            for at in range(first, last - step + 1):
                term = self[text[at : at + step]]
                if term:
                    found.append((at, at + step, term))
        return found
