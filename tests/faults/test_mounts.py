"""Disks that are full, and shares that go away or fail, as whoever uses the commands sees it."""

from __future__ import annotations

import errno
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bookwheel.safety import opener
from tests.conftest import Shelf
from tests.engines.embedded.scenes import ROOT
from tests.faults.serving import serving, wait_for

pytestmark = pytest.mark.timeout(180)
APART = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "-r"]


def run(script: str, **names: object) -> list[str]:
    """Run a script with mounts of its own; return its lines. BOOKWHEEL runs the program."""
    if subprocess.run(
        [*APART, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    ).returncode:
        pytest.skip("mounting is not permitted here")
    program = f"{shlex.quote(sys.executable)} -m bookwheel"
    ended = subprocess.run(
        [*APART, "sh", "-c", f'B() {{ {program} "$@" 2>&1; echo "exit $?"; }}\n{script}'],
        env={**os.environ, **{name: str(value) for name, value in names.items()}},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stdout + ended.stderr, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def exits(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("exit ")]


def test_f04_a_full_disk_is_told_search_goes_on_and_the_work_when_there_is_room(
    tmp_path: Path,
) -> None:
    for name in ("disk", "docs", "more"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "a.md").write_text("# First\n\nzebra\n", encoding="utf-8")
    for number in range(31):
        words = " ".join(f"w{number}x{each}" for each in range(4000))
        (tmp_path / "more" / f"{number}.md").write_text(f"# Page\n\n{words}\n", encoding="utf-8")
    script = """
    mount -t tmpfs -o size=8m none "$DISK"
    B index "$DOCS" --index "$DISK/index"
    mv "$MORE" "$DOCS"
    cat /dev/zero > "$DISK/filler" 2>/dev/null
    truncate -s -200000 "$DISK/filler"
    B index "$DOCS" --index "$DISK/index"
    B search zebra "$DOCS" --index "$DISK/index"
    rm "$DISK/filler"; mount -o remount,size=200m "$DISK"
    B index "$DOCS" --index "$DISK/index"
    B search w30x77 "$DOCS" --index "$DISK/index"
    B doctor --index "$DISK/index"
    """
    lines = run(script, DISK=tmp_path / "disk", DOCS=tmp_path / "docs", MORE=tmp_path / "more")
    text = "\n".join(lines)
    codes = exits(lines)
    assert (codes[0], codes[2:5]) == ("exit 0", ["exit 0"] * 3), text
    assert codes[1] != "exit 0", text
    assert "cannot be used" in text, text
    assert "a.md" in text, text
    assert "30.md" in text, text


def test_f15_a_share_that_is_not_mounted_loses_nothing_whatever_lies_in_its_place(
    tmp_path: Path,
) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / ".keep").write_text("", encoding="utf-8")
    (tmp_path / "share" / "NOT MOUNTED.txt").write_text("Ask the operator.", encoding="utf-8")
    script = """
    mount -t tmpfs none "$SHARE"
    for i in 1 2 3; do echo "# Page $i zebra" > "$SHARE/$i.md"; done
    B index "$SHARE" --index "$INDEX"
    umount "$SHARE"
    B index "$SHARE" --index "$INDEX"
    B search zebra "$SHARE" --index "$INDEX"
    mount -t tmpfs none "$SHARE"
    for i in 1 2; do echo "# Page $i zebra" > "$SHARE/$i.md"; done
    B index "$SHARE" --index "$INDEX"
    B search zebra "$SHARE" --index "$INDEX"
    """
    lines = run(script, SHARE=tmp_path / "share", INDEX=tmp_path / "index")
    text = "\n".join(lines)
    assert exits(lines) == ["exit 0", "exit 1", "exit 0", "exit 0", "exit 0"], text
    away, back = text.split("exit 1")
    assert "it looks unmounted" in away
    assert all(f"{number}.md" in back.split("exit 0")[0] for number in (1, 2, 3)), text
    assert "3.md" not in back.split("exit 0")[2], text


def test_f14_a_slow_and_failing_share_costs_only_the_files_that_fail(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what was read nothing is lost, and what failed is read when the share is well again."""
    monkeypatch.setattr("bookwheel.indexing.pipeline.WorkerPool", indoor())
    for number in range(50):
        shelf.put(f"{number}.md", f"# Page {number}\n\nzebra{number}")
    shelf.update()
    for number in range(50, 100):
        shelf.put(f"{number}.md", f"# Page {number}\n\nzebra{number}")
    chance, well = random.Random(3), opener.read_all

    def ill(descriptor: int, size: int) -> bytes:
        time.sleep(0.002)
        if chance.random() < 0.2:
            raise OSError(errno.EIO, "the share is ill")
        return well(descriptor, size)

    monkeypatch.setattr(opener, "read_all", ill)
    (report,) = shelf.update()
    assert 0 < report.unreadable < 30
    assert (report.removed, report.indexed + report.unreadable) == (0, 50)
    with shelf.open() as library:
        assert len(library.paths("notes")) == 50 + report.indexed
        assert {each.reason for each in library.ledger("notes")} == {os.strerror(errno.EIO)}
    monkeypatch.setattr(opener, "read_all", well)
    (again,) = shelf.update()
    assert (again.indexed, again.unreadable) == (report.unreadable, 0)
    assert len(shelf.find("zebra77")) == 1


def indoor() -> object:
    from tests.indoors import IndoorPool

    return IndoorPool


def test_f14_a_folder_that_cannot_be_listed_is_not_one_whose_files_are_gone(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.indexing.pipeline.WorkerPool", indoor())
    for path in ("a/1.md", "b/2.md", "b/c/3.md"):
        shelf.put(path, "zebra")
    shelf.update()
    inner = opener.Root.list_folder

    def ill(root: opener.Root, relative: str) -> list[opener.FolderEntry]:
        if relative.startswith("b"):
            raise opener.refusal_for(errno.EIO)
        return inner(root, relative)

    monkeypatch.setattr(opener.Root, "list_folder", ill)
    (report,) = shelf.update()
    assert (report.removed, report.problems) == (0, [f"b: {os.strerror(errno.EIO)}"])
    assert len(shelf.find("zebra")) == 3


@pytest.mark.faults
def test_f14_a_share_whose_listing_hangs_holds_up_neither_answers_nor_others_nor_the_end(
    shelf: Shelf,
) -> None:
    """It hangs from the start, when a listener that waits for it would stop all threads."""
    share, place, sign = (shelf.place / name for name in ("share", "place", "sign"))
    share.mkdir()
    place.mkdir()
    (share / "s.md").write_text("# S\n\nlynx", encoding="utf-8")
    sign.write_text("list", encoding="ascii")
    hung = [*APART, sys.executable, "-m", "tests.faults.hanging_share", share, place, sign]
    words = [str(each) for each in hung]
    if subprocess.run([*words, "true"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    shelf.put("a.md", "# A\n\nzebra")
    with serving(shelf, str(place), before=words, BOOKWHEEL_RECONCILE_SECONDS="1") as server:
        wait_for(lambda: f"{place} hangs" in server.said)
        wait_for(lambda: server.find("zebra") == ["notes/a.md"])
        shelf.put("b.md", "# B\n\nwalrus")
        wait_for(lambda: server.find("walrus") == ["notes/b.md"])
        sign.unlink()
        wait_for(lambda: server.find("lynx") == ["place/s.md"])
        sign.write_text("list", encoding="ascii")
        shelf.put("c.md", "# C\n\notter")
        wait_for(lambda: server.find("otter") == ["notes/c.md"])
        assert server.find("lynx") == ["place/s.md"]
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
        assert "Traceback" not in server.said
