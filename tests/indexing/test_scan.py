"""The walk through a collection: what it sees, what it leaves out and what it could not see."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.indexing.ignore import MAX_IGNORE_FILE, CollectionRules
from bookwheel.indexing.patterns import MAX_WILD_RULES
from bookwheel.indexing.scan import FoundFile, Scan, scan
from bookwheel.safety.opener import Root

SUPPORTED = frozenset({".md", ".txt"})


@pytest.fixture(params=[True, False], ids=["openat2", "walk"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Root]:
    (tmp_path / "root").mkdir()
    with Root.open(tmp_path / "root", use_openat2=request.param) as opened:
        yield opened


def put(root: Root, *names: str) -> None:
    for name in names:
        path = Path(root.path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def look(root: Root) -> Scan:
    return scan(root, CollectionRules(), supported=SUPPORTED)


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def as_nobody(root: Root) -> Scan:
    """Scan without the right to read everything, which root has."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        return look(root)
    finally:
        if before == 0:
            os.seteuid(before)


def test_f13_a_folder_that_cannot_be_listed_hides_its_documents_but_does_not_lose_them(
    root: Root,
) -> None:
    put(root, "open/a.md", "shut/b.md", "shut/deep/c.md", "shut-not/d.md")
    Path(root.path).chmod(0o755)
    Path(root.path, "shut").chmod(0)
    found = as_nobody(root)
    Path(root.path, "shut").chmod(0o755)
    assert paths(found) == ["open/a.md", "shut-not/d.md"]
    assert found.unread == [("shut", "no permission to read it")]
    known = ["shut/b.md", "shut/deep/c.md", "shut", "shut-not/gone.md", "open/gone.md", "gone.md"]
    assert [found.covers(path) for path in known] == [False, False, False, True, True, True]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"#" * (MAX_IGNORE_FILE + 1), "it is larger than 262,144 bytes"),
        (b"a?\n" * (MAX_WILD_RULES + 1), "There are more than 1,000 wildcard patterns."),
    ],
)
def test_a_folder_whose_ignore_file_cannot_be_used_is_left_alone(
    root: Root, content: bytes, reason: str
) -> None:
    put(root, "a.md", "private/b.md")
    Path(root.path, "private/.gitignore").write_bytes(content)
    found = look(root)
    assert paths(found) == ["a.md"]
    assert found.unread == [("private", f"its .gitignore cannot be used: {reason}")]
    assert not found.covers("private/b.md")


def test_a_root_that_cannot_be_listed_covers_nothing(root: Root) -> None:
    root.close()
    found = look(root)
    assert [folder for folder, _ in found.unread] == [""]
    assert not found.covers("any.md")


def test_a_scan_that_was_stopped_covers_nothing(root: Root) -> None:
    put(root, "a.md", "b/c.md")
    answers = iter([False, True])
    found = scan(root, CollectionRules(), supported=SUPPORTED, should_stop=lambda: next(answers))
    assert (paths(found), found.stopped, found.covers("b/c.md")) == (["a.md"], True, False)


def test_files_come_sorted_with_size_and_time(root: Root) -> None:
    put(root, "b.md", "a/z.TXT", "a.md", "a/b/c.Md", "ä.md")
    for file in Path(root.path).rglob("*.*"):
        os.utime(file, ns=(7, 7))
    expected = ["a.md", "a/b/c.Md", "a/z.TXT", "b.md", "ä.md"]
    assert look(root).files == [FoundFile(path, 1, 7) for path in expected]


def test_everything_passed_over_is_counted_with_its_reason(root: Root) -> None:
    put(root, "a.md", "b.PNG", "c.png", "README", ".hidden.md", "id_rsa.txt", "old.md~", "x.log.md")
    put(root, ".git/config", "node_modules/x/readme.md", "build/a.md", "build/b.md", "w.(1)")
    Path(root.path, ".gitignore").write_text("build/\n*.log.md\n", encoding="utf-8")
    Path(root.path, "link.md").symlink_to("a.md")
    Path(root.path, "tree").symlink_to("/")
    os.mkfifo(Path(root.path, "fifo.md"))
    Path(os.fsdecode(os.fsencode(root.path) + b"/\xff.md")).touch()
    found = look(root)
    assert paths(found) == ["a.md"]
    assert dict(found.skipped) == {
        ("unsupported extension", ".png"): 2,
        ("unsupported extension", ""): 1,
        ("unsupported extension", "(other)"): 1,
        ("hidden name", ".md"): 1,
        ("hidden name", ""): 1,
        ("key or credential file", ".txt"): 1,
        ("left over by an editor", "(other)"): 1,
        ("ignored by an ignore file", ".md"): 1,
        ("ignored by an ignore file", "/"): 1,
        ("version control folder", "/"): 1,
        ("folder of a tool", "/"): 1,
        ("link, never followed", ".md"): 1,
        ("link, never followed", ""): 1,
        ("not a regular file", ".md"): 1,
        ("name is not UTF-8", ".md"): 1,
    }


def test_f13_a_folder_whose_name_is_not_utf8_is_not_entered(root: Root) -> None:
    folder = Path(os.fsdecode(os.fsencode(root.path) + b"/\xfe"))
    folder.mkdir()
    (folder / "a.md").touch()
    found = look(root)
    assert (paths(found), dict(found.skipped)) == ([], {("name is not UTF-8", "/"): 1})


def test_f13_paths_longer_than_the_kernel_takes_are_passed_over(root: Root) -> None:
    part = "d" * 250
    current = os.open(root.path, os.O_RDONLY)
    for _ in range(17):
        os.mkdir(part, dir_fd=current)
        below = os.open(part, os.O_RDONLY, dir_fd=current)
        os.close(current)
        current = below
    os.close(current)
    put(root, "a.md")
    found = look(root)
    shutil.rmtree(Path(root.path, part))
    assert paths(found) == ["a.md"]
    assert dict(found.skipped) == {("path is too long", "/"): 1}


def test_t02_a_loop_of_links_ends(root: Root) -> None:
    put(root, "a/b.md")
    Path(root.path, "a/again").symlink_to("..")
    assert paths(look(root)) == ["a/b.md"]


def test_an_empty_folder_is_empty(root: Root) -> None:
    assert look(root) == Scan()


def test_t06_no_content_is_read_but_that_of_ignore_files(root: Root) -> None:
    put(root, "a.md", "b/c.md")
    for name in ("a.md", "b/c.md"):
        os.utime(Path(root.path, name), ns=(1, 1))
        Path(root.path, name).chmod(0)
    Path(root.path).chmod(0o755)
    assert paths(as_nobody(root)) == ["a.md", "b/c.md"]


def test_f08_files_that_come_and_go_during_a_scan_do_no_harm(root: Root) -> None:
    put(root, *(f"f{number}/stays.md" for number in range(50)))
    done = threading.Event()

    def churn() -> None:
        while not done.is_set():
            put(root, "f1/new.md", "new/folder/x.md")
            Path(root.path, "f1/new.md").unlink()
            Path(root.path, "new/folder/x.md").unlink()
            Path(root.path, "new/folder").rmdir()
            Path(root.path, "new").rmdir()

    other = threading.Thread(target=churn)
    other.start()
    try:
        scans = [look(root) for _ in range(20)]
    finally:
        done.set()
        other.join()
    stays = {f"f{number}/stays.md" for number in range(50)}
    assert all(stays <= set(paths(found)) for found in scans)
    assert {reason for found in scans for _, reason in found.unread} <= {"it does not exist"}
