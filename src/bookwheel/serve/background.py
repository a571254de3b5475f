"""Keeping the index fresh while the server answers: a thread that indexes, then follows folders.

It writes through a library of its own, as another process would, so that readers never wait.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bookwheel.errors import BookwheelError, Conflict
from bookwheel.library import Library

if TYPE_CHECKING:
    from bookwheel.indexing.pipeline import Progress, Report

log = logging.getLogger(__name__)

STOP_SECONDS = 3.0
_BUSY_SECONDS = 1.0
_FAILED_SECONDS = 30.0


class Indexing:
    """One thread that brings the index up to date and keeps it so until it is stopped."""

    def __init__(
        self,
        open_library: Callable[[], Library],
        *,
        on_change: Callable[[], None] = lambda: None,
        is_indexed: bool = False,
        busy_seconds: float = _BUSY_SECONDS,
    ) -> None:
        self._open_library = open_library
        self._on_change = on_change
        self._busy_seconds = busy_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bookwheel-index", daemon=True)
        self._said = ""
        self.progress: dict[str, Progress] = {}
        """How far the update under way is, by collection."""
        self.ready = threading.Event()
        """Set when there is something to search."""
        if is_indexed:
            self.ready.set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> bool:
        """End within seconds; tell whether it did. What was committed is sound either way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        return not self._thread.is_alive()

    def describe(self) -> dict[str, Any]:
        """Tell whether there is something to search, and how far the update under way is."""
        rows = list(self.progress.values())
        done, total = sum(row.done for row in rows), sum(row.total for row in rows)
        under_way = {"done": done, "total": total} if rows else None
        return {"status": "ok", "ready": self.ready.is_set(), "indexing": under_way}

    def describe_progress(self) -> str:
        """Say how far the update under way is, or nothing."""
        row = self.describe()["indexing"]
        return f" ({row['done']:,} of {row['total']:,} files so far)" if row else ""

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with self._open_library() as library:
                    self._update_first(library)
                    library.watch(on_update=self._tell, should_stop=self._stop.is_set)
            except BookwheelError as error:
                self._say(error.message)
            except Exception:
                log.exception("indexing failed and begins again")
            self._stop.wait(_FAILED_SECONDS)

    def _update_first(self, library: Library) -> None:
        """Bring the index up to date; while another process writes it, wait and try again."""
        while not self._stop.is_set():
            started = time.monotonic()
            try:
                reports = library.update(
                    on_progress=self._note_progress, should_stop=self._stop.is_set
                )
            except Conflict as error:
                self._say(error.message)
                if library.exists:
                    self.ready.set()
                self._stop.wait(self._busy_seconds)
                continue
            finally:
                self.progress = {}
            if not self._stop.is_set():
                log.info("index up to date after %.1f s", time.monotonic() - started)
                self.ready.set()
                self._tell(reports)
            return

    def _note_progress(self, progress: Progress) -> None:
        self.progress = {**self.progress, progress.collection: progress}

    def _tell(self, reports: list[Report]) -> None:
        for report in reports:
            for problem in report.problems:
                log.warning("%s: %s", report.collection, problem)
        if any(report.changed for report in reports):
            self._on_change()

    def _say(self, message: str) -> None:
        """Log what holds the work up, once for as long as it is the same."""
        if message != self._said:
            log.info("indexing waits: %s", message)
        self._said = message
