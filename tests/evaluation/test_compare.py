"""The paired bootstrap: what it says of differences whose answer is known."""

from __future__ import annotations

from random import Random

import pytest

from bookwheel.evaluation.compare import RESAMPLES, Comparison, Verdict, compare_runs


def compare(before: list[float], after: list[float]) -> Comparison:
    found = compare_runs(
        "set",
        {f"q{n}": score for n, score in enumerate(before)},
        {f"q{n}": score for n, score in enumerate(after)},
        random=Random(1),
    )
    assert found is not None
    return found


def test_the_same_run_differs_by_nothing() -> None:
    found = compare([0.1, 0.9, 0.5], [0.1, 0.9, 0.5])

    assert found == Comparison("set", 3, found.before, found.before, 0, 0, 1)
    assert found.before == pytest.approx(0.5)
    assert found.verdict is Verdict.UNCLEAR


@pytest.mark.parametrize(("change", "verdict"), [(0.1, Verdict.BETTER), (-0.1, Verdict.WORSE)])
def test_a_change_of_every_query_is_certain(change: float, verdict: Verdict) -> None:
    found = compare([0.5] * 20, [0.5 + change] * 20)

    assert (found.difference, found.low, found.high) == pytest.approx((change,) * 3)
    assert found.p_value == pytest.approx(2 / (RESAMPLES + 1))
    assert found.verdict is verdict


def test_the_interval_is_as_wide_as_the_queries_vary() -> None:
    # 400 differences, half .2 and half -.1: mean .05, deviation .15, error .15 / 20 = .0075.
    found = compare([0.5] * 400, [0.7, 0.4] * 200)

    assert found.difference == pytest.approx(0.05)
    assert (found.low, found.high) == pytest.approx((0.05 - 0.0147, 0.05 + 0.0147), abs=0.002)
    assert found.verdict is Verdict.BETTER


def test_few_queries_that_vary_show_nothing() -> None:
    found = compare([0.5] * 8, [0.9, 0.2, 0.6, 0.3, 0.8, 0.4, 0.5, 0.6])

    assert found.low < 0 < found.high
    assert found.p_value > 0.2
    assert found.verdict is Verdict.UNCLEAR


def test_only_queries_of_both_runs_count() -> None:
    found = compare_runs("set", {"a": 0, "b": 1}, {"b": 0.5, "c": 1}, random=Random(1))

    assert found is not None
    assert (found.queries, found.before, found.after) == (1, 1, 0.5)
    assert compare_runs("set", {"a": 0}, {"c": 1}, random=Random(1)) is None
