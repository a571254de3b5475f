"""What is new in an index while a server answers from it, and whether it is in reach."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from bookwheel.errors import BookwheelError, IndexUnreachable, IndexUnusable
from bookwheel.library import Library

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
_SLOW_SECONDS = 5.0
"""After so long without an answer the index counts as out of reach."""
_WHOLE_SECONDS = 1.0
"""For so long an index that was whole is not asked whether it still is."""


class News:
    """Tells of each change to an index once, whether this process made it or another one did."""

    def __init__(self, library: Library, on_change: Callable[[], None]) -> None:
        self.library = library
        self._on_change = on_change
        self._is_away = False
        self.is_unusable = False
        """Whether it lies here and cannot be read, be it that this user may not."""
        self._asked_at: float | None = None
        """Since when an answer is waited for."""
        self._whole_at = -_WHOLE_SECONDS
        """When every part of the index was last found to be in reach."""
        self.is_empty = False
        """Whether there was no index at all."""
        self._seen = 0
        self._told = self._seen = self._read()
        self._looked_at = 0.0

    @property
    def is_out_of_reach(self) -> bool:
        """Whether the cluster that holds the index did not answer, or has not for a while."""
        asked_at = self._asked_at
        return self._is_away or (
            asked_at is not None and time.monotonic() - asked_at > _SLOW_SECONDS
        )

    def _read(self) -> int:
        self._asked_at = time.monotonic()
        try:
            generation = self.library.generation
            self.is_empty = not generation and not self.library.exists
            self._require_whole()
        except BookwheelError as error:  # an index that cannot be read now is no news
            self._is_away = isinstance(error, IndexUnreachable)
            self._note_unusable(error)
            return self._seen
        finally:
            self._asked_at = None
        self._is_away = self.is_unusable = False
        return generation

    def _note_unusable(self, error: BookwheelError) -> None:
        was_unusable = self.is_unusable
        self.is_unusable = isinstance(error, IndexUnusable) and not self._is_away
        if self.is_unusable and not was_unusable:
            log.warning("the index cannot be searched: %s", error.advice)

    def _require_whole(self) -> None:
        """Ask now and then whether what searches need is there, not just what is read here."""
        now = time.monotonic()
        if self._is_away or self.is_unusable or now - self._whole_at >= _WHOLE_SECONDS:
            self.library.require_whole()
            self._whole_at = now

    def tell(self) -> None:
        """Tell of what changed since the last time."""
        self._seen = self._read()
        if self._seen != self._told:
            self._told = self._seen
            self._on_change()

    def look(self) -> None:
        """Tell of a change once it has settled: whoever writes much is not done yet."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        before, self._seen = self._seen, self._read()
        if before == self._seen:
            self.tell()
