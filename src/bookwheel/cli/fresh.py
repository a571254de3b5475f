"""Bringing the index up to date before a command answers, with a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from bookwheel.errors import BookwheelError, Conflict, IndexUnusable
from bookwheel.library import Library

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from bookwheel.indexing.pipeline import Progress, Report

QUICK_DOCUMENTS = 1000
"""Up to so many documents, looking for changes costs less than anyone notices."""


def make_fresh(library: Library, refresh: bool | None) -> None:
    """Index what is not indexed yet; look for changes when asked to or when that is quick.

    What other machines share is written by `index` and by servers alone, which are meant to.
    """
    if library.is_shared:
        library.require_folders()
        return
    if library.is_indexed and not (library.settings["debug"] and refresh is not False):
        documents = sum(state.documents for state in library.states())
        if refresh is False or (refresh is None and documents > QUICK_DOCUMENTS):
            return
    try:
        reports = update(library)
    except (Conflict, IndexUnusable) as error:
        if not (library.is_indexed or (isinstance(error, Conflict) and library.states())):
            raise
        print(f"bookwheel: searching the index as it is. {error.message}", file=sys.stderr)
        return
    say_problems(reports, said=library.settings.remarks)


def update(library: Library, *, full: bool = False) -> list[Report]:
    """Update the library, showing how far it is."""
    import gc
    import logging

    gc.enable()
    logging.basicConfig(format="bookwheel: %(message)s", level=logging.WARNING)
    with progress_bar() as on_progress:
        reports = library.update(full=full, on_progress=on_progress)
    with embedding_bar() as on_embedding:
        try:
            library.embed(on_progress=on_embedding)
        except BookwheelError as error:
            print(f"bookwheel: searching by words alone. {error.advice}", file=sys.stderr)
    return reports


@contextmanager
def embedding_bar() -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how many passages have got their vectors."""
    from bookwheel.indexing.pipeline import Progress

    with progress_bar("Reading for meaning") as show:
        yield lambda done, total: show(Progress("", done, total)) if show else None


def say_problems(reports: list[Report], *, said: Sequence[str] = ()) -> None:
    """Name on standard error what went wrong without stopping the work, if not said before."""
    for report in reports:
        for problem in report.problems:
            if problem in said:
                continue
            print(f"bookwheel: {report.collection}: {problem}", file=sys.stderr)


@contextmanager
def progress_bar(doing: str = "Indexing ") -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar on standard error when that is a terminal and the work takes a while."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        bars: list[Bar] = []
        tasks: dict[str, TaskID] = {}

        def show(progress: Progress) -> None:
            if not bars and progress.done == progress.total:
                return
            if not bars:
                bars.append(stack.enter_context(_bar()))
            if progress.collection not in tasks:
                task = bars[0].add_task(doing + progress.collection, total=progress.total)
                tasks[progress.collection] = task
            bars[0].update(tasks[progress.collection], completed=progress.done)

        yield show


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
