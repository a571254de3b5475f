"""Measures against values that were worked out by hand, as trec_eval defines them."""

from __future__ import annotations

from typing import Any

import pytest

from bookwheel.evaluation.metrics import Scores, mean_scores, percentile, score_answer

# 1 / log2(place + 1), to six digits, for places 1 to 10.
D = (1.0, 0.630930, 0.5, 0.430677, 0.386853, 0.356207, 0.333333, 0.315465, 0.301030, 0.289065)


def approximately(*expected: float) -> Any:
    return pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(
    ("answer", "gains", "expected"),
    [
        (["a"], {"a": 1}, (1, 1, 1, 1)),
        (["x", "a"], {"a": 1}, (D[1], 1, 1 / 2, 1)),
        (["x", "y", "z"], {"a": 1}, (0, 0, 0, 0)),
        ([], {"a": 1}, (0, 0, 0, 0)),
        # Two of three relevant: (D1 + D4) / (D1 + D2 + D3) = 1.430677 / 2.130930.
        (["a", "x", "y", "b"], {"a": 1, "b": 1, "c": 1}, (0.671387, 2 / 3, 1, 1)),
        # Eleven relevant, ten found: the ideal has ten places as well.
        ([*"abcdefghij"], dict.fromkeys("abcdefghijk", 1), (1, 10 / 11, 1, 1)),
    ],
)
def test_plain_relevance(
    answer: list[str], gains: dict[str, float], expected: tuple[float, float, float, float]
) -> None:
    assert score_answer(answer, gains) == approximately(*expected)


def test_grades_are_gains_as_they_stand() -> None:
    # Found 0, 1, 2, 0, 1: .630930 + 2 * .5 + .386853 = 2.017783.
    # Ideal 2, 1, 1: 2 + .630930 + .5 = 3.130930. With 2^grade - 1 it would be another ratio.
    scores = score_answer(["x", "b", "a", "c", "d"], {"a": 2, "b": 1, "c": 0, "d": 1})

    assert scores == approximately(2.017783 / 3.130930, 1, 1 / 2, 1)


def test_scores_of_zero_and_less_are_not_relevant() -> None:
    # First comes a document judged -1: no gain, no loss, no hit.
    assert score_answer(["n", "o", "a"], {"n": -1, "o": 0, "a": 1}) == approximately(
        0.5, 1, 1 / 3, 1
    )


def test_what_comes_after_the_tenth_place_counts_for_recall_only() -> None:
    others = [f"x{number}" for number in range(10)]

    assert score_answer([*others, "a"], {"a": 1}) == approximately(0, 1, 0, 0)
    assert score_answer([*others[:9], "a"], {"a": 1}) == approximately(D[9], 1, 1 / 10, 1)


def test_what_comes_after_the_hundredth_place_counts_for_nothing() -> None:
    others = [f"x{number}" for number in range(100)]

    assert score_answer([*others[:99], "a"], {"a": 1}).recall == 1
    assert score_answer([*others, "a"], {"a": 1}).recall == 0


def test_a_document_that_comes_twice_counts_once_where_it_is_first() -> None:
    # As x, a, b: .630930 + .5 of an ideal 1.630930.
    scores = score_answer(["x", "a", "x", "a", "b"], {"a": 1, "b": 1})

    assert scores == approximately(1.130930 / 1.630930, 1, 1 / 2, 1)


def test_documents_that_tie_stand_in_the_order_of_the_answer() -> None:
    assert score_answer(["a", "b"], {"b": 1}).ndcg == pytest.approx(D[1], abs=1e-6)
    assert score_answer(["b", "a"], {"b": 1}).ndcg == 1


def test_a_query_without_relevant_documents_has_no_score() -> None:
    with pytest.raises(ValueError, match="without relevant"):
        score_answer(["a"], {"a": 0})


def test_the_mean_gives_every_query_the_same_weight() -> None:
    every = [Scores(1, 1, 1, 1), Scores(0, 0.5, 0.25, 1)]

    assert mean_scores(every) == Scores(0.5, 0.75, 0.625, 1)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([7], 0.95, 7), ([4, 1, 3, 2], 0.5, 2), ([*range(1, 101)], 0.95, 95), ([1, 2, 9], 0.95, 9)],
)
def test_a_percentile_is_one_of_the_values(
    values: list[float], share: float, expected: float
) -> None:
    assert percentile(values, share) == expected
