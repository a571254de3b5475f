"""Known-item quality: how often a page comes back for its own title, slips in it, its words."""

from __future__ import annotations

from bench import known_items
from bench.corpus import Corpus
from bench.figures import Figure, at_least, at_most
from bench.known_items import Page, Score, eligible, queries
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest

_PAGES = 500
TARGETS = (
    ("exact title", "hit1", 0.95),
    ("exact title", "hit10", 0.99),
    ("one swapped letter", "hit1", 0.90),
    ("rare word, one edit", "hit10", 0.93),
    ("six body words", "hit10", 0.88),
)


def measure(corpus: Corpus) -> list[Figure]:
    """Ask every kind of query and look where its page stands."""
    scores = ask(corpus, corpus.library, SearchMode.LEXICAL)
    figures = [
        at_least(
            f"{kind}, {'hit@1' if which == 'hit1' else 'hit@10'}",
            *(getattr(scores[kind], which), target),
            shown=f"{getattr(scores[kind], which):.3f}",
            target=f">= {target:.2f}",
            how=f"{scores[kind].queries} pages, mean reciprocal rank {scores[kind].mrr:.3f}",
        )
        for kind, which, target in TARGETS
    ]
    empty = sum(score.empty for score in scores.values())
    asked = sum(score.queries for score in scores.values())
    return [
        *figures,
        at_most(
            "empty answers",
            *(empty, 0),
            shown=str(empty),
            target="0",
            how=f"of {asked:,} queries of all kinds",
        ),
    ]


def ask(corpus: Corpus, library: Library, mode: SearchMode) -> dict[str, Score]:
    """Return the score of each kind of query."""

    def search(query: str) -> list[str]:
        hits = library.search(SearchRequest(query, mode=mode)).hits
        return [f"{hit.collection}/{hit.document}" for hit in hits]

    return {
        kind: known_items.measure(search, asked)
        for kind, asked in queries(pages_of(corpus), _PAGES).items()
    }


def pages_of(corpus: Corpus) -> list[Page]:
    """Return the pages that count, with their text."""
    named = {f"{d.collection}/{d.path}": d for d in corpus.documents}
    counted = eligible(Page(name, document.title, "") for name, document in named.items())
    engine = corpus.library._store
    return [
        Page(page.document, page.title, engine.text(named[page.document].key).decode())
        for page in counted
    ]
