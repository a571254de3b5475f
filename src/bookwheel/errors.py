"""Every error a caller may meet, and the one table of their codes.

BookwheelError
├── BadRequest      the caller's words cannot be understood or are out of bounds
├── Forbidden       the path or place lies outside what the operator allowed
├── NotFound        no such collection, document, section or setting
├── Conflict        another process or job is at it already
│   └── Busy            ... and how far that job is
├── RateLimited     too much at a time; says when to ask again
├── TimedOut        the work took longer than the operator allows
├── IndexUnusable   the index cannot be opened, read or written; the message says what to do
│   ├── IndexDamaged    ... because it is broken: setting it aside and building anew mends it
│   └── IndexUnreachable    ... for the moment: the cluster that holds it does not answer
├── Upstream        a model that the operator set does not answer, or not as it should
└── Internal        a defect of ours; the message is opaque, the log has the rest
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class BookwheelError(Exception):
    """An error whose message was written for the person who reads it."""

    code = "INTERNAL_ERROR"
    exit_code = 1
    facts: Mapping[str, Any] = {}
    """What a program may want to know besides, where errors have details."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def advice(self) -> str:
        """What went wrong and what to do about it, in one text."""
        return f"{self.message} {self.hint}" if self.hint else self.message


class BadRequest(BookwheelError):
    """The caller's words cannot be understood or are out of bounds."""

    code = "BAD_REQUEST"
    exit_code = 2


class Forbidden(BookwheelError):
    """The path lies outside what the operator allowed, or must not be opened."""

    code = "FORBIDDEN"
    exit_code = 3


class NotFound(BookwheelError):
    """No such collection, document, section, token or the like."""

    code = "NOT_FOUND"
    exit_code = 4


class Conflict(BookwheelError):
    """Another process or job is at it already."""

    code = "CONFLICT"
    exit_code = 5


class Busy(Conflict):
    """Somebody else's job is about the same files."""

    def __init__(self, message: str, *, hint: str, progress: Mapping[str, Any]) -> None:
        super().__init__(message, hint=hint)
        self.facts = {"progress": progress}


class RateLimited(BookwheelError):
    """Too much is asked at a time, by one client or by all."""

    code = "RATE_LIMITED"
    exit_code = 8

    def __init__(self, message: str, *, retry_after: int) -> None:
        seconds = f"{retry_after} second{'' if retry_after == 1 else 's'}"
        super().__init__(message, hint=f"Ask again in {seconds}.")
        self.retry_after = retry_after
        """Whole seconds after which there is room again."""
        self.facts = {"retry_after": retry_after}


class TimedOut(BookwheelError):
    """The work took longer than the operator allows."""

    exit_code = 9


class IndexUnusable(BookwheelError):
    """The index cannot be opened, read or written."""

    code = "INTERNAL_ERROR"
    exit_code = 6


class IndexDamaged(IndexUnusable):
    """The index is broken; it can be set aside and built anew from the documents."""


class IndexUnreachable(IndexUnusable):
    """The cluster that holds the index does not answer, or cannot; it may come back by itself."""


class Upstream(BookwheelError):
    """A model's endpoint that the operator set does not answer, or not as it should."""

    code = "LLM_UPSTREAM"
    exit_code = 7


class Internal(BookwheelError):
    """A defect of ours."""

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message, hint=details or None)
        self.details = details


ERRORS: tuple[type[BookwheelError], ...] = (
    BadRequest,
    Forbidden,
    NotFound,
    Conflict,
    Busy,
    RateLimited,
    TimedOut,
    IndexUnusable,
    IndexDamaged,
    IndexUnreachable,
    Upstream,
    Internal,
)
"""One row per error: the class carries its code and the command line's exit code."""
