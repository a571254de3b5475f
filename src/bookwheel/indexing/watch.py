"""Following folders: events for speed, a look through everything now and then for truth."""

from __future__ import annotations

import logging
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bookwheel.errors import BookwheelError, Conflict

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.2


def watch(
    paths: Sequence[str],
    *,
    update: Callable[[], bool],
    should_stop: Callable[[], bool],
    reconcile_seconds: float,
    own_paths: Sequence[str] = (),
    on_pause: Callable[[], None] = lambda: None,
    on_unheard: Callable[[], None] = lambda: None,
    on_failure: Callable[[BookwheelError], None] | None = None,
    hangs: Callable[[str], bool] = lambda path: False,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Update whenever something changed, and every so often whatever was heard.

    `update` tells whether it found changes; `on_unheard` is called when it did and nothing was
    heard of them, `on_failure` when it failed, which is logged if nobody cares. Events can be lost
    without notice (a full queue, a paused process, a share), so they only say when to look; the
    scan says what changed. What happens to `own_paths` and names that begin with them is no news:
    an index inside its folder would wake itself for ever. `on_pause` is called several times a
    second, but never while an update is under way. Where the system grants no events, or none any
    more, or where a folder is another than the one that was listened to, it is listened to anew
    before the next look through everything. One that `hangs` is not listened to: whoever begins to
    would wait for it, and the whole process with them.
    """
    last: float | None = None
    said, has_looked = "", False
    while not should_stop():
        ears = _Ears(paths, tuple(own_paths), hangs)
        last = None  # a look comes after listening began, so nothing slips between
        for has_changes in ears.listen():
            said = _say(ears.trouble, said)
            if should_stop():
                ears.close()
                continue
            on_pause()
            is_due = last is None or clock() - last >= reconcile_seconds
            if is_due and last is not None and ears.is_useless():
                ears.close()
            elif has_changes or is_due:
                was_found = _try(update, on_failure or _log_failure)
                if was_found and has_looked and not has_changes:
                    on_unheard()
                last, has_looked = clock(), True


def _say(trouble: str, said: str) -> str:
    """Log what is the matter with events, once for as long as it is the same."""
    if trouble and trouble != said:
        log.warning("changes are found by looking through folders, not at once: %s", trouble)
    elif said and not trouble:
        log.info("changes are heard of at once again")
    return trouble


class _Ears:
    """One attempt to hear of changes: it ends when it is closed, and is not mended."""

    def __init__(
        self, paths: Sequence[str], own: tuple[str, ...], hangs: Callable[[str], bool]
    ) -> None:
        self._paths = paths
        self._hangs = hangs
        self._own = own
        self._stop = threading.Event()
        self._heard_in = self._folders()
        self.trouble = ""
        """Why nothing is heard of, if so."""

    def close(self) -> None:
        self._stop.set()

    def is_useless(self) -> bool:
        """Tell whether to listen anew: nothing is heard, or a folder has come, gone or changed."""
        return bool(self.trouble) or self._heard_in != self._folders()

    def _folders(self) -> dict[str, tuple[int, int]]:
        """Return the folders there are; one that was mounted or made anew is another."""
        found = {}
        for path in self._paths:
            if self._hangs(path):
                continue
            with suppress(OSError):
                state = Path(path).stat()
                if stat.S_ISDIR(state.st_mode):
                    found[path] = (state.st_dev, state.st_ino)
        return found

    def listen(self) -> Iterator[bool]:
        """Tell several times a second whether something was heard of, until it is closed."""
        try:
            yield from self._events()
        except BaseException as error:
            if not isinstance(error, OSError | RuntimeError) and not _is_panic(error):
                raise
            self.trouble = str(error) or type(error).__name__
            while not self._stop.wait(_PAUSE_SECONDS):
                yield False

    def _events(self) -> Iterator[bool]:
        from watchfiles import watch as listen

        events = listen(
            *self._heard_in,
            watch_filter=None,  # one of its own would be silent for as long as others write
            stop_event=self._stop,
            rust_timeout=int(_PAUSE_SECONDS * 1000),
            yield_on_timeout=True,
            debounce=200,
            step=50,
            raise_interrupt=True,
            ignore_permission_denied=True,
        )
        for changes in events:
            yield any(not path.startswith(self._own) for _, path in changes)


def _is_panic(error: BaseException) -> bool:
    """Tell whether the listener died: a panic of Rust is no Exception, and ends only the call."""
    return type(error).__name__ == "PanicException"


def _try(update: Callable[[], bool], on_failure: Callable[[BookwheelError], None]) -> bool:
    try:
        return update()
    except Conflict as error:
        log.info("left to another process: %s", error.message)
    except BookwheelError as error:
        on_failure(error)  # a disk may be full for a while: the next round tries again
    return False


def _log_failure(error: BookwheelError) -> None:
    log.warning("update failed: %s", error.message)
