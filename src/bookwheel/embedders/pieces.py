"""Cuts words into the pieces of a byte-pair vocabulary, as SentencePiece does; remembers words.

Texts repeat their words, so a word is cut once and then looked up: several times faster than a
tokenizer that cuts every text anew, and with the same pieces.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, pairwise

WORD_START = "▁"
_REMEMBERED = 50_000
"""Words kept: some 8 MB; the commonest come back at once after all are forgotten."""
_LONGEST = 48
"""Characters cut as one: the work grows with the square, and what is longer is no word."""
_FIRST_BYTE = 3
"""The number of byte 0: SentencePiece puts the bytes after its three marks."""
_NONE = 1 << 30


class Pieces(dict[str, bytes]):
    """The pieces of each word as 16-bit numbers, found when first asked for."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    @cached_property
    def _pairs(self) -> set[str]:
        """The pairs of signs that stand side by side in some piece."""
        return {piece[at : at + 2] for piece in self._vocabulary for at in range(len(piece) - 1)}

    def __missing__(self, word: str) -> bytes:
        if len(self) >= _REMEMBERED:
            self.clear()
        start = WORD_START + word
        whole = start in self._vocabulary
        runs = (start,) if whole else self._runs(start)
        found = array("H", chain.from_iterable(map(self._cut, runs))).tobytes()
        if len(word) <= _LONGEST:
            self[word] = found
        return found

    def _runs(self, text: str) -> Iterator[str]:
        """Part a text where no piece could reach across: at most marks and signs of Chinese."""
        start = 0
        for end in range(1, len(text)):
            if end - start > _LONGEST or text[end - 1 : end + 1] not in self._pairs:
                yield text[start:end]
                start = end
        yield text[start:]

    def _cut(self, run: str) -> list[int]:
        """Join the two neighbours whose joint piece is commonest, until none can be joined."""
        known = self._vocabulary
        if run in known:
            return [known[run]]
        parts = list(run)
        joint = [known.get(a + b, _NONE) for a, b in pairwise(parts)]
        while joint and (best := min(joint)) != _NONE:
            at = joint.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del joint[at]
            if at:
                joint[at - 1] = known.get(parts[at - 1] + parts[at], _NONE)
            if at < len(joint):
                joint[at] = known.get(parts[at] + parts[at + 1], _NONE)
        return [number for part in parts for number in self._number(part)]

    def _number(self, part: str) -> Iterable[int]:
        """Return the number of a piece; a sign that is none counts as the bytes it is made of."""
        if part in self._vocabulary:
            return (self._vocabulary[part],)
        if part == WORD_START:  # says nothing by itself
            return ()
        return (_FIRST_BYTE + byte for byte in part.encode("utf-8", "replace"))
