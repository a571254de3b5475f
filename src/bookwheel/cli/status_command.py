"""Show what is indexed, what could not be read, and why.

Folders that are being indexed, or wait for it, are listed too. Looks at the index only.

    bookwheel status ~/notes
    bookwheel status ~/notes --why drafts/idea.md
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from bookwheel import __version__
from bookwheel.cli.options import Config, Index, Json, Paths, open_library
from bookwheel.cli.output import count, one_line, print_json, say
from bookwheel.library import Library
from bookwheel.model import Job, JobState


def run(
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    why: Annotated[
        str | None, typer.Option(metavar="FILE", help="Say why this file is or is not indexed.")
    ] = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    with open_library(paths, index, config) as library:
        if why is not None:
            sentence = library.why(why)
            print_json({"file": why, "why": sentence}) if json else print(one_line(sentence))
            return
        status = describe(library)
        for remark in status["remarks"]:
            say(remark)
    if json:
        print_json(status)
    else:
        _print(status)


def describe(library: Library) -> dict[str, Any]:
    """Return the state of a library."""
    remarks = [remark for remark in library.look() if remark not in library.settings.remarks]
    states = {state.collection.name: state for state in library.states()}
    collections = []
    for each in library.collections:
        state = states.get(each.name)
        scanned = state.scanned_at if state else None
        collections.append(
            {
                "collection": each.name,
                "path": each.path,
                "alias": each.alias,
                "source": each.source or each.name,
                "description": each.description,
                "version": each.version,
                "documents": state.documents if state else 0,
                "indexedAt": _time(scanned) if scanned else None,
                "unreadable": [
                    {"document": row.path, "status": str(row.status), "reason": row.reason}
                    for row in library.ledger(each.name)
                ],
                "skipped": [
                    {"reason": reason, "extension": extension, "files": number}
                    for (reason, extension), number in library.skipped(each.name).items()
                ],
            }
        )
    return {
        "version": __version__,
        "index": library.location,
        "remarks": remarks,
        "collections": collections,
        "jobs": [_job(each) for each in library.jobs.unfinished()],
    }


def _job(job: Job) -> dict[str, Any]:
    return {
        "collection": job.collection,
        "folder": job.folder,
        "status": str(job.state),
        "full": job.full,
        "priority": job.priority.name.lower(),
        "asked": job.is_asked,
        "process": job.owner if job.state is JobState.RUNNING else None,
        "since": _time(job.asked_at),
        **job.counts._asdict(),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _print(status: dict[str, Any]) -> None:
    print(f"Index: {status['index']}")
    for each in status["collections"]:
        part = "not all indexed yet" if each["documents"] else "not indexed yet"
        when = f"indexed {each['indexedAt']}" if each["indexedAt"] else part
        print(f"\n{each['collection']}  {each['path']}")
        print(f"  {count(each['documents'], 'document')}, {when}")
        for row in each["unreadable"][:20]:
            print(f"  {row['status']}: {one_line(row['document'])} ({one_line(row['reason'])})")
        if len(each["unreadable"]) > 20:
            print(f"  and {len(each['unreadable']) - 20} more; --json lists all")
        if each["skipped"]:
            print("  passed over: " + _skipped(each["skipped"]))
    if status["jobs"]:
        print("\nBeing indexed, or waiting for it:")
    for each in status["jobs"]:
        print(f"  {_job_line(each)}")


def _job_line(job: dict[str, Any]) -> str:
    place = one_line(f"{job['collection']}/{job['folder']}".rstrip("/"))
    if job["status"] == JobState.RUNNING:
        return f"{place}: {job['done']:,} of {job['total']:,} files, by process {job['process']}"
    wish = f", {job['priority']} priority" if job["asked"] else ""
    return f"{place}: waiting since {job['since']}{wish}"


def _skipped(rows: list[dict[str, Any]]) -> str:
    reasons: dict[str, int] = {}
    for row in rows:
        reasons[row["reason"]] = reasons.get(row["reason"], 0) + row["files"]
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{number:,} {reason}" for reason, number in ordered)
