"""Index folders, or bring their index up to date.

Only files whose size or time changed are read again. Stop it at any time: what is done is kept.
A model that fails leaves search to words; all else is done, and the exit code tells of the model.

    bookwheel index ~/notes
    bookwheel index ~/notes ~/papers --index /srv/index
    bookwheel index ~/notes --watch
    bookwheel index ~/notes --to opensearch+https://user:password@host:9200/prefix
"""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bookwheel.cli import TERMINATED
from bookwheel.cli.fresh import embed_all, say_problems, update
from bookwheel.cli.options import Config, Index, Json, Paths, open_library
from bookwheel.cli.output import count, print_json
from bookwheel.errors import BookwheelError, Conflict, NotFound
from bookwheel.indexing.memory import share_heaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bookwheel.indexing.pipeline import Report
    from bookwheel.library import Library


def run(
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    full: Annotated[bool, typer.Option("--full", help="Read every file again.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running and follow changes.")
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="Copy the index into a cluster as it is, without reading files again.",
        ),
    ] = None,
    forget: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Remove a collection from the index, and do nothing else."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    with _ending_as_at_ctrl_c(), open_library(paths, index, config) as library:
        if forget is not None:
            _forget(library, forget, json=json)
            return
        if to is not None:
            _move(library, to, json=json)
            return
        reports = update(library, full=full)
        trouble = embed_all(library)
        if not reports:
            raise NotFound(
                f"No folder of {library.location} was indexed on this machine.",
                hint="Name the folders: `bookwheel index FOLDER...`.",
            )
        _print(reports, json=json)
        say_problems(reports, said=library.settings.remarks)
        if watch:
            share_heaps()
            print("Watching for changes. Ctrl-C stops.", file=sys.stderr)
            _watch(library, json=json)
        if any(report.failed for report in reports):
            raise typer.Exit(1)
        if trouble:
            raise typer.Exit(trouble)


@contextmanager
def _ending_as_at_ctrl_c() -> Iterator[None]:
    """Let SIGTERM unwind what is under way, so that the end can say what is kept."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _watch(library: Library, *, json: bool) -> None:
    said = ""

    def do_as_asked() -> None:
        """Do what callers of servers asked for that do not index themselves."""
        nonlocal said
        try:
            if library.run_job():
                embed_all(library)
        except Conflict:
            pass  # whoever writes does it too
        except BookwheelError as error:
            if error.message != said:
                print(f"bookwheel: {error.message}", file=sys.stderr)
            said = error.message

    def go_on(reports: list[Report]) -> None:
        _say(reports, json=json)
        if any(report.changed for report in reports):
            embed_all(library)

    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())  # as a service is stopped
    library.watch(
        on_update=go_on,
        should_stop=ended.is_set,
        on_pause=do_as_asked,
    )


def _forget(library: Library, name: str, *, json: bool) -> None:
    documents = library.forget(name)
    if json:
        print_json({"forgotten": name, "documents": documents})
    else:
        print(f"{name}: {count(documents, 'document')} taken out of the index")


def _move(library: Library, address: str, *, json: bool) -> None:
    moved, place = library.move_to(address, on_progress=_say_moved)
    if json:
        print_json({"moved": moved, "index": place})
    else:
        print(f"{count(moved, 'file')} moved to {place}")


def _say_moved(collection: str, done: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{collection}: {count(done, 'file')} moved", end="", file=sys.stderr, flush=True)


def _say(reports: list[Report], *, json: bool) -> None:
    changed = [report for report in reports if report.changed]
    if changed:
        _print(changed, json=json)
    say_problems(reports)


def _print(reports: list[Report], *, json: bool) -> None:
    if json:
        print_json([asdict(report) for report in reports])
        return
    for report in reports:
        parts = [count(report.indexed, "file") + " indexed", f"{report.unchanged:,} unchanged"]
        if report.removed:
            parts.append(f"{report.removed:,} removed")
        if report.skipped:
            parts.append(f"{report.skipped:,} passed over")
        if report.unreadable:
            parts.append(f"{report.unreadable:,} unreadable (see `bookwheel status`)")
        print(f"{report.collection}: {', '.join(parts)} in {report.seconds:.1f} s", flush=True)
