"""Sentences that say most about a question, each once, in the order of their texts."""

from __future__ import annotations

from bookwheel.text.extract import Sentence, pick_sentences

TEXTS = [
    "The lift is out of order. Vendor X agrees to supply parts until 2023. It rains, e.g. today.",
    "Vendor X agrees to supply parts till 2023. Art. 5 of the contract names a price of 4 EUR.",
    "Nothing of use.",
]


def pick(question: str, longest: int = 1000, texts: list[str] | None = None) -> list[Sentence]:
    return pick_sentences(TEXTS if texts is None else texts, question, "en", longest=longest)


def test_sentences_with_words_of_the_question_are_picked_once() -> None:
    assert pick("contracts with vendor X") == [
        Sentence("Vendor X agrees to supply parts until 2023.", 0),
        Sentence("Art. 5 of the contract names a price of 4 EUR.", 1),
    ]


def test_a_question_whose_words_nobody_has_gets_the_first_things_said() -> None:
    assert pick("platypus")[0] == Sentence("The lift is out of order.", 0)


def test_what_is_too_long_for_the_room_is_left_out_or_cut() -> None:
    assert pick("vendor contract", longest=50) == [
        Sentence("Vendor X agrees to supply parts until 2023.", 0)
    ]
    assert pick("vendor", longest=20, texts=["Vendor X agrees to supply parts."]) == [
        Sentence("Vendor X agrees to", 0)
    ]


def test_scripts_without_spaces_have_sentences_too() -> None:
    found = pick("文書", texts=["これは文書です。雨が降る。"])
    assert found == [Sentence("これは文書です。", 0)]


def test_nothing_gives_nothing() -> None:
    assert pick("vendor", texts=["", " … ", "!?"]) == []
