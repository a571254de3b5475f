"""A closer look at the first hits of a long question: how near their words are to its own.

Word search counts a word that a passage says otherwise as missing, and the vector of a passage is
about all of it at once. Here each word of the question is compared with each of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from bookwheel.engines.base import Engine, Matrix, model_text
from bookwheel.search.plan import Plan, Planner, length
from bookwheel.search.rank import Ranked, in_order, with_passages
from bookwheel.text.words import fold, is_unspaced

_LOOKED_AT = 15
"""So many of the first hits are looked at."""
_SHARE, _CHUNKS = 0.4, 2
"""What a passage gets, beside its score, that has all words of a long question; less where most
pages have more chunks, since one of them tells little of such a page."""
_WORD = re.compile(r"[^\W_]+")


@runtime_checkable
class WordModel(Protocol):
    """A model that has a vector for each word, whatever stands around it."""

    def embed_words(self, words: Sequence[str]) -> Matrix: ...
    def is_word(self, word: str) -> bool: ...


class _Asked(NamedTuple):
    """A word of the question, and how much it tells."""

    word: str
    worth: float


def look_at_words(
    engine: Engine, planner: Planner, plan: Plan, ranked: list[Ranked], model: WordModel
) -> list[Ranked]:
    """Return the pages with the first of them in an order to which the nearest words add."""
    asked = _asked(plan)
    share = _SHARE * length(len(asked))
    if not share or len(ranked) < 2:
        return ranked
    first = with_passages(engine, planner, plan, ranked[:_LOOKED_AT])
    documents = engine.documents_by_key([item.document for item in first])
    passages = engine.passages([(item.document, item.chunk) for item in first])
    texts = {
        key: model_text(documents[key].title, passage)
        for (key, _), passage in passages.items()
        if key in documents
    }
    if not texts:
        return ranked
    from statistics import median

    near = _nearness(model, asked, texts)
    share *= min(1.0, _CHUNKS / median(max(1, documents[key].chunks) for key in texts))
    least = min(near.values(), default=0.0)  # for all others, so that none falls behind by it
    lifted = [
        item._replace(
            score=item.score + share * near.get(item.document, least), near=near.get(item.document)
        )
        for item in (*first, *ranked[_LOOKED_AT:])
    ]
    return in_order(lifted)


def _asked(plan: Plan) -> list[_Asked]:
    """Return the telling words, of which rare ones tell more than their share.

    A slip is taken as the likeliest word that it may have meant. One that no page has may be a name
    or foreign: it tells no more than the rarest of the others.
    """
    clauses = [
        clause
        for clause in plan.clauses
        if not (clause.filler or is_unspaced(clause.word) or not clause.worth)
    ]
    most = max((clause.worth for clause in clauses if clause.known), default=1.0)
    return [
        _Asked((*clause.exact[1:], clause.word)[0], min(clause.worth, most) ** 2)
        for clause in clauses
    ]


def _nearness(
    model: WordModel, asked: Sequence[_Asked], texts: Mapping[int, str]
) -> dict[int, float]:
    """Return for each text how near its words come to those that are asked for, 1 at most."""
    import numpy as np

    own = {key: words for key, text in texts.items() if (words := set(_WORD.findall(fold(text))))}
    if not own:
        return {}
    every = list(set().union(*own.values()))
    numbers = dict(zip(every, range(len(every)), strict=True))
    places = [list(map(numbers.__getitem__, words)) for words in own.values()]
    worths = np.array([each.worth for each in asked], np.float32)
    questions = model.embed_words([each.word for each in asked])
    questions *= (worths / worths.sum())[:, np.newaxis]
    alike = model.embed_words(every) @ questions.T
    starts = np.cumsum([0, *map(len, places[:-1])])
    nearest = np.maximum.reduceat(alike[np.concatenate(places)], starts)
    return dict(zip(own, nearest.sum(axis=1).tolist(), strict=True))
