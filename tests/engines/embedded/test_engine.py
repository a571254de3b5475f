"""The embedded engine: two stores kept in step through crashes and damage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from threading import Event

import apsw
import pytest

from bookwheel.engines.base import Match
from bookwheel.engines.embedded.database import IndexFiles, connect_writer
from bookwheel.engines.embedded.derived import DerivedWords
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import Conflict, IndexDamaged, IndexUnusable
from bookwheel.query import Filters
from bookwheel.safety.stopping import Stopped, stopping_when
from tests.engines.drafts import body, draft, fill, found, problems, refusal
from tests.engines.embedded.scenes import engine_in, play


def _answers(folder: Path) -> tuple[list[str], list[str]]:
    engine = engine_in(folder)
    try:
        return found(engine, "walrus"), list(problems(engine))
    finally:
        engine.close()


def test_terms_of_a_long_page_count_alike_in_one_piece_and_in_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n\n".join(f"walrus number{n} " + "filler " * 150 for n in range(12))
    scores = []
    for together in (500, 2):
        monkeypatch.setattr("bookwheel.engines.embedded.word_entries._TOGETHER", together)
        engine = engine_in(tmp_path / str(together))
        fill(engine, draft("long.md", text), draft("short.md", "walrus number3"))
        matches = [Match(body(word)) for word in ("walrus", "number0", "number3", "number11")]
        scores.append([engine.match_pages(match, 9) for match in matches])
        assert len(engine.match_passages(Match(body("walrus")), 99).entries) > 5
        engine.close()
    assert scores[0] == scores[1]


# Crashes


@pytest.mark.parametrize("scene", ["die_after_catalogue", "die_between_commits"])
def test_what_the_catalogue_has_is_replayed_after_a_crash(index: Path, scene: str) -> None:
    play(scene, index)
    engine = engine_in(index)
    assert (found(engine, "walrus"), found(engine, "penguin")) == (["c.md", "new.md"], ["a.md"])
    assert engine.match_pages(Match(()), 99, count=True).total == 3
    assert problems(engine) == []
    engine.close()


def test_a_half_done_transaction_is_as_if_it_had_never_begun(index: Path) -> None:
    play("die_in_transaction", index)
    engine = engine_in(index)
    assert [d.title for d in engine.list_documents("notes", limit=9, offset=0)[0]] != [
        "half done"
    ] * 3
    assert (found(engine, "walrus"), problems(engine)) == (["a.md", "b.md", "c.md"], [])
    engine.close()


def test_files_of_a_killed_writer_are_swept_and_not_stumbled_over(
    index: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A writer killed after its files and before its table leaves what the next would write."""
    copy = tmp_path_factory.mktemp("copy") / "index"
    shutil.copytree(index, copy)
    for folder in (copy, index):
        if folder == index:
            _leave_behind(copy / "catalog.db.words", index / "catalog.db.words")
        engine = engine_in(folder)
        engine.begin_writing()
        engine.write([draft("a.md", "penguin")])
        engine.commit()
        assert (found(engine, "penguin"), problems(engine)) == (["a.md"], [])
        engine.close()
    assert [file.name for file in index.rglob(".tmp*")] == []


def _leave_behind(done: Path, words: Path) -> None:
    for kind in ("pages", "passages"):
        (words / kind / ".tmpAbC123").write_bytes(b"half a table")
        for file in (done / kind).iterdir():
            target = words / kind / file.name
            if not target.exists():
                shutil.copy(file, target)
        assert list((words / kind).glob("*.del"))


def test_a_word_index_half_made_anew_is_completed(index: Path) -> None:
    play("die_while_making", index, status=-9)
    assert _answers(index) == (["a.md", "b.md", "c.md"], [])


def test_a_replay_that_is_broken_off_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.embedded.derived._REPLAY_STEP", 1)
    monkeypatch.setattr("bookwheel.engines.embedded.derived._REPLAY_COMMIT", 1)
    engine = engine_in(tmp_path)
    for name in ("a.md", "b.md", "c.md"):
        fill(engine, draft(name, "walrus"))
    engine.close()
    words = tmp_path / "catalog.db.words"
    shutil.rmtree(words)

    def committed() -> set[Path]:
        return set(words.glob("*/*.term"))

    with pytest.raises(Stopped), stopping_when(lambda: bool(committed())):
        found(engine, "walrus")
    engine.close()
    first = committed()

    assert found(engine, "walrus") == ["a.md", "b.md", "c.md"]
    assert first < committed()
    assert problems(engine) == []
    engine.close()


def test_a_rebuilt_word_index_answers_as_the_written_one_did(tmp_path: Path) -> None:
    text = "---\ntags: [Sea]\n---\n# Ice and `tabs.get()`\n\nC++ walrus.\n\n## Über\n\n海象 swims\n"
    engine = engine_in(tmp_path)
    fill(engine, draft("d/a.md", text, date="2020-02-02"), draft("b.md", "walrus"), refusal("c.md"))
    matches = [Match(body(word)) for word in ("walrus", "swim", "ice", "dodo")]
    before = [
        (engine.match_pages(each, 9, count=True), engine.match_passages(each, 9))
        for each in matches
    ]
    vocabulary = engine.vocabulary()
    engine.close()
    shutil.rmtree(tmp_path / "catalog.db.words")
    after = [
        (engine.match_pages(each, 9, count=True), engine.match_passages(each, 9))
        for each in matches
    ]
    assert (after, engine.vocabulary()) == (before, vocabulary)
    engine.close()


# The word index is disposable


def _stamp(change: Callable[[list[object]], list[object]]) -> Callable[[Path], object]:
    def apply(words: Path) -> None:
        stamp = words / "made-from.json"
        stamp.write_text(json.dumps(change(json.loads(stamp.read_text()))), encoding="utf-8")

    return apply


def _cut(pattern: str, length: int) -> Callable[[Path], object]:
    def apply(words: Path) -> None:
        for file in words.glob(pattern):
            file.write_bytes(file.read_bytes()[:length])

    return apply


def _edit(name: str, old: str, new: str) -> Callable[[Path], object]:
    def apply(words: Path) -> None:
        file = words / name
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    return apply


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": shutil.rmtree,
    "half missing": lambda words: shutil.rmtree(words / "passages"),
    "without a stamp": lambda words: (words / "made-from.json").unlink(),
    "with a broken stamp": lambda words: (words / "made-from.json").write_bytes(b"\xff{"),
    "of another layout": _stamp(lambda made: [made[0], 0, *made[2:]]),
    "of another analysis": _stamp(lambda made: [*made[:2], 0, *made[3:]]),
    "of another catalogue": _stamp(lambda made: ["somebody else", *made[1:]]),
    "with a changed schema": _edit("pages/meta.json", "terms", "termz"),
    "with an empty table": _cut("*/meta.json", 0),
    "with a cut table": _cut("pages/meta.json", 300),
    "with cut terms": _cut("pages/*.term", 50),
    "with cut entries": _cut("passages/*.idx", 7),
    "with cut positions": _cut("pages/*.pos", 0),
    "with lost numbers": lambda words: list(map(Path.unlink, words.glob("*/*.fast"))),
    "with a broken list of files": _cut("*/.managed.json", 5),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_word_index_that_cannot_be_used_is_made_anew_for_readers_and_writers(
    index: Path, damage: str
) -> None:
    DAMAGES[damage](index / "catalog.db.words")
    assert _answers(index) == (["a.md", "b.md", "c.md"], [])
    DAMAGES[damage](index / "catalog.db.words")
    engine = engine_in(index)
    fill(engine, draft("d.md", "walrus"))
    assert found(engine, "walrus") == ["a.md", "b.md", "c.md", "d.md"]
    assert problems(engine) == []
    engine.close()


def test_a_word_index_ahead_of_its_catalogue_is_made_anew(index: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    backup.write_bytes((index / "catalog.db").read_bytes())
    engine = engine_in(index)
    fill(engine, draft("d.md", "walrus"), draft("a.md", "penguin"))
    engine.close()
    for suffix in ("-wal", "-shm"):
        (index / f"catalog.db{suffix}").unlink(missing_ok=True)
    (index / "catalog.db").write_bytes(backup.read_bytes())
    assert _answers(index) == (["a.md", "b.md", "c.md"], [])


def test_a_word_index_that_breaks_in_use_is_made_anew_when_asked(index: Path) -> None:
    for file in (index / "catalog.db.words").glob("pages/*.term"):
        data = bytearray(file.read_bytes())
        data[: len(data) // 2] = b"\xff" * (len(data) // 2)
        file.write_bytes(data)
    engine = engine_in(index)
    assert found(engine, "walrus") == ["a.md", "b.md", "c.md"]
    engine.close()


# Damage that only a check can see


def _change_rows(index: Path, statement: str) -> None:
    connection = apsw.Connection(str(index / "catalog.db"))
    connection.execute(statement)
    connection.close()


def _damage_rows(index: Path, statement: str) -> list[str]:
    _change_rows(index, statement)
    engine = engine_in(index)
    try:
        return list(engine.check())
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "UPDATE texts SET text = replace(text, 'walrus', 'wolrus') WHERE document = 1",
            ["1 documents are not as they were written"],
        ),
        (
            "UPDATE chunks SET end = end - 1 WHERE document = 2",
            ["1 documents are not as they were written"],
        ),
        ("DELETE FROM texts", ["3 documents are not as they were written"]),
        ("UPDATE documents SET title = 'x'", ["3 documents are not as they were written"]),
        ("UPDATE documents SET title = 1", ["3 documents are not as they were written"]),
        (
            "INSERT INTO sections VALUES(1, 9, 1, 'h', 0, 1, 1, 1)",
            ["1 documents are not as they were written"],
        ),
        (
            "INSERT INTO links VALUES(77, 1, 'k', 't', '', '', 1, 5, NULL)",
            ["1 rows of links belong to no document"],
        ),
        ("UPDATE tallies SET documents = 0", None),
        (
            "DELETE FROM chunks WHERE document = 3",
            ["1 documents are not as they were written"],
        ),
        (
            "UPDATE collections SET name = 'nodes' WHERE name = 'notes'",
            ["the word index holds 0 pages of nodes, not 3"],
        ),
    ],
)
def test_the_check_is_able_to_fail(index: Path, statement: str, expected: list[str] | None) -> None:
    said = _damage_rows(index, statement)
    assert said == (
        expected
        or [
            "the counts of documents are wrong",
            "the word index holds 3 pages of notes, not 0",
        ]
    )


def test_the_check_finds_entries_that_are_lost_or_too_many(index: Path) -> None:
    engine = engine_in(index)
    engine.begin_writing()
    words = engine._derived.start()
    words.delete([2])
    words.commit(engine.generation)
    engine.end_writing()
    engine.close()
    assert problems(engine) == [
        "the word index holds 2 pages, the catalogue 3",
        "the word index holds 2 passages, the catalogue 3",
        "the word index holds 2 pages of notes, not 3",
    ]
    engine.close()


def test_a_check_beside_a_writer_finds_nothing_wrong(index: Path) -> None:
    engine = engine_in(index)
    engine.begin_writing()
    engine.write([draft("d.md", "walrus")])
    reader = engine_in(index)
    assert (problems(reader), problems(engine)) == ([], [])
    reader.close()
    engine.close()


# Setting aside


def test_a_broken_database_is_set_aside_under_a_free_name(index: Path) -> None:
    engine = engine_in(index)
    names = set()
    for content in (b"first", b"second", b"third", b"fourth"):
        (index / "catalog.db").write_bytes(content)
        aside = engine.set_aside() or ""
        assert Path(aside).read_bytes() == content
        names.add(aside)
    assert len(names) == 4
    kept = sorted(index.glob("catalog.db.damaged-*"))
    assert [file.read_bytes() for file in kept] == [b"second", b"third", b"fourth"]
    assert not (index / "catalog.db.words").exists()
    fill(engine, draft("a.md", "walrus"))
    assert _answers(index) == (["a.md"], [])
    engine.close()


def test_no_more_are_kept_of_a_database_whose_name_could_be_a_pattern(tmp_path: Path) -> None:
    file = tmp_path / "[team].db"
    for _ in range(5):
        file.write_bytes(b"broken")
        EmbeddedEngine(file).set_aside()
    assert len([each for each in tmp_path.iterdir() if ".damaged-" in each.name]) == 3


def test_setting_aside_what_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="No such file"):
        engine_in(tmp_path).set_aside()


def test_damage_in_a_page_of_the_catalogue_is_told_in_words(index: Path) -> None:
    path = index / "catalog.db"
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    path.write_bytes(data)
    with pytest.raises(IndexDamaged, match="cannot be used: a page of it is not as"):
        engine_in(index).collections()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET tags = '{'",
        "UPDATE documents SET status = 'okay'",
        "UPDATE collections SET include = '['",
        "UPDATE texts SET text = 7",
        "UPDATE chunks SET trail = x'00'",
        "UPDATE documents SET title = cast(x'f4' AS TEXT)",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'x' WHERE key = 'generation'",
        "DROP TABLE documents",
    ],
)
def test_a_row_that_makes_no_sense_is_damage_and_no_crash(index: Path, statement: str) -> None:
    _change_rows(index, statement)
    engine = engine_in(index)
    with pytest.raises(IndexDamaged, match="cannot be used"):
        _read_everything(engine)
    engine.close()


def _read_everything(engine: EmbeddedEngine) -> None:
    assert engine.generation
    assert engine.collections()
    engine.list_documents("notes", limit=9, offset=0)
    engine.known("notes")
    engine.ledger()
    for key in (1, 2, 3):
        engine.text(key)
        engine.passages([(key, 1)])


@pytest.mark.parametrize("path", ["\udcff.md", "\x00", "x" * 100_000, "../a.md", ""])
def test_any_text_may_be_asked_for_as_a_path(index: Path, path: str) -> None:
    engine = engine_in(index)
    assert engine.document("notes", path) is None
    assert engine.document(path, "a.md") is None
    assert engine.list_documents("notes", folder=path or "x", limit=1, offset=0) == ([], 0)
    filters = Filters((path,), (path,), (path or "x",), (path,))
    assert engine.match_pages(Match((), filters=filters), 9).entries == ()
    assert engine.status_counts(filters) == {}
    engine.close()


def test_an_index_whose_making_ended_before_its_words_were_made_is_sound(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    connect_writer(IndexFiles(file)).close()
    with closing(EmbeddedEngine(file)) as engine:
        assert list(engine.check()) == []
        assert engine.page_count() == 0


def test_a_connection_to_a_damaged_catalogue_is_not_kept(index: Path) -> None:
    path = index / "catalog.db"
    sound = path.read_bytes()
    data = bytearray(sound)
    for page in range(1, len(data) // 4096):
        data[page * 4096 + 2000] ^= 1
    path.write_bytes(data)
    with closing(engine_in(index)) as engine:
        with pytest.raises(IndexDamaged):
            engine.collections()
        aside = path.with_name("aside")
        path.rename(aside)
        path.write_bytes(sound)
        assert [state.collection.name for state in engine.collections()]


def test_damaged_words_are_not_answered_from_at_the_second_question_either(index: Path) -> None:
    with closing(engine_in(index)) as reader, closing(engine_in(index)) as writer:
        reader.refresh()
        old = {*index.rglob("*.idx")}
        fill(writer, draft("new.md", "narwhal"))
        writer.begin_writing()
        for file in {*index.rglob("*.idx")} - old:
            data = bytearray(file.read_bytes())
            data[0] ^= 1
            file.write_bytes(data)
        for _ in range(2):
            with pytest.raises(Conflict):
                reader.refresh()
        writer.end_writing()
        reader.refresh()  # which makes them anew
        assert [*reader.check()] == []


def test_other_threads_wait_while_damaged_words_are_made_anew_once(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay, reset = DerivedWords._replay, DerivedWords.reset
    begun, may_go_on, resets = Event(), Event(), []

    def slow(derived: DerivedWords) -> None:
        begun.set()
        assert may_go_on.wait(20)
        replay(derived)

    def counted(derived: DerivedWords) -> None:
        resets.append(derived)
        reset(derived)

    monkeypatch.setattr(DerivedWords, "_replay", slow)
    monkeypatch.setattr(DerivedWords, "reset", counted)
    with closing(engine_in(index)) as engine, ThreadPoolExecutor(2) as threads:
        before = found(engine, "walrus")
        for file in index.rglob("*.idx"):
            data = bytearray(file.read_bytes())
            data[0] ^= 1
            file.write_bytes(data)
        first = threads.submit(engine.refresh)
        assert begun.wait(20)
        other = threads.submit(found, engine, "walrus")
        assert not wait([other], timeout=0.3).done
        may_go_on.set()
        first.result(20)
        assert other.result(20) == before
        assert problems(engine) == []
    assert len(resets) == 1
