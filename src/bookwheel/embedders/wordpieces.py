"""Cuts texts into the word pieces of BERT, as models trained on its vocabulary expect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import islice
from string import punctuation
from unicodedata import category, normalize

_REMEMBERED = 20_000
_LONGEST_WORD = 100
"""Characters; the models were trained with longer words unknown."""
_IDEOGRAPHS = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
_ASCII_MARKS = frozenset(punctuation)
_SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"


class WordPieces(dict[str, tuple[int, ...]]):
    """The pieces of each word by number, found when first asked for."""

    def __init__(self) -> None:
        super().__init__()
        file = files("bookwheel.embedders") / "vocabularies" / "bert-uncased.txt"
        pieces = file.read_text(encoding="utf-8").split("\n")
        self._vocabulary = {piece: number for number, piece in enumerate(pieces) if piece}
        self._unknown = self._vocabulary["[UNK]"]
        self._ends = (self._vocabulary["[CLS]"], self._vocabulary["[SEP]"])

    def encode(self, text: str, limit: int) -> list[int]:
        """Return the numbers of a text's pieces between the two marks, at most `limit` in all."""
        words = map(self.__getitem__, text.split())
        inner = islice((number for word in words for number in word), limit - 2)
        return [self._ends[0], *inner, self._ends[1]]

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = tuple(number for part in _parts(word) for number in self._cut(part))
        if len(word) <= _LONGEST_WORD:
            self[word] = found
        return found

    def _cut(self, word: str) -> list[int]:
        """Take the longest piece that fits, again and again; else the word is unknown."""
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            found.append(number)
            start = end
        return found


def _parts(word: str) -> Iterator[str]:
    """Give the plain small words and the single marks that a word is made of."""
    spaced = _IDEOGRAPHS.sub(r" \1 ", "".join(filter(_is_visible, word)))
    bare = "".join(c for c in normalize("NFD", spaced) if category(c) != "Mn")
    plain = bare.replace(_SIGMA, _SIGMA.lower()).lower()  # at the end of a word it has another form
    part = ""
    for sign in plain:
        if sign in _ASCII_MARKS or sign == " " or category(sign)[0] == "P":
            yield from filter(None, (part, sign.strip()))
            part = ""
        else:
            part += sign
    if part:
        yield part


def _is_visible(sign: str) -> bool:
    return sign != "\ufffd" and category(sign)[0] != "C"
