"""Keeping an index up to date: what is read again, what is kept, what is said of the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from bookwheel.errors import Conflict
from bookwheel.indexing.outcomes import take_result
from bookwheel.indexing.pipeline import Progress, Report, is_changed
from bookwheel.indexing.prepare import refused
from bookwheel.indexing.scan import FoundFile
from bookwheel.indexing.wire import pack
from bookwheel.indexing.worker import Failure, Outcome, Task
from bookwheel.model import Draft, FileState, Known, Status
from tests.conftest import LONG_AGO, Shelf, find, timeless
from tests.formats.making_office import sheet, xlsx

BINARY = b"\x89PNG\r\n\x1a\n" + bytes(50)


def ledger(shelf: Shelf, **flags: object) -> dict[str, tuple[str, str]]:
    with shelf.open(**flags) as library:
        return {each.path: (str(each.status), each.reason) for each in library.ledger()}


# Drops for good the right of root to pass over permissions (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH).
WITHOUT_PRIVILEGE = """
import ctypes, os, sys
for capability in (1, 2):
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "bookwheel", *sys.argv[1:]])
"""


def update_without_privilege(shelf: Shelf) -> list[Report]:
    """Update as a user whom permissions bind, which they do not bind root."""
    command = [sys.executable, "-c", WITHOUT_PRIVILEGE, "index", str(shelf.folder)]
    command += ["--index", str(shelf.place / "index"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [timeless(Report(**row)) for row in json.loads(done.stdout)]


@pytest.mark.requirement("X-032")
def test_f15_a_root_that_is_gone_keeps_its_documents_and_says_so(shelf: Shelf) -> None:
    shelf.put("a.md", "# Kept\n\nzebra")
    shelf.update()
    shutil.rmtree(shelf.folder)

    with shelf.open() as library:
        (report,) = library.update()
        assert (report.failed, report.removed, len(report.problems)) == (True, 0, 1)
        assert "Its documents are kept as they were." in report.problems[0]
        assert find(library, "zebra") == ["a.md"]


def test_a_document_that_is_read_in_part_is_named(shelf: Shelf) -> None:
    shelf.put("half.xlsx", xlsx({"Good": sheet("1: A1=zebra"), "Bad": "", "Worse": ""}))
    assert shelf.update() == [Report("notes", indexed=1, problems=["half.xlsx: 2 sheets left out"])]
    assert shelf.update() == [Report("notes", unchanged=1)]
    assert ledger(shelf) == {}


@pytest.mark.requirement("X-032")
@pytest.mark.parametrize("debug", [False, True])
def test_f15_an_empty_folder_where_documents_were_looks_unmounted_and_loses_nothing(
    shelf: Shelf, debug: bool
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    shutil.rmtree(shelf.folder)
    shelf.folder.mkdir()

    (report,) = shelf.update(debug=debug)

    assert report == Report(
        "notes",
        problems=[
            f"{shelf.folder} has none of the 1 files it had: it looks unmounted. "
            "Its documents are kept; `bookwheel index --full` accepts that they are gone."
        ],
        failed=True,
    )
    assert shelf.find("zebra") == ["a.md"]


def test_a_full_update_accepts_that_an_empty_folder_is_meant(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra").unlink()
    shelf.put("b.md", "zebra")
    shelf.update()
    (shelf.folder / "b.md").unlink()

    assert shelf.update(full=True) == [Report("notes", removed=1)]
    assert shelf.find("zebra") == []


def test_one_root_gone_does_not_hold_up_another(shelf: Shelf) -> None:
    other = shelf.place / "papers"
    other.mkdir()
    shelf.put("a.md", "zebra")
    (other / "b.md").write_text("zebra", encoding="utf-8")
    shelf.update(shelf.folder, other)
    shutil.rmtree(other)
    shelf.put("c.md", "zebra")

    notes, papers = shelf.update(shelf.folder, other)

    assert (notes.indexed, notes.unchanged, papers.failed) == (1, 1, True)
    assert sorted(shelf.find("zebra", shelf.folder, other)) == ["a.md", "b.md", "c.md"]


def test_f13_a_subfolder_that_cannot_be_read_keeps_its_documents(shelf: Shelf) -> None:
    shelf.put("open/a.md", "zebra")
    shelf.put("shut/b.md", "zebra")
    shelf.update()
    (shelf.folder / "shut").chmod(0)
    try:
        reports = update_without_privilege(shelf)
    finally:
        (shelf.folder / "shut").chmod(0o755)

    assert reports == [
        Report("notes", unchanged=1, unreadable=1, problems=["shut: no permission to read it"]),
    ]
    assert sorted(shelf.find("zebra")) == ["open/a.md", "shut/b.md"]


def test_f13_a_subfolder_that_cannot_be_read_is_listed_until_it_can(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("deep/shut/b.md", "zebra")
    (shelf.folder / "deep/shut").chmod(0)
    said = ["deep/shut: no permission to read it"]
    try:
        first, second = update_without_privilege(shelf), update_without_privilege(shelf)
    finally:
        (shelf.folder / "deep/shut").chmod(0o755)

    assert first == [Report("notes", indexed=1, unreadable=1, problems=said)]
    assert second == [Report("notes", unchanged=1, problems=said)]
    assert ledger(shelf) == {"deep/shut": ("unreadable", "no permission to read it")}
    assert shelf.update() == [Report("notes", indexed=1, unchanged=1)]
    assert ledger(shelf) == {}


def test_a_folder_that_could_not_be_read_and_is_gone_is_no_share_to_wait_for(shelf: Shelf) -> None:
    shelf.put("shut/b.md", "zebra")
    (shelf.folder / "shut").chmod(0)
    try:
        update_without_privilege(shelf)
    finally:
        (shelf.folder / "shut").chmod(0o755)
    shutil.rmtree(shelf.folder / "shut")

    assert shelf.update() == [Report("notes")]
    assert ledger(shelf) == {}


def test_a_file_in_the_place_of_a_folder_that_could_not_be_read_is_indexed(shelf: Shelf) -> None:
    shelf.put("a.md/b.md", "zebra")
    (shelf.folder / "a.md").chmod(0)
    try:
        update_without_privilege(shelf)
    finally:
        (shelf.folder / "a.md").chmod(0o755)
    shutil.rmtree(shelf.folder / "a.md")
    shelf.put("a.md", "zebra")

    assert shelf.update() == [Report("notes", indexed=1)]
    assert (shelf.find("zebra"), ledger(shelf)) == (["a.md"], {})


@pytest.mark.requirement("P-054")
def test_only_files_that_came_went_or_differ_in_size_or_time_are_read_again(shelf: Shelf) -> None:
    for name in ("same", "touched", "edited", "gone", "moved", "secretly"):
        shelf.put(f"{name}.md", f"zebra {name} aaa")
    assert shelf.update() == [Report("notes", indexed=6)]
    shelf.put("secretly.md", "zebra secretly bbb")  # same size, same time: nobody can know
    shelf.put("touched.md", "zebra touched aaa", at=LONG_AGO + 1)
    shelf.put("edited.md", "zebra edited longer")
    shelf.put("new.md", "zebra new")
    (shelf.folder / "gone.md").unlink()
    (shelf.folder / "moved.md").rename(shelf.folder / "renamed.md")
    seen: list[Progress] = []

    with shelf.open() as library:
        (report,) = library.update(on_progress=seen.append)
        report.seconds = 0
        # Read: touched, edited, new, renamed.
        assert seen == [Progress("notes", 4, 4)]
        assert report == Report("notes", indexed=3, unchanged=3, removed=2)
        assert sorted(find(library, "zebra")) == sorted(
            ["same.md", "touched.md", "edited.md", "new.md", "renamed.md", "secretly.md"]
        )
        assert find(library, "aaa bbb moved") == find(library, "aaa moved")
        seen.clear()
        assert library.update(on_progress=seen.append)[0].unchanged == 6
        assert seen == []


def test_a_file_dated_beyond_what_a_store_can_count_is_indexed_as_any_other(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra", at=10_500_000_000 * 10**9)
    shelf.put("b.md", "zebra")

    assert shelf.update() == [Report("notes", indexed=2)]
    assert shelf.update() == [Report("notes", unchanged=2)]
    assert sorted(shelf.find("zebra")) == ["a.md", "b.md"]


def test_f10_a_file_rewritten_in_the_moment_it_was_read_is_noticed(shelf: Shelf) -> None:
    file = shelf.folder / "a.md"
    file.write_text("zebra", encoding="utf-8")
    before = file.stat()
    shelf.update()
    file.write_text("otter", encoding="utf-8")
    os.utime(file, ns=(before.st_mtime_ns, before.st_mtime_ns))

    assert shelf.update() == [Report("notes", indexed=1)]
    assert (shelf.find("zebra"), shelf.find("otter")) == ([], ["a.md"])


@pytest.mark.requirement("X-041")
def test_changed_ignore_rules_and_patterns_show_after_the_next_update(shelf: Shelf) -> None:
    for name in ("a.md", "b.md", "old/c.md", ".hidden.md", ".git/d.md", "id_rsa.txt", "x.pem.md"):
        shelf.put(name, "zebra")
    shelf.put("manifest.json", "{}")
    shelf.update()
    assert sorted(shelf.find("zebra")) == ["a.md", "b.md", "old/c.md"]

    shelf.put(".gitignore", "b.md\n")
    shelf.put("old/.bookwheelignore", "*\n")
    assert shelf.update()[0].removed == 2
    assert shelf.find("zebra") == ["a.md"]

    (shelf.folder / ".gitignore").unlink()
    shelf.put("manifest.json", '{"exclude": ["a.md"]}')
    assert (shelf.update()[0].indexed, shelf.find("zebra")) == (1, ["b.md"])


@pytest.mark.requirement("X-041")
def test_t06_our_own_index_and_configuration_are_never_indexed(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("bookwheel.toml", "description = 'zebra'")
    shelf.put("bookwheel.log.txt", "zebra")
    database = shelf.folder / "store.md"

    for _ in range(2):
        shelf.update(index=None, search_db_path=str(database))
    with shelf.open(index=None, search_db_path=str(database)) as library:
        assert find(library, "zebra") == ["a.md"]
        assert library.ledger() == []
        assert [row.documents for row in library.states()] == [1]


@pytest.mark.requirement("X-029")
def test_f13_a_file_that_cannot_be_read_is_listed_with_its_reason_and_holds_up_no_other(
    shelf: Shelf,
) -> None:
    shelf.put("image.md", BINARY)
    shelf.put("pointer.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n")
    shelf.put("large.txt", "zebra " * 200_000)
    shelf.put("good.md", "zebra")

    (report,) = shelf.update(max_file_mb=1)

    assert (report.indexed, report.unreadable) == (1, 3)
    assert shelf.find("zebra") == ["good.md"]
    assert ledger(shelf) == {
        "image.md": ("binary", "a PNG image named .md"),
        "large.txt": ("too_large", "it is larger than 1,000,000 bytes"),
        "pointer.txt": ("no_text", "a Git LFS pointer; run `git lfs pull` to get the file"),
    }


def test_what_could_not_be_read_is_left_alone_until_it_changes(shelf: Shelf) -> None:
    shelf.put("image.md", BINARY)
    shelf.put("large.txt", "zebra " * 200_000)
    shelf.update(max_file_mb=1)
    seen: list[Progress] = []

    with shelf.open(max_file_mb=1) as library:
        assert library.update(on_progress=seen.append)[0].unchanged == 2
    assert seen == []

    shelf.put("image.md", "zebra", at=LONG_AGO + 1)
    assert shelf.update(max_file_mb=1)[0].indexed == 1
    assert list(ledger(shelf)) == ["large.txt"]


def test_a_larger_limit_lets_large_files_in_and_a_smaller_one_puts_them_out(shelf: Shelf) -> None:
    shelf.put("large.txt", "zebra " * 200_000)
    shelf.update(max_file_mb=1)

    assert shelf.update(max_file_mb=2) == [Report("notes", indexed=1)]
    assert shelf.update(max_file_mb=1) == [Report("notes", unreadable=1)]


def test_f13_a_file_without_permission_is_tried_again_without_calling_that_a_change(
    shelf: Shelf,
) -> None:
    shelf.put("good.md", "zebra")
    shelf.update()
    shelf.put("shut.md", "zebra").chmod(0)
    try:
        first, second = update_without_privilege(shelf), update_without_privilege(shelf)
    finally:
        (shelf.folder / "shut.md").chmod(0o644)

    assert first == [Report("notes", unchanged=1, unreadable=1)]
    assert second == [Report("notes", unchanged=2)]
    assert ledger(shelf) == {"shut.md": ("unreadable", "no permission to read it")}
    assert shelf.update() == [Report("notes", indexed=1, unchanged=1)]


@pytest.mark.parametrize(
    "result",
    [
        None,
        (),
        ((1, 2, b"", False), "rubbish"),
        ((1, 2),) * 9,
        pack(refused("notes", "other.md", Status.BINARY, "")),
        pack(refused("other", "a.md", Status.BINARY, "")),
    ],
)
def test_a_worker_that_answers_nonsense_or_for_another_file_fails_that_file_only(
    result: object,
) -> None:
    file = FoundFile("a.md", 5, LONG_AGO)

    taken = take_result("notes", file, Outcome(Task(0, ()), result, None))

    assert isinstance(taken, Draft)
    assert taken.reason.startswith("its reader failed (no sensible result: ")
    assert taken._replace(reason="") == refused(
        "notes", "a.md", Status.FAILED, "", FileState(5, LONG_AGO, b"")
    )


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Failure("error", "KeyError: 'slide 7'"), "its reader failed (KeyError: 'slide 7')"),
        (Failure("error", ""), "its reader failed"),
        (
            Failure("error", "ValueError: odd cell 'ada@example.org\u202e'\n  and more"),
            "its reader failed (ValueError: odd cell '[redacted:email]' and more)",
        ),
        (
            Failure("error", "OSError: \udcff" + " x" * 200),
            f"its reader failed (OSError: ?{' x' * 54}…)",
        ),
        (
            Failure("crash", "the worker was killed by SIGSEGV"),
            "its reader crashed (the worker was killed by SIGSEGV)",
        ),
        (Failure("timeout", "no answer within the time allowed"), "its reader took too long"),
        (Failure("memory", "needs more than it may"), "its reader needed too much memory"),
    ],
)
def test_a_failure_says_what_kind_it_was_and_shows_nothing_that_is_redacted(
    failure: Failure, reason: str
) -> None:
    taken = take_result("notes", FILE, Outcome(Task(0, ()), None, failure))

    assert isinstance(taken, Draft)
    assert (taken.status, taken.reason) == (Status.FAILED, reason)


def test_much_text_is_written_before_more_of_it_is_taken_in(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.indexing.pipeline._WRITE_CHARACTERS", 10)
    for number in range(6):
        shelf.put(f"{number}.md", "zebra")
    seen: list[Progress] = []
    with shelf.open() as library:
        library.update(on_progress=seen.append)
    assert [each.done for each in seen] == [2, 4, 6, 6]


def test_f10_a_full_update_reads_everything_anew(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("b.md", "zebra")
    shelf.update()
    shelf.put("a.md", "otter")  # same size, same time

    assert shelf.update(full=True) == [Report("notes", indexed=2)]
    assert (shelf.find("zebra"), shelf.find("otter")) == (["b.md"], ["a.md"])


@pytest.mark.requirement("P-056")
def test_every_start_with_debug_on_rebuilds_the_index(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    shelf.put("a.md", "otter")  # same size, same time

    assert shelf.update(debug=True) == [Report("notes", indexed=1)]
    assert shelf.update(debug=True) == [Report("notes", indexed=1)]
    assert shelf.find("otter") == ["a.md"]


def test_an_update_that_was_stopped_keeps_what_it_had_and_goes_on_from_there(
    shelf: Shelf,
) -> None:
    for number in range(200):
        shelf.put(f"{number:03}.md", "zebra")
    calls = iter(range(10_000))

    with shelf.open() as library:
        library.update(should_stop=lambda: next(calls) > 120)
        assert not library.is_indexed
        had = library.states()[0].documents
        assert 0 < had < 200
        (report,) = library.update()
        assert (report.indexed, report.unchanged) == (200 - had, had)
        assert library.is_indexed
        assert library.check() == []


def test_a_remark_on_a_folder_is_not_made_of_another_with_the_same_beginning(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    older = shelf.place / "notes-old"
    older.mkdir()
    (older / "b.md").write_text("otter", encoding="utf-8")
    shelf.update(shelf.folder, older)
    shutil.rmtree(older)

    notes, gone = shelf.update(shelf.folder, older)

    assert notes.problems == []
    assert len(gone.problems) == 1


def test_a_look_that_was_stopped_takes_nothing_for_deleted(shelf: Shelf) -> None:
    gone = shelf.put("a.md", "zebra")
    shelf.update()
    gone.unlink()

    with shelf.open() as library:
        (report,) = library.update(should_stop=lambda: True)
        assert timeless(report) == Report("notes")
        assert find(library, "zebra") == ["a.md"]


def test_a_file_of_any_time_at_all_is_indexed_once(shelf: Shelf) -> None:
    shelf.put("early.md", "zebra", at=-(10**20))
    shelf.put("late.md", "zebra", at=10**20)

    assert shelf.update() == [Report("notes", indexed=2)]
    assert shelf.update() == [Report("notes", unchanged=2)]
    assert shelf.find("zebra") == ["early.md", "late.md"]


def test_while_another_process_writes_updating_is_refused_and_searching_works(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()

    with shelf.open() as writer, writer.writing(), shelf.open() as reader:
        with pytest.raises(Conflict, match=f"pid {os.getpid()}"):
            reader.update()
        assert find(reader, "zebra") == ["a.md"]


def test_an_index_used_for_other_folders_forgets_the_first_ones(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    elsewhere = shelf.place / "elsewhere" / "notes"
    elsewhere.mkdir(parents=True)
    shutil.copy2(shelf.put("b.md", "zebra"), elsewhere / "b.md")
    shelf.update()
    (elsewhere / "b.md").write_text("otter", encoding="utf-8")
    os.utime(elsewhere / "b.md", ns=(LONG_AGO, LONG_AGO))

    shelf.update(elsewhere)  # the same name, path, size and time of another file

    assert (shelf.find("zebra", elsewhere), shelf.find("otter", elsewhere)) == ([], ["b.md"])


def test_several_collections_live_in_one_index(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    papers = shelf.place / "papers"
    papers.mkdir()
    (papers / "a.md").write_text("zebra", encoding="utf-8")

    reports = shelf.update(shelf.folder, papers)

    assert [(each.collection, each.indexed) for each in reports] == [("notes", 1), ("papers", 1)]
    assert shelf.find("zebra", shelf.folder, papers) == ["a.md", "a.md"]


FILE = FoundFile("a.md", 10, 20)


def known(
    status: Status = Status.OK, *, size: int = 10, racy: bool = False, digest: bytes = b""
) -> Known:
    return Known(1, size, 20, racy, digest, status)


@pytest.mark.parametrize(
    ("before", "limit", "changed"),
    [
        (None, 100, True),
        (known(), 100, False),
        (known(size=11), 100, True),
        (known(racy=True), 100, True),
        (known(Status.FAILED), 100, False),
        (known(Status.TOO_LARGE), 5, False),
        (known(Status.TOO_LARGE), 100, True),
        (known(Status.TOO_LARGE, digest=b"x"), 100, False),
        (known(Status.TOO_LARGE, digest=b"x"), 5, True),
        (known(), 5, True),
    ],
)
def test_a_file_is_read_again_when_what_is_known_of_it_no_longer_holds(
    before: Known | None, limit: int, changed: bool
) -> None:
    assert is_changed(FILE, before, max_bytes=limit) is changed


def test_a_good_answer_of_a_worker_is_taken_as_it_is() -> None:
    draft = Draft("notes", "a.md", ".md", "text/markdown", FileState(5, 6, b"x"), Status.BINARY)

    assert take_result("notes", FILE, Outcome(Task(0, ()), pack(draft), None)) == draft
