"""One call under way: what it reads, what its caller hears of it, and when it is given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bookwheel.safety.stopping import Stopped

if TYPE_CHECKING:
    from bookwheel.errors import BookwheelError
    from bookwheel.llm.base import Message
    from bookwheel.llm.sampling import Sample
    from bookwheel.view import View

Report = Callable[[float, float, str], None]
"""Takes how much is done, of how much, and a few words."""


class Cancelled(Stopped):
    """Nobody waits for the answer any more."""


class Asked(Exception):
    """The client's model must be asked, and the call made again with its answer."""

    def __init__(self, messages: Sequence[Message], max_tokens: int) -> None:
        super().__init__("the client's model is asked")
        self.messages = messages
        self.max_tokens = max_tokens


class Work:
    """The library, and the ties between a call and whoever made it."""

    def __init__(
        self,
        library: View,
        *,
        report: Report | None = None,
        remark: str = "",
        seconds: float | None = None,
    ) -> None:
        self.library = library
        self.obstacle: BookwheelError | None = None
        """Why no tool can work now, such as an index that is only being made."""
        self.remark = remark
        """What a search says of documents that it cannot find yet; empty when there are none."""
        self.sample: Sample | None = None
        """Asks the client's own model, where the client offers it; may raise Asked."""
        self.seconds = seconds
        """How long it may take; None for as long as it likes."""
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._report = report
        self._told = 0.0
        self._cancelled = threading.Event()

    def advance(self, done: float, total: float, message: str) -> None:
        """Tell how far the work is; raises Cancelled if it has been given up."""
        self.go_on()
        if self._report is not None and done > self._told:  # the protocol wants it to grow
            self._told = done
            self._report(done, total, message)

    def wait(self, seconds: float) -> None:
        """Let some time go by; raises Cancelled as soon as the work is given up."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    def go_on(self) -> None:
        """Raise Cancelled if the work has been given up, Stopped if it has taken too long."""
        if self._cancelled.is_set():
            raise Cancelled
        if self.is_late:
            raise Stopped

    @property
    def is_late(self) -> bool:
        """Whether it has taken as long as it may."""
        return self._ends is not None and time.monotonic() > self._ends

    @property
    def is_given_up(self) -> bool:
        """Whether nobody waits for it any more, or it has taken too long."""
        return self._cancelled.is_set() or self.is_late

    def cancel(self) -> None:
        """Give the work up; may be called from any thread."""
        self._cancelled.set()
