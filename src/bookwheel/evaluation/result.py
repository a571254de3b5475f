"""What an evaluation gives: the scores of one test set or folder, and of each of its queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bookwheel.evaluation.metrics import Scores, mean_scores, percentile
from bookwheel.evaluation.questions import Answered, Found

_NAMED = 3
"""So many documents that came first are named for each miss."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What holding the documents took; no seconds where the index was there already."""

    documents: int
    bytes: int
    index_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """A query whose best answer does not come first."""

    query: str
    wanted: tuple[str, ...]
    place: int | None
    """Where the first relevant document stands; None when it was not found at all."""
    instead: tuple[str, ...]
    """What came first, each with its title."""


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one test set or folder."""

    name: str
    documents: int
    queries: int
    left_out: int
    unknown: int
    scores: Scores
    p50_ms: float
    p95_ms: float
    index_seconds: float | None
    bytes_per_document: float
    per_query: Mapping[str, float]
    """nDCG@10 of each query, for comparing with another run."""
    misses: tuple[Miss, ...] = ()
    notes: tuple[str, ...] = ()
    """What whoever reads the scores should know."""


def sum_up(
    name: str, answers: Sequence[Answered], cost: Cost, *, left_out: int = 0, unknown: int = 0
) -> Result:
    """Return the scores of all answers together."""
    times = [each.milliseconds for each in answers]
    return Result(
        name=name,
        documents=cost.documents,
        queries=len(answers),
        left_out=left_out,
        unknown=unknown,
        scores=mean_scores([each.scores for each in answers]),
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
        index_seconds=cost.index_seconds,
        bytes_per_document=cost.bytes / max(1, cost.documents),
        per_query={each.question.name: each.scores.ndcg for each in answers},
        misses=tuple(_miss(each) for each in answers if each.place != 1),
    )


def _miss(answer: Answered) -> Miss:
    first = tuple(map(_name, answer.found[:_NAMED]))
    return Miss(answer.question.text, answer.question.wanted, answer.place, first)


def _name(found: Found) -> str:
    """Return a document's name, with its title where that says more."""
    return found.document if found.title in found.document else f"{found.document} ({found.title})"
