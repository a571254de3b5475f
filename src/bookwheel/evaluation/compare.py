"""Comparing two runs over the same queries, by a paired bootstrap."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from random import Random
from typing import NamedTuple

RESAMPLES = 2000
_TAIL = 0.025
"""What lies outside a 95 % interval on each side."""


class Verdict(StrEnum):
    """What the difference says, given how much it varies between queries."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "no clear difference"


class Comparison(NamedTuple):
    """How the mean nDCG@10 over the queries that both runs asked differs."""

    name: str
    queries: int
    before: float
    after: float
    low: float
    high: float
    p_value: float

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def verdict(self) -> Verdict:
        if self.low > 0:
            return Verdict.BETTER
        return Verdict.WORSE if self.high < 0 else Verdict.UNCLEAR


def compare_runs(
    name: str, before: Mapping[str, float], after: Mapping[str, float], *, random: Random
) -> Comparison | None:
    """Compare the scores of each query in two runs; None when they have no query in common."""
    common = [query for query in after if query in before]
    if not common:
        return None
    differences = [after[query] - before[query] for query in common]
    low, high, p_value = _resample(differences, random)
    return Comparison(
        name,
        len(common),
        sum(before[query] for query in common) / len(common),
        sum(after[query] for query in common) / len(common),
        low,
        high,
        p_value,
    )


def _resample(differences: list[float], random: Random) -> tuple[float, float, float]:
    """Return the 95 % interval of the mean and the two-sided p-value of its being zero.

    Drawing as many queries as there are, with repetition, shows how the mean would have come out
    with other queries of the same kind.
    """
    count = len(differences)
    means = sorted(sum(random.choices(differences, k=count)) / count for _ in range(RESAMPLES))
    below = sum(mean <= 0 for mean in means)
    above = sum(mean >= 0 for mean in means)
    p_value = min(1.0, 2 * (min(below, above) + 1) / (RESAMPLES + 1))
    edge = int(_TAIL * RESAMPLES)
    return means[edge], means[-edge - 1], p_value
