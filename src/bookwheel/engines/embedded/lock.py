"""The writer lock: one process at a time may write an index, and a dead one holds nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from bookwheel.errors import Conflict

_ATTEMPTS, _MOMENT = 100, 0.001
"""So often it is tried again, in so many seconds each, while somebody looks whether it is taken."""


class WriterLock:
    """An advisory lock on a file; the kernel frees it when its holder ends, however it ends."""

    def __init__(self, path: Path, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._path = path
        self._sleep = sleep
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    @property
    def is_taken(self) -> bool:
        """Tell whether anybody holds it, in whichever process."""
        if self.held:
            return True
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # there is none, or it is nobody's business of ours
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def acquire(self) -> None:
        """Take the lock or raise Conflict naming who has it."""
        if self.held:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._hold(descriptor)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise Conflict(
                f"Another process (pid {holder}) is writing this index.",
                hint="What is indexed can be searched meanwhile. Wait for it, or stop it.",
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        # A courtesy to the others: on a full disk the lock holds without a name.
        with contextlib.suppress(OSError):
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)

    def _hold(self, descriptor: int) -> None:
        """Lock the file; BlockingIOError where another process has done so.

        Who only looks whether it is taken shares it for a moment: that is no reason to give up.
        """
        for _ in range(_ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            self._sleep(_MOMENT)
        raise BlockingIOError

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
