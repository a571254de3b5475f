"""Indexers that were stopped for a while, that failed or died, and those that came after them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from bookwheel.engines.opensearch import leases
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.errors import Conflict, IndexUnreachable
from tests.engines.drafts import draft, fill, found, key_of, problems
from tests.engines.opensearch.test_writers import die

pytestmark = pytest.mark.cluster


def _later() -> float:
    return time.time() + 2 * leases.SECONDS


def _succeed(slow: OpenSearchEngine, heir: OpenSearchEngine, *drafts: Any) -> None:
    """Let so much time pass that another takes the lease, writes and is done."""
    slow._lease._clock = heir._lease._clock = _later
    heir.begin_writing(["notes"])
    heir.write(drafts)
    heir.commit()
    heir.end_writing()


@pytest.mark.parametrize("step", ["_part_actions", "_leave_out", "_word_actions"])
def test_one_who_was_stopped_amid_writing_writes_nothing_over_its_successor(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    fill(make(), draft("a.md", "walrus"))
    slow, heir = make(), make()
    slow.begin_writing(["notes"])
    go_on = getattr(slow, step)
    stops = [True]

    def stop(*given: Any) -> Any:
        if stops:
            stops.clear()
            _succeed(slow, heir, draft("a.md", "seal"), draft("b.md", "seal"))
        return go_on(*given)

    monkeypatch.setattr(slow, step, stop)
    with pytest.raises(Conflict, match="has taken over"):
        slow.write([draft("a.md", "penguin"), draft("b.md", "penguin")])
    slow.end_writing()

    reader = make()
    assert (found(reader, "seal"), found(reader, "penguin")) == (["a.md", "b.md"], [])
    assert reader.text(key_of(reader, "b.md")) == b"seal"
    assert problems(reader) == []


def test_one_who_was_stopped_amid_removing_removes_nothing_of_its_successor(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "walrus"))
    slow, heir = make(), make()
    slow.begin_writing(["notes"])
    go_on = slow._next

    def stop(keys: int = 0) -> tuple[int, int]:
        given = go_on(keys)
        _succeed(slow, heir, draft("a.md", "seal"))
        return given

    monkeypatch.setattr(slow, "_next", stop)
    with pytest.raises(Conflict, match="has taken over"):
        slow.remove("notes", ["a.md"])
    slow.end_writing()
    assert (found(make(), "seal"), problems(make())) == (["a.md"], [])


def test_one_who_was_stopped_and_not_missed_goes_on(
    make: Callable[[], OpenSearchEngine],
) -> None:
    fill(make())
    slow = make()
    slow.begin_writing(["notes"])
    slow._lease._clock = _later
    slow.write([draft("a.md", "walrus")])
    slow.commit()
    slow.end_writing()
    assert (found(slow, "walrus"), problems(slow)) == (["a.md"], [])


@pytest.mark.parametrize("is_same", [True, False])
def test_what_was_not_finished_when_the_cluster_went_away_is_finished_next_time(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch, is_same: bool
) -> None:
    engine = make()
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus"))

    def fail(*given: Any) -> None:
        raise IndexUnreachable("It is away.")

    engine.begin_writing(["notes"])
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_follow", fail)
        with pytest.raises(IndexUnreachable):
            engine.write([draft("a.md", "penguin"), draft("c.md", "penguin")])
    engine.write([draft("d.md", "penguin")])
    engine.commit()
    engine.end_writing()
    assert not engine.is_written

    heir = engine if is_same else make()
    with monkeypatch.context() as patch:
        patch.setattr(heir, "_finish", fail)  # once more it goes away
        with pytest.raises(IndexUnreachable):
            heir.begin_writing(["notes"])
    heir.begin_writing(["notes"])
    heir.end_writing()
    assert found(heir, "penguin") == ["a.md", "c.md", "d.md"]
    assert (found(heir, "walrus"), problems(heir)) == (["b.md"], [])


def test_only_what_came_after_the_last_commit_of_a_killed_indexer_is_looked_at(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = make()
    fill(killed)
    killed.begin_writing(["notes"])
    killed.write([draft("a.md", "walrus"), draft("b.md", "walrus")])
    killed.commit()
    killed.write([draft("c.md", "walrus")])
    die(killed)

    heir = make()
    finished: list[int] = []
    finish = heir._finish

    def note(some: list[dict[str, Any]]) -> None:
        finished.extend(row["key"] for row in some)
        finish(some)

    monkeypatch.setattr(heir, "_finish", note)
    heir.begin_writing(["notes"])
    heir.end_writing()
    assert finished == [key_of(heir, "c.md")]
    assert (found(heir, "walrus"), problems(heir)) == (["a.md", "b.md", "c.md"], [])


def test_words_of_one_who_was_slower_than_another_are_learnt_too(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "walrus"))
    slow, quick, reader = make(), make(), make()
    slow.begin_writing(["notes"])
    quick.begin_writing(["papers"])
    go_on = slow._follow
    seen: list[list[str]] = []

    def follow(items: Any, generation: int) -> None:
        quick.write([draft("b.md", "penguin", collection="papers")])
        quick.commit()
        quick.end_writing()
        seen.append(_words(reader))
        go_on(items, generation)

    monkeypatch.setattr(slow, "_follow", follow)
    slow.write([draft("b.md", "albatross")])
    slow.commit()
    slow.end_writing()
    reader.refresh()
    seen.append(_words(reader))
    assert seen == [["penguin", "walrus"], ["albatross", "penguin", "walrus"]]
    fill(make(), draft("c.md", "seal"))
    reader.refresh()
    assert _words(reader) == ["albatross", "penguin", "seal", "walrus"]


def _words(engine: OpenSearchEngine) -> list[str]:
    """Return the words that are no names of files."""
    return sorted(word for some in engine.vocabulary().values() for word in some if len(word) > 1)
