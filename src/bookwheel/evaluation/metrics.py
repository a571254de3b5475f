"""The measures of an answer, as trec_eval and BEIR compute them; pure functions.

The gain of a document is its judged score (linear, not 2^score - 1); a score of 0 or less says
that it is not relevant. The order of the answer counts, never its scores: documents that tie stand
in the order in which a caller would see them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2
from typing import NamedTuple

TOP = 10
"""How far nDCG, MRR and hits look: what an assistant or a person reads."""
DEPTH = 100
"""How far recall looks: what a second stage could still put right."""


class Scores(NamedTuple):
    """How good one answer is, or the mean of many; each from 0 to 1."""

    ndcg: float
    recall: float
    mrr: float
    hit: float


def score_answer(answer: Iterable[str], gains: Mapping[str, float]) -> Scores:
    """Score documents in order of an answer; one that comes twice counts where it is first."""
    ranking = list(dict.fromkeys(answer))
    relevant = {document for document, gain in gains.items() if gain > 0}
    if not relevant:
        raise ValueError("a query without relevant documents has no score")
    found = [max(0.0, gains.get(document, 0.0)) for document in ranking[:TOP]]
    ideal = sorted((gains[document] for document in relevant), reverse=True)[:TOP]
    place = first_place(ranking[:TOP], relevant)
    return Scores(
        ndcg=_discounted(found) / _discounted(ideal),
        recall=len(relevant.intersection(ranking[:DEPTH])) / len(relevant),
        mrr=1 / place if place else 0.0,
        hit=1.0 if place else 0.0,
    )


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, start=1))


def first_place(ranking: Sequence[str], relevant: Iterable[str]) -> int | None:
    """Return the place, from 1, of the first relevant document."""
    wanted = set(relevant)
    return next((place for place, each in enumerate(ranking, start=1) if each in wanted), None)


def mean_scores(every: Sequence[Scores]) -> Scores:
    """Return the mean of each measure over all queries."""
    return Scores(*(sum(column) / len(every) for column in zip(*every, strict=True)))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is no less than this share of all (nearest rank)."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]
