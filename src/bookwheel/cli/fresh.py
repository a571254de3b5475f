"""Bringing the index up to date before a command answers, with a progress bar on a terminal.

Words come first: vectors are made only for commands that need them, and only some where words help.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import TYPE_CHECKING, TypeVar

from bookwheel.cli.output import say
from bookwheel.errors import BookwheelError, Conflict, IndexUnusable
from bookwheel.library import Library
from bookwheel.query import SearchMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from bookwheel.indexing.pipeline import Progress, Report

_Done = TypeVar("_Done")
QUICK_DOCUMENTS = 1000
"""Up to so many documents, looking for changes costs less than anyone notices."""
SOON_SECONDS = 3.0
"""So long a search by words and meaning goes on making vectors before it answers."""
SOON_PASSAGES = 64
"""What has more passages a slow model is not given before an answer: it goes on to its end."""
_WAIT_SECONDS = 0.1
_QUICK_MODELS = ("static", "model2vec:")


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
        reports = waiting(
            library, lambda: update(library), is_enough=lambda: _is_searchable(library)
        )
    except (Conflict, IndexUnusable) as error:
        if not (library.is_indexed or isinstance(error, Conflict)):
            raise
        why = error.message if isinstance(error, Conflict) else error.message.partition(": ")[2]
        print(f"bookwheel: searching the index as it is: {why}", file=sys.stderr)
        return
    say_problems(reports, said=library.settings.remarks)


def waiting(library: Library, work: Callable[[], _Done], *, is_enough: Callable[[], bool]) -> _Done:
    """Do what writes the index; wait for another process that does, unless what is there does."""
    said = ""
    while True:
        try:
            return work()
        except Conflict as error:
            if is_enough():
                raise
            if error.message != said:
                print(f"bookwheel: waiting for the index. {error.message}", file=sys.stderr)
            said = error.message
        while library.is_written and not is_enough():
            time.sleep(_WAIT_SECONDS)


def _is_searchable(library: Library) -> bool:
    """Tell whether there is an index that holds something, be it not all."""
    try:
        return library.exists and bool(library.states())
    except IndexUnusable:
        return False


def update(library: Library, *, full: bool = False) -> list[Report]:
    """Update the library, showing how far it is."""
    _prepare_for_long_work()
    with progress_bar() as on_progress:
        return library.update(full=full, on_progress=on_progress)


def _prepare_for_long_work() -> None:
    import gc
    import logging

    gc.enable()
    logging.basicConfig(format="bookwheel: %(message)s", level=logging.WARNING)


def embed_all(library: Library) -> int:
    """Give vectors to all that has none, showing how far it is; words do where that fails.

    Return the exit code that tells a script of it.
    """
    try:
        _embed(library)
    except BookwheelError as error:
        print(f"bookwheel: searching by words alone. {error.advice}", file=sys.stderr)
        return 0 if isinstance(error, Conflict) else error.exit_code  # whoever writes gives them
    return 0


def _embed(library: Library) -> None:
    with embedding_bar() as on_embedding:
        library.embed(on_progress=on_embedding)


def _embed_for_meaning_alone(library: Library) -> None:
    """Give vectors to all that has none; words would not do instead."""
    try:
        _embed(library)
    except BookwheelError as error:
        library.count_unread()  # fails too where there is no model at all: the search says so
        print(f"bookwheel: not all could be read for meaning. {error.advice}", file=sys.stderr)


def embed_soon(library: Library) -> None:
    """Give vectors to what has none, or to a part of it: somebody waits."""
    end = time.monotonic() + SOON_SECONDS
    is_quick = library.settings["embedder"].startswith(_QUICK_MODELS)
    try:
        library.count_unread()  # loads the model for somebody who waits
        library.embed(
            should_stop=lambda: time.monotonic() > end, longest=inf if is_quick else SOON_PASSAGES
        )
    except Conflict:
        pass  # whoever writes gives them too
    except BookwheelError as error:
        print(f"bookwheel: searching by words alone. {error.advice}", file=sys.stderr)


def read_for_meaning(
    library: Library, mode: SearchMode, refresh: bool | None = None
) -> tuple[str, ...]:
    """Make the vectors that a search needs; return what to say of those that it does without."""
    try:
        if mode is SearchMode.LEXICAL or library.is_embedded_by_this_model:
            return ()
        if refresh is not False and not library.is_shared:
            _prepare_for_long_work()
            embed = _embed_for_meaning_alone if mode is SearchMode.SEMANTIC else embed_soon
            embed(library)
        unread, total = library.count_unread()
    except BookwheelError:
        return ()  # the search says what is wrong with the model, or mends the index
    if not unread:
        return ()
    what = f"{unread:,} of {total:,} passages have no vectors yet"
    return (f"{what}; `bookwheel index` or a server makes them",)


def read_for_likeness(library: Library) -> None:
    """Make the vectors by which documents are compared with each other."""
    try:
        is_read = library.is_shared or library.is_embedded_by_this_model
    except BookwheelError:
        return  # what there is can be compared without the model
    if not is_read:
        _prepare_for_long_work()
        embed_all(library)


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
            if problem not in said:
                say(f"{report.collection}: {problem}")


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
