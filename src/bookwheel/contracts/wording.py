"""What the text answers of several toolsets say in the same words: excerpts and near misses."""

from __future__ import annotations

from bookwheel.query import SearchHit, SearchRequest, SearchResults
from bookwheel.reading.documents import quoted

UNQUOTED = "without quotes"
_CUT = "..."
_NEAR = 3
_QUOTES = dict.fromkeys(map(ord, '"“”„'), " ")


def one_line(text: str) -> str:
    """Return a text that cannot begin a line of its own."""
    return " ".join(text.split())


def excerpt(hit: SearchHit) -> str:
    """Return the surroundings of the match, with `...` where the document goes on."""
    before = _CUT if hit.snippet.cut_before or hit.chunk > 1 else ""
    after = _CUT if hit.snippet.cut_after or hit.chunk < hit.chunks else ""
    return f"{before}{one_line(hit.snippet.text)}{after}"


def listed(names: list[str], *, most: int = 50) -> str:
    """Return names in quotes, separated by commas, and how many more there are."""
    shown = ", ".join(quoted(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def explain_nothing(results: SearchResults, where: str, *, elsewhere: str = "") -> str:
    """Say that nothing was found, what was tried and what comes near: words, or what is given."""
    tried = f" ({'; '.join(results.relaxed)})" if results.relaxed else ""
    near = elsewhere or "No other spelling comes near; fewer or other words may find more."
    if results.suggestions:
        near = f"Words that come near: {listed(list(results.suggestions))}."
    return f"Nothing was found for {quoted(results.query)} in {where}{tried}. {near}"


def is_quoted(query: str) -> bool:
    """Tell whether a query asks for words just as they stand."""
    return query.translate(_QUOTES) != query


def loosen(request: SearchRequest) -> SearchRequest:
    """Return a request for a few documents that have the words, if not just as they stand."""
    return request._replace(text=request.text.translate(_QUOTES), limit=_NEAR)


def name_found(how: list[str], found: list[str]) -> str:
    """Say what a search that was done in other ways found, if anything."""
    return f"{', '.join(how).capitalize()}: {', '.join(found)}." if found else ""
