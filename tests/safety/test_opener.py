"""The opener: hard cases first, each through openat2 and through the walk."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.model import Status
from bookwheel.safety import opener
from bookwheel.safety.opener import FileBytes, FolderEntry, OpenRefused, Root
from tests.conftest import opened_below
from tests.faults.sizes import PropertyRecorder

SECRET = b"secret outside"
INSIDE = b"inside"
LIMIT = 1_000_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Build a root with siblings whose names begin like its own."""
    for name in ("root", "root-evil", "root2", "roo", "outside"):
        (tmp_path / name / "sub").mkdir(parents=True)
        content = INSIDE if name == "root" else SECRET
        (tmp_path / name / "page.md").write_bytes(content)
        (tmp_path / name / "sub" / "page.md").write_bytes(content)
    return tmp_path


@pytest.fixture(params=[True, False], ids=["openat2", "walk"])
def root(tree: Path, request: pytest.FixtureRequest) -> Iterator[Root]:
    with Root.open(tree / "root", use_openat2=request.param) as opened:
        yield opened


def test_a_folder_that_was_closed_leaves_nothing_to_be_collected(tree: Path) -> None:
    """A class that was made anew for each of them stayed: three kilobytes in every update."""
    with Root.open(tree / "root"):
        pass  # what is made once for a process is there now
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            with Root.open(tree / "root"):
                pass
        assert gc.collect() == 0
    finally:
        gc.enable()


@contextmanager
def without_privileges() -> Iterator[None]:
    """Be nobody for a while: permissions mean nothing to root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if before == 0:
            os.seteuid(before)


def refusal(root: Root, path: str) -> tuple[Status, str]:
    with pytest.raises(OpenRefused) as caught:
        root.read_file(path, max_bytes=LIMIT)
    return caught.value.status, caught.value.reason


LINK = (Status.UNREADABLE, "it is a link or lies behind one")
GONE = (Status.VANISHED, "it does not exist")
NOT_WITHIN = (Status.UNREADABLE, "its path does not lie in the collection")
NOT_REGULAR = (Status.UNREADABLE, "it is not a regular file")


ATTACKER = """
import os, sys
outside, at, spare, parked, mode = sys.argv[1:]
if mode == "leaf":
    os.link(at, parked)
print("ready", flush=True)
while True:
    if mode == "leaf":
        os.symlink(outside, spare); os.rename(spare, at)
        os.link(parked, spare); os.rename(spare, at)
    else:
        os.rename(at, parked); os.symlink(outside, at)
        os.unlink(at); os.rename(parked, at)
"""


def race(root: Root, tree: Path, mode: str, opens: int, *, seconds: float = 0) -> dict[bytes, int]:
    """Read a path while another process swaps it, or its folder, for a link out.

    At least `opens` times, and for at least so many seconds.
    """
    outside, at = (
        ("outside/page.md", "root/sub/page.md") if mode == "leaf" else ("outside/sub", "root/sub")
    )
    paths = [str(tree / part) for part in (outside, at, "root/spare", "root/parked")]
    seen: dict[bytes, int] = {}
    with subprocess.Popen(
        [sys.executable, "-c", ATTACKER, *paths, mode], stdout=subprocess.PIPE
    ) as attacker:
        try:
            assert attacker.stdout is not None
            attacker.stdout.readline()
            until, done = time.monotonic() + seconds, 0
            while done < opens or time.monotonic() < until:
                try:
                    found = root.read_file("sub/page.md", max_bytes=LIMIT).data
                except OpenRefused:
                    found = b"refused"
                seen[found] = seen.get(found, 0) + 1
                done += 1
            assert attacker.poll() is None
        finally:
            attacker.kill()
    return seen


@pytest.mark.parametrize("mode", ["leaf", "parent"])
def test_t03_nothing_leaks_while_the_path_is_swapped_for_a_link(
    root: Root, tree: Path, mode: str
) -> None:
    before = opened_below(tree)
    seen = race(root, tree, mode, 20_000)
    assert set(seen) <= {INSIDE, b"refused"}
    assert sum(seen.values()) == 20_000
    assert opened_below(tree) == before


@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["leaf", "parent"])
def test_t03_nothing_leaks_in_a_long_race(
    root: Root, tree: Path, mode: str, record_property: PropertyRecorder
) -> None:
    before = opened_below(tree)
    seen = race(root, tree, mode, 200_000, seconds=30)
    assert set(seen) == {INSIDE, b"refused"}
    assert opened_below(tree) == before
    refused = seen[b"refused"]
    record_property("figure", f"{sum(seen.values()):,} opens, {refused:,} refused: 0 leaked")


@pytest.mark.parametrize(
    "path",
    ["file", "folder/page.md", "chain", "loop", "dangling", "self/page.md", "up/page.md", "folder"],
)
def test_t02_a_link_anywhere_in_a_path_is_refused(root: Root, tree: Path, path: str) -> None:
    top = tree / "root"
    (top / "file").symlink_to(tree / "outside/page.md")
    (top / "folder").symlink_to(tree / "outside")
    (top / "chain").symlink_to("file")
    (top / "loop").symlink_to("loop")
    (top / "dangling").symlink_to("nothing")
    (top / "self").symlink_to(".")
    (top / "up").symlink_to("../outside")
    assert refusal(root, path) == LINK


def test_t02_what_lies_behind_a_link_looks_the_same_whether_it_exists_or_not(
    root: Root, tree: Path
) -> None:
    (tree / "root/out").symlink_to(tree / "outside")
    (tree / "root/nowhere").symlink_to(tree / "nowhere")
    paths = ["out/page.md", "out/nothing.md", "nowhere/page.md", "out", "nowhere"]
    assert {refusal(root, path) for path in paths} == {LINK}


def test_t01_paths_out_of_the_root_look_the_same_whether_they_exist_or_not(
    root: Root, tree: Path
) -> None:
    paths = [
        *("../outside/page.md", "../outside/nothing.md", "../root-evil/page.md", "../root2"),
        *(str(tree / "outside/page.md"), "/etc/passwd", "/nothing", str(tree / "root/page.md")),
        *("..", "sub/..", "sub/../page.md", ".", "./page.md", "sub/./page.md", "", "/", "//"),
        *("sub//page.md", "page.md/", "page.md\0", "\0", "\ud800.md", "/proc/self/root/etc/passwd"),
    ]
    assert {path: refusal(root, path) for path in paths} == dict.fromkeys(paths, NOT_WITHIN)


PARTS = ["..", ".", "", "sub", "page.md", "root-evil", "root", "outside", "\\", "..\\", "-evil"]
PARTS += ["...", " ", "．．", "%2e%2e", "\u2215", "~", "link", "a\0b"]


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=6), st.sampled_from("/\\"))
@example(["..", "root-evil", "page.md"], "/")
def test_t01_no_spelling_of_a_path_reads_what_lies_outside(
    race_free_roots: tuple[Root, Root], parts: list[str], separator: str
) -> None:
    answers = []
    for opened in race_free_roots:
        try:
            answers.append(opened.read_file(separator.join(parts), max_bytes=LIMIT).data)
        except OpenRefused as refused:
            answers.append(repr((refused.status, refused.reason)).encode())
    assert answers[0] == answers[1]
    assert SECRET not in answers


@pytest.fixture(scope="module")
def race_free_roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Root, Root]]:
    top = tmp_path_factory.mktemp("siblings")
    for name in ("root", "root-evil", "outside"):
        (top / name / "sub").mkdir(parents=True)
        (top / name / "page.md").write_bytes(INSIDE if name == "root" else SECRET)
    (top / "root/link").symlink_to("../outside")
    with Root.open(top / "root") as one, Root.open(top / "root", use_openat2=False) as other:
        yield one, other


def test_t04_special_files_are_refused_without_waiting_for_them(root: Root, tree: Path) -> None:
    os.mkfifo(tree / "root/fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "root/socket"))
        assert {refusal(root, "fifo"), refusal(root, "socket")} == {NOT_REGULAR}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_t04_devices_are_refused(root: Root, tree: Path) -> None:
    try:
        os.mknod(tree / "root/null", 0o666 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this container makes no device nodes")
    assert refusal(root, "null")[0] is Status.UNREADABLE


def test_a_folder_is_not_read_as_a_file(root: Root) -> None:
    assert refusal(root, "sub") == (Status.UNREADABLE, "it is a folder")


def test_a_missing_file_has_vanished(root: Root) -> None:
    paths = ["nothing.md", "nothing/page.md", "page.md/page.md"]
    assert {refusal(root, path) for path in paths} == {GONE}


def test_a_file_without_permission_is_unreadable(root: Root, tree: Path) -> None:
    (tree / "root").chmod(0o755)
    (tree / "root/page.md").chmod(0)
    with without_privileges():
        assert refusal(root, "page.md") == (Status.UNREADABLE, "no permission to read it")


def test_long_names_and_long_paths_are_refused_alike(root: Root) -> None:
    deep = "/".join(["d" * 200] * 25)
    assert {refusal(root, "n" * 300), refusal(root, deep)} == {
        (Status.UNREADABLE, "its path is too long")
    }


def test_a_file_above_the_limit_is_too_large_and_one_at_the_limit_is_read(root: Root) -> None:
    assert root.read_file("page.md", max_bytes=len(INSIDE)).data == INSIDE
    with pytest.raises(OpenRefused) as caught:
        root.read_file("page.md", max_bytes=len(INSIDE) - 1)
    assert (caught.value.status, caught.value.reason) == (
        Status.TOO_LARGE,
        "it is larger than 5 bytes",
    )


def test_a_sparse_giant_costs_nothing(root: Root, tree: Path) -> None:
    with (tree / "root/giant.md").open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(root, "giant.md")[0] is Status.TOO_LARGE


def test_f08_a_file_that_changes_all_the_time_is_never_read_by_halves(
    root: Root, tree: Path
) -> None:
    path = tree / "root/log.md"
    path.write_bytes(b"")
    done = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not done.is_set():
                file.write(b"line\n")

    writer = threading.Thread(target=grow)
    writer.start()
    outcomes: set[object] = set()
    try:
        for _ in range(300):
            try:
                found = root.read_file("log.md", max_bytes=1 << 30)
                outcomes.add(len(found.data) == found.size)
            except OpenRefused as refused:
                outcomes.add(refused.reason)
    finally:
        done.set()
        writer.join()
    assert outcomes <= {True, "it kept changing while it was read"}


def test_every_byte_and_the_state_of_the_file_are_returned(root: Root, tree: Path) -> None:
    data = bytes(range(256)) * 1000
    path = tree / "root/sub/all bytes \\ Ü.md"
    path.write_bytes(data)
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    assert root.read_file("sub/all bytes \\ Ü.md", max_bytes=LIMIT) == FileBytes(
        data, len(data), 1_700_000_000_123_456_789
    )


def test_an_empty_file_is_read(root: Root, tree: Path) -> None:
    (tree / "root/empty.md").touch()
    assert root.read_file("empty.md", max_bytes=0).data == b""


def test_names_that_are_not_utf8_are_listed_and_opened(root: Root, tree: Path) -> None:
    Path(os.fsdecode(os.fsencode(tree / "root/sub") + b"/\xff.md")).write_bytes(b"x")
    names = [entry.name for entry in root.list_folder("sub")]
    assert sorted(names) == ["page.md", "\udcff.md"]
    assert root.read_file("sub/\udcff.md", max_bytes=LIMIT).data == b"x"


def test_a_folder_lists_every_kind_of_entry(root: Root, tree: Path) -> None:
    os.mkfifo(tree / "root/fifo")
    (tree / "root/link").symlink_to("page.md")
    os.utime(tree / "root/page.md", ns=(5, 5))
    expected = [
        FolderEntry("fifo", "special"),
        FolderEntry("link", "link"),
        FolderEntry("page.md", "file", len(INSIDE), 5),
        FolderEntry("sub", "folder"),
    ]
    assert sorted(root.list_folder("")) == expected
    assert [root.stat_file(entry.name) for entry in expected] == expected


def test_t02_a_folder_behind_a_link_is_not_listed(root: Root, tree: Path) -> None:
    (tree / "root/out").symlink_to(tree / "outside")
    for path in ("out", "out/sub", "../outside"):
        with pytest.raises(OpenRefused):
            root.list_folder(path)
        with pytest.raises(OpenRefused):
            root.stat_file(path + "/page.md")


def test_t03_refusals_leave_no_descriptor_open(root: Root, tree: Path) -> None:
    os.mkfifo(tree / "root/fifo")
    (tree / "root/sub/out").symlink_to(tree / "outside")
    before = opened_below(tree)
    for _ in range(50):
        for path in ("fifo", "sub/out/page.md", "sub/nothing", "sub", "page.md/x", "../x"):
            refusal(root, path)
        with pytest.raises(OpenRefused):
            root.list_folder("page.md")
        with pytest.raises(OpenRefused):
            root.read_file("page.md", max_bytes=1)
    assert opened_below(tree) == before


def test_a_kernel_without_openat2_is_served_by_the_walk(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opener, "OPENAT2", 9999)  # no such call: the kernel answers ENOSYS
    (tree / "root/out").symlink_to(tree / "outside")
    with Root.open(tree / "root") as root:
        assert root.read_file("sub/page.md", max_bytes=LIMIT).data == INSIDE
        assert refusal(root, "out/page.md") == LINK


class FailingEntry:
    """A listed name whose disk does not answer, or that is gone; no real disk fails on demand."""

    name = "page.md"

    def __init__(self, error: OSError) -> None:
        self.error = error

    def is_file(self, *, follow_symlinks: bool) -> bool:
        raise self.error


def test_a_listed_file_that_cannot_be_looked_at_is_kept_and_a_vanished_one_is_not() -> None:
    failing = FailingEntry(OSError(errno.EIO, "disk"))
    vanished = FailingEntry(FileNotFoundError())
    found = [opener.describe_entry(cast("os.DirEntry[str]", e)) for e in (failing, vanished)]
    assert found == [FolderEntry("page.md", "file", -1, -1), None]


def test_t05_a_root_follows_links_in_its_own_path(tree: Path) -> None:
    (tree / "alias").symlink_to("root")
    with Root.open(tree / "alias") as root:
        assert root.path == os.path.realpath(tree / "root")
        assert root.device == (tree / "root").stat().st_dev
        assert root.read_file("page.md", max_bytes=LIMIT).data == INSIDE


def test_a_root_that_cannot_be_one_says_why(tree: Path) -> None:
    with pytest.raises(NotFound, match="There is no folder"):
        Root.open(tree / "nothing")
    with pytest.raises(BadRequest, match="is not a folder"):
        Root.open(tree / "root/page.md")
    with pytest.raises(BadRequest, match="path is empty"):
        Root.open("")
    with pytest.raises(BadRequest, match="is not a folder"):
        Root.open("a\0b")


def test_a_root_without_permission_is_forbidden(tree: Path) -> None:
    (tree / "root").chmod(0)
    try:
        with without_privileges(), pytest.raises(Forbidden, match="no permission"):
            Root.open(tree / "root")
    finally:
        (tree / "root").chmod(0o755)


def test_a_closed_root_opens_nothing(tree: Path) -> None:
    root = Root.open(tree / "root")
    root.close()
    root.close()
    assert refusal(root, "page.md")[0] is Status.UNREADABLE


def test_a_root_moved_while_open_still_reads_its_own_files(root: Root, tree: Path) -> None:
    (tree / "root").rename(tree / "moved")
    (tree / "outside").rename(tree / "root")
    assert root.read_file("page.md", max_bytes=LIMIT).data == INSIDE


def test_a_refusal_travels_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(OpenRefused(Status.VANISHED, "it does not exist")))
    assert (copy.status, copy.reason, copy.message) == (
        Status.VANISHED,
        "it does not exist",
        "The file cannot be opened: it does not exist.",
    )
