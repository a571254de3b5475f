"""What terms are worth: titles in questions of any length, repeated words, empty words."""

from __future__ import annotations

import pytest

from bookwheel.engines.base import Field
from bookwheel.search.plan import heading_weight, repeated, title_weight
from tests.search.shelf import Shelf


@pytest.mark.parametrize(
    ("words", "weight"), [(0, 2.0), (1, 2.0), (3, 2.0), (4, 1.74), (8, 0.7), (64, 0.7)]
)
def test_a_title_counts_less_in_a_long_question(words: int, weight: float) -> None:
    assert title_weight(words) == pytest.approx(weight)


def test_a_long_question_is_not_won_by_one_word_of_a_title(shelf: Shelf) -> None:
    text = "otter walrus penguin heron badger lynx marten"
    shelf.put({"title.md": "# Otter\n\nnothing", "text.md": f"# Log\n\n{text}"})
    assert shelf.find("otter")[0] == "title.md"
    assert shelf.find(f"{text} zebra")[0] == "text.md"


@pytest.mark.parametrize(("words", "told"), [(3, 0.9), (8, 0.0), (8, 0.12), (64, 0.05)])
def test_titles_that_name_their_page_keep_their_weight(words: int, told: float) -> None:
    assert title_weight(words, told) == pytest.approx(title_weight(words))
    assert heading_weight(words, told) == pytest.approx(0.5)


def test_titles_that_say_what_the_text_says_count_less_in_a_long_question() -> None:
    assert title_weight(8, 0.24) == pytest.approx(title_weight(8) / 2)
    assert heading_weight(8, 0.24) == pytest.approx(0.25)
    assert title_weight(3) > title_weight(5, 0.24) > title_weight(8, 0.24)


def test_sentences_as_titles_do_not_outdo_the_text(shelf: Shelf) -> None:
    words = ["otter", "walrus", "penguin", "heron", "badger", "lynx", "marten", "zebra"]
    plain = "plain " * 60
    files = {
        f"{word}.md": f"# {word} and {after} seen\n\n{plain}"
        for word, after in zip(words, [*words[1:], words[0]], strict=True)
    }
    text = f"# Log\n\n{plain}{' '.join(words[:4])}"
    title = f"# {' and '.join(words[:3])} seen\n\n{plain}"
    shelf.put({**files, "title.md": title, "text.md": text})
    assert shelf.find(" ".join(words))[0] == "text.md"


@pytest.mark.parametrize(("times", "worth"), [(1, 1.0), (2, 1.5), (4, 2.0), (1000, 2.994)])
def test_a_repeated_word_counts_more_but_not_without_end(times: int, worth: float) -> None:
    assert repeated(times) == pytest.approx(worth, abs=0.001)


def test_words_without_content_decide_nothing_where_there_are_others(shelf: Shelf) -> None:
    shelf.put(
        {
            "empty.md": "# A\n\nof the of the of the otter",
            "short.md": "# B\n\notter otter",
            "other.md": "# C\n\nnothing here",
        }
    )
    assert shelf.find("which of the otter")[0] == shelf.find("otter")[0] == "short.md"
    assert shelf.find("of the") == ["empty.md"]


def test_a_word_that_stood_on_many_pages_that_are_gone_still_counts(shelf: Shelf) -> None:
    text = f"{'plain ' * 70}otter {'plain ' * 70}"
    shelf.put({f"{number}.md": text for number in range(9)} | {"other.md": "walrus"})
    shelf.engine.begin_writing()
    shelf.engine.remove("shelf", [f"{number}.md" for number in range(1, 9)])
    shelf.engine.commit()
    shelf.engine.end_writing()
    assert shelf.engine.frequency(Field.EXACT, "otter") > shelf.engine.page_count()
    (hit,) = shelf.ask("otter").hits
    assert "otter" in hit.snippet.text
    assert hit.score > 0.5
