"""Meaning beside words: how near pages are to a question, and both mixed into one order."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from bookwheel.engines.among import nearest_among
from bookwheel.engines.base import Engine, Found, Matrix, Vector
from bookwheel.query import SearchIn, SearchMode
from bookwheel.search.plan import Plan, Planner
from bookwheel.search.rank import Ranked, in_order

_NEAR, _DEEPER = 100, 4
"""At least so many of the nearest chunks are looked at, and so many for each page of the answer:
some pages have several among them, and the farthest sets the scale."""
_WHOLE_SHARE = 0.5
_WHOLE_CHUNKS = 8
"""The page's middle counts this much beside its nearest chunk, and less in longer pages."""
_ROUNDING = 0.00005
"""Distances are shown with four digits: one that was shown must be a bound that keeps its hit."""
_KEPT_FLOOR = 0.8
"""How much of the lowest word score is taken off all of them before both legs are mixed."""
LEANING, _NEIGHBOURS = 0.3, 3
"""How much of a page's score is that of so many pages of the answer that are most like it, in a
long question: one of a few words is likely to name what it wants."""


class Embedder(Protocol):
    """What search needs of a model; `embedders/` has them."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def weight(self) -> float: ...
    @property
    def unrelated(self) -> float: ...
    def embed_query(self, text: str) -> Vector: ...


class Nearness(NamedTuple):
    """How near a page is to the question: as a whole, and its nearest chunk."""

    score: float
    chunk: int
    similarity: float
    is_nearest: bool
    """Among the nearest of all pages, not only among those that words found."""
    similarities: Sequence[float | None]
    """Of each chunk; None for one in which the model knows nothing."""
    middle: Vector
    """The direction of the page as a whole."""

    def of_chunk(self, ordinal: int) -> float | None:
        """Return how near one chunk is; None where it has no vector."""
        known = 0 < ordinal <= len(self.similarities)
        return self.similarities[ordinal - 1] if known else None


def find_near(
    engine: Engine, planner: Planner, plan: Plan, embedder: Embedder, words: Iterable[int]
) -> dict[int, Nearness] | None:
    """Return how near pages are: those nearest to the question, and those that words found.

    Filters, phrases and exclusions hold here as they do for words. None stands for a question in
    which the model can read nothing.
    """
    request = plan.request
    text = plan.question.plain
    if request.mode is SearchMode.LEXICAL or request.search_in is SearchIn.TITLE or not text:
        return None
    query = embedder.embed_query(text)
    if not query.any():
        return None
    # With a window the same are found whichever page of the answer is asked for.
    wanted = max(_NEAR, 2 * request.window if request.window else _DEEPER * request.reach)
    found = find_nearest(engine, planner, plan, embedder.fingerprint, query, wanted)
    nearest = {document for document, _, _ in found.entries}
    matrices = engine.vectors(embedder.fingerprint, [*nearest, *(set(words) - nearest)])
    return measure(matrices, query, nearest)


def find_nearest(
    engine: Engine, planner: Planner, plan: Plan, fingerprint: str, query: Vector, wanted: int
) -> Found:
    """Return the nearest chunks of pages that meet the filters, phrases and exclusions."""
    conditions = planner.conditions(plan)
    if conditions is None:
        return engine.nearest(fingerprint, query, wanted)
    return nearest_among(engine, conditions, fingerprint, query, wanted)


def measure(
    matrices: Mapping[int, Matrix], query: Vector, nearest: Container[int]
) -> dict[int, Nearness]:
    """Return how near pages with these vectors are to a question, reckoned all at once."""
    import numpy as np  # only whoever searches by meaning waits for it

    if not matrices:
        return {}
    # Sums as products: for as few rows as most pages have, nothing of numpy's is as quick. Page by
    # page, since to copy all rows into one matrix takes longer than to reckon with them.
    ones = np.ones(max(map(len, matrices.values())), np.float32)
    middles = np.empty((len(matrices), len(query)), np.float32)
    similarities = []
    for middle, matrix in zip(middles, matrices.values(), strict=True):
        np.dot(ones[: len(matrix)], matrix, out=middle)
        similarities.append((matrix @ query).tolist())
    lengths = np.sqrt(np.einsum("ij,ij->i", middles, middles))
    middles /= np.where(lengths > 0, lengths, 1)[:, np.newaxis]
    wholes = (middles @ query).tolist()
    found: dict[int, Nearness] = {}
    pages = zip(matrices.items(), similarities, wholes, middles, strict=True)
    for (key, matrix), own, whole, middle in pages:
        similarity = max(own)
        share = _WHOLE_SHARE * _told_by_whole(len(own))
        score = (1 - share) * similarity + share * whole
        chunk = own.index(similarity) + 1
        known = _leave_unread(own, matrix)
        found[key] = Nearness(score, chunk, similarity, key in nearest, known, middle)
    return found


def _leave_unread(similarities: list[float], matrix: Matrix) -> Sequence[float | None]:
    """Return None instead of 0 for chunks without a direction; others may stand at right angles."""
    if 0.0 not in similarities:
        return similarities
    return [
        value if value or row.any() else None
        for value, row in zip(similarities, matrix, strict=True)
    ]


def _told_by_whole(chunks: float) -> float:
    """Return how much the middle of a page with so many chunks says of it."""
    return min(1.0, _WHOLE_CHUNKS / chunks)


def mix(
    ranked: Sequence[Ranked],
    near: dict[int, Nearness],
    embedder: Embedder,
    mode: SearchMode,
    *,
    strict: bool,
    whole: frozenset[int] = frozenset(),
    leaning: float = 0.0,
    told: float = 1.0,
) -> list[Ranked]:
    """Return one order out of both; a page without vectors stands as its words put it.

    When `strict`, pages that words did not find must be clearly related to come in. Meaning lifts
    the `whole` pages, which hold every word, but does not lower them. `leaning` is how much pages
    that are alike share in each other's scores, `told` how much of the question words can find:
    where the index lacks its telling words, those that are left say little.
    """
    if mode is SearchMode.SEMANTIC:
        ranked, strict = (), False
    share = 1.0 if mode is SearchMode.SEMANTIC else 1 - (1 - embedder.weight) * told
    by_words = {item.document: item for item in ranked}
    words = _scale_words(ranked)
    pages = {
        document: nearness
        for document, nearness in near.items()
        if not strict or document in by_words or nearness.similarity >= embedder.unrelated
    }
    meaning = _scale_meaning(pages)
    scores = {}
    for document in by_words | pages:
        own = words.get(document, 0.0)
        score = (1 - share) * own + share * meaning.get(document, own)
        is_kept = document in whole and mode is SearchMode.HYBRID
        scores[document] = max(score, own) if is_kept else score
    if leaning and mode is SearchMode.HYBRID:
        scores = _lean(scores, pages, leaning)
    mixed = []
    for document, score in scores.items():
        item = by_words.get(document) or Ranked(document, 0, 0.0)
        own = words.get(document, 0.0)
        nearness = pages.get(document)
        if nearness is None:
            mixed.append(item._replace(score=score, words=own))
            continue
        chunk = item.chunk or nearness.chunk  # the best by words, if they found one
        met = scale_similarity(nearness.similarity, embedder.unrelated)
        similarity = nearness.of_chunk(chunk)
        mixed.append(Ranked(document, chunk, score, item.bonus, own, met, similarity))
    return in_order(mixed)


def _lean(
    scores: Mapping[int, float], pages: Mapping[int, Nearness], leaning: float
) -> dict[int, float]:
    """Return the scores, each with a share of those of the pages most like it.

    What answers a question is seldom alone: a page that says it in other words stands near those
    that say it in the question's. Long pages are too like each other for that to mean much. A page
    of which nothing is known leans on all others, so that it is neither lifted nor lowered.
    """
    from statistics import median

    import numpy as np

    if len(pages) < 2:
        return dict(scores)
    keys = list(pages)
    own = np.array([scores[key] for key in keys])
    middles = np.array([pages[key].middle for key in keys])
    alike = np.maximum(middles @ middles.T, 0)
    np.fill_diagonal(alike, 0)
    if len(keys) > _NEIGHBOURS:
        least = np.partition(alike, -_NEIGHBOURS, axis=1)[:, -_NEIGHBOURS]
        alike[alike < least[:, np.newaxis]] = 0
    total, mean = alike.sum(axis=1), float(own.mean())
    others = np.where(total > 0, alike @ own / np.where(total > 0, total, 1), mean)
    leant_on = dict(zip(keys, others.tolist(), strict=True))
    leaning *= _told_by_whole(median(len(pages[key].similarities) for key in keys))
    return {
        key: (1 - leaning) * score + leaning * leant_on.get(key, mean)
        for key, score in scores.items()
    }


def scale_similarity(similarity: float, unrelated: float) -> float:
    """Return a cosine as a share, 0 for all that has nothing to do with the question."""
    return max(0.0, (similarity - unrelated) / (1 - unrelated))


def drop_far(ranked: Sequence[Ranked], max_distance: float | None) -> list[Ranked]:
    """Return those pages whose passage is near enough; one without vectors stays."""
    if max_distance is None:
        return list(ranked)
    return [
        item
        for item in ranked
        if item.similarity is None or 1 - item.similarity <= max_distance + _ROUNDING
    ]


def _scale_words(ranked: Sequence[Ranked]) -> dict[int, float]:
    scores = {item.document: item.score for item in ranked}
    if not scores:
        return {}
    low = _KEPT_FLOOR * min(scores.values())
    span = max(scores.values()) - low or 1.0
    return {document: (score - low) / span for document, score in scores.items()}


def _scale_meaning(pages: dict[int, Nearness]) -> dict[int, float]:
    """Return scores from 0, for all that is no nearer than the last of the nearest, to 1."""
    scores = [nearness.score for nearness in pages.values() if nearness.is_nearest]
    if not scores:
        return {}
    low = min(scores)
    span = max(scores) - low or 1.0
    return {key: max(0.0, (nearness.score - low) / span) for key, nearness in pages.items()}
