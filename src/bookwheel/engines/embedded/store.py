"""One index on disk: opening, reading and writing it, the word index in step with the catalogue."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import apsw

from bookwheel.engines.embedded import database
from bookwheel.engines.embedded.binding import WordsFailed
from bookwheel.engines.embedded.database import IndexFiles
from bookwheel.engines.embedded.derived import DerivedWords
from bookwheel.engines.embedded.leave import wait_until_open
from bookwheel.engines.embedded.lexical import WordIndex
from bookwheel.engines.embedded.lock import WriterLock
from bookwheel.errors import Conflict, IndexDamaged, IndexUnusable
from bookwheel.safety.stopping import Stopped, go_on, is_stopped

_Answer = TypeVar("_Answer")
_VERSION, _MOST_KNOWN = "version", 100


class _Reading:
    """A connection while it is read; no generator, which would cost as much as a small query."""

    def __init__(
        self, place: IndexFiles, connect: Callable[[], apsw.Connection], let_go: Callable[[], None]
    ) -> None:
        self._place = place
        self._connect = connect
        self._let_go = let_go

    def __enter__(self) -> apsw.Connection:
        go_on()
        try:
            return self._connect()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise database.explain(self._place, error) from error
        except IndexDamaged:
            self._let_go()
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.InterruptError) and is_stopped():
            raise Stopped from None
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            said = database.explain(self._place, error)
            if isinstance(said, IndexDamaged):
                self._let_go()
            raise said from error


class Store:
    """The files of one index, the connections to them, and the right to write."""

    def __init__(self, file: Path) -> None:
        self._place = IndexFiles(file)
        self._lock = WriterLock(self._place.lock)
        self._threads = threading.local()
        self._readers: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._derived = DerivedWords(self._place, self._reading)
        self._beginning = threading.RLock()
        self._is_ready = False
        self._file: tuple[int, int] | None = None
        """The database that was opened last, or was tried to."""
        self._has_grown = False
        """Whether something was committed since the lock was taken."""
        self.readonly = False
        self.on_damage: Callable[[], None] = lambda: None
        """Called when a question cannot be answered because the index is broken."""
        self.on_anew: Callable[[], None] = lambda: None
        """Called before an index is set aside or an empty one is made, and when another is met."""

    hides = False
    """It holds texts as they are; who may see what is the affair of others."""

    is_shared = False
    """Whoever writes it holds all its collections."""

    @property
    def home(self) -> Path:
        """The file beside which all of this library lies."""
        return self._place.database

    @property
    def location(self) -> str:
        """Where the index lies, for people."""
        return str(self._place.database)

    @property
    def own_paths(self) -> list[Path]:
        """The files that the engine keeps, which are no documents."""
        place = self._place
        return [place.database, place.lexical, place.vectors, place.lock, place.wal]

    # Opening and closing

    @property
    def exists(self) -> bool:
        """Tell whether there is an index at this place."""
        try:
            return self._place.database.stat().st_size > 0
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise database.explain(self._place, error) from error

    def _reader(self) -> apsw.Connection:
        """Return this thread's connection for reading, to what lies at its place now."""
        connection: apsw.Connection | None = getattr(self._threads, "connection", None)
        file = self._place.file
        if connection is not None and file is not None and file != self._threads.file:
            self._close_reader()
            connection = None
        if connection is None:
            self._note_file(file)
            connection, self.readonly = database.connect_reader(self._place)
            self._threads.connection, self._threads.file = connection, file
            self._readers.append(connection)
        return connection

    def _reading(self) -> _Reading:
        """Give a connection and turn what goes wrong into words for the operator."""
        return _Reading(self._place, self._reader, self._let_go)

    def _let_go(self) -> None:
        """Tell of damage, and close this thread's connection to the file that has it."""
        self._close_reader()
        self.on_damage()

    def _close_reader(self) -> None:
        """Close this thread's connection and forget what was read by it."""
        connection: apsw.Connection | None = getattr(self._threads, "connection", None)
        if connection is not None:
            self._threads.connection, self._threads.known = None, {}
            self._readers.remove(connection)
            _close(connection)

    def _note_file(self, file: tuple[int, int] | None) -> None:
        """Let go of the word index of another catalogue than the one that lies here now."""
        if file == self._file:
            return
        with self._beginning:
            if file == self._file:
                return
            if self._file is not None and not self._lock.held:
                self._is_ready = False
                self._derived.close()
                self.on_anew()
            self._file = file

    def _word_index(self) -> WordIndex:
        """Return the word index, bringing it up to date where no other process does."""
        if self._is_ready:
            self._note_file(self._place.file)
        if not self._is_ready:
            with self._beginning:
                self._make_ready()
        return self._derived.open(readonly=self.readonly)

    def _make_ready(self) -> None:
        if self._is_ready or self._lock.held:
            return
        wait_until_open(self._derived.find_closed)  # what stays closed is told when it is missed
        if not self._is_in_step():
            self._catch_up()
        elif self._derived.is_doubtful and not self._lock.is_taken:
            self._clear_doubt()
        self._is_ready = True

    def _require_leave(self) -> bool:
        """Raise IndexUnusable, which names it, where a file of the word index may not be read.

        Tell whether one was closed for a moment, as each is that another process has just written.
        """
        if self._derived.find_closed() is None:
            return False
        closed = wait_until_open(self._derived.find_closed)
        if closed is not None:
            raise database.closed(self._place, closed)
        return True

    def _clear_doubt(self) -> None:
        """Compare the word index with the catalogue, since nobody knows who wrote it so."""
        if not self.readonly:
            self._catch_up()
        elif self._differs():
            raise database.damaged(self._place, "its word index is damaged")

    def _is_in_step(self) -> bool:
        if not self._derived.is_current():
            return False
        try:
            return self._derived.is_in_step(readonly=self.readonly)
        except WordsFailed as error:
            if error.is_passing:
                raise
            self._derived.close()
            return False

    def _catch_up(self) -> None:
        try:
            self.begin_writing()
        except IndexDamaged:
            raise
        except (Conflict, IndexUnusable) as error:
            # Another process is at it, or there is no room: what there is can be searched.
            self._require_leave()
            if self.readonly or not self._derived.is_current():
                raise (_not_yet() if isinstance(error, Conflict) else error) from None
        else:
            self.end_writing()

    def _ask(self, question: Callable[[WordIndex], _Answer]) -> _Answer:
        """Put a question to the word index; one that is found damaged is made anew first."""
        go_on()
        try:
            return question(self._word_index())
        except WordsFailed as error:
            was_closed = self._require_leave() or error.is_denied
            if not was_closed and not self._is_made_anew():
                raise self._failed(error) from error
        try:
            return question(self._word_index())
        except WordsFailed as error:
            raise self._failed(error) from error

    def _is_made_anew(self) -> bool:
        try:
            return bool(self._derived.find_damage()) and self._make_words_anew()
        except Conflict:  # who writes it makes it anew as well
            raise _not_yet() from None

    def _make_words_anew(self) -> bool:
        """Make the word index anew from the catalogue, unless a thread of ours is writing it.

        Other threads wait for it: what is half made would seem to hold nothing.
        """
        with self._beginning:
            if self._lock.held:
                return False
            if not self._derived.find_damage():
                return True  # another thread has done so meanwhile
            self._is_ready = False
            self.begin_writing()
            try:
                # Where the damage was met at once, beginning has done it.
                if self._derived.find_damage():
                    with self._keeping_words():
                        self._derived.reset()
                        self._derived.start()
            finally:
                self.end_writing()
            return True

    def _failed(self, error: WordsFailed) -> IndexUnusable:
        if error.is_passing or error.is_denied or not self._derived.find_damage():
            return database.unusable(
                self._place,
                f"its word index failed ({error})",
                "Free some room, memory or files and run again; no document is lost.",
            )
        return database.damaged(self._place, "its word index is damaged")

    def close(self) -> None:
        """Close what was opened; what was not committed is replayed at the next opening."""
        if self._lock.held:
            self.end_writing()
        self._close_readers()

    def _close_readers(self) -> None:
        self._is_ready = False
        self._derived.close()
        for connection in self._readers:
            _close(connection)
        self._readers.clear()
        self._threads = threading.local()

    # Reading and writing

    def _recall(self, name: Hashable, read: Callable[[apsw.Connection], _Answer]) -> _Answer:
        """Return what every search asks for, read again only after someone has committed."""
        with self._reading() as connection:
            version = connection.execute("PRAGMA data_version").get
            known: dict[Hashable, Any] = getattr(self._threads, "known", {})
            if known.get(_VERSION) != version or len(known) > _MOST_KNOWN:
                known = self._threads.known = {_VERSION: version}
            if name not in known:
                known[name] = read(connection)
            answer: _Answer = known[name]
            return answer

    @property
    def is_written(self) -> bool:
        """Tell whether a process is writing now, this one or another."""
        return self._lock.is_taken

    def begin_writing(self, collections: Iterable[str] | None = None) -> None:
        """Become the one writer, of whatever collections, and bring the word index in step."""
        # Threads that catch up begin and end in one go, lest one should end another's writing.
        with self._beginning:
            if not self._lock.held:
                self._begin_writing()

    def _begin_writing(self) -> None:
        try:
            self._lock.acquire()
        except OSError as error:
            raise database.explain(self._place, error) from error
        try:
            if self.readonly:
                self._close_readers()  # it was so when they were opened
            if not self.exists:
                self.on_anew()
            self._file = self._place.file
            self._writer = database.connect_writer(self._place)
            self._file = self._place.file  # it may have been made just now
            with self._keeping_words():
                is_doubtful = self._derived.is_doubtful
                if not self._is_in_step():
                    self._derived.start()
                if is_doubtful and self._differs():
                    self._derived.reset()
                    self._derived.start()
        except BaseException:
            self.end_writing()
            raise

    def _differs(self) -> bool:
        """Tell whether the word index holds other entries than the catalogue has documents."""
        from bookwheel.engines.embedded.health import check_words

        with self._reading() as connection:
            return any(check_words(connection, self._derived.open()))

    @contextlib.contextmanager
    def _keeping_words(self) -> Iterator[None]:
        """Let go of a word index that cannot be written: the next start replays what it lacks."""
        try:
            yield
        except WordsFailed as error:
            self._derived.stop()
            self._require_leave()
            raise database.unusable(
                self._place,
                "its word index cannot be written",
                "Free some room on the disk and run again; no document is lost.",
            ) from error

    def end_writing(self) -> None:
        """Let other processes write."""
        try:
            self._derived.stop()
            if self._has_grown:  # whoever only catches up for a search does not wait for this
                self._derived.tidy()
            self._has_grown = False
            self._derived.settle()
            writer, self._writer = self._writer, None
            if writer is not None:
                with contextlib.suppress(apsw.Error):
                    database.give_back(writer)
                    writer.pragma("wal_checkpoint", "truncate")
                _close(writer)
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        assert self._writer is not None, "begin_writing comes first"
        connection = self._writer
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except apsw.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise database.explain(self._place, error) from error


def _not_yet() -> Conflict:
    return Conflict(
        "The index is being made and cannot be searched yet.", hint="Ask again in a few seconds."
    )


def _close(connection: apsw.Connection) -> None:
    """Close a connection; what a failing disk says to that helps nobody."""
    with contextlib.suppress(apsw.Error):
        connection.close()
