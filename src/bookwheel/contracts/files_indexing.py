"""`indexFolder` of the files toolset: asks for a folder to be indexed and waits, but not for ever.

The work is a job in the index, done by whichever process may write; a caller who leaves does not
end it.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool

from bookwheel.contracts.files_answers import Answer, reply_with, shown
from bookwheel.contracts.tool import Arguments, Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError, Conflict, NotFound
from bookwheel.model import Job, JobState, Priority
from bookwheel.reading.documents import quoted
from bookwheel.reading.roots import Place
from bookwheel.safety.opener import OpenRefused, Root
from bookwheel.view import View

_FIRST_LOOK, _LONGEST_LOOK = 0.02, 0.25
_MOST_WAITING = 4
"""Callers wait for so many jobs; with more they are answered at once, so that threads remain."""


class IndexFolder(Arguments):
    """What `indexFolder` takes."""

    root: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4096,
            description="Absolute path of a root or of a folder in one.",
        ),
    ]
    full: Annotated[
        StrictBool,
        Field(description="Discard what is indexed of the folder and read every file anew."),
    ] = False
    priority: Annotated[
        Literal["low", "normal", "high"], Field(description="Which of several folders comes first.")
    ] = "normal"


class Progress(BaseModel):
    """Files that were read of those that have to be."""

    done: int
    total: int


class Indexed(Answer):
    """The answer of indexFolder."""

    indexed: int = Field(description="Files that were read")
    skipped: int = Field(description="Files that are as they were, or gave no text")
    removed: int = Field(description="Documents whose files are gone")
    duration_ms: int
    status: Literal["waiting", "running"] | None = Field(
        default=None, description="Only there while the work goes on"
    )
    progress: Progress | None = None
    hint: str | None = None


def index_folder(work: Work, arguments: IndexFolder) -> Reply:
    """Have a folder indexed; answer with the counts, or with those so far when it takes long."""
    started = time.monotonic()
    view = shown(work.library)
    place = find_folder(view, arguments.root)
    job = view.jobs.ask(
        place.collection.name,
        place.path,
        full=arguments.full,
        priority=Priority[arguments.priority.upper()],
    )
    patience = view.settings["index_answer_seconds"]
    if sum(each.is_asked for each in view.jobs.unfinished()) > _MOST_WAITING:
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
    }
    if not job.is_finished:
        answer["status"] = str(job.state)
        answer["progress"] = {"done": counts.done, "total": counts.total}
        begun = (
            "The work goes on without you; search finds what is done so far."
            if job.state is JobState.RUNNING
            else "It waits for the process that indexes this folder, which is busy or not there."
        )
        answer["hint"] = (
            f"{begun} To see how far it is, call indexFolder for this root again: until the end "
            "the answer is CONFLICT with details.progress."
        )
    return reply_with(answer, results=counts.indexed)


def find_folder(view: View, path: str) -> Place:
    """Return the folder that an absolute path means; Forbidden outside the roots.

    Of roots that lie in each other the inner one is meant.
    """
    place = view.locate(path)[0]
    try:
        with Root.open(place.collection.path) as opened:
            is_folder = opened.stat_file(place.path).kind == "folder"
    except OpenRefused:
        is_folder = False
    except BookwheelError as error:  # the root itself is gone, or cannot be entered
        raise NotFound(
            f"There is no folder {quoted(path)} now.", hint="It may not be mounted."
        ) from error
    if not is_folder:
        raise NotFound(f"There is no folder {quoted(path)}.")
    return place


INDEX_FOLDER = Tool(
    "indexFolder",
    "Index a folder",
    "Bring the search index up to date with one of the roots or a folder in one. Files of the "
    "same size and time are skipped; `full` reads all anew while search goes on with what it had. "
    "Folders are followed by themselves, so this is needed only to be sure of a change now. "
    "Answers how many files were indexed, skipped and removed; for a large folder, after a while, "
    "the counts so far with `status` and `hint`, and the work goes on. CONFLICT: another call is "
    "indexing it; details.progress says how far it is.",
    IndexFolder,
    index_folder,
    read_only=False,
    example='{"root": "/mnt/shared/finance", "full": false, "priority": "normal"}',
    answer=Indexed,
)
