"""Texts are cut as BERT's own tokenizer cuts them."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from bookwheel.embedders.wordpieces import _REMEMBERED, WordPieces

VOCABULARY = files("bookwheel.embedders") / "vocabularies" / "bert-uncased.txt"
SPACES = "\v\f\x1c\x1d\x1e\x1f\x85"
"""White space to us, nothing at all to BERT."""
LETTERS = st.characters(codec="cp1252", exclude_characters=SPACES) | st.sampled_from(
    "密码пароль́ßΣş—„“…€−☃ァย์\u200b\ufffd\t"
)


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    lines = VOCABULARY.read_text(encoding="utf-8").splitlines()
    known = {piece: number for number, piece in enumerate(lines)}
    tokenizer = Tokenizer(WordPiece(known, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


@given(text=st.text(LETTERS, max_size=60) | st.from_regex(r"[a-z]{1,120}", fullmatch=True))
@example("ΟΔΟΣ ΑΣ")
def test_a_text_gets_the_pieces_of_berts_tokenizer(
    pieces: WordPieces, tokenizer: Tokenizer, text: str
) -> None:
    """The two agree on any text; ours puts the marks of start and end around it."""
    assert pieces.encode(text, 10_000) == [101, *tokenizer.encode(text).ids, 102]


def test_long_texts_are_cut_within_the_marks(pieces: WordPieces) -> None:
    """However long the text, the model gets no more than it can read."""
    numbers = pieces.encode("word " * 1000, 256)
    assert (len(numbers), numbers[0], numbers[-1]) == (256, 101, 102)


def test_memory_stays_bounded(pieces: WordPieces) -> None:
    """However many words come, only so many are kept."""
    for number in range(_REMEMBERED + 10):
        pieces[f"w{number}"]
    assert len(pieces) <= _REMEMBERED


def test_the_vocabulary_is_the_original() -> None:
    """Not one piece differs: each has its number by its line."""
    expected = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert sha256(VOCABULARY.read_bytes()).hexdigest() == expected
