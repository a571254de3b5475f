"""The default model: near in meaning is near in angle, and every text gets a sound vector."""

from __future__ import annotations

import numpy as np
import pytest

from bookwheel.embedders.static import StaticEmbedder, lower_shouting

QUESTION = "How do I reset my password?"
ANSWER = "To change the secret with which you log in, open your account settings."
OTHER = "The recipe needs two eggs, flour and a pinch of salt."


@pytest.fixture(scope="module")
def model() -> StaticEmbedder:
    return StaticEmbedder()


def test_what_is_near_in_meaning_is_nearer(model: StaticEmbedder) -> None:
    """An answer without a word of the question lies nearer to it than another text does."""
    answer, other = model.embed([ANSWER, OTHER]) @ model.embed_query(QUESTION)
    assert answer > other + 0.1


def test_every_row_has_unit_length(model: StaticEmbedder) -> None:
    """Long, short, Latin or not: the cosine is a plain product."""
    texts = ["a", QUESTION, "Пароль от учётной записи", "密码", "word " * 5000, "x" * 100_000]
    rows = model.embed(texts)
    assert rows.shape == (len(texts), model.dimensions)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_a_text_without_words_gets_zeros(model: StaticEmbedder) -> None:
    """Blank texts are like nothing; signs that the vocabulary lacks are known by their bytes."""
    rows = model.embed(["", " \n\t - …", "𐎠𐎡𐎢", QUESTION])
    assert rows.any(axis=1).tolist() == [False, False, True, True]


def test_a_broken_text_gets_a_vector_too(model: StaticEmbedder) -> None:
    """Half a sign, as damaged files hold, stops nothing."""
    assert np.isfinite(model.embed(["half \ud800 sign", "nul \0"])).all()


def test_no_texts_give_no_rows(model: StaticEmbedder) -> None:
    """An empty batch is answered with an empty table."""
    assert model.embed([]).shape == (0, model.dimensions)


def test_the_same_text_always_gets_the_same_vector(model: StaticEmbedder) -> None:
    """Whatever stands beside it in the batch, and in another process's model."""
    alone = model.embed([ANSWER])[0]
    among = model.embed([OTHER] * 300 + [ANSWER])[-1]
    np.testing.assert_array_equal(alone, among)
    np.testing.assert_array_equal(alone, StaticEmbedder().embed_query(ANSWER))


def test_capitals_and_white_space_do_not_matter(model: StaticEmbedder) -> None:
    """A text in capitals means what it means in small letters, however it is wrapped."""
    rows = model.embed([OTHER.lower(), OTHER.upper(), OTHER.lower().replace(" ", "\n  ")])
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


def test_punctuation_does_not_count(model: StaticEmbedder) -> None:
    """Marks of Markdown, addresses and quotes say nothing about what a text means."""
    rows = model.embed(["docs about salt", "**docs/about** — „salt“!", "[docs](/about_salt)"])
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


@pytest.mark.parametrize(
    ("text", "lowered"),
    [
        ("WARNING: HOT", True),
        ("ÄRGER ÜBER ÖL", True),
        ("ПРИВЕТ МИР", True),
        ("Hot Water", False),
        ("NASA said so", False),
        ("1234 -- 5678", False),
        ("密码", False),
        ("", False),
    ],
)
def test_only_shouting_is_lowered(text: str, lowered: bool) -> None:
    """Names and abbreviations keep their capitals."""
    assert lower_shouting(text) == (text.lower() if lowered else text)


def test_the_end_of_a_very_long_text_does_not_count(model: StaticEmbedder) -> None:
    """A text is known by its first thousand pieces or so."""
    rows = model.embed(["word " * 2000 + tail for tail in ("salt", "password")])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_the_fingerprint_names_model_and_preparation(model: StaticEmbedder) -> None:
    """Two loads of the same files agree."""
    assert model.fingerprint == StaticEmbedder().fingerprint
    assert model.fingerprint.startswith("wordllama-")


@pytest.mark.parametrize("text", ["แมวอยู่ไหน", "बिल्ली कहाँ है", "أين القطة", "איפה החתול"])
def test_questions_in_scripts_that_the_model_knows_by_bytes_only_get_zeros(
    model: StaticEmbedder, text: str
) -> None:
    assert not model.embed_query(text).any()
    assert model.embed_query(f"{text} in a longer English question about it").any()


@pytest.mark.parametrize("text", ["Wo ist die Katze?", "где кошка", "猫在哪里", "고양이는 어디"])
def test_questions_in_scripts_that_the_model_knows_get_a_vector(
    model: StaticEmbedder, text: str
) -> None:
    assert model.embed_query(text).any()


def test_a_word_has_a_vector_by_itself_and_like_words_are_near(model: StaticEmbedder) -> None:
    """Whether it is one piece or many, and whatever stands beside it."""
    words = ["car", "automobile", "apoptosis", "cheese", "𐎠", ""]
    rows = model.embed_words(words)
    car, automobile, apoptosis, cheese, odd, nothing = rows
    assert car @ automobile > car @ cheese + 0.1
    np.testing.assert_allclose(np.linalg.norm(rows[:-1], axis=1), 1, atol=1e-6)
    assert odd.any()
    assert not nothing.any()
    np.testing.assert_array_equal(apoptosis, model.embed_words(["apoptosis"])[0])
    assert model.embed_words([]).shape[0] == 0


@pytest.mark.parametrize(("word", "known"), [("sea", True), ("medicine", True), ("vaccnie", False)])
def test_a_common_word_is_told_from_a_slip(word: str, known: bool) -> None:
    assert StaticEmbedder().is_word(word) is known
