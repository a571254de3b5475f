"""The worker that is kept between two runs, so that the next one need not start another.

Starting one takes as much CPU as reading a hundred pages: modules to load, patterns to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bookwheel.indexing.worker_process import reap

if TYPE_CHECKING:
    from bookwheel.indexing.worker import Limits
    from bookwheel.indexing.worker_process import WorkerProcess

REST_SECONDS = 60
LARGEST_BYTES = 150_000_000
"""What has grown larger is started anew rather than kept."""


class KeptWorker:
    """At most one worker at rest. It ends by itself when nobody has needed it for a while."""

    def __init__(self, *, seconds: int = REST_SECONDS) -> None:
        self._seconds = seconds
        self._worker: WorkerProcess | None = None

    def keep(self, worker: WorkerProcess) -> bool:
        """Take a worker in that has nothing to do; tell whether it stays."""
        is_fit = worker.ready and not (worker.batches or worker.outbox or worker.retiring)
        if not is_fit or self._worker is not None or worker.resident > LARGEST_BYTES:
            return False
        if worker.process.poll() is not None or not worker.lay_down(self._seconds):
            return False
        self._worker = worker
        return True

    def take(self, limits: Limits) -> WorkerProcess | None:
        """Give the worker away, if it lives and may do what is to be done."""
        worker = self._worker
        if worker is not None and not (worker.is_ours and worker.limits == limits):
            self.close()
        self.look()
        worker, self._worker = self._worker, None
        return worker

    def look(self) -> None:
        """Bury a worker that has ended."""
        if self._worker is not None and self._worker.process.poll() is not None:
            self.close()

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
            reap(worker.process)
