"""What whoever is asked for help would ask first: machine, versions, size and state of the index.

Names neither documents nor their words, so that it can be passed on.
"""

from __future__ import annotations

import platform
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from bookwheel.cli.footprint import packages
from bookwheel.cli.output import count
from bookwheel.errors import BookwheelError
from bookwheel.indexing.worker import count_cores
from bookwheel.library import Library
from bookwheel.model import JobState

CLIENT = "opensearch-py"
"""Of an extra, and asked after where the index lies in a cluster."""
SHOWN = ("apsw", "tantivy", "turbovec", "numpy", "mcp", "pydantic", "onnxruntime", CLIENT)
"""Packages that faults are asked after; apsw has the version of its SQLite. JSON has all."""


def describe(library: Library) -> dict[str, Any]:
    """Return the circumstances; of an index that cannot be read only that there is none."""
    try:
        index = _describe_index(library)
    except BookwheelError:  # it is named among the problems
        index = None
    found = packages()
    if library.is_shared:
        found |= packages(CLIENT)
    versions = {name: package.version for name, package in sorted(found.items())}
    return {
        "platform": platform.platform(),
        "cores": count_cores(),
        "free_bytes": None if library.is_shared else _free_bytes(Path(library.location)),
        "config": library.settings.config,
        "packages": versions,
        "state": index,
    }


def _free_bytes(place: Path) -> int | None:
    """Return how much room is left where the index lies, or would lie; None if nobody may know."""
    try:
        there = next(each for each in (place, *place.parents) if each.exists())
        return shutil.disk_usage(there).free
    except OSError:
        return None


def _describe_index(library: Library) -> dict[str, Any] | None:
    figures = library.figures()
    if figures is None:
        return None
    jobs = library.jobs.unfinished()
    unread: Counter[str] = Counter()
    for each in library.collections:
        unread.update(str(row.status) for row in library.ledger(each.name))
    return {
        "documents": figures.documents,
        "passages": figures.chunks,
        "bytes": figures.bytes,
        "change": figures.generation,
        "embedded": library.is_embedded,
        "unreadable": dict(unread),
        "written": library.is_written,
        "writers": [job.owner for job in jobs if job.state is JobState.RUNNING],
        "waiting": sum(job.state is JobState.WAITING for job in jobs),
    }


def as_lines(found: dict[str, Any]) -> list[str]:
    """Return the circumstances for people."""
    versions = [f"{name} {found['packages'][name]}" for name in SHOWN if name in found["packages"]]
    free = found["free_bytes"]
    room = "" if free is None else f"; {free / 1e9:.1f} GB free for the index"
    lines = [
        f"Platform: {found['platform']}; {count(found['cores'], 'core')}{room}",
        f"Packages: {', '.join(versions)}",
        f"Configuration file: {found['config'] or 'none'}",
    ]
    if state := found["state"]:
        vectors = "all with vectors" if state["embedded"] else "not all with vectors"
        size = f"{count(state['documents'], 'document')}, {count(state['passages'], 'passage')}"
        lines.append(f"Holds: {size}, {vectors}; {state['bytes'] / 1e6:.1f} MB")
        if state["unreadable"]:
            reasons = (f"{number:,} {status}" for status, number in state["unreadable"].items())
            lines.append(f"Not read: {', '.join(reasons)}; `bookwheel status` names them")
        if state["written"]:
            by = ", ".join(f"process {each}" for each in state["writers"])
            waiting = count(state["waiting"], "folder waits", "folders wait")
            lines.append(f"Being written{by and ' by '}{by}; {waiting}")
    return lines
