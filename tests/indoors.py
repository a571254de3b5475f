"""The work of a worker pool done in the process of the tests: no new process for each library.

Values cross as the same frames, and an exception is the failure of its task alone. Tests of what
only a process of its own gives (limits, crashes, kills) have the real pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from types import TracebackType
from typing import Any

from bookwheel.indexing import worker_child
from bookwheel.indexing.pieces import InPieces
from bookwheel.indexing.worker import Failure, Outcome, Task


class IndoorPool:
    """A pool without workers, for one handler."""

    def __init__(self, handler: str, setup: tuple[Any, ...] = (), **_: Any) -> None:
        self._handler = worker_child._make_handler(handler, _cross(setup))

    def __enter__(self) -> IndoorPool:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        pass

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield what becomes of each task."""
        for task in tasks:
            try:
                yield Outcome(task, _bring(self._handler(*_cross(task.payload))), None)
            except Exception as error:  # noqa: BLE001 - as in a worker
                kind, detail, _ = worker_child._describe(error)
                yield Outcome(task, None, Failure(kind, detail))  # type: ignore[arg-type]


def _bring(result: Any) -> Any:
    """Return a result as it arrives, piece by piece if it is sent so."""
    if isinstance(result, InPieces):
        return InPieces([_cross(piece) for piece in result.part(0)])
    return _cross(result)


def _cross(value: Any) -> Any:
    frame = worker_child.encode(value)
    return worker_child.decode(BytesIO(frame[worker_child.HEADER.size :]))
