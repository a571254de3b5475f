"""Words are cut into the pieces that the model's own tokenizer would give."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from bookwheel.embedders import static
from bookwheel.embedders.pieces import _LONGEST, _REMEMBERED, Pieces

VOCABULARY = static._files()[1]
KNOWN = static.read_vocabulary(VOCABULARY)


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(KNOWN)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(VOCABULARY))


def numbers(pieces: Pieces, word: str) -> list[int]:
    return array("H", pieces[word]).tolist()


def expected(tokenizer: Tokenizer, word: str) -> list[int]:
    start = tokenizer.token_to_id("▁")
    ids = tokenizer.encode(word, add_special_tokens=False).ids
    return [number for number in ids if number != start]


WORDS = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=_LONGEST).filter(
    lambda word: not word.isspace() and "▁" not in word and "<" not in word
)


@given(word=WORDS | st.from_regex(r"[a-zA-Z'’.,-]{1,40}", fullmatch=True))
def test_a_word_gets_the_pieces_of_the_models_tokenizer(
    pieces: Pieces, tokenizer: Tokenizer, word: str
) -> None:
    """The two agree on any word, but for the mark of a start that stands alone."""
    assert numbers(pieces, word) == expected(tokenizer, word)


def test_memory_stays_bounded(pieces: Pieces) -> None:
    """However many words come, only so many are kept, and the longest not at all."""
    for number in range(_REMEMBERED + 10):
        pieces[f"w{number}"]
    pieces["x" * 1000]
    assert len(pieces) <= _REMEMBERED
    assert max(map(len, pieces)) <= _LONGEST
