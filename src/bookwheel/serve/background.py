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
from bookwheel.model import JobState, Priority
from bookwheel.serve.news import LOOK_SECONDS, News
from bookwheel.telemetry.logs import fields

if TYPE_CHECKING:
    from bookwheel.indexing.pipeline import Progress, Report

log = logging.getLogger(__name__)

STOP_SECONDS = 2.0
LOG_SECONDS = 5.0
_BUSY_SECONDS = 1.0
_FAILED_SECONDS = 30.0
_EMBED_SECONDS = 5.0
_MODEL_SECONDS = 30.0
"""At least so long passes between two looks at the model: one that is now this, now that would
have all documents read again and again."""
_MEND_SECONDS = 30.0
"""At least so long passes after a look through the whole index that mended nothing."""
_SOUND_SECONDS = 3600.0
"""So long an index must have been sound for the next damage to be mended at once: on a disk that
goes on failing each time waits twice as long, an hour at the most."""


class Indexing:
    """One thread that brings the index up to date and keeps it so until it is stopped."""

    def __init__(
        self,
        open_library: Callable[[], Library],
        *,
        on_change: Callable[[], None] = lambda: None,
        on_ready: Callable[[], None] = lambda: None,
        on_unheard: Callable[[], None] = lambda: None,
        is_indexed: bool = False,
        busy_seconds: float = _BUSY_SECONDS,
    ) -> None:
        self._open_library = open_library
        self._on_change = on_change
        self._on_ready = on_ready
        """Called when there is something to search, and again when more is found by meaning."""
        self._on_unheard = on_unheard
        """Called when changes were found of which the system had not told."""
        self._embeds = False
        self._model_is_other = False
        self._model_seen_at = -_MODEL_SECONDS
        self._is_damaged = False
        self._mends_again_at = self._mended_at = 0.0
        self._mend_seconds = 0.0
        self._busy_seconds = busy_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bookwheel-index", daemon=True)
        self._said = ""
        self._logged_at = time.monotonic()
        self.progress: dict[str, Progress] = {}
        """How far the update under way is, by collection."""
        self.is_elsewhere = False
        """Whether another process is bringing the index up to date."""
        self.has_failed = False
        """Whether the last attempt to index came to nothing."""
        self._trouble = ""
        """What kept the last look through the folders from bringing in all that changed."""
        self._news: News | None = None
        self._scanned_at: float | None = None
        self.ready = threading.Event()
        """Set when the folders were indexed once, or another process has begun to; not while an
        index is made anew."""
        if is_indexed:
            self.ready.set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()
        if self.ready.is_set():
            self._on_ready()

    def look_at_model(self) -> None:
        """Have vectors made anew soon: another model was seen under the name of the one in use."""
        self._model_is_other = True

    def look_at_index(self) -> None:
        """Have the index mended soon: a question met damage."""
        self._is_damaged = True

    def note_anew(self) -> None:
        """Take all as not indexed yet: an empty index comes in the place of what was there."""
        self._is_damaged = self.has_failed = False
        self.ready.clear()

    def stop(self) -> bool:
        """End within seconds; tell whether it did. What was committed is sound either way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        return not self._thread.is_alive()

    def count(self) -> tuple[int, int] | None:
        """Return how many files of how many the update under way has read, if there is one.

        Of an update by another process nothing is known but that there is one.
        """
        if self.is_elsewhere:
            return 0, 0
        rows = list(self.progress.values())
        return (sum(row.done for row in rows), sum(row.total for row in rows)) if rows else None

    def describe(self) -> dict[str, Any]:
        """Tell whether there is something to search, and how far the update under way is."""
        counts = self.count()
        under_way = {"done": counts[0], "total": counts[1]} if counts else None
        cannot = self._is_out_of_reach or self._is_damaged or self._is_unusable
        is_ready = self.ready.is_set() and not cannot
        status = "behind" if self.is_behind else "ok"
        return {
            "status": status if is_ready else self._why_not_ready,
            "ready": is_ready,
            "lag_seconds": self.lag,
            "indexing": under_way,
        }

    @property
    def _why_not_ready(self) -> str:
        if self._is_out_of_reach:
            return "unreachable"
        if self._is_damaged:
            return "damaged"
        if self._is_unusable:
            return "unusable"
        return "failed" if self.has_failed else "ok"

    @property
    def is_behind(self) -> bool:
        """Whether what changed is not brought in just now."""
        return bool(self._trouble) or self.has_failed

    @property
    def _is_out_of_reach(self) -> bool:
        """Whether the cluster that holds the index did not answer when it was last asked."""
        return self._news is not None and self._news.is_out_of_reach

    @property
    def _is_unusable(self) -> bool:
        """Whether the index cannot be read for another reason, as for want of leave."""
        return self._news is not None and self._news.is_unusable

    @property
    def lag(self) -> int | None:
        """Seconds since all folders were last looked through, by whichever process."""
        at = self._scanned_at
        return None if at is None else max(0, round(time.time() - at))

    def _note_scan(self, library: Library) -> None:
        try:
            times = [state.scanned_at for state in library.states()]
        except BookwheelError:  # an index that cannot be read now was looked through before
            return
        if times and None not in times:
            self._scanned_at = min(time for time in times if time is not None)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with self._open_library() as library:
                    library.when_model_is_other(self.look_at_model)
                    library.when_damaged(self.look_at_index)
                    library.when_begun_anew(self.note_anew)
                    news = self._news = News(library, self._on_change)
                    try:
                        self._follow(library, news)
                    except BookwheelError as error:
                        # What another process writes is news all the same.
                        self._give_up(error)
                        self._rest(self._patience, news)
                        continue
            except BookwheelError as error:
                self._give_up(error)
            except BaseException:
                # A panic of Rust is no Exception; folders are followed all the same.
                self.has_failed = True
                log.exception("indexing failed and begins again")
            self._stop.wait(_FAILED_SECONDS)

    def _give_up(self, error: BookwheelError) -> None:
        self.has_failed = True
        self._say(error.message)

    def _rest(self, seconds: float, news: News) -> None:
        """Wait for a while, or until the end, and tell of what others do meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stop.wait(LOOK_SECONDS):
            self._look(news)
            self._note_scan(news.library)

    def _look(self, news: News) -> None:
        """Look for what others have written, deleted, or made anew by now."""
        news.look()
        if news.is_empty:
            self.ready.clear()
        elif not (self.ready.is_set() or news.is_unusable) and news.library.is_indexed:
            self.ready.set()

    def _follow(self, library: Library, news: News) -> None:
        self._note_scan(library)  # of what was indexed before, the last look is known at once
        self._mend(library, news)
        self._update_first(library, news)

        def should_stop() -> bool:
            self._look(news)  # asked several times a second, whether or not there are changes
            return self._stop.is_set()

        def tell(reports: list[Report]) -> None:
            self.ready.set()
            self._note_scan(library)
            self._note_problems(reports)
            news.tell()
            self._embed(library)

        def work_on() -> None:
            self._mend(library, news)
            if not (self.ready.is_set() or library.is_shared or library.is_written):
                log.warning("the index is gone or another: the folders are indexed anew")
                self._update_first(library, news)
            self._run_jobs(library, news)
            if self._embeds or self._sees_other_model(library):
                self._embed(library)

        library.watch(
            on_update=tell,
            should_stop=should_stop,
            on_pause=work_on,
            on_unheard=self._on_unheard,
            on_failure=lambda error: self._note_trouble(error.message),
        )

    def _update_first(self, library: Library, news: News) -> None:
        """Bring the index up to date; while another process writes it, wait and try again.

        What is urgent is done in between, since files that were read are not read again after it;
        where all have to be, that comes first.
        """
        while not self._stop.is_set():
            started = time.monotonic()
            urgent = Urgent(library, Priority.HIGH, or_else=self._stop.is_set)
            try:
                reports = library.update(
                    on_progress=self._note_progress, should_stop=urgent.should_stop
                )
            except Conflict as error:
                self._say(error.message)
                self.is_elsewhere = True
                if library.exists:
                    self.ready.set()
                self._rest(self._busy_seconds, news)
                continue
            finally:
                self.progress = {}
            self.is_elsewhere = self.has_failed = False
            if urgent.was_seen:
                self._run_jobs(library, news)
                continue
            if not self._stop.is_set():
                seconds = time.monotonic() - started
                self._note_scan(library)
                log.info(
                    "index up to date: %s, in %.1f s" if reports else "others index: %s, in %.1f s",
                    _count(library),
                    seconds,
                    extra=fields(event="index", seconds=round(seconds, 3)),
                )
                self.ready.set()
                self._note_problems(reports)
                news.tell()
                self._embed(library)
            return

    @property
    def _patience(self) -> float:
        """So long after a failure it begins again: what is damaged as soon as it may be mended."""
        if not self._is_damaged:
            return _FAILED_SECONDS
        return max(self._busy_seconds, self._mends_again_at - time.monotonic())

    def _mend(self, library: Library, news: News) -> None:
        """Make the index anew if a question met damage and a look through it finds some."""
        now = time.monotonic()
        if not self._is_damaged or now < self._mends_again_at:
            return
        if library.is_written:  # whoever writes meets it too
            self._mends_again_at = now + self._busy_seconds
            return
        patience = _MEND_SECONDS
        try:
            done = library.repair(on_progress=self._note_progress, should_stop=self._stop.is_set)
            self._is_damaged = False
            patience = self._note_mended() if done else patience
        except Conflict:
            return
        except BookwheelError as error:
            self._is_damaged = True
            log.warning("the index is damaged and was not mended: %s", error.message)
            return
        finally:
            self._mends_again_at = time.monotonic() + patience
            self.progress = {}
        for line in done:
            log.warning("mending the index: %s", line)
        if done:
            self.ready.set()
            news.tell()
            self._embeds = True

    def _note_mended(self) -> float:
        """Return how long to wait if the index is damaged again."""
        now = time.monotonic()
        lately = self._mended_at and now - self._mended_at < _SOUND_SECONDS
        self._mend_seconds = min(2 * self._mend_seconds or 1.0, _SOUND_SECONDS) if lately else 0.0
        self._mended_at = now
        return self._mend_seconds

    def _run_jobs(self, library: Library, news: News) -> None:
        """Do what callers asked for, whichever process they asked."""
        has_run = False
        while not self._stop.is_set():
            try:
                job = library.run_job(
                    on_progress=self._note_progress, should_stop=self._stop.is_set
                )
            except Conflict:
                break  # whoever writes does it too
            finally:
                self.progress = {}
            if job is None:
                break
            has_run = True
            if not self._stop.is_set():
                log.info("indexed as asked: %s", f"{job.collection}/{job.folder}".strip("/"))
            news.tell()
        self._embeds = self._embeds or has_run

    def _embed(self, library: Library) -> None:
        """Give vectors to what is new, for a while: then it is time to look for changes again."""
        started = time.monotonic()

        def is_late() -> bool:
            return self._stop.is_set() or time.monotonic() - started > _EMBED_SECONDS

        self._embeds = False
        try:
            done = library.embed(should_stop=Asked(library, or_else=is_late).should_stop)
            self._embeds = not library.is_embedded and done > 0
        except Conflict:
            return  # whoever writes gives them too
        except BookwheelError as error:
            log.warning("searching by words alone: %s", error.message)
            return
        if done:
            seconds = time.monotonic() - started
            what = f"{done:,} passage{'' if done == 1 else 's'}"
            log.info("%s read for meaning, in %.1f s", what, seconds)
        self._on_ready()

    def _sees_other_model(self, library: Library) -> bool:
        """Tell whether to load the model anew, and make ready for it."""
        now = time.monotonic()
        if not self._model_is_other or now - self._model_seen_at < _MODEL_SECONDS:
            return False
        self._model_is_other, self._model_seen_at = False, now
        library.unload_model()
        return True

    def _note_progress(self, progress: Progress) -> None:
        self.progress = {**self.progress, progress.collection: progress}
        now = time.monotonic()
        if now - self._logged_at >= LOG_SECONDS:
            self._logged_at = now
            log.info("indexing: %s of %s files so far", *(f"{n:,}" for n in self.count() or ()))

    def _note_problems(self, reports: list[Report]) -> None:
        """Log what could not be indexed as it is; a folder that failed whole is said once."""
        for report in reports:
            for problem in () if report.failed else report.problems:
                log.warning("%s: %s", report.collection, problem)
        failed = [
            f"{each.collection}: {'; '.join(each.problems)}" for each in reports if each.failed
        ]
        self._note_trouble("\n".join(failed))

    def _note_trouble(self, trouble: str) -> None:
        """Note what keeps the index from following the folders, and log when that changes."""
        if trouble and trouble != self._trouble:
            for line in trouble.splitlines():
                log.warning("changes are not indexed: %s", line)
        elif self._trouble and not trouble:
            log.info("changes are indexed again")
        self._trouble = trouble

    def _say(self, message: str) -> None:
        """Log what holds the work up, once for as long as it is the same."""
        if message != self._said:
            log.info("the index is served as it is: %s", message)
        self._said = message


class Asked:
    """Interrupts work of our own for a job that waits, or for another reason."""

    def __init__(
        self,
        library: Library,
        lowest: Priority = Priority.LOW,
        *,
        or_else: Callable[[], bool],
    ) -> None:
        self._library = library
        self._lowest = lowest
        self._or_else = or_else
        self._looked_at = 0.0
        self.was_seen = False
        """Whether there was such a job."""

    def should_stop(self) -> bool:
        now = time.monotonic()
        if not self.was_seen and now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            self.was_seen = self._is_there()
        return self.was_seen or self._or_else()

    def _is_there(self) -> bool:
        return any(
            job.is_asked and job.state is JobState.WAITING and job.priority >= self._lowest
            for job in self._library.jobs.unfinished()
        )


class Urgent(Asked):
    """Interrupts a scan, unless all that was read would have to be read again."""

    def _is_there(self) -> bool:
        return super()._is_there() and not self._library.is_outdated


def _count(library: Library) -> str:
    number = sum(state.documents for state in library.states())
    return f"{number:,} document{'' if number == 1 else 's'}"
