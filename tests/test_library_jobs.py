"""Indexing a part of a library, and as a job that others can follow."""

from __future__ import annotations

from typing import Any

import pytest

from bookwheel.errors import Busy, Conflict, NotFound
from bookwheel.indexing import jobs as indexing_jobs
from bookwheel.indexing.pipeline import Progress
from bookwheel.library import Library
from bookwheel.model import Job, JobState, Priority
from tests.conftest import LONG_AGO, Shelf, find, timeless


@pytest.fixture(autouse=True)
def _noting_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing_jobs, "_NOTE_SECONDS", 0.0)


def counts(job: Job | None) -> tuple[int, int, int]:
    assert job is not None
    return job.counts[:3]


def run(library: Library, collection: str = "notes", folder: str = "", **more: Any) -> Job:
    """Ask for a folder, have it done, and return the job as it ended."""
    asked = library.jobs.ask(collection, folder, **more)
    library.run_job()
    ended = library.jobs.find(asked.number)
    assert ended is not None
    return ended


@pytest.mark.requirement("R-017")
def test_unchanged_files_are_skipped_changed_ones_read_and_lost_ones_removed(shelf: Shelf) -> None:
    for name in ("a.md", "b.md", "c.md"):
        shelf.put(name, "zebra")
    with shelf.open() as library:
        library.update()
        shelf.put("b.md", "giraffe", at=LONG_AGO + 1)
        shelf.put("d.md", "giraffe")
        (shelf.folder / "c.md").unlink()

        assert counts(run(library)) == (2, 1, 1)
        assert counts(run(library)) == (0, 3, 0)
        assert find(library, "giraffe") == ["b.md", "d.md"]


@pytest.mark.requirement("R-017")
def test_a_file_that_only_looks_the_same_is_not_read(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    with shelf.open() as library:
        library.update()
        shelf.put("a.md", "okapi")

        assert counts(run(library)) == (0, 1, 0)
        assert find(library, "zebra") == ["a.md"]
        assert counts(run(library, full=True)) == (1, 0, 0)
        assert find(library, "zebra") == []
        assert find(library, "okapi") == ["a.md"]


def test_files_that_give_no_text_are_skipped_and_others_are_not_counted(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("broken.pdf", b"%PDF-1.7 nothing more")
    shelf.put("movie.mkv", b"\x1a\x45")
    with shelf.open() as library:
        library.update()
        assert counts(run(library, full=True)) == (1, 1, 0)
        assert counts(run(library)) == (0, 2, 0)


@pytest.mark.requirement("R-014")
@pytest.mark.parametrize("full", [False, True])
def test_a_folder_is_indexed_and_its_neighbours_left_alone(shelf: Shelf, full: bool) -> None:
    for name in ("a/x.md", "a/deep/y.md", "ab/z.md", "top.md"):
        shelf.put(name, "zebra")
    with shelf.open() as library:
        library.update()
        before = library.states()
        for name in ("a/deep/y.md", "ab/z.md", "top.md", "a/new.md"):
            shelf.put(name, "giraffe", at=LONG_AGO + 1)
        (shelf.folder / "a/x.md").unlink()

        assert counts(run(library, folder="a", full=full)) == (2, 0, 1)
        assert find(library, "giraffe") == ["a/deep/y.md", "a/new.md"]
        assert find(library, "zebra") == ["ab/z.md", "top.md"]
        assert library.states()[0].scanned_at == before[0].scanned_at
        assert counts(run(library)) == (2, 2, 0)


def test_a_folder_goes_by_the_rules_above_it(shelf: Shelf) -> None:
    shelf.put(".gitignore", "secret*\nclosed/\n")
    for name in ("a/b/secret.md", "a/b/open.md", "closed/c.md"):
        shelf.put(name, "zebra")
    with shelf.open() as library:
        library.update()

        assert counts(run(library, folder="a/b")) == (0, 1, 0)
        assert counts(run(library, folder="closed")) == (0, 0, 0)
        shelf.put(".gitignore", "secret*\nclosed/\na/\n")
        assert counts(run(library, folder="a/b")) == (0, 0, 1)


def test_a_folder_that_lost_all_its_files_is_emptied_but_a_root_is_not(shelf: Shelf) -> None:
    shelf.put("a/x.md", "zebra")
    shelf.put("b/x.md", "zebra")
    with shelf.open() as library:
        library.update()
        (shelf.folder / "a/x.md").unlink()
        assert counts(run(library, folder="a")) == (0, 0, 1)
        (shelf.folder / "a").rmdir()
        (shelf.folder / "b/x.md").unlink()
        (shelf.folder / "b").rmdir()

        for full in (False, True):
            failed = run(library, full=full)
            assert failed.state is JobState.FAILED
            assert "looks unmounted" in failed.error
        assert find(library, "zebra") == ["b/x.md"]


def test_a_folder_that_goes_while_its_job_waits_keeps_its_documents(shelf: Shelf) -> None:
    shelf.put("a/x.md", "zebra")
    with shelf.open() as library:
        library.update()
        asked = library.jobs.ask("notes", "a")
        (shelf.folder / "a").rename(shelf.folder / "away")
        library.run_job()

        assert counts(library.jobs.find(asked.number)) == (0, 0, 0)
        assert find(library, "zebra") == ["a/x.md"]


@pytest.mark.requirement("R-018")
def test_while_all_is_made_again_every_search_finds_something(shelf: Shelf) -> None:
    names = sorted(f"{number:03}.md" for number in range(150))
    for name in names:
        shelf.put(name, "zebra")
    with shelf.open() as library, shelf.open() as reader:
        library.update()
        keys = {each.path: each.generation for each in reader.list_documents("notes").documents}
        library.jobs.ask("notes", full=True)
        found = []

        def search(_: Progress) -> None:
            found.append(len(reader.list_documents("notes", limit=200).documents))
            found.append(len(find(reader, "zebra")))

        job = library.run_job(on_progress=search)
        assert job
        assert counts(library.jobs.find(job.number)) == (150, 0, 0)
        after = {each.path: each.generation for each in reader.list_documents("notes").documents}

    assert len(found) >= 4
    assert set(found) == {150, 10}
    assert all(after[path] > keys[path] for path in keys)


@pytest.mark.requirement("R-021")
def test_who_asks_while_an_update_runs_gets_its_counts(shelf: Shelf) -> None:
    for number in range(70):
        shelf.put(f"{number}.md", "zebra")
    joined: list[Job] = []
    with shelf.open() as library, shelf.open() as other:

        def ask(_: Progress) -> None:
            if not joined:
                joined.append(other.jobs.ask("notes"))
                with pytest.raises(Busy) as busy:
                    other.jobs.ask("notes")
                assert busy.value.facts["progress"]["status"] == "running"
                assert busy.value.facts["progress"]["total"] == 70

        library.update(on_progress=ask)
        ended = other.jobs.find(joined[0].number)

    assert ended
    assert ended.state is JobState.DONE
    assert counts(ended) == (70, 0, 0)


@pytest.mark.requirement("R-020")
def test_the_second_who_asks_learns_how_far_the_first_is(shelf: Shelf) -> None:
    for number in range(70):
        shelf.put(f"a/{number}.md", "zebra")
    shelf.put("b/x.md", "zebra")
    seen: list[Any] = []
    with shelf.open() as library, shelf.open() as other:
        library.update("notes", "b")
        library.jobs.ask("notes", "a")
        with pytest.raises(Busy, match="waits to be indexed for another call"):
            other.jobs.ask("notes")

        def ask(_: Progress) -> None:
            with pytest.raises(Busy, match="is being indexed for another call") as busy:
                other.jobs.ask("notes", "a/deeper")
            seen.append(busy.value.facts["progress"])

        other.jobs.ask("notes", "b")
        library.run_job(on_progress=ask)

    assert seen[0] == {
        "status": "running",
        "indexed": 64,
        "skipped": 0,
        "removed": 0,
        "done": 64,
        "total": 70,
    }


@pytest.mark.requirement("R-023")
def test_what_is_interrupted_goes_on_where_it_was(shelf: Shelf) -> None:
    for number in range(200):
        shelf.put(f"{number}.md", "zebra")
    shelf.put("gone.md", "zebra")
    with shelf.open() as library:
        shelf.update()
        (shelf.folder / "gone.md").unlink()
        for number in range(200):
            shelf.put(f"{number}.md", "giraffe", at=LONG_AGO + 1)
        asked = library.jobs.ask("notes")
        told: list[Progress] = []
        library.run_job(on_progress=told.append, should_stop=lambda: bool(told))
        (waiting,) = library.jobs.unfinished()

        assert waiting.state is JobState.WAITING
        assert 0 < waiting.counts.indexed < 200
        library.run_job()
        assert counts(library.jobs.find(asked.number)) == (200, 0, 1)


def test_a_job_whose_process_died_is_shown_as_waiting(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    with shelf.open() as library, shelf.open() as other:
        library.update()
        asked = library.jobs.ask("notes")
        with library.writing() as engine:
            engine.queue.start(asked.number)
            assert other.jobs.unfinished()[0].state is JobState.RUNNING
        assert other.jobs.unfinished()[0].state is JobState.WAITING
        other.run_job()
        assert counts(other.jobs.find(asked.number)) == (0, 1, 0)


def test_a_job_waits_while_another_process_writes(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    with shelf.open() as library, shelf.open() as other:
        library.update()
        library.jobs.ask("notes")
        with other.writing(), pytest.raises(Conflict):
            library.run_job()
        assert library.run_job()
        assert library.run_job() is None


def test_jobs_of_a_folder_that_is_no_longer_allowed_fail(shelf: Shelf) -> None:
    papers = shelf.place / "papers"
    papers.mkdir()
    shelf.put("a.md", "zebra")
    with shelf.open(shelf.folder, papers) as library:
        library.update()
        asked = library.jobs.ask("papers", priority=Priority.HIGH)
    with shelf.open() as library:
        library.run_job()
        failed = library.jobs.find(asked.number)

    assert failed
    assert failed.error == "Its folder is no longer allowed."


def test_an_update_of_one_collection_leaves_the_other_alone(shelf: Shelf) -> None:
    papers = shelf.place / "papers"
    papers.mkdir()
    (papers / "p.md").write_text("zebra", encoding="utf-8")
    shelf.put("a.md", "zebra")
    with shelf.open(shelf.folder, papers) as library:
        (report,) = library.update("papers")
        assert timeless(report).collection == "papers"
        assert find(library, "zebra") == ["p.md"]
        assert not library.is_indexed
        with pytest.raises(NotFound):
            library.update("nothing")
        assert library.jobs.unfinished() == []
