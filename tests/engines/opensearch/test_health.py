"""How a cluster is told to be: of one library only, and nothing wrong of what is being written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.engines.opensearch.address import read_address
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.errors import Conflict, Forbidden, IndexUnusable
from tests.cluster.library import address
from tests.engines.drafts import draft, fill, problems
from tests.engines.opensearch.test_writers import die
from tests.engines.test_every_vectors import X, give, rows

pytestmark = pytest.mark.cluster
Make = Callable[..., OpenSearchEngine]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Give what opens one engine after another, on libraries whose prefix goes on somehow."""
    made: list[OpenSearchEngine] = []
    stated = read_address(address(tmp_path))

    def open_one(more: str = "") -> OpenSearchEngine:
        place = stated._replace(prefix=stated.prefix + more, shards=1, replicas=0)
        engine = OpenSearchEngine(place, home=tmp_path / "catalog.db")
        made.append(engine)
        return engine

    yield open_one
    for engine in made:
        engine.close()


def test_a_library_whose_prefix_goes_on_is_another_one(make: Make) -> None:
    one, other = make(), make("-one")
    fill(one, draft("a.md", "walrus"))
    before = one.facts()
    fill(other, draft("a.md", "walrus"), draft("b.md", "otter"))
    give(other, {"a.md": rows(X)})
    try:
        now = one.facts()
        assert now == before
        assert "-one-" not in now["indices"]
        assert now["shards"] != other.facts()["shards"], "one has more indices"
        together = one._cluster.ask("GET", f"/{one._cluster.address.prefix}-*/_stats/store")
        size = together["_all"]["total"]["store"]["size_in_bytes"]
        assert 0 < one.disk_bytes() < size
        assert sorted(one._indices.present()) == sorted(
            ["state", "documents", "texts", "pages", "passages", "words"]
        )
        assert (problems(one), problems(other)) == ([], [])
    finally:
        other._cluster.ask("DELETE", f"/{other._cluster.address.prefix}-*")


def test_nothing_is_wrong_with_what_another_process_is_just_writing(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.opensearch.health.pause", lambda attempt: None)
    reader, writer = make(), make()
    fill(reader, draft("a.md", "walrus"))
    writer.begin_writing(["notes"])
    monkeypatch.setattr(writer, "_follow", lambda items, generation: None)
    writer.write([draft("b.md", "otter")])
    assert problems(reader) == []
    assert reader.facts()["written"].startswith("notes (pid ")
    assert "the cluster holds 1 pages, the catalogue 2" in problems(writer), "it is its own"
    die(writer)
    with pytest.raises(Conflict, match=r"ended before it was done \(notes\)") as raised:
        problems(reader)
    assert "`bookwheel index FOLDER`" in raised.value.advice
    assert reader.facts()["written"] == "nothing"
    reader.begin_writing(["notes"])
    reader.end_writing()
    assert problems(reader) == []


def test_what_keeps_the_cluster_from_changes_is_shown_with_what_helps(make: Make) -> None:
    engine = make()
    fill(engine, draft("a.md", "walrus"))
    assert engine.facts()["blocks"] == "none"
    path = f"/{engine._indices.name('pages')}/_settings"
    engine._cluster.ask("PUT", path, {"index.blocks.read_only_allow_delete": True})
    try:
        with pytest.raises(
            IndexUnusable, match=r"takes no changes: .*read-only-allow-delete"
        ) as it:
            problems(engine)
        assert '"index.blocks.read_only_allow_delete": null' in it.value.advice
    finally:
        engine._cluster.ask("PUT", path, {"index.blocks.read_only_allow_delete": None})
    assert problems(engine) == []


def test_what_keeps_another_library_from_changes_is_no_trouble_of_ours(make: Make) -> None:
    ours, other = make(), make("-one")
    for engine in (ours, other):
        fill(engine, draft("a.md", "walrus"))
    path = f"/{other._indices.name('pages')}/_settings"
    other._cluster.ask("PUT", path, {"index.blocks.read_only_allow_delete": True})
    try:
        assert other.facts()["blocks"] != "none"
        assert (ours.facts()["blocks"], problems(ours)) == ("none", [])
    finally:
        other._cluster.ask("PUT", path, {"index.blocks.read_only_allow_delete": None})
        other._cluster.ask("DELETE", f"/{other._cluster.address.prefix}-*")


def test_what_changed_between_two_counts_is_counted_again(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = make(), make()
    fill(reader, draft("a.md", "walrus"))
    plain = reader._read_totals
    looks: list[Any] = []

    def totals() -> tuple[int, int, int]:
        found = plain()
        if not looks:
            fill(writer, draft("b.md", "otter"))
        looks.append(found)
        return found

    monkeypatch.setattr(reader, "_read_totals", totals)
    assert (problems(reader), looks) == ([], [(1, 0, 1), (2, 0, 2)])


def test_documents_of_a_collection_that_nobody_knows_are_told(make: Make) -> None:
    engine = make()
    fill(engine, draft("a.md", "walrus"), draft("b.md", "otter", collection="papers"))
    engine._tables.change("collections", lambda data: data.pop("papers"))
    assert problems(engine) == ["1 documents belong to no collection"]


def test_an_index_in_a_cluster_is_not_set_aside_but_read_anew(make: Make) -> None:
    with pytest.raises(Forbidden) as refused:
        make().set_aside()
    assert "--full" in str(refused.value.hint)
