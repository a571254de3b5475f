"""How often a search asks the cluster: each time is a way over the network and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import Transport

from bookwheel.engines.opensearch import recent, store
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.library import Library
from bookwheel.model import Redact
from bookwheel.query import Scope, SearchMode, SearchRequest
from bookwheel.settings import load
from tests.cluster.library import address

pytestmark = [pytest.mark.cluster, pytest.mark.every_case]
_ANIMALS = ("walrus", "penguin", "albatross", "sealion", "narwhal", "puffin")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder: Path = tmp_path_factory.mktemp("requests") / "notes"
    folder.mkdir()
    for number in range(60):
        animal, other = _ANIMALS[number % 6], _ANIMALS[number // 10]
        text = f"# The {animal}, {number}\n\nmail ada@example.org\n\n## Food\n\n{other} eats fish."
        (folder / f"{number:02}.md").write_text(text, encoding="utf-8")
    flags = {"engine": address(folder), "index": str(folder.parent / "index"), "workers": 1}
    settings = load(flags, use_start_folder=False, environment={})
    with Library.open(settings, [str(folder)]) as opened:
        opened.update()
        opened.embed()
        yield opened


@pytest.fixture
def asked(library: Library, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the list that every request is added to; no moment passes meanwhile."""
    engine = library._store
    assert isinstance(engine, OpenSearchEngine)
    engine._forget_known()
    for module in (recent, store):
        monkeypatch.setattr(module, "FRESH_SECONDS", 60.0)
    seen: list[str] = []
    perform = Transport.perform_request

    def noted(self: Transport, method: str, url: str, *args: Any, **options: Any) -> Any:
        seen.append(f"{method} {url}")
        return perform(self, method, url, *args, **options)

    monkeypatch.setattr(Transport, "perform_request", noted)
    return seen


@pytest.mark.parametrize(
    ("question", "mode", "scope", "most"),
    [
        pytest.param("penguin fish", SearchMode.LEXICAL, Scope(), 8, id="words"),
        pytest.param("penguin food for walrus", SearchMode.HYBRID, Scope(), 11, id="both"),
        pytest.param("bird diet", SearchMode.SEMANTIC, Scope(), 11, id="meaning"),
        pytest.param("pengiun fsih", SearchMode.LEXICAL, Scope(), 12, id="misspelt"),
        pytest.param(
            "narwhal fish", SearchMode.LEXICAL, Scope(redact=Redact.ALL), 9, id="redacted"
        ),
        pytest.param(
            "puffin fish", SearchMode.LEXICAL, Scope(within=(("notes", ""),)), 14, id="scoped"
        ),
    ],
)
def test_a_search_asks_the_cluster_only_so_often(
    library: Library, asked: list[str], question: str, mode: SearchMode, scope: Scope, most: int
) -> None:
    view = library.view(scope)
    view.search(SearchRequest("albatross", mode=mode))  # counts that every search needs
    asked.clear()
    results = view.search(SearchRequest(question, mode=mode))
    assert results.hits
    assert len(asked) <= most, asked


def test_a_search_that_was_just_asked_needs_no_count_again(
    library: Library, asked: list[str]
) -> None:
    request = SearchRequest("sealion", mode=SearchMode.LEXICAL)
    first = library.search(request)
    asked.clear()
    assert library.search(request) == first
    assert len(asked) <= 5, asked
