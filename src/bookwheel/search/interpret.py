"""What a query's text asks for: words, quoted phrases, -exclusions, or an expression of them.

Any text is a query.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.search.operators import Expression, leaves, parse
from bookwheel.text.cut import UNSPACED
from bookwheel.text.language import filler_words
from bookwheel.text.words import Surface, analyze_query, normal_title

LONGEST_QUERY = 1000
MOST_WORDS = 64
_LONG_QUESTION = 12
"""With more words than this around them, quotes are a writer's marks and not a condition."""
_LOST = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_QUOTED = re.compile(r'(?<!\S)(-?)["“”„]([^"“”„]*)["“”„]')
_QUOTES = re.compile('["“”„]')
_EXCLUDED = re.compile(r"(?<!\S)-(?=[^\W_])(\S+)")
_EXCLUDED_LAST = re.compile(r"(?<!\S)-(?=[^\W_])(\S+)(?=(?:\s+-[^\W_]\S*)*\s*$)")
_NOTHING_BUT = re.compile(r"\s*NOT\s+(?![A-Z\d]+\s*$)([\"“„][^\"“”„]+[\"”]|[^\W_]\S*)\s*")
"""All that is asked is that something be absent; `NOT FOUND` is what a program says."""
_FILE_NAME_END = re.compile(r"\S\.[^\W_]{1,10}\Z")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SENTENCE = 6
"""So many words that end as a sentence does are one, and no command."""
_SENTENCE_END = re.compile(r"[.?!\u061f\u0964\u3002\uff1f\uff01][\"'\u201d)]*\s*$")


class Question(NamedTuple):
    """A query taken apart."""

    title: str
    words: tuple[Surface, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[Surface, ...] = ()
    excluded_phrases: tuple[tuple[str, ...], ...] = ()
    shortened: bool = False
    loosened: bool = False
    """It holds quotes that were taken as a writer's marks."""
    plain: str = ""
    """What is asked in words, without marks and exclusions, for models to read."""
    expression: Expression | None = None
    """What a document must meet, where operators say it; the words then only weigh."""

    @property
    def file_name(self) -> str:
        """The name of a file, should the query be one, or the path of one; else nothing."""
        name = self.title.rpartition("/")[2].strip()
        return name if _FILE_NAME_END.search(name) else ""

    @property
    def asks_nothing(self) -> bool:
        return not (self.words or self.phrases or self.excluded or self.excluded_phrases)


def query_languages(engine: Engine) -> tuple[str, ...]:
    """Return the languages in which a query's words are stemmed: those of most documents."""
    counts = engine.languages()
    total = sum(counts.values())
    common = [name for name, n in counts.items() if n * 100 >= total or n >= 50]
    common.sort(key=lambda name: -counts[name])
    return tuple(common[:6]) or ("en",)


def interpret(text: str, languages: tuple[str, ...]) -> Question:
    """Take a query apart; never raises, whatever the text."""
    clean = _LOST.sub(" ", text)
    kept = clean[:LONGEST_QUERY]
    if only := _NOTHING_BUT.fullmatch(kept):
        kept = clean = f"-{only[1]}"
    expression = parse(kept, lambda word: _is_filler(word, languages))
    if expression is not None:
        return _interpret_expression(expression, kept, languages, is_cut=kept != clean)
    loosened = _is_long_question(kept)
    phrases: list[tuple[str, ...]] = []
    excluded_phrases: list[tuple[str, ...]] = []
    for sign, quoted in _QUOTED.findall(kept):
        words = exact_words(quoted, languages)
        if words and (sign or not loosened):
            (excluded_phrases if sign else phrases).append(words)
    loose = _unquote(kept) if loosened else _QUOTED.sub(" ", kept)
    # `COVID -19 spreads` in a sentence excludes nothing; at its end a dash is no slip.
    exclusion = _EXCLUDED_LAST if _is_sentence(kept) else _EXCLUDED
    excluded = analyze_query(" ".join(exclusion.findall(loose)), languages)
    words_part = exclusion.sub(" ", loose)
    surfaces = analyze_query(words_part, languages)
    return Question(
        title=normal_title(_QUOTES.sub(" ", _unquote(kept) if loosened else kept)),
        words=tuple(surfaces[:MOST_WORDS]),
        phrases=tuple(phrases[:8]),
        excluded=tuple(excluded[:MOST_WORDS]),
        excluded_phrases=tuple(excluded_phrases[:8]),
        shortened=len(clean) > LONGEST_QUERY or len(surfaces) > MOST_WORDS,
        loosened=loosened,
        plain=" ".join(_QUOTES.sub(" ", exclusion.sub(" ", _unquote(kept))).split()),
    )


def _interpret_expression(
    expression: Expression, text: str, languages: tuple[str, ...], *, is_cut: bool
) -> Question:
    """Return a question whose words are those that the expression asks for."""
    plain = " ".join(" ".join(piece.text for piece in leaves(expression)).split())
    surfaces = analyze_query(plain, languages)
    return Question(
        title=normal_title(_QUOTES.sub(" ", text)),
        words=tuple(surfaces[:MOST_WORDS]),
        shortened=is_cut or len(surfaces) > MOST_WORDS,
        plain=plain,
        expression=expression,
    )


def _is_filler(word: str, languages: tuple[str, ...]) -> bool:
    return any(word.casefold() in filler_words(language) for language in languages)


def _is_long_question(text: str) -> bool:
    """Tell a question in which a quotation is only a part of what is said."""
    asked = [found for found in _QUOTED.finditer(text) if not found[1]]
    return bool(asked) and (_is_sentence(text) or _words_around(text) > _LONG_QUESTION)


def _is_sentence(text: str) -> bool:
    """Tell a whole sentence, as nobody writes who thinks of conditions."""
    return _words_around(text) >= _SENTENCE and _SENTENCE_END.search(text) is not None


def _words_around(text: str) -> int:
    """Count words outside of quotes, those of scripts without blanks at two letters each."""
    around = _QUOTED.sub(" ", text)
    return len(around.split()) + len(_UNSPACED.findall(around)) // 2


def _unquote(text: str) -> str:
    """Return the text without excluded phrases; quoted ones stay as words."""
    return _QUOTED.sub(lambda found: " " if found[1] else f" {found[2]} ", text)


def exact_words(text: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a text as written, in order, as a phrase needs them."""
    surfaces = analyze_query(text, languages)
    return tuple(word.exact for surface in surfaces for word in surface.words)[:MOST_WORDS]
