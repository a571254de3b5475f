"""Bringing an index up to date with its folders: scan, prepare in workers, write, commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from bookwheel.engines.base import WritableEngine
from bookwheel.errors import BookwheelError
from bookwheel.formats.registry import SUPPORTED
from bookwheel.indexing.hanging import Hanging, Shares
from bookwheel.indexing.ignore import CollectionRules, rules_for
from bookwheel.indexing.kept_worker import KeptWorker
from bookwheel.indexing.outcomes import take_result
from bookwheel.indexing.prepare import MAX_FILE_BYTES, refused
from bookwheel.indexing.scan import FoundFile, Scan, scan
from bookwheel.indexing.worker import Outcome, Task, WorkerPool
from bookwheel.model import Collection, Counts, Draft, FileState, Known, Status
from bookwheel.safety.finding import OWN_RULES, Rules
from bookwheel.safety.opener import Root

_WRITE_STEP = 64
_WRITE_CHARACTERS = 4_000_000
"""So much text waits to be written, since it is held in memory several times over."""
_LITTLE_FILES = 200
_LITTLE_BYTES = 1_000_000
"""Starting a worker takes as much CPU as reading fifty pages; a first index is waited for."""
_FIRST_COMMIT_SECONDS = 1.0
_LONGEST_COMMIT_SECONDS = 30.0
_UNSEEN = FileState(-1, 0, b"")
"""What is known of a folder that cannot be listed: no file has this size."""


@dataclass(slots=True)
class Report:
    """What an update did in one collection."""

    collection: str
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    unreadable: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    failed: bool = False
    """The folder itself could not be looked through."""

    @property
    def changed(self) -> bool:
        return bool(self.indexed or self.removed or self.unreadable)

    def counts(self, done: int = 0, total: int = 0) -> Counts:
        """Return what a caller hears: files that gave no text count as skipped."""
        return Counts(self.indexed, self.unchanged + self.unreadable, self.removed, done, total)


class Progress(NamedTuple):
    """How far an update is: files done of those that have to be read."""

    collection: str
    done: int
    total: int


Listener = Callable[[Progress], None]


class Updater:
    """Updates the collections of one engine; the engine must be open for writing."""

    def __init__(
        self,
        engine: WritableEngine,
        *,
        workers: int | None = None,
        max_bytes: int = MAX_FILE_BYTES,
        rules: Rules = OWN_RULES,
        own_paths: Iterable[str] = (),
        kept: KeptWorker | None = None,
        shares: Shares | None = None,
        on_progress: Listener | None = None,
        on_counts: Callable[[Counts], None] = lambda counts: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._engine = engine
        self._workers = workers
        self._max_bytes = max_bytes
        self._rules = rules
        self._own_paths = tuple(own_paths)
        self._kept = kept
        self._shares = shares or Shares()
        self._on_progress = on_progress or (lambda progress: None)
        self._on_counts = on_counts
        self._should_stop = should_stop

    def update(
        self,
        collection: Collection,
        folder: str = "",
        *,
        full: bool = False,
        accept_empty: bool = False,
    ) -> Report:
        """Bring a collection or a folder in it up to date; with `full` all files are read anew.

        Documents are found as they were until each is replaced. A collection found empty is taken
        for an unmounted share unless `accept_empty` says otherwise.
        """
        report = Report(collection.name)
        started = time.monotonic()
        try:
            self._shares.require_answer(collection.path)
            root = Root.open(collection.path)
        except BookwheelError as error:
            report.problems.append(f"{error.message} Its documents are kept as they were.")
            report.failed = True
            return report
        with root:
            try:
                self._update(root, collection, folder, report, full=full, accept_empty=accept_empty)
            except Hanging as error:
                report.problems.append(f"{error.message} Its documents are kept as they were.")
                report.failed = True
        report.seconds = time.monotonic() - started
        return report

    def _update(
        self,
        root: Root,
        collection: Collection,
        folder: str,
        report: Report,
        *,
        full: bool,
        accept_empty: bool,
    ) -> None:
        rules = rules_for(collection, own=self._own_paths)
        look = partial(_scan, root, rules, folder)
        seen = self._shares.look(root, look, should_stop=self._should_stop)
        if seen.stopped:  # what is known takes long to read where it is much
            return
        known = self._engine.known(collection.name, folder)
        report.skipped = sum(seen.skipped.values())
        report.problems += [f"{folder or '.'}: {reason}" for folder, reason in seen.unread]
        elsewhere = self._is_on_another_device(root, collection)
        if not (accept_empty or folder) and looks_unmounted(seen, known, elsewhere=elsewhere):
            report.problems.append(
                f"{collection.path} has none of the {len(known)} files it had: it looks unmounted. "
                "Its documents are kept; `bookwheel index --full` accepts that they are gone."
            )
            report.failed = True
            return
        gone = self._remove(collection, seen, known, report)
        changed = [
            file
            for file in seen.files
            if full or is_changed(file, known.get(file.path), max_bytes=self._max_bytes)
        ]
        report.unchanged = len(seen.files) - len(changed)
        self._on_counts(report.counts(0, len(changed)))
        if changed:
            self._read(collection, changed, known, report, full=full)
        if not (folder or self._should_stop()):
            self._list_unseen(collection, seen, known, report)
            self._engine.mark_scanned(
                collection.name, device=root.device, skipped=seen.skipped, at=time.time()
            )
        if report.changed or gone:
            self._engine.commit()

    def _is_on_another_device(self, root: Root, collection: Collection) -> bool:
        """Tell whether a folder lies on another device than when it was last looked through."""
        states = {each.collection.name: each for each in self._engine.collections()}
        before = states[collection.name].device if collection.name in states else None
        return before not in (None, root.device)

    def _remove(
        self, collection: Collection, seen: Scan, known: dict[str, Known], report: Report
    ) -> int:
        """Take out what is gone; a folder that can be listed again is no file that was removed."""
        there = {file.path for file in seen.files}
        gone = [path for path in known if path not in there and seen.covers(path)]
        folders = sum(is_unseen(known[path]) for path in gone)
        removed = self._engine.remove(collection.name, gone)
        report.removed = removed - folders
        return removed

    def _list_unseen(
        self, collection: Collection, seen: Scan, known: dict[str, Known], report: Report
    ) -> None:
        """List what could not be looked at, so that the status tells of it; the root says so."""
        unseen = [
            refused(collection.name, path, Status.UNREADABLE, reason, _UNSEEN)
            for path, reason in seen.unread
            if path and path not in known
        ]
        if unseen:
            self._engine.write(unseen)
        report.unreadable += len(unseen)

    def _read(
        self,
        collection: Collection,
        files: list[FoundFile],
        known: dict[str, Known],
        report: Report,
        *,
        full: bool,
    ) -> None:
        setup = (
            collection.name,
            collection.path,
            collection.source,
            collection.language,
            self._max_bytes,
            tuple(self._rules),
        )
        tasks = (
            Task(number, (file.path, self._digest(known, file, full=full)), file.size)
            for number, file in enumerate(files)
        )
        handler = "bookwheel.indexing.prepare:make_prepare"
        workers = 1 if known and is_little(files) else self._workers
        with WorkerPool(handler, setup, workers=workers, kept=self._kept) as pool:
            self._write(collection, files, known, pool.run(self._until_stopped(tasks)), report)

    @staticmethod
    def _digest(known: dict[str, Known], file: FoundFile, *, full: bool) -> bytes:
        before = known.get(file.path)
        return before.digest if before and not full else b""

    def _until_stopped(self, tasks: Iterable[Task]) -> Iterator[Task]:
        for task in tasks:
            if self._should_stop():
                return
            yield task

    def _write(
        self,
        collection: Collection,
        files: list[FoundFile],
        known: dict[str, Known],
        outcomes: Iterator[Outcome],
        report: Report,
    ) -> None:
        """Write what the workers give in steps, and make it searchable now and then."""
        drafts: list[Draft] = []
        waiting = 0
        same: dict[str, FileState] = {}
        # Each commit costs as much as reading many files: a few are found all at once.
        is_brief = known and is_little(files)
        pause = _LONGEST_COMMIT_SECONDS if is_brief else _FIRST_COMMIT_SECONDS
        last = time.monotonic()
        done = 0
        for outcome in outcomes:
            done += 1  # noqa: SIM113 - `enumerate` would hold on to what it gave last
            file = files[outcome.task.key]
            result = take_result(collection.name, file, outcome)
            if isinstance(result, FileState):
                same[file.path] = result
                report.unchanged += 1
            elif is_still_refused(result, known.get(file.path)):
                report.unchanged += 1
            else:
                drafts.append(result)
                waiting += result.characters
                report.indexed += result.status is Status.OK
                report.unreadable += result.status is not Status.OK
                if result.status is Status.OK and result.reason:
                    report.problems.append(f"{file.path}: {result.reason}")
            del result, outcome  # a long text is held by the draft alone
            self._on_counts(report.counts(done, len(files)))
            if len(drafts) >= _WRITE_STEP or waiting >= _WRITE_CHARACTERS:
                self._engine.write(_taken(drafts))
                waiting = 0
                self._on_progress(Progress(collection.name, done, len(files)))
                if time.monotonic() - last > pause:
                    self._engine.commit()
                    pause, last = min(pause * 2, _LONGEST_COMMIT_SECONDS), time.monotonic()
        self._engine.write(_taken(drafts))
        self._engine.touch(collection.name, same)
        self._on_progress(Progress(collection.name, len(files), len(files)))


def _scan(root: Root, rules: CollectionRules, folder: str, should_stop: Callable[[], bool]) -> Scan:
    return scan(root, rules, supported=SUPPORTED, should_stop=should_stop, below=folder)


def _taken(drafts: list[Draft]) -> Iterator[Draft]:
    """Yield drafts in order and forget each."""
    drafts.reverse()
    while drafts:
        yield drafts.pop()


def is_little(files: Sequence[FoundFile]) -> bool:
    """Tell so little work that a second worker would cost more than it does."""
    return len(files) <= _LITTLE_FILES and sum(file.size for file in files) <= _LITTLE_BYTES


def looks_unmounted(seen: Scan, known: dict[str, Known], *, elsewhere: bool = False) -> bool:
    """Tell an unmounted share from deleted files.

    Nothing at all is left of it; or, where what lies there now is on another device, none of the
    files that were known.
    """
    if seen.unread or all(map(is_unseen, known.values())):
        return False
    if elsewhere:
        return not any(file.path in known for file in seen.files)
    return not (seen.files or seen.skipped)


def is_unseen(before: Known) -> bool:
    """Tell a folder that could not be listed from files."""
    return before.size == _UNSEEN.size


def is_changed(file: FoundFile, before: Known | None, *, max_bytes: int = MAX_FILE_BYTES) -> bool:
    """Tell whether a file must be read again, by its size and modification time."""
    if before is None or before.racy:
        return True
    # A file that a reader found too large has been opened, and has a digest.
    was_shut = before.status is Status.TOO_LARGE and not before.digest
    if was_shut != (file.size > max_bytes):  # the limit was moved
        return True
    return (file.size, file.modified_ns) != (before.size, before.modified_ns)


def is_still_refused(draft: Draft, before: Known | None) -> bool:
    """Tell whether a file that could not be opened was tried again in vain."""
    if before is None or draft.state.digest or draft.status is Status.OK:
        return False
    return (before.status, before.size, before.modified_ns) == (
        draft.status,
        draft.state.size,
        draft.state.modified_ns,
    )
