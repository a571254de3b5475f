"""Indices under our names that others have made or deleted: each is named, and none is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from bookwheel.engines.opensearch import schema
from bookwheel.engines.opensearch.address import read_address
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.engines.opensearch.refusals import Missing
from bookwheel.errors import BookwheelError, Conflict, IndexUnusable
from tests.cluster.library import address
from tests.engines.drafts import NOTES, draft, fill, found, problems

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("foreign")]
Do = Callable[..., Any]
_TEXT = {"type": "text"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[OpenSearchEngine]:
    """Give an engine on a library of its own, while the cluster makes what is missing."""
    stated = read_address(address(tmp_path))
    place = stated._replace(prefix=f"other-{uuid4().hex[:12]}", shards=1, replicas=0)
    made = OpenSearchEngine(place, home=tmp_path / "catalog.db")
    setting = "action.auto_create_index"
    made._cluster.ask(
        "PUT", "/_cluster/settings", {"transient": {setting: f"+{place.prefix}-*,-*"}}
    )
    yield made
    made._cluster.ask("PUT", "/_cluster/settings", {"transient": {setting: None}})
    made._cluster.ask("DELETE", f"/{place.prefix}-*")
    made.close()


def names(engine: OpenSearchEngine) -> set[str]:
    return set(engine._indices._listed())


def remove(engine: OpenSearchEngine, kind: str) -> None:
    engine._cluster.ask("DELETE", f"/{engine._indices.name(kind)}")


@pytest.mark.parametrize("kind", schema.KINDS)
def test_an_index_deleted_while_it_is_written_is_not_made_as_another_kind(
    engine: OpenSearchEngine, kind: str
) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    engine.declare([NOTES])
    remove(engine, kind)
    with pytest.raises((Missing, Conflict)):
        engine.write([draft("b.md", "otter")])
    engine.end_writing()
    assert engine._indices.alias(kind) not in names(engine)
    fill(engine, draft("b.md", "otter"), draft("a.md", "walrus"))
    assert found(engine, "otter") == ["b.md"]


def test_a_plain_index_in_the_place_of_an_alias_is_named(engine: OpenSearchEngine) -> None:
    alias = engine._indices.alias(schema.STATE)
    engine._cluster.ask("PUT", f"/{alias}")
    for ask in (engine.begin_writing, lambda: problems(engine)):
        with pytest.raises(IndexUnusable, match=f"There is an index {alias} ") as raised:
            ask()
        assert f"DELETE /{alias}" in raised.value.advice
    assert names(engine) == {alias}


@pytest.mark.parametrize("has_alias", [True, False])
def test_an_index_of_ours_by_name_with_other_fields_is_named_and_not_used(
    engine: OpenSearchEngine, has_alias: bool
) -> None:
    name, alias = engine._indices.name(schema.DOCUMENTS), engine._indices.alias(schema.DOCUMENTS)
    body = {
        "mappings": {"properties": {"key": _TEXT, "path": _TEXT}},
        "aliases": {alias: {}} if has_alias else {},
    }
    engine._cluster.ask("PUT", f"/{name}", body)
    with pytest.raises(IndexUnusable, match=f"The index {name} is not one of .* field key is text"):
        engine.begin_writing()
    if has_alias:
        with pytest.raises(IndexUnusable, match=f"The index {name} is not one of"):
            problems(engine)


def test_what_the_fields_cannot_answer_is_no_missing_part(engine: OpenSearchEngine) -> None:
    fill(engine, draft("a.md", "walrus"))
    body = {"query": {"match_all": {}}, "sort": ["kept.title"]}
    with pytest.raises(BookwheelError, match="No mapping found for"):
        engine._search(schema.DOCUMENTS, body)


def test_an_index_that_has_lost_its_alias_is_used_again(engine: OpenSearchEngine) -> None:
    fill(engine, draft("a.md", "walrus"))
    name, alias = engine._indices.name(schema.PAGES), engine._indices.alias(schema.PAGES)
    engine._cluster.ask("DELETE", f"/{name}/_alias/{alias}")
    assert problems(engine) == [f"the index {alias} is missing"]
    fill(engine, draft("b.md", "otter"))
    assert (found(engine, "walrus"), found(engine, "otter")) == (["a.md"], ["b.md"])
    assert problems(engine) == []


def test_of_nothing_nothing_is_wrong(engine: OpenSearchEngine) -> None:
    assert (problems(engine), names(engine)) == ([], set())
