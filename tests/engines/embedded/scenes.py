"""Scenes that need a process or a disk of their own; run by `play`, each answers with JSON.

`python -m tests.engines.embedded.scenes NAME FOLDER [ARGUMENT...]`
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BookwheelError
from tests.engines.drafts import NOTES, PAPERS, draft, fill, found, problems
from tests.engines.embedded.power import power_cuts
from tests.rights import AS_READER
from tests.temporary import remove

ROOT = Path(__file__).parents[3]
_NOBODY = 65534


def play(scene: str, folder: Path, *arguments: object, status: int = 0, seconds: float = 50) -> Any:
    """Run a scene apart from all others, with mounts of its own where that is possible."""
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "-r"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], check=False).returncode:
        apart = []
    command = [sys.executable, "-m", "tests.engines.embedded.scenes", scene, str(folder)]
    done = subprocess.run(
        [*apart, *command, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == status, done.stderr[-3000:]
    return json.loads(done.stdout) if done.stdout else None


def play_without_rights(scene: str, folder: Path) -> Any:
    """Run a scene as somebody who may do with files what their modes say, be it as root."""
    command = [sys.executable, "-m", "tests.engines.embedded.scenes", scene, str(folder)]
    done = subprocess.run([*AS_READER, *command], cwd=ROOT, capture_output=True, timeout=50)
    assert not done.returncode, done.stderr[-3000:]
    return json.loads(done.stdout)


def engine_in(folder: Path) -> EmbeddedEngine:
    """Return the engine of the index in a folder."""
    return EmbeddedEngine(folder / "catalog.db")


def outcome(act: Callable[[], object]) -> str:
    """Return what an act says: its value, or the kind and the words of its refusal."""
    try:
        return str(act())
    except BookwheelError as error:
        return f"{type(error).__name__}: {error.message}"


# Ends of a writer


def die_after_catalogue(folder: Path) -> None:
    """Write and remove, then end before the word index is committed."""
    engine = engine_in(folder)
    engine.begin_writing()
    engine.write([draft("a.md", "penguin"), draft("new.md", "walrus")])
    engine.remove("notes", ["b.md"])
    os._exit(0)


def die_between_commits(folder: Path) -> None:
    """End when the word index is committed and its tombstones are not yet dropped."""
    engine = engine_in(folder)
    engine.begin_writing()
    engine.write([draft("a.md", "penguin"), draft("new.md", "walrus")])
    engine.remove("notes", ["b.md"])
    engine._derived.start().commit(engine.generation)
    os._exit(0)


def die_in_transaction(folder: Path) -> None:
    """End in the middle of a transaction of the catalogue."""
    engine = engine_in(folder)
    engine.begin_writing()
    with engine._transaction() as connection:
        connection.execute("UPDATE documents SET title = 'half done'")
        os._exit(0)


def die_while_making(folder: Path) -> None:
    """End while the word index is made anew and holds a part."""
    engine = engine_in(folder)
    engine.begin_writing()
    engine._derived.reset()
    words = engine._derived.open()
    words.start_writing()
    words.commit(0)
    os.kill(os.getpid(), signal.SIGKILL)


def embed(folder: Path, count: str) -> None:
    """Give the first documents other vectors, all the same."""
    import numpy as np

    engine = engine_in(folder)
    engine.begin_writing()
    keys = sorted(engine.document("notes", f"{n}.md").key for n in range(int(count)))  # type: ignore[union-attr] # they are there
    engine.write_vectors("one model", 16, {key: np.full((1, 16), 0.25) for key in keys})
    engine.keep_vectors("one model")
    engine.close()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def hold(folder: Path) -> None:
    """Hold the writer lock, say so, and write a document for every line that comes."""
    engine = engine_in(folder)
    engine.begin_writing()
    engine.declare([NOTES, PAPERS])
    _say(str(os.getpid()))
    for line in sys.stdin:
        engine.write([draft(line.strip(), "walrus")])
        engine.commit()
        _say("written")
    engine.close()
    os._exit(0)


# Disks


def make_readonly(folder: Path) -> str:
    """Make a folder read-only by a mount; where mounting is forbidden, by taking rights away."""
    bound = subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True)
    if not bound.returncode:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        return "mount"
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid() == 0:
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    return "rights"


def readonly(folder: Path) -> dict[str, Any]:
    """Search an index that lies on a read-only medium."""
    place, temporary = folder / "index", folder / "tmp"
    fill(engine_in(place), draft("a.md", "# Ice\n\nwalrus"))
    temporary.mkdir(mode=0o777)
    temporary.chmod(0o777)
    tempfile.tempdir = str(temporary)
    make_readonly(place)
    engine = engine_in(place)
    answer = {
        "found": found(engine, "walrus"),
        "readonly": engine.readonly,
        "refresh": engine.refresh(),
        "vocabulary": sorted(engine.vocabulary()[6]),
        "problems": list(problems(engine)),
        "write": outcome(engine.begin_writing),
        "left": [path.name for path in temporary.iterdir()],
    }
    engine.close()
    return answer


def readonly_with_log(folder: Path) -> dict[str, Any]:
    """Open an index whose last changes are still in its log, on a read-only medium."""
    place, copy = folder / "index", folder / "copy"
    engine = engine_in(place)
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    engine.write([draft("b.md", "walrus")])
    copy.mkdir()
    for name in ("catalog.db", "catalog.db-wal"):
        shutil.copy(place / name, copy)
    engine.close()
    make_readonly(copy)
    return {"read": outcome(lambda: engine_in(copy).generation)}


def _forbid_writing(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & 0o555)


def closed_to_readers(folder: Path) -> dict[str, Any]:
    """Search an index that only another user writes, who closes its tables for a moment."""
    place = folder / "index"
    fill(writer := engine_in(place), draft("a.md", "walrus"))
    words, lock = place / "catalog.db.words", place / "catalog.db.lock"
    folders = (words, words / "pages", words / "passages")
    for each in folders:
        each.chmod(0o555)  # the files keep their looks: what looks other is verified again
    reader = engine_in(place)
    answer: dict[str, Any] = {"before": found(reader, "walrus")}
    for each in folders:
        each.chmod(0o755)
    fill(writer, draft("b.md", "walrus"))
    writer.close()
    for each in folders:
        each.chmod(0o555)
    tables = [*words.glob("*/meta.json")]
    for path in (*tables, lock):
        path.chmod(0)
    answer |= {
        "refresh": reader.refresh(),
        "closed": found(reader, "walrus"),
        "opened meanwhile": outcome(lambda: found(engine_in(place), "walrus")),
        "checked meanwhile": outcome(lambda: problems(engine_in(place))),
        "asked meanwhile": outcome(engine_in(place).require_whole),
        "written meanwhile": outcome(engine_in(place).begin_writing),
    }
    for table in tables:
        table.chmod(0o444)
    answer |= {
        "refresh after": reader.refresh(),
        "after": found(reader, "walrus"),
        "opened after": found(engine_in(place), "walrus"),
    }
    return answer


def closed_files(folder: Path) -> dict[str, str]:
    """Search an index of which one file or folder after the other may not be read."""
    place = folder / "index"
    fill(engine := engine_in(place), draft("a.md", "walrus"))
    engine.close()
    database = place / "catalog.db"
    words = database.with_name("catalog.db.words")
    segment = next(words.glob("pages/*.idx"))
    told = {}
    _forbid_writing(place)  # else what is closed would be made anew
    for path in (place, database, words, words / "made-from.json", words / "pages", segment):
        mode = path.stat().st_mode
        path.chmod(0)
        told[path.name] = outcome(lambda: found(engine_in(place), "walrus"))
        path.chmod(mode)
    return {name.replace(segment.name, "segment"): said for name, said in told.items()}


def readonly_behind(folder: Path) -> dict[str, Any]:
    """Open an index without its word index on a read-only medium."""
    place = folder / "index"
    fill(engine_in(place), draft("a.md", "walrus"))
    shutil.rmtree(place / "catalog.db.words")
    make_readonly(place)
    engine = engine_in(place)
    return {
        "search": outcome(lambda: found(engine, "walrus")),
        "read": engine.paths("notes"),
    }


class SmallDisk:
    """A disk that can be full: a small file system, else a limit on the size of files."""

    def __init__(self, folder: Path, size: int) -> None:
        folder.mkdir()
        self._filler = folder / "filler"
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
        self._mounted = not subprocess.run(mount, check=False, capture_output=True).returncode

    def fill(self, *, leave: int) -> None:
        if self._mounted:
            seen = os.statvfs(self._filler.parent)
            # The system counts room loosely: what is written until it refuses fills the disk too.
            with contextlib.suppress(OSError):
                self._filler.write_bytes(bytes(max(0, seen.f_bavail * seen.f_bsize - leave)))
        else:
            largest = max(p.stat().st_size for p in self._filler.parent.rglob("*") if p.is_file())
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest + leave, resource.RLIM_INFINITY))

    def free(self) -> None:
        if self._mounted:
            self._filler.unlink()
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def full_disk(folder: Path, leave: str) -> dict[str, Any]:
    """Write until the disk is full, read meanwhile, and go on when there is room again."""
    disk = SmallDisk(folder / "disk", 12_000_000)
    engine = engine_in(folder / "disk" / "index")
    fill(engine, draft("a.md", "walrus"))
    disk.fill(leave=int(leave))
    written, refusal = _write_until_refused(engine)
    other = engine_in(folder / "disk" / "index")
    answer: dict[str, Any] = {
        "refusal": refusal,
        "kept": set(engine.paths("notes")) >= {"a.md", *written},
        "found": "a.md" in found(engine, "walrus"),
        "found by another": "a.md" in found(other, "walrus"),
    }
    other.close()
    disk.free()
    fill(engine, draft("last.md", "walrus"))
    answer["lost"] = sorted({"a.md", "last.md", *written} - set(found(engine, "walrus")))
    answer["problems"] = list(problems(engine))
    engine.close()
    return answer


def _write_until_refused(engine: EmbeddedEngine) -> tuple[list[str], str]:
    written: list[str] = []
    try:
        engine.begin_writing()
        for number in range(200):
            text = " ".join(f"walrus w{number}x{each}" for each in range(2_000))
            engine.write([draft(f"{number}.md", text)])
            written.append(f"{number}.md")
            if number % 5 == 4:
                engine.commit()
    except BookwheelError as error:
        return written, f"{type(error).__name__}: {error.message}"
    finally:
        engine.end_writing()
    return written, "none"


def full_disk_opening(folder: Path) -> dict[str, Any]:
    """Read an index whose word index lags, on a disk without any room."""
    disk = SmallDisk(folder / "disk", 6_000_000)
    place = folder / "disk" / "index"
    engine = engine_in(place)
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    engine.write([draft("b.md", "walrus")])
    engine.close()
    disk.fill(leave=0)
    again = engine_in(place)
    answer: dict[str, Any] = {
        "found": "a.md" in found(again, "walrus"),
        "texts": again.paths("notes"),
        "problems": [each.split(".")[0] for each in problems(again)],
    }
    again.close()
    disk.free()
    answer["found later"] = found(engine_in(place), "walrus")
    return answer


# A file system that fails


class Faults:
    """Counts what changes files, and fails from the chosen operation on."""

    def __init__(self) -> None:
        self.count = 0
        self.fail_at: int | None = None
        self.once = True

    def step(self) -> None:
        self.count += 1
        if self.fail_at is None or self.count < self.fail_at:
            return
        if self.count == self.fail_at or not self.once:
            raise apsw.IOError("the disk is dying")


class FaultyFile(apsw.VFSFile):
    """A file whose writes, syncs and truncations may fail."""

    def __init__(
        self, name: str | apsw.URIFilename | None, flags: list[int], faults: Faults
    ) -> None:
        super().__init__("unix", name, flags)
        self._faults = faults

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 # the name SQLite gives it
        self._faults.step()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 # the name SQLite gives it
        self._faults.step()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802 # the name SQLite gives it
        self._faults.step()
        super().xTruncate(size)


class FaultyDisk(apsw.VFS):
    """The system's files, made faulty."""

    def __init__(self, faults: Faults) -> None:
        super().__init__("faulty", "unix", makedefault=True)
        self._faults = faults

    def xOpen(  # noqa: N802 # the name SQLite gives it
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> FaultyFile:
        return FaultyFile(name, flags, self._faults)


def io_errors(folder: Path, step: str) -> dict[str, Any]:
    """Fail every so-many-th operation of a small run, one at a time, once and for good."""
    faults = Faults()
    disk = FaultyDisk(faults)
    base = folder / "base"
    engine = engine_in(base)
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus"))
    engine.close()
    points, bad, silent = 0, [], 0
    for once in (True, False):
        point = 1
        while True:
            place = folder / f"{once}-{point}"
            shutil.copytree(base, place)
            faults.count, faults.fail_at, faults.once = 0, point, once
            said = outcome(lambda place=place: _change(place))  # type: ignore[misc] # bound at once
            reached = faults.count >= point
            faults.fail_at = None
            if not reached:
                break
            points += 1
            silent += said == "None"
            trouble = _judge(place, said)
            if trouble:
                bad.append([once, point, said, trouble])
            remove(place)
            point += int(step)
    del disk
    return {"points": points, "bad": bad, "silent": silent}


def _change(place: Path) -> None:
    engine = engine_in(place)
    try:
        engine.begin_writing()
        engine.write([draft("a.md", "penguin"), draft("new.md", "walrus")])
        engine.remove("notes", ["b.md"])
        engine.commit()
    finally:
        engine.close()


def _judge(place: Path, said: str) -> str:
    """Say what is wrong after a fault: the state must be one that was, and whole."""
    if said != "None" and not said.startswith("IndexUnusable: "):
        return "a wrong refusal"
    engine = engine_in(place)
    try:
        state = (found(engine, "walrus"), found(engine, "penguin"))
        trouble = list(problems(engine))
    except BookwheelError as error:
        return error.message
    finally:
        engine.close()
    states = [
        (["a.md", "b.md"], []),
        (["b.md", "new.md"], ["a.md"]),
        (["new.md"], ["a.md"]),
    ]
    allowed = states if said != "None" else states[2:]
    return "; ".join(trouble) if trouble else ("" if state in allowed else f"a mixture: {state}")


SCENES: dict[str, Callable[..., Any]] = {
    scene.__name__: scene
    for scene in (
        die_after_catalogue,
        die_between_commits,
        die_in_transaction,
        die_while_making,
        embed,
        hold,
        readonly,
        readonly_with_log,
        closed_to_readers,
        closed_files,
        readonly_behind,
        full_disk,
        full_disk_opening,
        io_errors,
        power_cuts,
    )
}


def main() -> None:
    """Play the scene that the arguments name."""
    name, folder, *rest = sys.argv[1:]
    answer = SCENES[name](Path(folder), *rest)
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
