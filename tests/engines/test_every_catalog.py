"""What every engine must tell of its documents, whatever it is made of."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.engines.base import CollectionState, Match
from bookwheel.engines.base import WritableEngine as Engine
from bookwheel.model import Draft, FileState, Known, Link, Section, Status
from bookwheel.query import Filters
from tests.engines.conftest import ENGINES
from tests.engines.drafts import (
    NOTES,
    PAPERS,
    draft,
    fill,
    found,
    key_of,
    problems,
    refusal,
)


def test_a_document_is_told_as_it_was_written(engine: Engine) -> None:
    text = "---\ntitle: On Ice\ndescription: Cold\ntags: [sea, Kälte]\n---\n# Head\n\nIce.\n"
    fill(engine, draft("a/b.md", text, language="de", date="2020-02-03"))
    document = engine.document("notes", "a/b.md")
    assert document is not None
    assert document == engine.documents_by_key([document.key, 999])[document.key]
    assert (document.title, document.description, document.tags) == (
        "On Ice",
        "Cold",
        ("sea", "Kälte"),
    )
    assert (document.collection, document.path, document.extension, document.mime) == (
        "notes",
        "a/b.md",
        ".md",
        "text/markdown",
    )
    assert (document.size, document.modified_ns, document.date, document.source) == (
        len(text.encode()),
        1_700_000_000_000_000_000,
        "2020-02-03",
        "the shelf",
    )
    assert (document.language, document.words, document.characters, document.chunks) == (
        "de",
        len(text.split()),
        len(text),
        1,
    )
    assert (document.status, document.reason, document.generation) == (Status.OK, "", 1)


@pytest.mark.requirement("P-059")
def test_path_title_text_times_sizes_words_and_each_section_are_known(engine: Engine) -> None:
    text = (
        "# Über Eis\n\nKalt.\n\n## Walrus\n\nIt swims.\n\n### Deeper\n\ndown\n\n## Bear\n\nWalks."
    )
    fill(engine, draft("a/b.md", text, modified_ns=1_234_567_890_123_456_789))
    document = engine.document("notes", "a/b.md")
    assert document is not None
    assert (
        document.path,
        document.title,
        document.modified_ns,
        document.size,
        document.words,
    ) == ("a/b.md", "Über Eis", 1_234_567_890_123_456_789, len(text.encode()), len(text.split()))
    data = engine.text(document.key)
    assert data.decode() == text
    lines = text.splitlines(keepends=True)
    sections = engine.sections(document.key)
    assert [(s.heading, s.level, s.start_line, s.end_line) for s in sections] == [
        ("Über Eis", 1, 1, 15),
        ("Walrus", 2, 5, 12),
        ("Deeper", 3, 9, 12),
        ("Bear", 2, 13, 15),
    ]
    assert [data[s.start : s.end].decode() for s in sections] == [
        "".join(lines[s.start_line - 1 : s.end_line]) for s in sections
    ]


def test_sections_links_and_passages_come_back_whole_and_in_order(engine: Engine) -> None:
    long = " ".join(f"word{number}" for number in range(140))
    text = (
        f"# Ä\n\nSee [the](x.md 'y') sea.\n\n## B\n\n{long}\n\n## C\n\n{long} http://a.example/\n"
    )
    written = draft("a.md", text)
    assert written.parsed is not None
    assert len(written.chunks) > 1
    fill(engine, written)
    key = key_of(engine, "a.md")
    sections: list[Section] = engine.sections(key)
    links: list[Link] = engine.links(key)
    assert (sections, links) == (list(written.parsed.sections), list(written.parsed.links))
    wanted = [(key, chunk.ordinal) for chunk in written.chunks]
    passages = engine.passages([*wanted, (key, 99), (999, 1)])
    assert [passages[each].chunk for each in wanted] == list(written.chunks)
    assert list(passages) == wanted
    data = written.parsed.text.encode()
    assert [passages[each].text for each in wanted] == [
        data[chunk.start : chunk.end].decode() for chunk in written.chunks
    ]


def test_a_listing_is_in_order_pages_and_knows_its_folder(engine: Engine) -> None:
    names = ["a/1.md", "a/b/2.md", "a-c/3.md", "ab/4.md", "a0.md", "a.md", "ä/5.md", "%/6.md"]
    fill(engine, *[draft(name, "x") for name in names], refusal("a/0.md"))
    listed, total = engine.list_documents("notes", limit=100, offset=0)
    assert ([d.path for d in listed], total) == (sorted(names), 8)
    for folder, expected in (("a", ["a/1.md", "a/b/2.md"]), ("/a/b/", ["a/b/2.md"]), ("%", None)):
        listed, total = engine.list_documents("notes", folder=folder, limit=100, offset=0)
        assert [d.path for d in listed] == (expected or ["%/6.md"])
        assert total == len(listed)
    page, total = engine.list_documents("notes", limit=3, offset=6)
    assert ([d.path for d in page], total) == (sorted(names)[6:], 8)
    assert engine.list_documents("papers", limit=9, offset=0) == ([], 0)
    assert engine.list_documents("nowhere", limit=9, offset=0) == ([], 0)
    assert engine.paths("notes") == sorted(names)


def test_the_ledger_names_every_file_that_is_no_document(engine: Engine) -> None:
    fill(
        engine,
        draft("ok.md", "x"),
        refusal("z.md", Status.FAILED, reason="crashed"),
        refusal("a.txt", Status.TOO_LARGE, reason="60 MB"),
        refusal("p.md", Status.BINARY, collection="papers"),
    )
    assert [(d.collection, d.path, d.status, d.reason) for d in engine.ledger()] == [
        ("notes", "a.txt", Status.TOO_LARGE, "60 MB"),
        ("notes", "z.md", Status.FAILED, "crashed"),
        ("papers", "p.md", Status.BINARY, "no text"),
    ]
    assert [d.path for d in engine.ledger("papers")] == ["p.md"]
    assert engine.ledger("nowhere") == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"ok": 1, "binary": 2, "failed": 1}),
        (Filters(collections=("papers",)), {"binary": 1}),
        (Filters(extensions=(".txt",)), {"failed": 1}),
        (Filters(folders=("a",)), {"ok": 1, "binary": 1}),
        (Filters(folders=("a", "b"), extensions=(".txt",)), {"failed": 1}),
        (Filters(collections=("papers",), folders=("a",)), {}),
    ],
)
def test_statuses_are_counted_in_the_scope_of_the_filters(
    engine: Engine, filters: Filters, expected: dict[str, int]
) -> None:
    fill(
        engine,
        draft("a/ok.md", "x"),
        refusal("a/1.md"),
        refusal("b/2.txt", Status.FAILED),
        refusal("b/3.md", collection="papers"),
    )
    assert engine.status_counts(filters) == expected


def test_collections_are_told_as_declared_last_with_their_counts(engine: Engine) -> None:
    fill(engine, draft("a.md", "x"), draft("b.md", "x", collection="papers"), refusal("c.md"))
    engine.begin_writing()
    moved = NOTES._replace(path="/mnt/notes", description="Moved", include=("*.txt",))
    engine.declare([moved])
    engine.mark_scanned("papers", device=7, skipped={("hidden", ".md"): 3}, at=12.5)
    engine.end_writing()
    assert [state._replace(host="") for state in engine.collections()] == [
        CollectionState(moved, documents=1, scanned_at=None, device=None),
        CollectionState(PAPERS, documents=1, scanned_at=12.5, device=7),
    ]
    assert (engine.skipped("papers"), engine.skipped("notes")) == ({("hidden", ".md"): 3}, {})


def test_what_was_skipped_is_that_of_the_last_scan_only(engine: Engine) -> None:
    engine.begin_writing()
    engine.declare([NOTES])
    engine.mark_scanned("notes", device=1, skipped={("hidden", ""): 3, ("ignored", ""): 1}, at=1.0)
    engine.mark_scanned("notes", device=1, skipped={("ignored", ".md"): 2}, at=2.0)
    engine.end_writing()
    assert engine.skipped("notes") == {("ignored", ".md"): 2}


def test_a_forgotten_collection_leaves_nothing_behind_at_once(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus", collection="papers"))
    engine.begin_writing()
    engine.mark_scanned("notes", device=1, skipped={("hidden", ""): 1}, at=1.0)
    engine.forget("notes")
    engine.forget("nowhere")
    engine.end_writing()
    assert [state.collection.name for state in engine.collections()] == ["papers"]
    assert found(engine, "walrus") == ["b.md"]
    assert engine.match_pages(Match(()), 9, count=True).total == 1
    assert (engine.paths("notes"), engine.skipped("notes")) == ([], {})
    assert problems(engine) == []


def test_known_tells_what_is_remembered_of_every_file(engine: Engine) -> None:
    good = draft("a.md", "walrus")
    racy = draft("r.md", "x")._replace(state=FileState(1, 2, b"d", racy=True))
    fill(engine, good, racy, refusal("b.md"))
    known = engine.known("notes")
    assert known == {
        "a.md": Known(
            known["a.md"].key,
            6,
            1_700_000_000_000_000_000,
            False,
            good.state.digest,
            Status.OK,
        ),
        "r.md": Known(known["r.md"].key, 1, 2, True, b"d", Status.OK),
        "b.md": Known(known["b.md"].key, 9, 8, False, b"digest", Status.BINARY),
    }
    assert engine.known("nowhere") == {}


def test_touch_notes_how_a_file_looks_and_nothing_else(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus")._replace(state=FileState(6, 1, b"d", racy=True)))
    before = engine.generation
    engine.begin_writing()
    engine.touch("notes", {"a.md": FileState(7, 99, b"other"), "gone.md": FileState(1, 1, b"")})
    engine.end_writing()
    known = engine.known("notes")
    assert known == {"a.md": Known(known["a.md"].key, 7, 99, False, b"d", Status.OK)}
    assert (engine.generation, found(engine, "walrus")) == (before, ["a.md"])
    assert problems(engine) == []


def test_notes_are_kept_over_a_restart(engine: Engine) -> None:
    engine.begin_writing()
    engine.set_note("readers", "1")
    engine.set_note("readers", "2")
    engine.end_writing()
    engine.close()
    assert (engine.note("readers"), engine.note("other")) == ("2", None)


def test_languages_are_counted_over_readable_documents(engine: Engine) -> None:
    fill(
        engine,
        draft("a.md", "x"),
        draft("b.md", "x", language="de"),
        draft("c.md", "x", language="de", collection="papers"),
        refusal("d.md"),
    )
    assert {name: n for name, n in engine.languages().items() if n} == {"en": 1, "de": 2}


_FILES = st.builds(
    lambda collection, name, kind: (collection, f"{name}{kind}"),
    st.sampled_from(("notes", "papers")),
    st.sampled_from("abc"),
    st.sampled_from((".md", ".txt")),
)
_STATUSES = st.sampled_from((Status.OK, Status.OK, Status.BINARY, Status.FAILED))
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _FILES, _STATUSES, st.sampled_from(("en", "de"))),
        st.tuples(st.just("remove"), _FILES),
        st.tuples(st.just("commit")),
        st.tuples(st.just("restart")),
    ),
    max_size=15,
)


def _made(file: tuple[str, str], status: Status, language: str) -> Draft:
    collection, path = file
    if status is Status.OK:
        return draft(path, f"word {language}", collection=collection, language=language)
    return refusal(path, status, collection=collection)


@pytest.mark.parametrize("make", ENGINES)
@settings(max_examples=12, deadline=None)
@given(steps=_STEPS)
def test_counts_stay_right_through_any_sequence_of_changes(
    make: Callable[[Path], Engine], steps: list[tuple[object, ...]]
) -> None:
    there: dict[tuple[str, str], tuple[Status, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        engine = make(Path(folder))
        engine.begin_writing()
        engine.declare([NOTES, PAPERS])
        for step in steps:
            match step:
                case ("write", tuple(file), Status() as status, str(language)):
                    engine.write([_made(file, status, language)])
                    there[file] = (status, language if status is Status.OK else "")
                case ("remove", (str(collection), str(path))):
                    gone = there.pop((collection, path), None)
                    assert engine.remove(collection, [path]) == (gone is not None)
                case ("commit",):
                    engine.commit()
                case _:
                    engine.close()
                    engine.begin_writing()
        engine.commit()
        engine.end_writing()
        _compare(engine, there)
        engine.close()


def _compare(engine: Engine, there: dict[tuple[str, str], tuple[Status, str]]) -> None:
    good = [file for file, (status, _) in there.items() if status is Status.OK]
    assert {s.collection.name: s.documents for s in engine.collections()} == {
        name: sum(collection == name for collection, _ in good) for name in ("notes", "papers")
    }
    assert {name: n for name, n in engine.languages().items() if n} == Counter(
        language for status, language in there.values() if status is Status.OK
    )
    for name in ("notes", "papers"):
        counts = Counter(str(status) for (c, _), (status, _) in there.items() if c == name)
        assert engine.status_counts(Filters((name,))) == counts
        assert sorted(engine.known(name)) == sorted(path for c, path in there if c == name)
    assert engine.page_count() == len(good)
    every = engine.match_pages(Match(()), 100).entries
    documents = engine.documents_by_key([key for key, _, _ in every]).values()
    assert sorted((d.collection, d.path) for d in documents) == sorted(good)
    assert problems(engine) == []
