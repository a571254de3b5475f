"""kill -9 at any moment loses no committed document and leaves none half indexed."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.engines.base import Match
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest
from tests.engines.drafts import found, problems
from tests.engines.embedded.scenes import ROOT
from tests.engines.embedded.test_rebuild import open_library
from tests.faults.sizes import PropertyRecorder, size
from tests.waiting import wait_until

_ALL = Match(())
WORDS = [a + b + c + "ling" for a in "bdfgkmnp" for b in "aeiou" for c in "bdfgkmnprt"]


class Tree:
    """A folder of documents that changes at random, each with a word of its own."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self._chance = chance
        self._count = 0
        folder.mkdir()

    def write(self, name: str) -> None:
        self._count += 1
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        parts = [
            f"## Part {part}\n\n{' '.join(self._chance.choices(WORDS, k=150))}\n"
            for part in range(self._chance.randint(0, 3))
        ]
        own = f"unique{self._count}word"
        path.write_text(f"# Title {name}\n\n{own}\n\n{''.join(parts)}", encoding="utf-8")

    def change(self, number: int) -> None:
        """Add, edit and delete some files."""
        for _ in range(number):
            name = f"{self._chance.choice('abcd')}/{self._chance.randrange(40)}.md"
            if self._chance.random() < 0.2:
                (self.folder / name).unlink(missing_ok=True)
            else:
                self.write(name)


def _committed(index: Path) -> dict[str, str]:
    """Return what the database holds, read by SQLite itself: text by path."""
    database = index / "catalog.db"
    if not database.exists():
        return {}
    uri = f"{database.as_uri()}?mode=ro"  # else it would merge the log, without sums of pages
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        rows = connection.execute(
            "SELECT path, text FROM documents JOIN texts ON document = id WHERE status = 'ok'"
        )
        return {path: text.decode() for path, text in rows}


class Reader:
    """Somebody who reads an index while others write it, and remembers what was there."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._seen = set(_committed(index).items())
        self.learnt = 0
        """How many documents were first seen while somebody wrote."""

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read again and again meanwhile."""
        is_over = threading.Event()
        thread = threading.Thread(target=self._read, args=(is_over,))
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _read(self, is_over: threading.Event) -> None:
        while not is_over.wait(0.005):
            with contextlib.suppress(sqlite3.OperationalError):  # it is just being made
                now = set(_committed(self._index).items())
                self.learnt += len(now - self._seen)
                self._seen |= now

    def find_lost(self, tree: Path) -> list[str]:
        """Return what is there no more though its file is as it was seen."""
        gone = self._seen - set(_committed(self._index).items())
        self._seen -= gone
        return [path for path, text in gone if _holds(tree / path, text)]


def _holds(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text


def _own_word(text: str) -> str:
    return text.split("\n")[2]


def _search_all(library: Library, expected: dict[str, str]) -> None:
    for path, text in expected.items():
        by_words = SearchRequest(_own_word(text), fuzzy=False, mode=SearchMode.LEXICAL)
        hits = library.search(by_words).hits
        assert [hit.document for hit in hits] == [path]


def _everything(library: Library) -> dict[str, object]:
    """Return all that the index says of every document, and some answers."""
    name = library.states()[0].collection.name
    said: dict[str, object] = {}
    for document in library.list_documents(name, limit=1000).documents:
        said[document.path] = (
            document.title,
            document.size,
            document.words,
            document.chunks,
            library.text(document).text,
            library.outline(document),
            library.links(document),
        )
    for word in WORDS[::20]:
        hits = library.search(SearchRequest(word, limit=1000, fuzzy=False)).hits
        said[word] = sorted(hit.document for hit in hits)
    return said


def _start(tree: Path, index: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bookwheel", "index", str(tree), "--index", str(index)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _run_and_kill(tree: Path, index: Path, delay: float, *, workers_too: bool) -> bool:
    """Start an indexing, kill it when the time is over; tell whether it was still at it."""
    with _start(tree, index) as process:
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            if workers_too:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            return True
        return False


def _rounds(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(1)
    tree, index = Tree(tmp_path / "tree", chance), tmp_path / "index"
    tree.change(120)
    began = time.monotonic()
    with _start(tree.folder, tmp_path / "first") as process:
        assert process.wait() == 0
    whole = time.monotonic() - began
    killed, reader = 0, Reader(index)
    for number in range(rounds):
        delay = whole * chance.uniform(0.3, 1.1)
        with reader.reading():
            killed += _run_and_kill(tree.folder, index, delay, workers_too=bool(number % 2))
        assert reader.find_lost(tree.folder) == []
        committed = _committed(index)
        with open_library(index, tree.folder) as library:
            if library.exists:
                assert library.check() == []
                _search_all(library, committed)
                assert library.check() == []
        tree.change(25)
    assert killed
    assert reader.learnt
    with _start(tree.folder, index) as process:
        assert process.wait() == 0
    with (
        open_library(index, tree.folder) as library,
        open_library(tmp_path / "fresh", tree.folder) as fresh,
    ):
        fresh.update()
        fresh.embed()
        assert _everything(library) == _everything(fresh)
        assert library.check() == []


@pytest.mark.timeout(300)
def test_f01_an_indexing_killed_again_and_again_ends_as_one_that_was_not(tmp_path: Path) -> None:
    _rounds(tmp_path, 6)


class Forks:
    """Indexings that are killed when their time is over, started in no time."""

    def __init__(self, tree: Path, index: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forks", str(tree), str(index)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, delay: float | None) -> bool:
        """Index, or be killed after a while; tell whether it was."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{'' if delay is None else delay}\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        assert delay is not None or status == 0
        return os.WIFSIGNALED(status)

    def end(self) -> None:
        self._process.communicate()


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_f01_an_indexing_killed_a_thousand_times_ends_as_one_that_was_not(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    rounds = size("KILLS", 1_000)
    chance = random.Random(size("SEED", 3))
    tree, index = Tree(tmp_path / "tree", chance), tmp_path / "index"
    tree.change(30)
    forks = Forks(tree.folder, index)
    forks.run(None)
    tree.change(6)
    began = time.monotonic()
    forks.run(None)
    killed, whole = 0, time.monotonic() - began
    reader = Reader(index)
    for _ in range(rounds):
        tree.change(6)
        began = time.monotonic()
        with reader.reading():
            was_killed = forks.run(whole * chance.uniform(0.02, 1.1))
        assert reader.find_lost(tree.folder) == []
        killed += was_killed
        if not was_killed:
            whole = 0.7 * whole + 0.3 * (time.monotonic() - began)
        else:
            whole *= 1.01
        committed = _committed(index)
        with open_library(index, tree.folder) as library:
            assert library.check() == []
            _search_all(library, dict(chance.sample(sorted(committed.items()), 8)))
    forks.run(None)
    forks.end()
    with (
        open_library(index, tree.folder) as library,
        open_library(tmp_path / "fresh", tree.folder) as fresh,
    ):
        fresh.update()
        fresh.embed()
        assert _everything(library) == _everything(fresh)
        assert library.check() == []
    assert killed > rounds / 3
    assert reader.learnt > rounds
    seen = f"{reader.learnt:,} documents seen meanwhile"
    record_property("figure", f"{rounds:,} rounds, {killed:,} killed at work: of {seen} 0 lost")


def _embed_and_kill(index: Path, tree: Path, after: int) -> bool:
    """Embed in another process, killed when it begins its next batch after so many."""
    program = f"""
import os, signal
from bookwheel.indexing import embedding
from tests.engines.embedded.test_rebuild import open_library
from pathlib import Path
inner, calls = embedding._Work.do, []
def killing(*arguments):
    calls.append(1)
    if len(calls) > {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    return inner(*arguments)
embedding._Work.do = killing
with open_library(Path({str(index)!r}), Path({str(tree)!r})) as library:
    library.embed()
"""
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode != 0


@pytest.mark.timeout(300)
def test_f01_an_embedding_that_is_killed_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    tree, index = Tree(tmp_path / "tree", random.Random(2)), tmp_path / "index"
    for number in range(400):
        tree.write(f"a/{number}.md")
    with open_library(index, tree.folder) as library:
        library.update()
    had = kills = 0
    while _embed_and_kill(index, tree.folder, after=2):
        kills += 1
        with open_library(index, tree.folder) as library:
            embedder = library.embedder
            assert embedder is not None
            done, total = library._store.embedded(embedder.fingerprint)
            assert had < done < total
            had = done
            assert (library.is_embedded, library.check()) == (False, [])
    assert kills > 1
    with (
        open_library(index, tree.folder) as library,
        open_library(tmp_path / "fresh", tree.folder) as fresh,
    ):
        assert library.is_embedded
        fresh.update()
        fresh.embed()
        assert _everything(library) == _everything(fresh)
        assert library.check() == []


# Several processes on one index


def _log(folder: Path, name: str) -> list[str]:
    path = folder / f"{name}.log"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.timeout(180)
@pytest.mark.parametrize("number", [2, 4])
def test_f07_when_the_writer_is_killed_another_takes_over_and_nothing_is_lost(
    tmp_path: Path, number: int
) -> None:
    names = [f"p{each}" for each in range(number)]
    crowd = {
        name: subprocess.Popen(
            [sys.executable, "-m", "tests.faults.crowd", str(tmp_path), name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
        )
        for name in names
    }
    try:
        while len(crowd) > 1:
            wait_until(
                lambda: any(_log(tmp_path, name).count("committed") >= 2 for name in crowd), 30
            )
            writer = next(n for n in crowd if _log(tmp_path, n).count("committed") >= 2)
            process = crowd.pop(writer)
            process.kill()
            process.communicate()
        (last,) = crowd
        wait_until(lambda: _log(tmp_path, last).count("committed") >= 1, 30)
        crowd[last].communicate()
        assert crowd.pop(last).returncode == 0
    finally:
        for process in crowd.values():
            process.kill()
            process.communicate()
    lines = [line for name in names for line in _log(tmp_path, name)]
    assert "lost some" not in lines
    written = sorted(line.removeprefix("wrote ") for line in lines if line.startswith("wrote "))
    engine = EmbeddedEngine(tmp_path / "catalog.db")
    everything = engine.paths("notes")
    assert set(everything) >= set(written)
    # A writer may be killed between writing a document and telling of it.
    assert len(everything) <= len(written) + number
    assert engine.match_pages(_ALL, 9_999, count=True).total == len(everything)
    assert len(found(engine, "walrus")) == min(100, len(everything))
    assert problems(engine) == []
    engine.close()
