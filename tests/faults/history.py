"""What happens to a folder over the years, step by step at random, and an index that follows it.

`python -m tests.faults.history FOLDER SEED STEPS COMPARE_EVERY` follows a folder with one library
and compares it now and then with one made afresh. Prints what it did as JSON; what differs ends it.
Run by a user whom permissions bind, or files without them are read all the same.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bookwheel.library import Library
from bookwheel.query import SearchRequest
from bookwheel.settings import load
from tests.indoors import IndoorPool

WORDS = [a + b + "ling" for a in ("ba", "du", "fe", "go", "ki", "mo", "na") for b in "bdfgkmnprst"]
FOLDERS = ("", "a", "a/b", "a/b/c", "d", "d e", "ü", "node_modules", ".hidden")
STEMS = ("one", "two", "Two", "three", "vier vier", "fünf", "fu\u0308nf", "long" * 50, "README")
ENDINGS = (".md", ".md", ".txt", ".html", ".csv", ".rst", ".MD", ".xyz", "", ".ipynb")
YEAR_NS = 365 * 86_400 * 10**9
ANCHOR = "anchor.md"


class Folder:
    """A folder that changes; its anchor stays, since an empty folder looks unmounted."""

    def __init__(self, place: Path, chance: random.Random) -> None:
        self.place = place
        self._chance = chance
        self._count = 0
        place.mkdir()
        (place / ANCHOR).write_text("# Anchor\n\nbabling\n", encoding="utf-8")
        self._outside = place.with_name("outside")
        self._outside.mkdir()
        (self._outside / "one.md").write_text("# Outside\n\nbabling\n", encoding="utf-8")
        self.acts: dict[Callable[[], None], int] = {
            self.create: 30,
            self.edit: 20,
            self.rewrite_at_once: 5,
            self.rename: 10,
            self.move_folder: 4,
            self.replace_folder: 2,
            self.delete: 10,
            self.delete_folder: 2,
            self.touch: 8,
            self.become_another_type: 5,
            self.make_link: 4,
            self.lock_away: 4,
            self.unlock: 3,
            self.write_ignore_file: 2,
            self.write_junk: 3,
        }

    def step(self) -> str:
        """Let something happen; return what it was."""
        (act,) = self._chance.choices(list(self.acts), list(self.acts.values()))
        try:
            act()
        except (OSError, IndexError) as error:  # something stands in the way, or is locked away
            return f"{act.__name__} ({type(error).__name__})"
        return act.__name__

    def _path(self) -> Path:
        """Return where something may come to be: never through a link, which might lead away."""
        name = self._chance.choice(STEMS) + self._chance.choice(ENDINGS)
        return self._folder() / name

    def _folder(self) -> Path:
        folder = self.place / self._chance.choice(FOLDERS)
        if any(each.is_symlink() for each in (folder, *folder.parents)):
            raise FileExistsError(folder)
        return folder

    def _files(self) -> list[Path]:
        return [
            Path(folder, name)
            for folder, _, names in os.walk(self.place)
            for name in sorted(names)
            if name != ANCHOR
        ]

    def _folders(self) -> list[Path]:
        found = (Path(folder, name) for folder, names, _ in os.walk(self.place) for name in names)
        return sorted(path for path in found if not path.is_symlink())

    def _text(self) -> str:
        self._count += 1
        parts = [
            f"## Part {number}\n\n[x](../a/one.md) {' '.join(self._chance.choices(WORDS, k=12))}\n"
            for number in range(self._chance.randrange(3))
        ]
        return f"# Title {self._count} {self._chance.choice(WORDS)}\n\n{''.join(parts)}\n"

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file; its time is another than any that it had before."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.is_fifo():  # one would lead away, the other wait for ever
            path.unlink()
        path.write_bytes(data)
        self._date(path, self._chance.choice((0, 0, 0, -YEAR_NS, YEAR_NS, -30 * YEAR_NS)))

    def _date(self, path: Path, shift: int) -> None:
        """Set a clock that jumps by years, and never says the same twice."""
        self._count += 1
        at = time.time_ns() + shift + self._count * 1_000
        os.utime(path, ns=(at, at), follow_symlinks=False)

    def create(self) -> None:
        self._write(self._path(), self._text().encode())

    def edit(self) -> None:
        path = self._chance.choice(self._files())
        if not path.is_symlink() and path.is_file():
            self._write(path, self._text().encode())

    def rewrite_at_once(self) -> None:
        """Write twice without any pause, as many letters each time: only the moment is suspect."""
        path = self._path()
        self._write(path, self._text().encode())
        size = path.stat().st_size
        path.write_bytes((self._chance.choice(WORDS) * size).encode()[:size])

    def rename(self) -> None:
        self._chance.choice(self._files()).replace(self._path())

    def move_folder(self) -> None:
        source, target = self._chance.choice(self._folders()), self._path().with_suffix("")
        source.rename(target)

    def replace_folder(self) -> None:
        """Put a copy, with the times of its files, where a folder was."""
        source, target = self._chance.choices(self._folders(), k=2)
        if target not in (source, *source.parents) and source not in target.parents:
            shutil.rmtree(target)
            shutil.copytree(source, target, symlinks=True)
            for folder, _, names in os.walk(target):
                for name in names:  # two files of one path, size and time are one to anybody
                    self._date(Path(folder, name), 0)

    def delete(self) -> None:
        self._chance.choice(self._files()).unlink()

    def delete_folder(self) -> None:
        shutil.rmtree(self._chance.choice(self._folders()))

    def touch(self) -> None:
        path = self._chance.choice(self._files())
        if not path.is_symlink():
            self._date(path, self._chance.choice((0, YEAR_NS, -YEAR_NS, 80 * YEAR_NS)))

    def become_another_type(self) -> None:
        path = self._chance.choice([*self._files(), *self._folders()])
        self._remove(path)
        kind = self._chance.randrange(4)
        if kind == 0:
            path.mkdir()
            self._write(path / "one.md", self._text().encode())
        elif kind == 1:
            self._write(path, self._text().encode())
        elif kind == 2:
            os.mkfifo(path)
        else:
            path.symlink_to(
                self._chance.choice([ANCHOR, str(self._outside), "..", "nowhere", "one.md"])
            )

    def _remove(self, path: Path) -> None:
        if not path.is_symlink() and path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    def make_link(self) -> None:
        path = self._path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self._chance.choice([*self._files(), *self._folders()]))

    def lock_away(self) -> None:
        path = self._chance.choice([*self._files(), *self._folders()])
        if not path.is_symlink():
            path.chmod(0o000)

    def unlock(self) -> None:
        """Let everything be read again."""
        for path in self._everything():
            if not path.is_symlink() and not stat.S_IMODE(path.stat().st_mode) & 0o400:
                path.chmod(0o755 if path.is_dir() else 0o644)

    def _everything(self) -> Iterator[Path]:
        """Give each folder before what lies in it, so that it can be opened in between."""
        waiting = [self.place]
        while waiting:
            folder = waiting.pop()
            for path in sorted(folder.iterdir()):
                yield path
                if not path.is_symlink() and path.is_dir():
                    waiting.append(path)

    def write_ignore_file(self) -> None:
        folder = self._folder()
        rules = self._chance.choices(("*.txt", "!one.txt", "b/", "/a/", "t*", "!a/", "#"), k=2)
        self._write(folder / ".gitignore", "\n".join(rules).encode())

    def write_junk(self) -> None:
        """Write what is no text, or nothing."""
        junk = (b"", bytes(300), self._chance.randbytes(500), b"\xff\xfeh\x00i\x00", b"PK\x03\x04x")
        self._write(self._path(), self._chance.choice(junk))


def open_library(folder: Path, index: Path) -> Library:
    """Open the library of a folder; nothing is read for meaning, which needs its own time."""
    flags = {"index": str(index), "workers": 1, "embedder": "none"}
    return Library.open(load(flags, use_start_folder=False, environment={}), [str(folder)])


def everything(library: Library) -> dict[str, Any]:
    """Return all that an index says, but for the numbers that it gives by itself."""
    (state,) = library.states()
    name = state.collection.name
    said: dict[str, Any] = {"state": state._replace(scanned_at=None)}
    for document in library.list_documents(name, limit=1000).documents:
        # Who states no date has that of the day when its content was read, not when it was touched.
        known = document._replace(key=0, generation=0, date="")
        text = library.text(document).text if document.status == "ok" else ""
        said[document.path] = (known, text, library.outline(document), library.links(document))
    said["failures"] = [each._replace(key=0, generation=0) for each in library.ledger(name)]
    for word in (*WORDS[::5], "title", "anchor", "part one"):
        hits = library.search(SearchRequest(word, limit=100, fuzzy=False)).hits
        # How rare a word is counts what was removed until its part of the word index is merged.
        said[f"? {word}"] = sorted((hit.document, hit.snippet) for hit in hits)
    said["problems"] = library.check()
    return said


def compare(folder: Folder, library: Library, fresh: Path) -> int:
    """Fail unless the library says what a fresh one says; return how many documents it has."""
    library.update()
    with open_library(folder.place, fresh) as other:
        other.update()
        expected, said = everything(other), everything(library)
    shutil.rmtree(fresh)
    for key in sorted({*expected, *said}):
        if expected.get(key) != said.get(key):
            raise SystemExit(f"{key}:\nfresh    {expected.get(key)}\nfollowed {said.get(key)}")
    return len(said)


def main(place: Path, seed: int, steps: int, compare_every: int) -> None:
    """Follow a folder for so many steps."""
    chance = random.Random(seed)
    folder = Folder(place / "folder", chance)
    done: Counter[str] = Counter()
    most = compared = updates = 0
    with open_library(folder.place, place / "index") as library:
        library.update()
        for number in range(1, steps + 1):
            done[folder.step()] += 1
            if chance.random() < 0.2:
                library.update()
                updates += 1
            if number % compare_every == 0:
                folder.unlock()
                most = max(most, compare(folder, library, place / "fresh"))
                compared += 1
    said = {"steps": done, "updates": updates, "compared": compared, "most": most}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    with patch("bookwheel.indexing.pipeline.WorkerPool", IndoorPool):
        main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
