"""indexFolder as an assistant calls it: counts, refusals, progress, and work that goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from bookwheel.contracts.dispatch import call
from bookwheel.contracts.files_indexing import find_folder
from bookwheel.contracts.work import Cancelled, Work
from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.indexing import jobs as indexing_jobs
from bookwheel.indexing.pipeline import Progress
from bookwheel.library import Library
from bookwheel.model import Collection, JobState, Priority
from bookwheel.query import Scope
from bookwheel.serve.changes import ChangeBell
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.run import indexing
from bookwheel.serve.toolsets import choose, load_contracts
from tests.clients.assistant import LEGACY, MODERN, Assistant, connected
from tests.conftest import LONG_AGO, Shelf, find
from tests.serve.conftest import PATIENCE

OFFERED = choose(load_contracts(), "files")


@contextmanager
def served(
    shelf: Shelf, era: str = MODERN, *, started: bool = True, **flags: Any
) -> Iterator[tuple[Assistant, Callable[[], None]]]:
    """Serve a shelf whose folders are followed; give a client, and what begins the indexing."""
    with (
        shelf.open(**flags) as library,
        indexing(library, [str(shelf.folder)], ChangeBell()) as (calls, thread),
        connected(DocumentServer(calls, OFFERED), era) as assistant,
    ):
        if started:
            thread.start()
            assert thread.ready.wait(PATIENCE)
        yield assistant, thread.start


def run(library: Library, **arguments: Any) -> Any:
    """Call the tool without a server; nobody does what it asks for."""
    return call(Work(library), OFFERED, "indexFolder", arguments).structured


def code(answer: Any) -> str:
    return str(answer["error"]["code"])


@pytest.mark.requirement("R-016")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_the_answer_counts_what_was_done(shelf: Shelf, era: str) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("b.md", "zebra")
    with served(shelf, era) as (assistant, _):
        shelf.put("c/d.md", "giraffe")
        answer = assistant.call("indexFolder", root=str(shelf.folder))

    assert not answer.is_error
    assert answer.json == answer.structured
    counted = answer.json
    assert counted.pop("duration_ms") >= 0
    # The server follows the folder too: whoever comes first has read the new file.
    assert counted.pop("indexed") + counted.pop("skipped") == 3
    assert counted == {"removed": 0, "mcp_version": "v1.0.0"}


@pytest.mark.requirement("R-024")
@pytest.mark.requirement("R-018")
def test_what_was_reported_as_done_is_found_in_every_process(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    with served(shelf, reconcile_seconds=3600) as (assistant, _), shelf.open() as elsewhere:
        assert find(elsewhere, "zebra") == ["a.md"]
        for number in range(5):
            words = f"giraffe{number}"
            shelf.put("a.md", words)  # of the same size and time from the second on
            answer = assistant.call("indexFolder", root=str(shelf.folder), full=True)
            assert (answer.json["indexed"], answer.json["skipped"]) == (1, 0)
            assert find(elsewhere, words) == ["a.md"]


@pytest.mark.requirement("R-014")
@pytest.mark.requirement("R-019")
def test_a_folder_in_a_root_is_taken_and_one_outside_refused(shelf: Shelf) -> None:
    shelf.put("a/b/x.md", "zebra")
    shelf.put("file.md", "zebra")
    outside = shelf.place / "outside"
    outside.mkdir()
    (shelf.folder / "inward").symlink_to(shelf.folder / "a")
    (shelf.folder / "outward").symlink_to(outside)
    (shelf.folder / "dangling").symlink_to(shelf.place / "nothing")
    (shelf.place / "alias").symlink_to(shelf.folder)
    with shelf.open() as library:
        (notes,) = library.collections

        for given, folder in {
            "notes": "",
            "notes/": "",
            "notes/a/../a/b": "a/b",
            "notes/inward/b": "a/b",
            "alias": "",
            "alias/a/": "a",
            "outside/../notes/a": "a",
        }.items():
            assert find_folder(library, f"{shelf.place}/{given}") == (notes, folder)
        refusals = set()
        for given in (
            "outside",
            "nothing",
            "notes/outward",
            "notes/outward/deeper",
            "notes/dangling",
            "notes/..",
            "notes/../nothing",
            "notes-and-more",
            "notes/a\0b",
            "notes/\udcff",
        ):
            with pytest.raises(Forbidden) as refused:
                find_folder(library, f"{shelf.place}/{given}")
            refusals.add(refused.value.advice)
        assert len(refusals) == 1
        for given in ("notes", "a", "", ".", "~"):
            with pytest.raises(BadRequest, match="not an absolute path"):
                find_folder(library, given)
        for given in ("notes/none", "notes/a/none/deeper", "notes/file.md", "notes/file.md/x"):
            with pytest.raises(NotFound, match="There is no folder"):
                find_folder(library, f"{shelf.place}/{given}")


_PARTS = st.sampled_from(["..", ".", "", "a", "notes", "outside", "link", "ring", "\0", "a" * 300])


@pytest.mark.requirement("R-019")
@limits(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(_PARTS, max_size=8))
def test_t01_no_path_leads_out(parts: list[str], shelf: Shelf) -> None:
    outside = shelf.place / "outside"
    if not outside.exists():
        (shelf.folder / "a").mkdir()
        outside.mkdir()
        (shelf.folder / "link").symlink_to(outside)
        (shelf.folder / "ring").symlink_to(shelf.folder / "ring")
    with shelf.open() as library:
        try:
            _, folder = find_folder(library, "/".join([str(shelf.folder), *parts]))
        except (Forbidden, NotFound):
            return
    assert folder in ("", "a")


def test_t31_a_caller_held_to_a_folder_is_told_nothing_of_the_others(shelf: Shelf) -> None:
    for folder in "ab":
        shelf.put(f"{folder}/x.md", "zebra")
    shelf.update()
    with shelf.open(index_answer_seconds=0) as library:
        view = library.view(Scope(within=(("notes", "a"),)))
        library.jobs.ask("notes", "b")
        answers = {
            each: call(
                Work(view), OFFERED, "indexFolder", {"root": f"{shelf.folder}/{each}"}
            ).structured
            for each in ("a", "b", "none", "")
        }

        assert answers["a"]
        assert answers["a"]["status"] == "waiting"
        assert answers["b"] == answers["none"] == answers[""]
        assert code(answers["b"]) == "FORBIDDEN"
        assert [job.folder for job in view.jobs.unfinished()] == ["a"]


def test_the_inner_of_two_roots_is_meant(shelf: Shelf) -> None:
    inner = shelf.folder / "inner"
    (inner / "deep").mkdir(parents=True)
    with shelf.open(shelf.folder, inner) as library:
        named = {each.path: each for each in library.collections}

        assert find_folder(library, f"{inner}/deep") == (named[str(inner)], "deep")
        assert find_folder(library, str(shelf.folder)) == (named[str(shelf.folder)], "")
    everything = Collection("all", "/")
    with Library(library.settings, [everything], library.database) as library:
        assert find_folder(library, str(inner)) == (everything, str(inner)[1:])


@pytest.mark.requirement("R-015")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "root"),
        ({"root": ""}, "root"),
        ({"root": 7}, "root"),
        ({"root": "/x", "full": "perhaps"}, "full"),
        ({"root": "/x", "priority": "urgent"}, "'low', 'normal' or 'high'"),
        ({"root": "/x", "priority": "hihg"}, "did you mean 'high'?"),
        ({"root": "/x", "priorty": "low"}, "did you mean 'priority'?"),
    ],
)
def test_wrong_arguments_are_named(shelf: Shelf, arguments: dict[str, Any], named: str) -> None:
    shelf.update()
    with shelf.open() as library:
        answer = run(library, **arguments)
    assert code(answer) == "BAD_REQUEST"
    assert named in answer["error"]["message"]


@pytest.mark.requirement("R-015")
def test_what_is_left_out_is_normal_and_not_full(shelf: Shelf) -> None:
    shelf.put("a/x.md", "zebra")
    shelf.put("b/x.md", "zebra")
    shelf.update()
    with shelf.open(index_answer_seconds=0) as library:
        run(library, root=f"{shelf.folder}/a")
        run(library, root=f"{shelf.folder}/b", full=True, priority="high")
        urgent, usual = library.jobs.unfinished()

    assert (usual.folder, usual.full, usual.priority) == ("a", False, Priority.NORMAL)
    assert (urgent.folder, urgent.full, urgent.priority) == ("b", True, Priority.HIGH)


@pytest.mark.requirement("R-022")
def test_past_its_time_the_answer_says_that_the_work_goes_on_and_how_to_ask(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    root = str(shelf.folder)
    with shelf.open(index_answer_seconds=0) as library:
        first = run(library, root=root)
        assert first["status"] == "waiting"
        assert first["progress"] == {"done": 0, "total": 0}
        assert "indexFolder" in first["hint"]
        assert (first["indexed"], first["skipped"], first["removed"]) == (0, 0, 0)
        second = run(library, root=root)
        assert code(second) == "CONFLICT"
        assert second["error"]["details"]["progress"]["status"] == "waiting"
        library.run_job()
        assert library.jobs.unfinished() == []


@pytest.mark.requirement("R-020")
def test_a_root_that_another_call_indexes_is_a_conflict_with_how_far_it_is(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing_jobs, "_NOTE_SECONDS", 0.0)
    for number in range(70):
        shelf.put(f"{number}.md", "zebra")
    shelf.put("a/x.md", "zebra")
    shelf.update()
    answers: list[Any] = []
    with shelf.open() as library, shelf.open() as other:
        library.jobs.ask("notes", full=True)

        def ask(_: Progress) -> None:
            answers.extend(run(other, root=f"{shelf.folder}{each}") for each in ("", "/a"))

        library.run_job(on_progress=ask)

    assert [code(each) for each in answers[:2]] == ["CONFLICT", "CONFLICT"]
    assert answers[0] == answers[1]
    error = answers[0]["error"]
    assert error["message"] == (
        "This folder, or a part of it, is being indexed for another call (64 of 71 files read)."
    )
    assert error["details"]["progress"] == {
        "status": "running",
        "indexed": 64,
        "skipped": 0,
        "removed": 0,
        "done": 64,
        "total": 71,
    }


@pytest.mark.requirement("R-021")
def test_the_first_call_during_the_scan_at_the_start_gets_its_counts(shelf: Shelf) -> None:
    for number in range(30):
        shelf.put(f"{number}.md", "zebra")
    shelf.put("gone.md", "zebra")
    shelf.update()
    (shelf.folder / "gone.md").unlink()
    for number in range(10):
        shelf.put(f"{number}.md", "giraffe", at=LONG_AGO + 1)
    with served(shelf, started=False) as (assistant, start):

        async def ask() -> Any:
            return await assistant.client.call_tool("indexFolder", {"root": str(shelf.folder)})

        answer = assistant.begin(ask)
        with shelf.open() as library:
            while not library.jobs.unfinished():
                threading.Event().wait(0.01)
        start()
        counted = answer.result(PATIENCE).structured_content

    assert (counted["indexed"], counted["skipped"], counted["removed"]) == (10, 20, 1)


@pytest.mark.requirement("R-021")
def test_a_call_during_the_very_first_scan_gets_its_counts_too(shelf: Shelf) -> None:
    for number in range(300):
        shelf.put(f"{number}.md", "zebra " * 200)
    with served(shelf, started=False) as (assistant, start):
        start()
        counted = assistant.call("indexFolder", root=str(shelf.folder)).json

    assert (counted["indexed"], counted["skipped"], counted["removed"]) == (300, 0, 0)


@pytest.mark.requirement("R-022")
def test_who_asked_for_progress_hears_of_it(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing_jobs, "_NOTE_SECONDS", 0.0)
    for number in range(400):
        shelf.put(f"{number}.md", f"# {number}\n\n" + "zebra giraffe okapi " * 200)
    told: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, _: str | None) -> None:
        told.append((done, total))

    with served(shelf) as (assistant, _):
        answer = assistant.ask(
            "call_tool",
            "indexFolder",
            {"root": str(shelf.folder), "full": True},
            progress_callback=hear,
        )

    assert answer.structured_content["indexed"] == 400
    assert told
    assert all(total == 400 for _, total in told)
    assert [done for done, _ in told] == sorted({done for done, _ in told})


@pytest.mark.requirement("R-022")
def test_a_caller_who_leaves_does_not_end_the_work(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    with shelf.open() as library:
        work = Work(library)
        threading.Timer(0.05, work.cancel).start()
        with pytest.raises(Cancelled):
            call(work, OFFERED, "indexFolder", {"root": str(shelf.folder)})

        (job,) = library.jobs.unfinished()
        library.run_job()
        ended = library.jobs.find(job.number)
    assert ended
    assert ended.state is JobState.DONE


def test_when_many_wait_callers_are_answered_at_once(shelf: Shelf) -> None:
    for name in "abcdef":
        shelf.put(f"{name}/x.md", "zebra")
    shelf.update()
    with shelf.open(index_answer_seconds=3600) as library:
        for name in "abcd":
            library.jobs.ask("notes", name)

        assert run(library, root=f"{shelf.folder}/e")["status"] == "waiting"


def test_a_folder_that_cannot_be_looked_through_is_an_error(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    with served(shelf, reconcile_seconds=3600) as (assistant, _):
        (shelf.folder / "a.md").rename(shelf.place / "a.md")
        emptied = assistant.call("indexFolder", root=str(shelf.folder))
        shelf.folder.rename(shelf.place / "away")
        gone = assistant.call("indexFolder", root=str(shelf.folder))
        inner = assistant.call("indexFolder", root=f"{shelf.folder}/a")

    assert emptied.is_error
    assert "looks unmounted" in emptied.json["error"]["message"]
    assert [code(each.json) for each in (emptied, gone, inner)] == ["NOT_FOUND"] * 3


@pytest.mark.on_disk
def test_an_index_that_is_made_anew_meanwhile_is_said(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()

    class Forgetful(Work):
        def wait(self, seconds: float) -> None:
            for path in (shelf.place / "index").glob("catalog.db*"):
                path.unlink() if path.is_file() else None

    with shelf.open() as library:
        answer = call(
            Forgetful(library), OFFERED, "indexFolder", {"root": str(shelf.folder)}
        ).structured
    assert answer
    assert code(answer) == "CONFLICT"
    assert "made anew" in answer["error"]["message"]


@pytest.mark.requirement("R-025")
def test_a_server_that_only_reads_does_not_have_it() -> None:
    only_reading, all_of_it = (load_contracts(read_only=each)["files"] for each in (True, False))

    assert "indexFolder" not in [tool.name for tool in only_reading.tools]
    assert "indexFolder" in [tool.name for tool in all_of_it.tools]
