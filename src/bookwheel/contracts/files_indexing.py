"""`indexFolder` of the files toolset: asks for a folder to be indexed and waits, but not for ever.

The work is a job in the index, done by whichever process may write; a caller who leaves does not
end it.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from bookwheel.contracts.tool import Arguments, Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError, Conflict, Forbidden, NotFound
from bookwheel.model import Collection, Job, JobState, Priority
from bookwheel.safety.opener import OpenRefused, Root

if TYPE_CHECKING:
    from bookwheel.view import View

VERSION = "v1.0.0"
_OUTSIDE = "This path is not in a folder that may be searched."
_FIRST_LOOK, _LONGEST_LOOK = 0.02, 0.25
_MOST_WAITING = 4
"""Callers wait for so many jobs; with more they are answered at once, so that threads remain."""


class IndexFolder(Arguments):
    """What `indexFolder` takes."""

    root: Annotated[
        str, Field(min_length=1, description="Absolute path of a root or of a folder in one.")
    ]
    full: Annotated[
        bool, Field(description="Discard what is indexed of the folder and read every file anew.")
    ] = False
    priority: Annotated[
        Literal["low", "normal", "high"], Field(description="Which of several folders comes first.")
    ] = "normal"


def index_folder(work: Work, arguments: IndexFolder) -> Reply:
    """Have a folder indexed; answer with the counts, or with those so far when it takes long."""
    started = time.monotonic()
    library = work.library
    collection, folder = find_folder(library, arguments.root)
    job = library.jobs.ask(
        collection.name,
        folder,
        full=arguments.full,
        priority=Priority[arguments.priority.upper()],
    )
    patience = library.settings["index_answer_seconds"]
    if sum(each.is_asked for each in library.jobs.unfinished()) > _MOST_WAITING:
        patience = 0
    job = _follow(work, job, started + patience)
    if job.state is JobState.FAILED:
        raise NotFound(f"The folder could not be indexed: {job.error}")
    return _answer(job, round((time.monotonic() - started) * 1000))


def _follow(work: Work, job: Job, until: float) -> Job:
    """Tell the caller of a job until it is finished or the time is over."""
    pause = _FIRST_LOOK
    while not job.is_finished and time.monotonic() < until:
        work.advance(job.counts.done, job.counts.total, "indexing")
        work.wait(min(pause, max(0.0, until - time.monotonic())))
        pause = min(pause * 2, _LONGEST_LOOK)
        found = work.library.jobs.find(job.number)
        if found is None:
            raise Conflict(
                "The index was made anew, and the job with it is gone.", hint="Call again."
            )
        job = found
    return job


def _answer(job: Job, milliseconds: int) -> Reply:
    counts = job.counts
    answer: dict[str, Any] = {
        "indexed": counts.indexed,
        "skipped": counts.skipped,
        "removed": counts.removed,
        "duration_ms": milliseconds,
        "mcp_version": VERSION,
    }
    if not job.is_finished:
        answer["status"] = str(job.state)
        answer["progress"] = {"done": counts.done, "total": counts.total}
        answer["hint"] = (
            "The work goes on without you; search finds what is done so far. To see how far it "
            "is, call indexFolder for this root again: until the end the answer is CONFLICT with "
            "details.progress."
        )
    return Reply(json.dumps(answer, ensure_ascii=False), answer, results=counts.indexed)


def find_folder(library: View, path: str) -> tuple[Collection, str]:
    """Return the collection and the folder in it that an absolute path means, links resolved.

    What lies outside is refused in the same words whether it exists or not.
    """
    try:
        resolved = os.path.realpath(path) if path.startswith("/") else ""
        resolved.encode()
    except (OSError, ValueError):  # NUL, half characters, links in a loop
        resolved = ""
    roots = [(os.path.realpath(each.path), each) for each in library.collections]
    inside = [
        (root, each)
        for root, each in roots
        if resolved == root or resolved.startswith(f"{root.rstrip('/')}/")
    ]
    root, collection = max(inside, key=lambda pair: len(pair[0]), default=("", None))
    folder = resolved[len(root) :].strip("/")
    if collection is None or not library.jobs.covers(collection.name, folder):
        raise Forbidden(_OUTSIDE, hint="listRoots names the folders; paths are absolute.")
    _require_folder(collection, folder, path)
    return collection, folder


def _require_folder(collection: Collection, folder: str, path: str) -> None:
    try:
        with Root.open(collection.path) as opened:
            is_folder = opened.stat_file(folder).kind == "folder"
    except OpenRefused:
        is_folder = False
    except BookwheelError as error:  # the root itself is gone, or cannot be entered
        raise NotFound(
            f"There is no folder {path!r} now.", hint="It may not be mounted."
        ) from error
    if not is_folder:
        raise NotFound(f"There is no folder {path!r}.", hint="listRoots names the folders.")


INDEX_FOLDER = Tool(
    "indexFolder",
    "Index a folder",
    "Bring the search index up to date with a folder inside the allowed roots (listRoots names "
    "them). Files of the same size and time are skipped; `full` reads all anew while search goes "
    "on with what it had. Folders are followed by themselves, so this is needed only to be sure "
    "of a change now. Answers how many files were indexed, skipped and removed; for a large "
    "folder, after a while, the counts so far with `status` and `hint`, and the work goes on. "
    "CONFLICT: another call is indexing it; details.progress says how far it is.",
    IndexFolder,
    index_folder,
    read_only=False,
    example='{"root": "/mnt/shared/finance", "full": false, "priority": "normal"}',
)
