"""Following folders: events for speed, a look through everything now and then for truth."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bookwheel.errors import BookwheelError, Conflict

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.2


def watch(
    paths: Sequence[str],
    *,
    update: Callable[[], None],
    should_stop: Callable[[], bool],
    reconcile_seconds: float,
    own_paths: Sequence[str] = (),
    on_pause: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Update whenever something changed, and every so often whatever was heard.

    Events can be lost without notice (a full queue, a paused process, a share), so they only say
    when to look; the scan says what changed. What happens to `own_paths` and names that begin with
    them is no news: an index inside its folder would wake itself for ever. `on_pause` is called
    several times a second, but never while an update is under way.
    """
    stop = threading.Event()
    last: float | None = (
        None  # the first look comes after listening began, so nothing slips between
    )
    for has_changes in _listen(paths, tuple(own_paths), stop):
        if should_stop():
            stop.set()
            continue
        on_pause()
        if has_changes or last is None or clock() - last >= reconcile_seconds:
            _try(update)
            last = clock()


def _listen(paths: Sequence[str], own: tuple[str, ...], stop: threading.Event) -> Iterator[bool]:
    """Tell several times a second whether something was heard of, until it is stopped."""
    from watchfiles import watch as listen

    events = listen(
        *(path for path in paths if Path(path).is_dir()),
        watch_filter=lambda _, path: not path.startswith(own),
        stop_event=stop,
        rust_timeout=int(_PAUSE_SECONDS * 1000),
        yield_on_timeout=True,
        debounce=200,
        step=50,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    try:
        for changes in events:
            yield bool(changes)
    except (OSError, RuntimeError) as error:  # the system grants no events, or none any more
        log.warning("changes are found by looking through folders, not at once: %s", error)
        while not stop.wait(_PAUSE_SECONDS):
            yield False


def _try(update: Callable[[], None]) -> None:
    try:
        update()
    except Conflict as error:
        log.info("left to another process: %s", error.message)
    except BookwheelError as error:
        # A disk may be full for a while: the next round tries again.
        log.warning("update failed: %s", error.message)
