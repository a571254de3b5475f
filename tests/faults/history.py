"""What happens to a folder over the years, and an index that follows it: a machine of Hypothesis.

`python -m tests.faults.history SEED STEPS STEPS_EACH` lets so many things happen, each folder so
many at most, and compares the index that followed with one made afresh. Prints what it did as
JSON; what differs ends it, with the shortest history that was found to lead there.
Run by a user whom permissions bind, or files without them are read all the same.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from tests.faults.whole import WORDS, everything, open_library
from tests.indoors import IndoorPool

FOLDERS = ("", "a", "a/b", "a/b/c", "d", "d e", "ü", "node_modules", ".hidden")
STEMS = ("one", "two", "Two", "three", "vier vier", "fünf", "fu\u0308nf", "long" * 50, "README")
ENDINGS = (".md", ".md", ".txt", ".html", ".csv", ".rst", ".MD", ".xyz", "", ".ipynb")
RULES = ("*.txt", "!one.txt", "b/", "/a/", "t*", "!a/", "#")
YEAR_NS = 365 * 86_400 * 10**9
EARLIER_NS = -3_600 * 10**9
"""Some time ago: what was written just now is read again at every look, and shows little."""
ANCHOR = "anchor.md"

PLACES = st.builds("{}/{}{}".format, *map(st.sampled_from, (FOLDERS, STEMS, ENDINGS)))
ANY = st.integers(0, 500)
"""One of the files or folders there are, whatever their number."""
SHIFTS = st.sampled_from(
    (EARLIER_NS, EARLIER_NS, 0, -YEAR_NS, YEAR_NS, -30 * YEAR_NS, 80 * YEAR_NS)
)
JUNK = st.sampled_from(
    (b"", bytes(300), b"\x8f\x02\xfe" * 170, b"\xff\xfeh\x00i\x00", b"PK\x03\x04x")
)
TARGETS = st.sampled_from((ANCHOR, "outside", "..", "nowhere", "one.md"))


def happens(**drawn: st.SearchStrategy[Any]) -> Callable[..., Any]:
    """Make a rule of what happens to the folder, and count it, unless it could not be done.

    One of five times the library looks at once; else more happens before it does.
    """

    def make(act: Callable[..., None]) -> Any:
        @wraps(act)
        def do(machine: Following, then: int, chosen: dict[str, Any]) -> None:
            with suppress(OSError):  # something stands in the way, or is locked away
                act(machine, **chosen)
                machine.done[act.__name__] += 1
            if then == 4:
                machine.update()

        return rule(then=st.integers(0, 4), chosen=st.fixed_dictionaries(drawn))(do)

    return make


class Following(RuleBasedStateMachine):
    """A folder that changes, and the library that follows it.

    Its anchor stays, since an empty folder looks unmounted.
    """

    done: ClassVar[Counter[str]] = Counter()
    """What happened to all folders together."""
    seen: ClassVar[Counter[str]] = Counter()
    """How often they were looked at, and how many documents were compared."""

    def __init__(self) -> None:
        super().__init__()
        self._home = Path(tempfile.mkdtemp(prefix="bookwheel-test-"))
        self._place = self._home / "folder"
        self._count = 0
        self._differs = False
        for folder in (self._place, self._home / "outside"):
            folder.mkdir()
            (folder / ANCHOR).write_text("# Anchor\n\nbabling\n", encoding="utf-8")
        self._closing = ExitStack()
        self._library = self._closing.enter_context(open_library(self._place, self._home / "index"))
        self._library.update()

    def teardown(self) -> None:
        try:
            if not self._differs:
                self._compare()
        finally:
            self._closing.close()
            self._unlock()
            shutil.rmtree(self._home)

    # What an index does

    def update(self) -> None:
        self._library.update()
        self.seen["updates"] += 1

    def _compare(self) -> None:
        """Fail unless the library says what a fresh one says."""
        self._unlock()
        self._library.update()
        with open_library(self._place, self._home / "fresh") as other:
            other.update()
            expected, said = everything(other), everything(self._library)
        shutil.rmtree(self._home / "fresh")
        self.seen["compared"] += 1
        self.seen["documents"] += sum(key.startswith("/") for key in said)
        self._differs = expected != said
        for key in sorted({*expected, *said}):
            fresh, followed = expected.get(key), said.get(key)
            assert fresh == followed, f"{key}:\nfresh    {fresh}\nfollowed {followed}"

    # What happens to a folder

    @initialize(places=st.lists(PLACES, min_size=20, max_size=40))
    def begin(self, places: list[str]) -> None:
        self._create(places, EARLIER_NS)

    @happens(places=st.lists(PLACES, min_size=1, max_size=15), shift=SHIFTS)
    def create(self, places: list[str], shift: int) -> None:
        self._create(places, shift)

    @happens(which=ANY, shift=SHIFTS)
    def edit(self, which: int, shift: int) -> None:
        path = self._file(which)
        if not path.is_symlink() and path.is_file():
            self._write(path, self._text(), shift)

    @happens(place=PLACES)
    def rewrite_at_once(self, place: str) -> None:
        """Write twice without any pause, as many letters each time: only the moment is suspect."""
        path, text = self._path(place), self._text()
        self._write(path, text)
        path.write_bytes((WORDS[self._count % len(WORDS)] * len(text)).encode()[: len(text)])

    @happens(which=ANY, place=PLACES)
    def rename(self, which: int, place: str) -> None:
        self._file(which).replace(self._path(place))

    @happens(which=ANY, place=PLACES)
    def move_folder(self, which: int, place: str) -> None:
        self._folder(which).rename(self._path(place).with_suffix(""))

    @happens(which=ANY, other=ANY)
    def replace_folder(self, which: int, other: int) -> None:
        """Put a copy, with the times of its files, where a folder was."""
        source, target = self._folder(which), self._folder(other)
        if target not in (source, *source.parents) and source not in target.parents:
            shutil.rmtree(target)
            shutil.copytree(source, target, symlinks=True)
            for folder, _, names in os.walk(target):
                for name in names:  # two files of one path, size and time are one to anybody
                    self._date(Path(folder, name), EARLIER_NS)

    @happens(which=ANY)
    def delete(self, which: int) -> None:
        self._file(which).unlink()

    @happens(which=ANY)
    def delete_folder(self, which: int) -> None:
        shutil.rmtree(self._folder(which))

    @happens(which=ANY, shift=SHIFTS)
    def touch(self, which: int, shift: int) -> None:
        path = self._file(which)
        if not path.is_symlink():
            self._date(path, shift)

    @happens(which=ANY)
    def become_a_folder(self, which: int) -> None:
        path = self._remove(which)
        path.mkdir()
        self._write(path / "one.md", self._text())

    @happens(which=ANY)
    def become_a_file(self, which: int) -> None:
        self._write(self._remove(which), self._text())

    @happens(which=ANY)
    def become_a_pipe(self, which: int) -> None:
        os.mkfifo(self._remove(which))

    @happens(which=ANY, leading=TARGETS)
    def become_a_link(self, which: int, leading: str) -> None:
        where = str(self._home / leading) if leading == "outside" else leading
        self._remove(which).symlink_to(where)

    @happens(which=ANY, place=PLACES)
    def make_link(self, which: int, place: str) -> None:
        path = self._path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self._either(which))

    @happens(which=ANY)
    def lock_away(self, which: int) -> None:
        path = self._either(which)
        if not path.is_symlink():
            path.chmod(0o000)

    @rule()
    def unlock(self) -> None:
        self._unlock()

    @happens(folder=st.sampled_from(FOLDERS), rules=st.lists(st.sampled_from(RULES), max_size=3))
    def write_ignore_file(self, folder: str, rules: list[str]) -> None:
        self._write(self._path(f"{folder}/.gitignore"), "\n".join(rules).encode())

    @happens(place=PLACES, junk=JUNK)
    def write_junk(self, place: str, junk: bytes) -> None:
        """Write what is no text, or nothing."""
        self._write(self._path(place), junk)

    # How

    def _create(self, places: list[str], shift: int) -> None:
        for place in places:
            with suppress(OSError):
                self._write(self._path(place), self._text(), shift)

    def _path(self, place: str) -> Path:
        """Return where something may come to be: never through a link, which might lead away."""
        path = self._place / place.lstrip("/")
        if any(each.is_symlink() for each in path.parents):
            raise FileExistsError(path)
        return path

    def _files(self) -> list[Path]:
        found = (Path(folder, name) for folder, _, names in os.walk(self._place) for name in names)
        return sorted(path for path in found if path != self._place / ANCHOR)

    def _folders(self) -> list[Path]:
        found = (Path(folder, name) for folder, names, _ in os.walk(self._place) for name in names)
        return sorted(path for path in found if not path.is_symlink())

    def _file(self, which: int) -> Path:
        return _one(self._files(), which)

    def _folder(self, which: int) -> Path:
        return _one(self._folders(), which)

    def _either(self, which: int) -> Path:
        return _one([*self._files(), *self._folders()], which)

    def _text(self) -> bytes:
        """Return a text that none was before."""
        self._count += 1
        chance = random.Random(self._count)
        parts = [
            f"## Part {number}\n\n[x](../a/one.md) {' '.join(chance.choices(WORDS, k=12))}\n"
            for number in range(chance.randrange(3))
        ]
        return f"# Title {self._count} {chance.choice(WORDS)}\n\n{''.join(parts)}\n".encode()

    def _write(self, path: Path, data: bytes, shift: int = EARLIER_NS) -> None:
        """Write a file; its time is another than any that it had before."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.is_fifo():  # one would lead away, the other wait for ever
            path.unlink()
        path.write_bytes(data)
        self._date(path, shift)

    def _date(self, path: Path, shift: int) -> None:
        """Set a clock that jumps by years, and never says the same twice."""
        self._count += 1
        at = time.time_ns() + shift + self._count * 1_000
        os.utime(path, ns=(at, at), follow_symlinks=False)

    def _remove(self, which: int) -> Path:
        path = self._either(which)
        if not path.is_symlink() and path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        return path

    def _unlock(self) -> None:
        """Let everything be read again."""
        for path in self._everything():
            if not path.is_symlink() and not stat.S_IMODE(path.stat().st_mode) & 0o400:
                path.chmod(0o755 if path.is_dir() else 0o644)

    def _everything(self) -> Iterator[Path]:
        """Give each folder before what lies in it, so that it can be opened in between."""
        waiting = [self._place]
        while waiting:
            folder = waiting.pop()
            for path in sorted(folder.iterdir()):
                yield path
                if not path.is_symlink() and path.is_dir():
                    waiting.append(path)


def _one(paths: list[Path], which: int) -> Path:
    if not paths:
        raise FileNotFoundError
    return paths[which % len(paths)]


def main(number: int, steps: int, each: int) -> None:
    """Let so many things happen, in folders that see a part of them each."""
    while Following.done.total() < steps:
        seed(number)(Following)
        run_state_machine_as_test(
            Following,
            settings=settings(
                max_examples=max(1, steps // each),
                stateful_step_count=each,
                deadline=None,
                database=None,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
        )
        number += 1
    sys.stdout.write(json.dumps({"steps": Following.done, **Following.seen}))


if __name__ == "__main__":
    with patch("bookwheel.indexing.pipeline.WorkerPool", IndoorPool):
        main(*map(int, sys.argv[1:4]))
