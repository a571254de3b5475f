"""Finding a stretch of a document again that somebody quotes, whatever was done to its looks.

Words must stand in the document as they stand in the quotation; marks, markup and blanks do not
matter, and an ellipsis stands for anything. What is given back is the document's own text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from bookwheel.engines.base import Engine
from bookwheel.model import Document, SafeText
from bookwheel.safety.redact import make_safe
from bookwheel.text.cut import ELLIPSIS, cut
from bookwheel.text.plain import plain

_WORD = re.compile(r"[^\W_]+")
_GAPS = re.compile(r"[\W_]+")
_TAGS = re.compile(r"</?(?:mark|em|b|strong)>", re.I)
_ELLIPSES = re.compile(r"…|\.{3,}|\[\s*(?:…|\.{3,})\s*\]")
_CLOSING = re.compile(r"[.!?:;,)\]%\"'”’»*_`]{1,2}")


def find_quote(engine: Engine, document: Document, quote: str, *, longest: int) -> SafeText | None:
    """Return the stretch that a text quotes, cut at so many characters; None if there is none.

    A text of several pieces is found if all of them are.
    """
    text = _TAGS.sub("", engine.text(document.key).decode("utf-8", "replace"))
    return _find((_Searched(plain(text)), _Searched(text)), quote, longest)


class _Searched:
    """A text in which words are looked for; made ready when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _words(self) -> str:
        return _in_words(self._text)

    def find(self, piece: str) -> str | None:
        """Return the stretch with the words of a piece; at its ends a word may be cut."""
        wanted = _in_words(piece)
        at = f" {self._words} ".find(f" {wanted} ")
        at = self._words.find(wanted) if at < 0 else at
        return None if at < 0 else self._stretch(at, at + len(wanted) - 1)

    def _stretch(self, first: int, last: int) -> str:
        """Return the text from one character of the words to another."""
        begin, end = self._words.count(" ", 0, first), self._words.count(" ", 0, last)
        found = list(islice(_WORD.finditer(self._text), begin, end + 1))
        start = found[0].start() + _inside(self._words, first, found[0][0])
        stop = found[-1].start() + _inside(self._words, last, found[-1][0]) + 1
        if len(found[-1][0].lower()) != len(found[-1][0]) or stop == found[-1].end():
            stop = found[-1].end()
            closing = _CLOSING.match(self._text, stop)
            stop = closing.end() if closing else stop
        return self._text[start:stop]


def _find(looks: Sequence[_Searched], quote: str, longest: int) -> SafeText | None:
    pieces = [each for each in _ELLIPSES.split(_TAGS.sub("", quote)) if _WORD.search(each)]
    if not pieces:
        return None
    # First as snippets show a text, then as it stands in the document.
    for look, wanted in zip(looks, ([*map(plain, pieces)], pieces), strict=True):
        found = [look.find(piece) for piece in wanted]
        stretches = [each for each in found if each is not None]
        if len(stretches) == len(pieces):
            return make_safe(cut(f" {ELLIPSIS} ".join(stretches), limit=longest))
    return None


def _in_words(text: str) -> str:
    """Return the words alone, in small letters and with one blank between them."""
    return _GAPS.sub(" ", text).strip().lower()


def _inside(words: str, at: int, word: str) -> int:
    """Return how far into its word a place lies; 0 where small letters are of another number."""
    if len(word.lower()) != len(word):
        return 0
    return at - (words.rfind(" ", 0, at + 1) + 1)
