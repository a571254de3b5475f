"""Writers of a cluster: who may write what, what a killed one leaves, what is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bookwheel.engines.base import Field, Match
from bookwheel.engines.opensearch import entries, leases
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.errors import Conflict, IndexUnusable
from bookwheel.model import Priority, Status
from bookwheel.safety.redact import cover
from bookwheel.text.words import ANALYSIS_VERSION
from tests.engines.drafts import NOTES, PAPERS, body, draft, fill, found, key_of, problems

pytestmark = pytest.mark.cluster


def die(engine: OpenSearchEngine) -> None:
    """Let an engine end without a word, long ago."""
    lease = engine._lease
    lease._ending.set()
    assert lease._renewing is not None
    lease._renewing.join()
    lease._names = ()

    def outlive(counters: dict[str, Any]) -> None:
        for each in counters["leases"].values():
            each["until"] -= 2 * leases.SECONDS

    engine._tables.change("counters", outlive)


def _kill(items: Any) -> None:
    raise KeyboardInterrupt


def test_each_indexer_has_its_own_collections(make: Callable[[], OpenSearchEngine]) -> None:
    one, other = make(), make()
    one.begin_writing(["notes"])
    other.begin_writing(["papers"])
    one.declare([NOTES])
    other.declare([PAPERS])
    one.write([draft("a.md", "walrus")])
    other.write([draft("a.md", "walrus", collection="papers")])
    one.commit()
    other.commit()

    with pytest.raises(Conflict, match="is writing the collection notes"):
        make().begin_writing(["notes"])
    with pytest.raises(Conflict, match="is writing the collection"):
        make().begin_writing()
    assert other.is_written
    one.end_writing()
    other.end_writing()
    assert not other.is_written
    assert {state.collection.name: state.documents for state in one.collections()} == {
        "notes": 1,
        "papers": 1,
    }
    assert problems(one) == []


def test_jobs_are_run_by_whoever_has_their_collection(
    make: Callable[[], OpenSearchEngine],
) -> None:
    one, other = make(), make()
    one.begin_writing(["notes"])
    other.begin_writing(["papers"])
    job, _ = one.queue.add("papers", "", full=False, priority=Priority.NORMAL)

    assert one.queue.take() is None
    assert other.queue.take() == job


def test_a_dead_indexer_loses_its_lease_and_its_work_is_finished(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "walrus"), draft("b.md", "walrus"))
    killed = make()
    killed.begin_writing()
    # Between the row, by which the new text is read, and the page, by which it is found.
    monkeypatch.setattr(killed, "_follow", lambda items, generation: None)
    killed.write([draft("a.md", "penguin"), draft("c.md", "penguin")])
    die(killed)

    heir = make()
    heir.begin_writing()
    heir.end_writing()
    assert (found(heir, "walrus"), found(heir, "penguin")) == (["b.md"], ["a.md", "c.md"])
    assert heir.match_passages(Match(body("walrus")), 9).total == 1
    assert problems(heir) == []


def test_what_a_killed_indexer_wrote_beside_is_never_seen_and_swept_away(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "walrus"))
    killed = make()
    killed.begin_writing()
    monkeypatch.setattr(killed, "_switch", _kill)
    with pytest.raises(KeyboardInterrupt):
        killed.write([draft("a.md", "penguin"), draft("b.md", "penguin")])
    killed._publish()

    reader = make()
    assert reader.match_passages(Match(body("penguin")), 9).entries == ()
    assert reader.text(key_of(reader, "a.md")) == b"walrus"
    die(killed)
    heir = make()
    heir.begin_writing()
    heir.end_writing()
    assert (found(heir, "walrus"), found(heir, "penguin")) == (["a.md"], [])
    assert problems(heir) == []


def test_what_another_indexer_is_just_writing_outlives_the_recovery_of_a_dead_one(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "walrus"), draft("a.md", "walrus", collection="papers"))
    dead, living, heir = make(), make(), make()
    dead.begin_writing(["notes"])
    monkeypatch.setattr(dead, "_switch", _kill)
    with pytest.raises(KeyboardInterrupt):
        dead.write([draft("a.md", "seal"), draft("b.md", "seal")])
    die(dead)
    living.begin_writing(["papers"])
    switch = living._switch

    def switch_later(items: Any) -> None:
        heir.begin_writing(["notes"])
        heir.end_writing()
        switch(items)

    monkeypatch.setattr(living, "_switch", switch_later)
    living.write(
        [
            draft("a.md", "penguin", collection="papers"),
            draft("b.md", "penguin", collection="papers"),
        ]
    )
    living.commit()
    living.end_writing()
    assert [heir.text(key_of(heir, path, "papers")) for path in ("a.md", "b.md")] == [
        b"penguin",
        b"penguin",
    ]
    assert heir.match_passages(Match(body("seal")), 9).total == 0
    assert heir.match_passages(Match(body("penguin")), 9).total == 2
    assert problems(heir) == []


def test_all_collections_are_held_while_what_a_writer_of_all_left_is_finished(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "walrus"))
    dead, heir, other = make(), make(), make()
    dead.begin_writing()
    die(dead)
    finish = heir._recover

    def finish_beside(unfinished: Any) -> None:
        with pytest.raises(Conflict, match="is writing this index"):
            other.begin_writing(["papers"])
        finish(unfinished)

    monkeypatch.setattr(heir, "_recover", finish_beside)
    heir.begin_writing(["notes"])
    other.begin_writing(["papers"])
    with pytest.raises(Conflict, match="is writing the collection notes"):
        make().begin_writing(["notes"])


def test_many_parts_that_a_killed_indexer_wrote_are_all_swept_away(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.opensearch.rows.PIECE_BYTES", 10)
    fill(make(), draft("a.md", "walrus"))
    killed = make()
    killed.begin_writing(["notes"])
    monkeypatch.setattr(killed, "_switch", _kill)
    with pytest.raises(KeyboardInterrupt):
        killed.write([draft("b.md", "penguin " * 2000)])
    die(killed)
    heir = make()
    heir.begin_writing(["notes"])
    heir.end_writing()
    heir._refresh_indices("texts")
    assert (heir._count("texts", {"match_all": {}}), problems(heir)) == (2, [])


def test_a_document_that_lost_its_text_does_not_spoil_what_is_read_with_it(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make()
    fill(engine, draft("a.md", "# Walrus\n\nice"), draft("b.md", "# Walrus\n\nsnow"))
    lost, kept = key_of(engine, "a.md"), key_of(engine, "b.md")
    generation = engine.generation
    engine.begin_writing()
    kinds = (("texts", ""), ("texts", "-0"), ("passages", "-1"))
    for kind, part in kinds:
        engine._must(
            engine._cluster.bulk([engine._act(kind, "delete", f"{lost}-{generation}{part}")])
        )
    engine._publish()
    engine.end_writing()

    assert list(engine.passages([(lost, 1), (kept, 1)])) == [(kept, 1)]
    hidden = engine.redactions([lost, kept])
    assert hidden[kept].spans == ()
    assert cover(b"anything", hidden[lost].spans, start=7) == b"[redacted:lost]"
    assert (list(engine.outgoing([lost, kept], 9)), engine.sections(lost)) == ([lost, kept], [])
    with pytest.raises(IndexUnusable, match="has lost its text"):
        engine.text(lost)
    assert problems(engine) == ["the cluster holds 1 passages, the catalogue 2"]

    monkeypatch.setattr(
        "bookwheel.engines.opensearch.schema.ANALYSIS_VERSION", ANALYSIS_VERSION + 1
    )
    engine.begin_writing(["notes"])
    engine.end_writing()
    assert found(engine, "walrus") == ["b.md"]
    fill(engine, draft("a.md", "# Walrus\n\nice"))
    assert found(engine, "walrus") == ["a.md", "b.md"]
    assert (engine.text(lost), problems(engine)) == (b"# Walrus\n\nice", [])
    engine._cluster.ask("DELETE", f"/{engine._cluster.address.prefix}-*")  # others use this name


def test_one_who_lost_the_lease_writes_nothing_more(
    make: Callable[[], OpenSearchEngine],
) -> None:
    fill(make(), draft("a.md", "walrus"))
    slow, heir = make(), make()
    slow.begin_writing()
    names = slow._lease._names
    die(slow)
    heir.begin_writing()
    slow._lease._names = names

    with pytest.raises(Conflict, match="has taken over"):
        slow.write([draft("a.md", "penguin")])
    slow._lease._names = ()
    assert heir.text(key_of(heir, "a.md")) == b"walrus"


def test_a_reader_sees_a_document_whole_as_it_was_or_as_it_is(
    make: Callable[[], OpenSearchEngine],
) -> None:
    texts = ["# Old\n\n" + "walrus " * 300, "# New\n\n" + "penguin " * 300]
    fill(make(), draft("a.md", texts[0]))
    reader, writer = make(), make()
    key = key_of(reader, "a.md")
    done = threading.Event()

    def replace() -> None:
        writer.begin_writing()
        for number in range(1, 8):
            writer.write([draft("a.md", texts[number % 2])])
            writer.commit()
        writer.end_writing()
        done.set()

    thread = threading.Thread(target=replace)
    thread.start()
    looks = 0
    while not done.is_set() or not looks:
        looks += 1
        assert reader.text(key).decode() in texts
        passage = reader.passages([(key, 1)])[key, 1]
        assert ("walrus" in passage.text) != ("penguin" in passage.text)
        assert [each.heading for each in reader.sections(key)] in (["Old"], ["New"])
        for word in ("walrus", "penguin"):
            hits = reader.match_passages(Match(body(word)), 9).entries
            assert {document for document, _, _ in hits} <= {key}
    thread.join()
    assert problems(reader) == []


def test_of_a_batch_the_refused_document_is_in_the_ledger_and_the_others_are_found(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = entries.passage_entries

    def spoil(document: Any, *more: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, source in plain(document, *more):
            yield name, {**source, **({"surprise": 1} if document.path == "b.md" else {})}

    monkeypatch.setattr(entries, "passage_entries", spoil)
    engine = make()
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus"), draft("c.md", "walrus"))

    assert found(engine, "walrus") == ["a.md", "c.md"]
    (failed,) = engine.ledger()
    assert (failed.path, failed.status) == ("b.md", Status.FAILED)
    assert "the cluster refused it: strict_dynamic_mapping_exception" in failed.reason


def test_a_document_with_too_many_words_is_in_the_ledger(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "LARGEST_ENTRY", 1000)
    engine = make()
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus " * 1000))

    assert found(engine, "walrus") == ["a.md"]
    assert [(each.path, each.reason) for each in engine.ledger()] == [
        ("b.md", "it has more words than a cluster takes at once")
    ]
    assert problems(engine) == []


def test_a_text_longer_than_one_request_comes_back_whole(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.opensearch.rows.PIECE_BYTES", 10)
    engine = make()
    text = "Wörter über Wörter: 検索エンジン und noch mehr davon."
    fill(engine, draft("a.md", text))
    assert engine.text(key_of(engine, "a.md")).decode() == text
    fill(engine, draft("a.md", "kurz"))
    assert engine.text(key_of(engine, "a.md")) == b"kurz"
    assert problems(engine) == []


def test_long_listings_and_answers_are_read_in_steps(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("store", "catalog", "lexical"):
        monkeypatch.setattr(f"bookwheel.engines.opensearch.{module}.WINDOW", 3)
    engine = make()
    names = [f"{number:02}.md" for number in range(11)]
    fill(engine, *[draft(name, "walrus") for name in names])

    assert engine.paths("notes") == names
    page, total = engine.list_documents("notes", limit=3, offset=7)
    assert ([each.path for each in page], total) == (names[7:10], 11)
    hits = engine.match_pages(Match(body("walrus")), 100, count=True)
    assert (len({key for key, _, _ in hits.entries}), hits.total) == (11, 11)
    keys = [key for key, _, _ in hits.entries]
    assert keys == sorted(keys), "ties go by key"


def test_an_index_of_another_analysis_is_built_beside_and_switched(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(make(), draft("a.md", "# Walrus\n\nice"), draft("b.md", "penguin"))
    before = make()._indices.present()
    monkeypatch.setattr(
        "bookwheel.engines.opensearch.schema.ANALYSIS_VERSION", ANALYSIS_VERSION + 1
    )
    reader, writer = make(), make()
    assert any("another version" in problem for problem in problems(reader))

    writer.begin_writing(["notes"])
    writer.end_writing()
    now = reader._indices.present()
    assert {kind for kind in now if now[kind] != before[kind]} == {"pages", "passages", "words"}
    assert (found(reader, "walrus"), found(reader, "penguin")) == (["a.md"], ["b.md"])
    assert "penguin" in reader.vocabulary()[7]
    assert problems(reader) == []
    monkeypatch.undo()
    with pytest.raises(IndexUnusable, match="was made by a newer Bookwheel"):
        writer.begin_writing()
    assert reader._indices.present() == now
    assert found(reader, "walrus") == ["a.md"]
    reader._cluster.ask("DELETE", f"/{reader._cluster.address.prefix}-*")  # others use this name


def test_an_index_of_another_schema_is_copied_beside_and_switched(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = [draft(f"{number:02}.md", f"# Walrus\n\nice {number}") for number in range(30)]
    fill(make(), *drafts)
    before = make()._indices.present()
    monkeypatch.setattr("bookwheel.engines.opensearch.schema.SCHEMA_VERSION", 2)
    reader, writer = make(), make()

    writer.begin_writing(["notes"])
    writer.end_writing()

    now = reader._indices.present()
    renewed = {"documents", "texts", "pages", "passages", "words"}
    assert {kind for kind in now if now[kind] != before[kind]} == renewed
    assert now["documents"].endswith("-documents-v2")
    assert found(reader, "walrus") == [each.path for each in drafts]
    assert reader.text(key_of(reader, "07.md")) == b"# Walrus\n\nice 7"
    fill(writer, draft("07.md", "penguin"))
    assert (found(reader, "penguin"), problems(reader)) == (["07.md"], [])
    every = reader._cluster.ask("GET", f"/{reader._cluster.address.prefix}-*/_alias")
    assert not {before[kind] for kind in renewed} & set(every)
    reader._cluster.ask("DELETE", f"/{reader._cluster.address.prefix}-*")  # others use this name


def test_search_goes_on_while_word_indices_are_built_anew_and_switched(
    make: Callable[[], OpenSearchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [draft(f"{number:02}.md", f"walrus number{number}") for number in range(30)]
    fill(make(), *texts)
    reader, writer = make(), make()
    wanted = found(reader, "walrus")
    done = threading.Event()

    def renew() -> None:
        try:
            for version in range(ANALYSIS_VERSION + 1, ANALYSIS_VERSION + 4):
                monkeypatch.setattr("bookwheel.engines.opensearch.schema.ANALYSIS_VERSION", version)
                writer.begin_writing(["notes"])
                writer.end_writing()
        finally:
            done.set()

    thread = threading.Thread(target=renew)
    thread.start()
    looks = 0
    while not done.is_set():
        looks += 1
        assert found(reader, "walrus") == wanted
        assert len(reader.match_passages(Match(body("walrus")), 99).entries) == 30
        assert reader.frequency(Field.BODY, "walrus") == 30
    thread.join()
    assert looks > 5
    assert reader._indices.present()["pages"].endswith(f".{ANALYSIS_VERSION + 3}")
    assert problems(reader) == []
    reader._cluster.ask("DELETE", f"/{reader._cluster.address.prefix}-*")  # others use this name
