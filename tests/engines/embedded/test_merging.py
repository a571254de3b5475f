"""Merging the files of the word index: what is begun is finished, and what is due is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.engines.embedded.derived import DerivedWords
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.embedded.files import is_crowded
from bookwheel.engines.embedded.lexical import KINDS
from bookwheel.model import Collection
from tests.engines.drafts import draft

_MOST_TRIES = 200


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "catalog.db")
    engine.begin_writing()
    engine.declare([Collection("notes", str(tmp_path))])
    engine.end_writing()
    yield engine
    engine.close()


def words_of(engine: EmbeddedEngine) -> Path:
    return engine._place.lexical


def write(engine: EmbeddedEngine, path: str, *, kill: bool = False) -> None:
    """Write a document as an update does, or as one that is killed while it merges."""
    engine.begin_writing()
    engine.write([draft(path, f"walrus {path}")])
    engine.commit()
    if kill:
        engine._derived.open()._is_open = True  # so that merges are thrown away
    engine.end_writing()


def crowd(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> str:
    """Leave more segments than should be, as killed processes do; return what is last in them."""
    with monkeypatch.context() as patch:
        patch.setattr(DerivedWords, "tidy", lambda self: None)
        for number in range(_MOST_TRIES):
            write(engine, f"{number}.md", kill=True)
            if is_crowded(words_of(engine)):
                return f"{number}.md"
    pytest.fail("every merge was quicker than we")


def test_merges_that_a_commit_begins_are_finished(engine: EmbeddedEngine) -> None:
    for number in range(30):
        write(engine, f"{number}.md")
        assert not is_crowded(words_of(engine))
    assert list(engine.check()) == []


def test_one_document_that_is_changed_again_and_again_keeps_nothing_from_being_merged(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = crowd(engine, monkeypatch)
    write(engine, path)
    assert not is_crowded(words_of(engine))
    assert list(engine.check()) == []


def test_what_looks_due_and_is_not_merged_is_tried_once(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.embedded.files.is_crowded", lambda folder: True)
    write(engine, "a.md")
    first = [_opstamp(engine, kind) for kind in KINDS]
    engine.begin_writing()
    engine.end_writing()
    assert [_opstamp(engine, kind) for kind in KINDS] == first


def _opstamp(engine: EmbeddedEngine, kind: str) -> Any:
    return json.loads((words_of(engine) / kind / "meta.json").read_bytes())["opstamp"]


@pytest.mark.parametrize(
    ("sizes", "crowded"),
    [
        ([], False),
        ([5] * 7, False),
        ([5] * 8, True),
        ([1, 20, 300, 4_000, 9_999, 10_000, 500, 60], True),
        ([100_000] * 4 + [10_000] * 4, False),
        ([100_000] * 4 + [60_000] * 4, True),
        ([100_000] * 4 + [59_000] * 4, False),
        ([10**6, *[50_000] * 7, *[20_000] * 7, *[1] * 7], False),
    ],
)
def test_eight_segments_of_about_a_size_are_a_crowd(
    tmp_path: Path, sizes: list[int], crowded: bool
) -> None:
    for kind, those in zip(KINDS, ([], sizes), strict=True):
        segments = [
            {"max_doc": size + 3, "deletes": {"num_deleted_docs": 3, "opstamp": 1}}
            for size in those
        ]
        (tmp_path / kind).mkdir()
        meta = json.dumps({"segments": segments})
        (tmp_path / kind / "meta.json").write_text(meta, encoding="utf-8")
    assert is_crowded(tmp_path) is crowded


def test_what_cannot_be_read_is_no_crowd(tmp_path: Path) -> None:
    assert not is_crowded(tmp_path)
