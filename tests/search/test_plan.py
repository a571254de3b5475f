"""What terms are worth: titles in questions of any length."""

from __future__ import annotations

import pytest

from bookwheel.search.plan import title_weight
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
