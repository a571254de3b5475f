"""Test sets in the layout of BEIR: a folder with documents, queries, and judgements of both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.errors import BadRequest, NotFound
from bookwheel.evaluation.questions import Question

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
JUDGEMENTS = ("qrels.tsv", "qrels/test.tsv")
LAYOUT = (
    f'A test set is a folder with {CORPUS} (lines of {{"_id", "title", "text"}}), '
    f'{QUERIES} (lines of {{"_id", "text"}}) and {JUDGEMENTS[0]} or {JUDGEMENTS[1]} '
    "(query-id, corpus-id and score, with tabs between them)."
)


class Row(NamedTuple):
    """One document of a test set."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A test set: documents, the questions that can be scored, and what had to be left out."""

    name: str
    folder: Path
    rows: tuple[Row, ...]
    questions: tuple[Question, ...]
    left_out: int = 0
    """Queries without a relevant document: no answer to them could be good or bad."""
    unknown: int = 0
    """Judgements whose query or document is not in the set."""

    @property
    def notes(self) -> list[str]:
        """What whoever reads the scores should know."""
        notes = []
        if self.left_out:
            notes.append(f"{self.left_out:,} queries without a relevant document are left out")
        if self.unknown:
            notes.append(
                f"{self.unknown:,} judgements name a query or document that is not in the set; "
                "such queries are ignored, such documents count as not found"
            )
        return notes


def is_dataset(folder: Path) -> bool:
    """Tell a test set, complete or not, from a folder of documents."""
    return any((folder / name).exists() for name in (CORPUS, QUERIES, *JUDGEMENTS))


def read_dataset(folder: Path, name: str) -> Dataset:
    """Read a test set; what cannot be used is named by file and line."""
    try:
        return _read(folder, name)
    except OSError as error:
        raise BadRequest(f"{error.filename} cannot be read: {error.strerror}.") from None


def _read(folder: Path, name: str) -> Dataset:
    missing = [each for each in (CORPUS, QUERIES) if not (folder / each).is_file()]
    judgements = [folder / each for each in JUDGEMENTS if (folder / each).is_file()]
    if missing or not judgements:
        lacks = missing[0] if missing else JUDGEMENTS[0]
        raise NotFound(f"The test set {folder} has no {lacks}.", hint=LAYOUT)
    rows = [
        Row(row, _field(value, "title", place, default=""), _field(value, "text", place))
        for place, row, value in _read_objects(folder / CORPUS)
    ]
    if not rows:
        raise BadRequest(f"{folder / CORPUS} holds no document.", hint=LAYOUT)
    queries = {
        query: _field(value, "text", place)
        for place, query, value in _read_objects(folder / QUERIES)
    }
    gains, unknown = _read_judgements(judgements[0], {row.name for row in rows}, queries)
    questions = [
        Question(query, text, gains[query])
        for query, text in queries.items()
        if any(gain > 0 for gain in gains[query].values())
    ]
    if not questions:
        raise BadRequest(
            f"No query of {folder} has a relevant document.",
            hint=f"Do the ids of {judgements[0]} agree with those of {QUERIES}?",
        )
    left_out = len(queries) - len(questions)
    return Dataset(name, folder, tuple(rows), tuple(questions), left_out, unknown)


def name_datasets(folders: Sequence[str]) -> list[str]:
    """Return a name for each folder: its own, or the path as given where two are called alike."""
    own = [Path(each).resolve().name for each in folders]
    return [
        name if own.count(name) == 1 else given for name, given in zip(own, folders, strict=True)
    ]


def _read_objects(file: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give each line's place, id and content; no id may come twice."""
    seen: dict[str, str] = {}
    for place, line in _read_lines(file):
        try:
            value = json.loads(line)
        except ValueError as error:
            raise BadRequest(f"{place}: this is not JSON: {error}.") from None
        if not isinstance(value, dict):
            raise BadRequest(f"{place}: this is not a JSON object.", hint=LAYOUT)
        name = _field(value, "_id", place)
        if name in seen:
            raise BadRequest(f"{place}: the id {name!r} stands at {seen[name]} already.")
        seen[name] = place
        yield place, name, value


def _field(value: dict[str, Any], key: str, place: str, default: str | None = None) -> str:
    content = value.get(key)
    if content is None and default is not None:
        return default
    if isinstance(content, int) and key == "_id":
        content = str(content)
    if not isinstance(content, str) or (key == "_id" and not content.strip()):
        trouble = "is missing" if content is None else "must be a text"
        raise BadRequest(f'{place}: "{key}" {trouble}.', hint=LAYOUT)
    # Half a character, which JSON can state, can neither be stored nor looked for.
    return content.encode("utf-8", "replace").decode()


def _read_judgements(
    file: Path, documents: set[str], queries: dict[str, str]
) -> tuple[dict[str, dict[str, float]], int]:
    """Return the gains of each query, and how many judgements are about something unknown."""
    gains: dict[str, dict[str, float]] = {query: {} for query in queries}
    unknown = 0
    for number, (place, line) in enumerate(_read_lines(file)):
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 0 and len(cells) == 3 and not _is_number(cells[2]):
            continue  # the header, which some sets have
        if len(cells) != 3:
            hint = "A line is query-id, corpus-id and score, with tabs between them."
            raise BadRequest(f"{place}: {len(cells)} columns where 3 should be.", hint=hint)
        query, document, score = cells
        if not _is_number(score):
            raise BadRequest(f"{place}: the score {score!r} is no number.")
        unknown += query not in gains or document not in documents
        if query in gains:
            gains[query][document] = float(score)
    return gains, unknown


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """Give each line that is not blank, and its place."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file}:{number}"
            try:
                text = line.decode("utf-8-sig").strip("\r\n")
            except UnicodeDecodeError:
                raise BadRequest(f"{place}: this is not UTF-8.") from None
            if text.strip():
                yield place, text
