"""Looking through folders that may never answer: one that hangs is let be until it answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from bookwheel.errors import BookwheelError
from bookwheel.indexing.scan import Scan

if TYPE_CHECKING:
    from bookwheel.safety.opener import Root

HANG_SECONDS = 30.0
"""So long no name of a folder has come: slow shares give one at least in a fraction of it."""
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 0.5


class Hanging(BookwheelError):
    """A folder that does not answer."""


class Shares:
    """Who looks through folders, and which of these have not answered yet.

    A call that hangs cannot be ended, only be left to a thread of its own. So there is one such
    thread for a folder at most, and the folder is asked again when it has ended.
    """

    def __init__(
        self, *, seconds: float = HANG_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._left: dict[str, threading.Thread] = {}

    def hangs(self, path: str) -> bool:
        """Tell whether a folder has not answered to this day."""
        thread = self._left.get(path)
        return thread is not None and thread.is_alive()

    def require_answer(self, path: str) -> None:
        """Raise Hanging for a folder that has not answered yet, without asking it again."""
        if self.hangs(path):
            raise _refusal(path)

    def look(
        self,
        root: Root,
        scan: Callable[[Callable[[], bool]], Scan],
        *,
        should_stop: Callable[[], bool],
    ) -> Scan:
        """Let `scan` look through a folder; raise Hanging when it does not get on."""
        stop, answer = threading.Event(), Future[Scan]()
        thread = threading.Thread(
            target=_answer, args=(answer, scan, stop), name="bookwheel-scan", daemon=True
        )
        if should_stop():
            stop.set()
        thread.start()
        try:
            return self._wait(root, answer, stop, should_stop)
        finally:
            stop.set()
            if not answer.done():
                self._left[root.path] = thread

    def _wait(
        self,
        root: Root,
        answer: Future[Scan],
        stop: threading.Event,
        should_stop: Callable[[], bool],
    ) -> Scan:
        seen, since = root.steps, self._clock()
        while not _is_done(answer, _LOOK_SECONDS):
            if should_stop():
                stop.set()
                return answer.result() if _is_done(answer, _STOP_SECONDS) else Scan(stopped=True)
            if root.steps != seen:
                seen, since = root.steps, self._clock()
            elif self._clock() - since >= self._seconds:
                raise _refusal(root.path)
        return answer.result()


def _refusal(path: str) -> Hanging:
    return Hanging(f"{path} hangs: listing what is in it does not come to an end.")


def _is_done(answer: Future[Scan], seconds: float) -> bool:
    try:
        answer.exception(seconds)
    except TimeoutError:
        return False
    return True


def _answer(
    answer: Future[Scan], scan: Callable[[Callable[[], bool]], Scan], stop: threading.Event
) -> None:
    try:
        answer.set_result(scan(stop.is_set))
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
        answer.set_exception(error)
