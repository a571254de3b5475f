"""The table of the `pages` toolset: build, open, search, read, memory, answer of 100 documents,
and search in 500.

Searches and pages are asked for by the tools themselves, `search_docs` and `get_doc_page`.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.clocks import REPOSITORY
from bench.corpus import Corpus, settings_for
from bench.figures import Figure, at_most
from bookwheel.contracts import pages
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from bookwheel.query import SearchRequest

_COUNT = 100
_MORE = 500
_WORST_MS = 500
_QUESTIONS = 40


def measure(corpus: Corpus) -> list[Figure]:
    """Measure everything on a hundred documents drawn from the folders."""
    folder = corpus.work / "small"
    draw(corpus, folder, _COUNT)
    figures = [build(corpus, folder)]
    with corpus.open(corpus.work / "small-index", [str(folder)]) as library:
        library.update()
        library.search(SearchRequest("warm"))
        figures += [
            opening(corpus, folder),
            *searching(corpus, library, _COUNT),
            reading(library),
            memory(corpus, folder),
            answer(corpus, library),
        ]
    return figures + searching_more(corpus)


def draw(corpus: Corpus, folder: Path, count: int) -> None:
    """Copy so many documents, or all there are, under names of their own."""
    roots = {each.name: each.path for each in corpus.library.collections}
    folder.mkdir()
    chosen = random.Random(corpus.seed).sample(corpus.documents, min(count, len(corpus.documents)))
    for number, document in enumerate(chosen):
        source = Path(roots[document.collection], document.path)
        shutil.copyfile(source, folder / f"{number:03}{document.extension}")


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call took on the wall."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def limit_row(
    name: str, value: float, limit: float, how: str, *, unit: str = "ms", count: int = _COUNT
) -> Figure:
    """Return a row of a figure with its limit in the same unit."""
    digits = 0 if value >= 100 else 1
    return at_most(
        f"{count} documents: {name}",
        *(value, limit),
        shown=f"{value:.{digits}f} {unit}",
        target=f"< {limit:g} {unit}",
        how=how,
    )


def build(corpus: Corpus, folder: Path) -> Figure:
    """Index the folder afresh several times in this process."""
    took = []
    for number in range(corpus.repeats):
        with corpus.open(corpus.work / f"small-{number}", [str(folder)]) as library:
            took.append(milliseconds(library.update))
    how = (
        f"wall clock, median of {corpus.repeats}, best {min(took):.0f} ms; workers are started anew"
    )
    return limit_row("build", statistics.median(took), 500, how)


def opening(corpus: Corpus, folder: Path) -> Figure:
    """Open both stores so that they could answer."""

    def open_both() -> None:
        with corpus.open(corpus.work / "small-index", [str(folder)]) as library:
            library.states()
            library._store.page_count()

    took = [milliseconds(open_both) for _ in range(corpus.repeats)]
    how = f"settings, folder, database and word index; median of {len(took)}, worst {max(took):.1f}"
    return limit_row("open a cached index", statistics.median(took), 10, how)


def searching(corpus: Corpus, library: Library, count: int) -> list[Figure]:
    """Ask questions and look at the middle and the worst."""
    questions = corpus.questions[:_QUESTIONS]
    took = [milliseconds(partial(ask, library, each)) for each in questions]
    how = f"`search_docs`, ten results; median of {len(took)} questions"
    return [
        limit_row("search", statistics.median(took), 100, how, count=count),
        limit_row("search, worst", max(took), _WORST_MS, "of the same questions", count=count),
    ]


def searching_more(corpus: Corpus) -> list[Figure]:
    """Ask the same of five hundred documents."""
    folder = corpus.work / "more"
    draw(corpus, folder, _MORE)
    with corpus.open(corpus.work / "more-index", [str(folder)]) as library:
        library.update()
        library.search(SearchRequest("warm"))
        return searching(corpus, library, _MORE)


def ask(library: Library, question: str) -> str:
    """Return the answer of `search_docs`."""
    return pages.search_docs(
        Work(library), pages.SearchDocs.model_validate({"query": question})
    ).text


def reading(library: Library) -> Figure:
    """Read documents whole by their path."""
    name = library.collections[0].name
    paths = [each.path for each in library.list_documents(name).documents]

    def read(path: str) -> None:
        pages.get_doc_page(Work(library), pages.GetDocPage.model_validate({"path": path}))

    took = [milliseconds(partial(read, path)) for path in paths]
    how = f"`get_doc_page`, whole; median of {len(took)}, worst {max(took):.1f}"
    return limit_row("read a page", statistics.median(took), 10, how)


def memory(corpus: Corpus, folder: Path) -> Figure:
    """Compare two new processes that did the same, one over an empty folder."""
    empty = corpus.work / "empty"
    empty.mkdir()
    for place in (empty, folder):
        with corpus.open(corpus.work / f"memory-{place.name}", [str(place)]) as library:
            library.update()
    pairs = [
        (resident(corpus, empty), resident(corpus, folder)) for _ in range(-(-corpus.repeats // 3))
    ]
    extra = sorted(full - bare for bare, full in pairs)
    how = (
        f"the limit is 'about'; resident after {_QUESTIONS} searches, above an empty folder, "
        f"mapped index files included; median of {len(extra)} pairs, {extra[0]:.1f} to "
        f"{extra[-1]:.1f} MB"
    )
    return limit_row("memory of the index", statistics.median(extra), 5, how, unit="MB")


def resident(corpus: Corpus, place: Path) -> float:
    """Return the memory in MB of a new process that searched a folder."""
    index = corpus.work / f"memory-{place.name}"
    questions = json.dumps(corpus.questions[:_QUESTIONS])
    command = [sys.executable, "-m", "bench.pages_table", str(index), str(place), questions]
    ended = subprocess.run(command, capture_output=True, check=True, cwd=REPOSITORY)
    return float(ended.stdout)


def answer(corpus: Corpus, library: Library) -> Figure:
    """Count the bytes of what `search_docs` answers."""
    sizes = [len(ask(library, each).encode()) / 1e3 for each in corpus.questions[:_QUESTIONS]]
    length = library.settings["snippet_length"]
    how = (
        f"the text of `search_docs`, median of {len(sizes)}; ten excerpts of {length} characters "
        "are 2 kB by themselves"
    )
    size = statistics.median(sizes)
    return Figure(f"{_COUNT} documents: answer", size, f"{size:.1f} kB", how=how)


def report_memory(index: Path, folder: str, questions: list[str]) -> float:
    """Search in this process and return its resident memory in MB."""
    with Library.open(settings_for(index), [folder]) as library:
        for question in questions:
            library.search(SearchRequest(question))
        status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        kilobytes = next(line.split()[1] for line in status if line.startswith("VmRSS"))
    return int(kilobytes) / 1e3


if __name__ == "__main__":
    print(report_memory(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))
