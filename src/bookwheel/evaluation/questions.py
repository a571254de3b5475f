"""Questions with the documents that answer them, and what was found for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

from bookwheel.evaluation.metrics import Scores, first_place, score_answer
from bookwheel.indexing.pipeline import Progress

Listener = Callable[[Progress], None]


class Question(NamedTuple):
    """A query and how much each document that was judged is worth to whoever asks it."""

    name: str
    text: str
    gains: Mapping[str, float]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The relevant documents, the best first."""
        relevant = [each for each, gain in self.gains.items() if gain > 0]
        return tuple(sorted(relevant, key=lambda each: -self.gains[each]))


class Found(NamedTuple):
    """A document of an answer."""

    document: str
    title: str


Search = Callable[[str], Sequence[Found]]


class Answered(NamedTuple):
    """A question, what was found for it, and how good and quick that was."""

    question: Question
    found: tuple[Found, ...]
    scores: Scores
    milliseconds: float

    @property
    def place(self) -> int | None:
        """Where the first relevant document stands, from 1."""
        return first_place([each.document for each in self.found], self.question.wanted)


def ask_all(
    search: Search, questions: Sequence[Question], on_progress: Listener, doing: str
) -> list[Answered]:
    """Ask every question once and score what comes back."""
    answers = []
    for number, question in enumerate(questions, start=1):
        started = perf_counter()
        found = tuple(search(question.text))
        took = (perf_counter() - started) * 1000
        scores = score_answer([each.document for each in found], question.gains)
        answers.append(Answered(question, found, scores, took))
        on_progress(Progress(doing, number, len(questions)))
    return answers
