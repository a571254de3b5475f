"""A disk that loses what was not synced when its power is cut, in whatever order it likes.

Every write of SQLite goes through, and is remembered until its file is synced. A cut copies all
files as they are, and gives those of SQLite what a disk may have kept: each of their sectors that
was not synced is there or not, and a file whose name was not synced is there or not. The word index
syncs what it writes before it says so; the copy has it as it is, ahead of all that was lost.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BookwheelError
from tests.engines.drafts import NOTES, PAPERS, draft, found, key_of, problems
from tests.temporary import remove

_SECTOR = 512
_MODEL = "a model"
_WORDS = ("walrus", "penguin", "otter")
State = Mapping[str, str]
"""The word that each document holds."""
_STATES: tuple[State, ...] = (
    {},
    {"a.md": "walrus", "b.md": "walrus"},
    {"a.md": "penguin", "b.md": "walrus", "new.md": "walrus"},
    {"a.md": "penguin", "new.md": "walrus"},
    {"a.md": "penguin", "new.md": "otter", "b.md": "otter"},
    {"a.md": "penguin", "new.md": "otter", "b.md": "otter", "c.md": "walrus"},
)


class Image:
    """What may be on a disk of one file: what was synced, and what was written since."""

    def __init__(self, *synced: bytes | None) -> None:
        self._synced = synced
        """None is for a file that is not there."""
        self._since: list[tuple[int, bytes | None]] = []

    def write(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        while offset < end:
            size = min(end - offset, _SECTOR - offset % _SECTOR)
            self._since.append((offset, data[:size]))
            offset, data = offset + size, data[size:]

    def truncate(self, size: int) -> None:
        self._since.append((size, None))

    def sync(self, content: bytes) -> None:
        self._synced, self._since = (content,), []

    def delete(self) -> None:
        """A name that is taken away may be there again until its folder is synced."""
        self._synced, self._since = (*self._synced, None), []

    def create(self) -> None:
        self._synced, self._since = (*self._synced, None, b""), []

    def draw(self, chance: random.Random) -> bytes | None:
        """Return what is left of it, None where it is not there."""
        content = chance.choice(self._synced)
        if content is None or content is not self._synced[-1]:
            return content
        left = bytearray(content)
        share = chance.choice((0.0, 0.5, 0.9))
        for offset, data in self._since:
            if chance.random() >= share:
                continue
            if data is None:
                del left[offset:]
            left.extend(bytes(max(0, offset - len(left))))
            left[offset : offset + len(data or b"")] = data or b""
        return bytes(left)


class Cut(NamedTuple):
    """A copy of an index as a cut may have left it, and which states it may be in."""

    place: Path
    least: int
    most: int


class Power(apsw.VFS):
    """The disk below a folder. Before every operation the power is cut as often as wanted."""

    def __init__(self, place: Path, cuts: Path, times: int, every: int) -> None:
        super().__init__("power", "unix", makedefault=True)
        self._place, self._cuts, self._times, self._every = place, cuts, times, every
        self._images: dict[Path, Image] = {}
        self._chance = random.Random(1)
        self._count = 0
        self.least = self.most = 0
        self.taken: list[Cut] = []

    def xOpen(  # noqa: N802 # the name SQLite gives it
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name or "")
        if path.parent != self._place:
            return apsw.VFSFile("unix", name, flags)
        is_new = not path.exists()
        opened = PoweredFile(name, flags, self, path)
        if is_new and path.exists():
            self._images.setdefault(path, Image()).create()
        elif not is_new:
            self._images.setdefault(path, Image(path.read_bytes()))
        return opened

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802 # as above
        path = Path(name)
        if path in self._images:
            self.step()
            self._images[path].delete()
        super().xDelete(name, sync_folder)

    def image(self, path: Path) -> Image:
        return self._images[path]

    def step(self) -> None:
        """Cut the power some times, each time with another loss."""
        self._count += 1
        if self._count % self._every == 0:
            for _ in range(self._times):
                self._cut()

    def _cut(self) -> None:
        copy = self._cuts / str(len(self.taken))
        _copy(self._place, copy)
        for path, image in self._images.items():
            content = image.draw(self._chance)
            if content is None:
                (copy / path.name).unlink(missing_ok=True)
            else:
                (copy / path.name).write_bytes(content)
        self.taken.append(Cut(copy, self.least, self.most))


def _copy(place: Path, copy: Path) -> None:
    """Copy all files as they are at one moment: threads of the word index may be at work."""
    while True:
        before = _look(place)
        with suppress(shutil.Error):  # a file has gone meanwhile
            shutil.copytree(place, copy, ignore=shutil.ignore_patterns("*-shm"))
            if before and _look(place) == before:
                return
        shutil.rmtree(copy)


def _look(place: Path) -> set[tuple[str, int, int]]:
    with suppress(FileNotFoundError):
        files = ((entry, entry.stat()) for entry in place.rglob("*"))
        return {(str(entry), seen.st_ino, seen.st_mtime_ns) for entry, seen in files}
    return set()


class PoweredFile(apsw.VFSFile):
    """A file that remembers what was written since it was synced."""

    def __init__(
        self, name: str | apsw.URIFilename | None, flags: list[int], power: Power, path: Path
    ) -> None:
        super().__init__("unix", name, flags)
        self._power, self._path = power, path

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 # as above
        self._power.step()
        self._power.image(self._path).write(offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 # as above
        self._power.step()
        self._power.image(self._path).truncate(size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 # as above
        self._power.step()
        super().xSync(flags)
        self._power.image(self._path).sync(self._path.read_bytes())


class CutBetween:
    """A writer of the word index: the power may be cut when it has committed."""

    def __init__(self, inner: Any, power: Power) -> None:
        self._inner, self._power = inner, power

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self) -> None:
        self._inner.commit()
        self._power.step()


def power_cuts(folder: Path, times: str, every: str) -> dict[str, Any]:
    """Cut the power at every so-many-th operation of a small run; say which copies are bad."""
    place, cuts = folder / "index", folder / "cuts"
    place.mkdir()
    power = Power(place, cuts, int(times), int(every))
    _run(EmbeddedEngine(place / "catalog.db"), power)
    bad = []
    for cut in power.taken:
        try:
            trouble = _judge(cut)
        except BookwheelError as error:
            trouble = error.message
        if trouble:
            bad.append([cut.place.name, cut.least, cut.most, trouble])
        remove(cut.place)
    return {"cuts": len(power.taken), "bad": bad}


def _run(engine: EmbeddedEngine, power: Power) -> None:
    """Lead an index from state to state."""

    @contextmanager
    def going_on() -> Iterator[None]:
        power.most += 1
        yield
        power.least = power.most

    for begins in ((0,), (1, 2, 3), (4,)):
        engine.begin_writing()
        engine.declare([NOTES, PAPERS])
        words = engine._derived.start()
        words._writers = {kind: CutBetween(each, power) for kind, each in words._writers.items()}  # type: ignore[misc] # it stands in for one
        for begin in begins:
            before, after = _STATES[begin : begin + 2]
            changed = {path: word for path, word in after.items() if before.get(path) != word}
            with going_on():
                if changed:
                    engine.write([draft(path, word) for path, word in changed.items()])
                else:
                    engine.remove("notes", [path for path in before if path not in after])
            if begin != 1:
                engine.commit()
            _embed(engine, list(changed))
        engine.end_writing()
    engine.close()


def _embed(engine: EmbeddedEngine, paths: list[str]) -> None:
    rows = {key_of(engine, path): np.full((1, 16), 0.25) for path in paths}
    engine.write_vectors(_MODEL, 16, rows)


def _judge(cut: Cut) -> str:
    """Say what is wrong after a cut: the state must be one that was, and no older than told."""
    engine = EmbeddedEngine(cut.place / "catalog.db")
    try:
        if not engine.exists:
            return "" if not cut.least else "it is gone"
        state = _state(engine)
        trouble = list(problems(engine))
        if trouble:
            return "; ".join(trouble)
        if state not in _STATES[cut.least : cut.most + 1]:
            return f"{state}, not {_STATES[cut.least : cut.most + 1]}"
        return _go_on(engine, state)
    finally:
        engine.close()


def _go_on(engine: EmbeddedEngine, state: State) -> str:
    """Write on: what was lost must not come back."""
    engine.begin_writing()
    engine.declare([NOTES, PAPERS])
    engine.write([draft(path, "otter") for path in ("later.md", "last.md")])
    engine.commit()
    engine.end_writing()
    trouble = list(problems(engine))
    expected = {**state, "later.md": "otter", "last.md": "otter"}
    if not trouble and _state(engine) != expected:
        trouble.append(f"afterwards {_state(engine)}, not {expected}")
    return "; ".join(trouble)


def _state(engine: EmbeddedEngine) -> State:
    return {path: word for word in _WORDS for path in found(engine, word)}
