"""One evaluation: index or open, ask every query through the library's own search, sum up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from bookwheel.errors import BadRequest, NotFound, Upstream
from bookwheel.evaluation.dataset import Dataset
from bookwheel.evaluation.judged import Judged
from bookwheel.evaluation.metrics import DEPTH
from bookwheel.evaluation.questions import Found, Listener, Question, ask_all
from bookwheel.evaluation.result import Cost, Result, sum_up
from bookwheel.evaluation.rows import index_rows, open_rows, row_paths
from bookwheel.indexing.pipeline import Progress
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest, SearchResults
from bookwheel.settings import Settings
from bookwheel.view import NOT_RERANKED

ASKED = SearchRequest("", limit=DEPTH, snippet_length=0)
"""How every query is asked but for its text; snippets change no score and cost time."""
_FIRST = "a first question"
"""Asked before time is taken, since it waits for models and files that others find loaded."""


def evaluate_dataset(
    dataset: Dataset,
    settings: Settings,
    place: Path,
    *,
    asked: SearchRequest = ASKED,
    on_progress: Listener = lambda progress: None,
) -> Result:
    """Index a test set in an empty folder, ask its queries, and sum up."""
    names = {path: name for name, path in row_paths(dataset.rows).items()}
    with open_rows(dataset, settings, place) as library:
        started = perf_counter()
        index_rows(library, dataset.rows, on_progress, f"Indexing {dataset.name}")
        if asked.mode is not SearchMode.LEXICAL:
            library.embed(on_progress=_embedding(dataset.name, on_progress))
        seconds = perf_counter() - started

        remarks: list[str] = []

        def search(text: str) -> list[Found]:
            results = ask(library, asked, text)
            remarks.extend(results.remarks[:1])
            return [Found(names[hit.document], hit.title) for hit in results.hits]

        ask(library, asked, _FIRST)
        answers = ask_all(search, dataset.questions, on_progress, f"Asking {dataset.name}")
    cost = Cost(len(dataset.rows), index_bytes(library), seconds)
    result = sum_up(dataset.name, answers, cost, left_out=dataset.left_out, unknown=dataset.unknown)
    return replace(result, notes=_say_remarks(remarks, len(answers)))


def _embedding(name: str, on_progress: Listener) -> Callable[[int, int], None]:
    return lambda done, total: on_progress(Progress(f"Reading {name} for meaning", done, total))


def evaluate_folder(
    library: Library,
    judged: Sequence[Judged],
    name: str,
    *,
    asked: SearchRequest = ASKED,
    on_progress: Listener = lambda progress: None,
) -> Result:
    """Ask judged queries of folders that are indexed, and sum up."""
    several = len(library.collections) > 1
    if asked.mode is not SearchMode.LEXICAL and not library.is_shared:
        library.embed(on_progress=_embedding(name, on_progress))

    def label(collection: str, path: str) -> str:
        return f"{collection}/{path}" if several else path

    remarks: list[str] = []

    def search(text: str) -> list[Found]:
        results = ask(library, asked, text)
        remarks.extend(results.remarks[:1])
        return [Found(label(hit.collection, hit.document), hit.title) for hit in results.hits]

    questions, notes = [], []
    for each in judged:
        gains: dict[str, float] = {}
        for named, gain in each.gains.items():
            try:
                document = library.document(named)
            except (NotFound, BadRequest) as error:
                notes.append(f"query {each.query!r}: {error.advice} It counts as not found.")
                gains[named] = gain
            else:
                gains[label(document.collection, document.path)] = gain
        questions.append(Question(each.query, each.query, gains))
    ask(library, asked, _FIRST)
    answers = ask_all(search, questions, on_progress, f"Asking {name}")
    documents = sum(state.documents for state in library.states())
    result = sum_up(name, answers, Cost(documents, index_bytes(library)), unknown=len(notes))
    return replace(result, notes=(*notes, *_say_remarks(remarks, len(answers))))


def _say_remarks(remarks: Sequence[str], answers: int) -> tuple[str, ...]:
    """Return that answers were not all that was asked for, if so: the scores depend on it."""
    if not remarks:
        return ()
    return (f"of {len(remarks)} of {answers} answers it was said, as of the first: {remarks[0]}.",)


def ask(library: Library, asked: SearchRequest, text: str) -> SearchResults:
    """Return what is found; an answer that lacks what was asked for is no measure of it."""
    results = library.search(asked._replace(text=text))
    if asked.mode is SearchMode.HYBRID and results.without_meaning:
        raise Upstream(
            f"The query {text!r} cannot be measured by meaning. {results.without_meaning}",
            hint="`--mode lexical` measures words alone.",
        )
    if NOT_RERANKED in results.remarks:
        hint = "Run pip install 'bookwheel[minilm]', or measure without `--rerank`."
        raise BadRequest("A second look cannot be measured: its model is not installed.", hint=hint)
    return results


def index_bytes(library: Library) -> int:
    """Return what the index of a library takes on disk."""
    figures = library.figures()
    return figures.bytes if figures else 0
