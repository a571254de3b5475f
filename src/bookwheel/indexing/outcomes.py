"""What became of a file in its worker: a draft, its state alone, or why there is neither."""

from __future__ import annotations

import logging

from bookwheel.indexing.prepare import refused
from bookwheel.indexing.scan import FoundFile
from bookwheel.indexing.wire import unpack
from bookwheel.indexing.worker import Failure, Outcome
from bookwheel.model import Draft, FileState, Status
from bookwheel.safety.finding import find_spans
from bookwheel.safety.redact import cover, in_bytes, make_safe
from bookwheel.text.cut import cut

log = logging.getLogger(__name__)

_LONGEST_DETAIL = 120
REASONS = {
    "crash": "its reader crashed",
    "timeout": "its reader took too long",
    "memory": "its reader needed too much memory",
    "error": "its reader failed",
}


def take_result(collection: str, file: FoundFile, outcome: Outcome) -> Draft | FileState:
    """Return the draft or the state that a worker made of a file; a failure is a draft too."""
    failure = outcome.failure
    if failure is None:
        try:
            return _checked(collection, file, unpack(outcome.result))
        except (AttributeError, TypeError, ValueError, IndexError) as error:
            failure = Failure("error", f"no sensible result: {error}")
    log.info("%s: %s: %s", file.path, failure.kind, failure.detail)
    state = FileState(file.size, file.modified_ns, b"")
    return refused(collection, file.path, Status.FAILED, _reason(failure), state)


def _reason(failure: Failure) -> str:
    """Return what failed, with the error where that alone tells more.

    It may quote the document, so that what can be redacted is, whatever the collection says.
    """
    reason = REASONS[failure.kind]
    if failure.kind not in ("crash", "error"):
        return reason
    said = make_safe(failure.detail.encode("utf-8", "replace").decode())
    covered = cover(said.encode(), in_bytes(said, find_spans(said))).decode("utf-8", "replace")
    detail = cut(covered, limit=_LONGEST_DETAIL)
    return f"{reason} ({detail})" if detail else reason


def _checked(collection: str, file: FoundFile, result: Draft | FileState) -> Draft | FileState:
    """Accept a result for the file that was asked for only: its reader has met hostile bytes."""
    if isinstance(result, FileState):
        return result
    if (result.collection, result.path) != (collection, file.path):
        raise ValueError("the answer is about another file")
    if result.status is Status.TOO_LARGE and not result.state.digest:
        return result._replace(state=FileState(file.size, file.modified_ns, b""))
    return result
