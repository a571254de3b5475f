"""Terms: what the index holds and what a query asks for, made by this one analysis.

A text is cut at white space into surfaces; each surface gives
- stems: stemmed and folded words, whole and in camelCase parts (`getUserMedia`: getusermedia,
  get, user, media), two-letter pieces for scripts without spaces;
- exact: the same words in order as written, lower-cased, for phrases and spelling;
- names: identifiers whole and bare (`tabs.get()`, `tabs.get`, `c++`, `@custom-media`, `dec-0054`).
Python's own word class is not used for cutting: it breaks words at vowel signs.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

import Stemmer

from bookwheel.text.language import STEMMERS

ANALYSIS_VERSION = 3
"""Raised when the same text gives other terms: the word index is then made anew."""

LONGEST_WORD = 64
_MEMO_LIMIT = 150_000
_CALL = "\x01"
_MARKS = b'[]{}()<>"*|=;,`'
_BLANKS = bytes.maketrans(_MARKS, b" " * len(_MARKS))
"""Marks that never are part of a word or name; `()` is kept as _CALL while they are blanked."""
_CLOSING = ".:!?'"
PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts whose words are looked for by pairs of letters, as a character class."""
_WORD = r"[^\W_]+"
# One identifier or plain word: an optional sigil, words tied by connectors, an optional call or
# plus signs. The sigil and the tail are part of the name only, never of the words.
_NAME = re.compile(
    rf"(?P<sigil>@|\$|--?|\.|::?|#)?(?P<bare>(?<!_)_*+{_WORD}(?:(?:[-._:'’&]|::)_*{_WORD})*_*)"
    rf"(?P<tail>{_CALL}|\+\+|#(?!\w))?"
)
WORDS = re.compile(_WORD)
_TIED = re.compile(r"[-._:&]")
_POSSESSIVE = re.compile(r"['’][sS]$")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
_IS_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-rt-z]|[A-Z]{2}s[a-z]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_JOINERS = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
# Link targets and long data are addresses, not words of the text.
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")


@cache
def unspaced_run() -> re.Pattern[str]:
    """Compiled when the first such text comes: wide classes cost milliseconds, most texts none."""
    return re.compile(f"[{PAIRED}]+")


@cache
def script_run() -> re.Pattern[str]:
    """Match a run of one kind of script."""
    return re.compile(f"[{PAIRED}]+|[^{PAIRED}]+")


class Terms(NamedTuple):
    """The three forms of a text, each as terms joined by blanks."""

    stems: str
    exact: str
    names: str


class Word(NamedTuple):
    """One word of a query: as typed, its stems in each language, and its camelCase parts."""

    exact: str
    stems: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ()


class Surface(NamedTuple):
    """What one surface of a query asks for: an identifier (perhaps) and its words."""

    text: str
    names: tuple[str, ...]
    words: tuple[Word, ...]


def fold(text: str) -> str:
    """Return the text lower-cased and in one normal form; accents stay."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def strip_accents(text: str) -> str:
    """Return the text without Latin, Greek and Cyrillic accents; vowel signs stay."""
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)


def normal_title(title: str) -> str:
    """Return the form under which two spellings of one title are the same."""
    return " ".join(strip_accents(fold(title)).split())[:200]


def shadow_of(surface: str) -> str:
    """Return a string of equal length in which marks count as letters of their word."""
    if surface.isascii():
        return surface
    return "".join("a" if unicodedata.category(letter)[0] == "M" else letter for letter in surface)


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer | None:
    name = STEMMERS.get(language)
    return Stemmer.Stemmer(name, 0) if name else None


def stem(word: str, language: str) -> str:
    """Return the folded stem of a lower-cased word."""
    stemmer = _stemmer(language)
    # A lone accent has nothing left without its accent.
    return strip_accents(stemmer.stemWord(word) if stemmer else word) or word


def _camel_parts(word: str) -> list[str]:
    """Return the lower-cased parts of a camelCase word, nothing for a plain one."""
    if len(word) < 4 or not _IS_CAMEL.search(word):
        return []
    parts = [part.lower() for part in _CAMEL.findall(word)]
    return parts if 1 < len(parts) <= 12 else []


def _split(surface: str) -> tuple[list[str], list[str]]:
    """Return the words of a surface in order, with their case, and its identifiers."""
    if not surface.isascii():
        surface = unicodedata.normalize("NFKC", _JOINERS.sub("", surface))
    shadow = shadow_of(surface)
    words: list[str] = []
    names: list[str] = []
    for match in _NAME.finditer(shadow):
        start, end = match.span("bare")
        bare = _POSSESSIVE.sub("", surface[start:end])
        words += [
            surface[start + a : start + b]
            for a, b in (
                found.span() for found in WORDS.finditer(shadow[start : start + len(bare)])
            )
        ]
        names += _identifiers(match, surface, fold(bare))
    return words, names


def _identifiers(match: re.Match[str], surface: str, bare: str) -> list[str]:
    """Return the whole and the bare form of what is an identifier, nothing for a plain word."""
    if match["sigil"] is None and match["tail"] is None and not _TIED.search(bare):
        return [] if "_" not in bare else [bare]
    if len(bare) > LONGEST_WORD:
        return []
    whole = fold(surface[match.start() : match.end()]).replace(_CALL, "()")
    return [whole] if whole == bare else [whole, bare]


def is_unspaced(text: str) -> bool:
    """Tell whether a text is of a script that is written without spaces."""
    return not text.isascii() and unspaced_run().fullmatch(text) is not None


def _bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of an unspaced run."""
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


class _Memo(dict[str, tuple[str, str, str]]):
    """The terms of the surfaces met lately in one language, each preceded by a blank.

    Two generations: when the young one is full it becomes the old one, and what is still in use
    moves over from there; so memory is bounded and common words never fall out.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._old: dict[str, tuple[str, str, str]] = {}

    def __missing__(self, surface: str) -> tuple[str, str, str]:
        terms = self._old.get(surface) or self._make(surface)
        if len(surface) <= LONGEST_WORD:
            if len(self) >= _MEMO_LIMIT:
                self._old = dict(self)
                self.clear()
            self[surface] = terms
        return terms

    def _make(self, surface: str) -> tuple[str, str, str]:
        core = surface.rstrip(_CLOSING)
        if core.isascii() and core.isalpha():
            if core != surface:
                return self[core]
            if (core.islower() or core[1:].islower()) and len(core) <= LONGEST_WORD:
                folded = core.lower()
                return " " + stem(folded, self._language), " " + folded, ""
        words, names = _split(surface)
        exact: list[str] = []
        stems: list[str] = []
        for word in words:
            for folded, whole_stems in _word_terms(word, self._language):
                exact.append(folded)
                stems += whole_stems
        return _blank_before(stems), _blank_before(exact), _blank_before(names)


def _blank_before(terms: list[str]) -> str:
    return " " + " ".join(terms) if terms else ""


def _word_terms(word: str, language: str) -> list[tuple[str, list[str]]]:
    """Return (exact, stems) for a word; an unspaced run gives one pair for each two letters."""
    folded = fold(word)
    if not folded.isascii() and unspaced_run().search(folded):
        return [pair for run in script_run().findall(folded) for pair in _run_terms(run, language)]
    if len(folded) > LONGEST_WORD:
        return []
    return [(folded, [stem(folded, language), *(stem(p, language) for p in _camel_parts(word))])]


def _run_terms(run: str, language: str) -> list[tuple[str, list[str]]]:
    """Return (exact, stems) for a run of one kind of script within a word."""
    if is_unspaced(run):
        return [(pair, [pair]) for pair in _bigrams(run)]
    return [(run, [stem(run, language)])] if len(run) <= LONGEST_WORD else []


@lru_cache(maxsize=64)
def _memo(language: str) -> _Memo:
    return _Memo(language)


def _surfaces(text: str) -> list[str]:
    """Return the pieces between blanks and marks, link targets left out."""
    kept = _TARGET.sub("] ", text).replace("()", _CALL)
    # On bytes the translation is some twenty times faster, and the marks are all ASCII.
    return kept.encode("utf-8", "replace").translate(_BLANKS).decode().split()


def analyze(text: str, language: str) -> Terms:
    """Return the terms of a document's text."""
    memo = _memo(language)
    pieces = [memo[surface] for surface in _surfaces(text)]
    return Terms(
        "".join([piece[0] for piece in pieces]),
        "".join([piece[1] for piece in pieces]),
        "".join([piece[2] for piece in pieces]),
    )


def analyze_query(text: str, languages: tuple[str, ...]) -> list[Surface]:
    """Return what a query asks for, surface by surface, with stems in each language."""
    surfaces = []
    for surface in _surfaces(text):
        words, names = _split(surface)
        asked = tuple(
            Word(folded, _query_stems(folded, languages), _query_parts(word, languages))
            for word in words
            for folded, _ in _word_terms(word, languages[0])
        )
        if asked or names:
            surfaces.append(
                Surface(fold(surface).replace(_CALL, "()"), tuple(dict.fromkeys(names)), asked)
            )
    return surfaces


def _query_stems(folded: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    if not folded.isascii() and unspaced_run().match(folded):
        return (folded,)
    return tuple(dict.fromkeys(stem(folded, language) for language in languages))


def _query_parts(word: str, languages: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(_query_stems(part, languages) for part in _camel_parts(word))


@lru_cache(maxsize=20_000)
def word_forms(word: str, language: str) -> tuple[str, ...]:
    """Return every term, exact and stemmed, that a word of a text is found by."""
    return tuple(
        {form for folded, stems in _word_terms(word, language) for form in (folded, *stems)}
    )
