"""What a query does not want."""

from __future__ import annotations

import time

import pytest

from bookwheel.search.negation import ends_negated


@pytest.mark.parametrize(
    "text",
    [
        "contracts not ",
        "contracts, except those ",
        "contracts other than ",
        "files that aren’t ",
        "rent not in finance or ",
        "not pdfs or word documents or ",
    ],
)
def test_what_follows_is_not_wanted(text: str) -> None:
    assert ends_negated(text)


@pytest.mark.parametrize(
    "text", ["", "contracts ", "not draft contracts ", "not that one. ", "more than ", "than "]
)
def test_what_follows_is_wanted_or_not_spoken_of(text: str) -> None:
    assert not ends_negated(text)


def test_many_words_that_could_stand_between_cost_nothing() -> None:
    began = time.process_time()
    for piece in ("or in ", "the for ", "a or ", " ", "not or x "):
        ends_negated(piece * 20_000 + "x")
    assert time.process_time() - began < 1
