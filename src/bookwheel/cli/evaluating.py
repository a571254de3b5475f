"""Finding out what is to be evaluated, and evaluating it with notes and progress on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bookwheel.cli.fresh import make_fresh, progress_bar
from bookwheel.cli.options import load_settings, open_library
from bookwheel.cli.output import count, say
from bookwheel.engines.place import DATABASE
from bookwheel.errors import BadRequest, NotFound
from bookwheel.evaluation.dataset import LAYOUT, Dataset, is_dataset, name_datasets, read_dataset
from bookwheel.evaluation.judged import FILE_NAME, Judged, read_judged
from bookwheel.evaluation.questions import Listener
from bookwheel.evaluation.result import Result
from bookwheel.evaluation.run import evaluate_dataset, evaluate_folder
from bookwheel.query import SearchRequest


class OwnFolders(NamedTuple):
    """Somebody's own documents with their judged queries; the folders make one library."""

    name: str
    paths: tuple[str, ...]
    judged: tuple[Judged, ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """Where indexes lie, and how queries are asked."""

    asked: SearchRequest
    index: str | None = None
    config: str | None = None
    keep: str | None = None


def read_targets(paths: Sequence[str], judged: str | None) -> list[Dataset | OwnFolders]:
    """Read all that will be evaluated, so that a mistake shows before hours of work."""
    if judged is not None:
        queries = tuple(read_judged(Path(judged)))
        name = Path(paths[0]).resolve().name if len(paths) == 1 else Path(judged).stem
        return [OwnFolders(name, tuple(paths), queries)]
    given = list(paths) or ["."]
    targets = [_read_target(*each) for each in zip(given, name_datasets(given), strict=True)]
    if not paths and isinstance(targets[0], OwnFolders):  # bookwheel.toml may name its folders
        return [targets[0]._replace(paths=())]
    return targets


def _read_target(path: str, name: str) -> Dataset | OwnFolders:
    folder = Path(path)
    if not folder.is_dir():
        raise NotFound(f"There is no folder {path!r}.")
    if (folder / FILE_NAME).is_file():
        return OwnFolders(name, (path,), tuple(read_judged(folder / FILE_NAME)))
    if is_dataset(folder):
        return read_dataset(folder, name)
    raise NotFound(
        f"{path!r} is no test set, and has no {FILE_NAME} with judged queries.",
        hint=f"`bookwheel eval init {path}` writes one for your own documents. {LAYOUT}",
    )


def evaluate(target: Dataset | OwnFolders, wish: Wish) -> Result:
    """Evaluate one test set or library, saying what is worth knowing on standard error."""
    if isinstance(target, OwnFolders):
        return _evaluate_own(target, wish)
    documents = count(len(target.rows), "document")
    say(f"{target.name}: {documents}, {count(len(target.questions), 'query', 'queries')}")
    for note in target.notes:
        say(f"{target.name}: {note}.")
    settings = load_settings([str(target.folder)], wish.config)
    with _index_place(target, wish.keep) as place, _listener() as on_progress:
        result = evaluate_dataset(
            target, settings, place, asked=wish.asked, on_progress=on_progress
        )
    _say_notes(result)
    return result


def _evaluate_own(target: OwnFolders, wish: Wish) -> Result:
    examples = sum(each.example for each in target.judged)
    if examples:
        queries = count(len(target.judged), "query", "queries")
        say(f"{target.name}: {examples} of {queries} are still examples; replace them.")
    with open_library(list(target.paths) or None, wish.index, wish.config) as library:
        make_fresh(library, None)
        with _listener() as on_progress:
            result = evaluate_folder(
                library, target.judged, target.name, asked=wish.asked, on_progress=on_progress
            )
    _say_notes(result)
    return result


def _say_notes(result: Result) -> None:
    for note in result.notes:
        say(f"{result.name}: {note}")


@contextmanager
def _index_place(dataset: Dataset, keep: str | None) -> Iterator[Path]:
    """Give an empty folder for an index; it is removed again unless it is to be kept."""
    if keep is None:
        with TemporaryDirectory(prefix="bookwheel-eval-") as place:
            yield Path(place)
        return
    folder = Path(keep) / dataset.name.strip("/").replace("/", "-")
    if (folder / DATABASE).exists():
        raise BadRequest(f"{folder} holds an index already.", hint="Remove it, or keep elsewhere.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"The folder {folder} cannot be made: {error.strerror}.") from None
    yield folder
    say(f"{dataset.name}: kept; try `bookwheel search --no-refresh 'words' --index {folder}`")


@contextmanager
def _listener() -> Iterator[Listener]:
    with progress_bar("") as show:
        yield show or (lambda progress: None)
