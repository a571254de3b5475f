"""The chunks nearest to a question among pages that meet conditions, be they few or many."""

from __future__ import annotations

from collections.abc import Sequence

from bookwheel.engines.base import Engine, Found, Match, Vector

_MOST_NAMED = 500
"""Pages that meet the conditions, up to which they are named to the vectors one by one."""
_SPARE = 2
_MOST_LOOKED_AT = 1000
"""Chunks that are looked at before the pages that meet the conditions are named."""


def nearest_among(
    engine: Engine, conditions: Match, fingerprint: str, query: Vector, wanted: int
) -> Found:
    """Return the nearest chunks of pages that meet the conditions.

    To name thousands of pages costs far more than to count them, and the more of all pages meet
    the conditions, the sooner enough do of those that are nearest.
    """
    every = engine.page_count()
    meeting = engine.match_pages(conditions, 1, count=True).total
    if meeting >= every:
        return engine.nearest(fingerprint, query, wanted)
    looked_at = _SPARE * wanted * every // max(1, meeting)
    if meeting > _MOST_NAMED and looked_at <= _MOST_LOOKED_AT:
        found = engine.nearest(fingerprint, query, looked_at).entries
        kept = _leave(engine, conditions, found)[:wanted]
        if len(kept) == wanted or len(found) < looked_at:
            return Found(kept, len(kept))
    named = engine.match_pages(conditions, max(1, meeting)).entries
    return engine.nearest(fingerprint, query, wanted, [key for key, _, _ in named])


def _leave(
    engine: Engine, conditions: Match, found: Sequence[tuple[int, int, float]]
) -> tuple[tuple[int, int, float], ...]:
    """Return those chunks whose pages meet the conditions."""
    pages = tuple(dict.fromkeys(document for document, _, _ in found))
    asked = conditions._replace(documents=pages)
    meeting = {document for document, _, _ in engine.match_pages(asked, len(pages)).entries}
    return tuple(entry for entry in found if entry[0] in meeting)
