"""Finding a document by what a person or assistant calls it, and reading its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bookwheel.addresses import SCHEME, candidates, key_in_id
from bookwheel.engines.base import Engine
from bookwheel.errors import BadRequest, NotFound
from bookwheel.model import Collection, Document, SafeText, Status
from bookwheel.safety.redact import make_safe
from bookwheel.text.targets import FRONT_PAGES

_MOST_NAMED = 50
"""So many collections are named where none is near to the one asked for."""
_HOLDS, _BY_FILE_NAME = 82.0, 0.8
"""What a path that holds the text counts, of 100, and what share one with a like file name does."""
_SAME_NAME, _SHORT_NAME = 50, 4
"""How alike, of 100, the names of files must be; names with fewer letters tell nothing."""
_MOST_NEAR = 5
"""So many names are proposed for one that is not known."""
_LONGEST_NAME = 200
"""Of a name longer than this, so many characters are compared with others and quoted back."""


class TextPart(NamedTuple):
    """A stretch of a document's text and where it lies in the whole, in characters."""

    text: SafeText
    offset: int
    total: int

    @property
    def next_offset(self) -> int | None:
        end = self.offset + len(self.text)
        return end if end < self.total else None


def find_collection(collections: Sequence[Collection], name: str) -> Collection:
    """Return a collection by name or alias; NotFound names the nearest."""
    for each in collections:
        if name in (each.name, each.alias):
            return each
    raise NotFound(
        f"Collection {quoted(name)} not found.", hint=_collections_near(collections, name)
    )


def _collections_near(collections: Sequence[Collection], name: str) -> str | None:
    """Say what the nearest collections are called, by alias or name, or else what all are."""
    owners = {each.name: each for each in collections}
    owners |= {each.alias: each for each in collections if each.alias}
    near: dict[str, str] = {}
    for label in nearest(name, list(owners)):
        near.setdefault(owners[label].name, label)
    shown = [*near.values()] or [each.alias or each.name for each in collections]
    if not shown:
        return None
    more = len(shown) - _MOST_NAMED
    return f"There is {_listed(shown[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}."


def find_document(engine: Engine, text: str, collection: str | None = None) -> Document:
    """Return the document that a text names; NotFound lists what is near."""
    known = [state.collection for state in engine.collections()]
    scope = known if collection is None else [find_collection(known, collection)]
    for group in candidates(text, scope):
        documents = [engine.document(name, path) for name, path in group]
        found = {each.key: each for each in documents if each is not None}
        if len(found) > 1:
            listed = _listed([f"{each.collection}/{each.path}" for each in found.values()])
            raise BadRequest(f"{quoted(text)} names several documents: {listed}.")
        if found:
            return make_presentable(_readable(next(iter(found.values()))))
    if named := _by_id(engine, text, scope):
        return make_presentable(_readable(named))
    where = "" if collection is None else f" in collection {quoted(collection)}"
    near = nearest_documents(engine, text, scope)
    raise NotFound(
        f"Document {quoted(text)} not found{where}.",
        hint=f"Near are {_listed(near)}." if near else None,
    )


def _by_id(engine: Engine, text: str, scope: Sequence[Collection]) -> Document | None:
    """Return the document whose id in answers about citations a text is, if it is one."""
    key = key_in_id(text)
    found = engine.documents_by_key(engine.named(key)) if key is not None else {}
    names = {each.name for each in scope}
    return next((each for each in found.values() if each.collection in names), None)


def make_presentable(document: Document) -> Document:
    """Return a document whose words about itself may be shown; its path stays as it is."""
    return document._replace(
        title=make_safe(document.title),
        description=make_safe(document.description),
        tags=tuple(make_safe(tag) for tag in document.tags),
        author=make_safe(document.author),
        source=make_safe(document.source),
    )


def _readable(document: Document) -> Document:
    if document.status is not Status.OK:
        raise NotFound(
            f"{quoted(document.path)} has no text to show: {document.status} ({document.reason})."
        )
    return document


def nearest_documents(engine: Engine, text: str, scope: Sequence[Collection]) -> list[str]:
    """Return the ids of documents whose path is near to a text."""
    alone = len(scope) == 1
    paths = [
        path if alone else f"{each.name}/{path}"
        for each in scope
        for path in engine.paths(each.name)
    ]
    return nearest_paths(text.removeprefix(SCHEME), paths)


def nearest_paths(text: str, paths: Sequence[str]) -> list[str]:
    """Return the paths most like a text: as a whole, by the file's name, or because they hold it.

    Extensions, which nearly all share, are left out of it.
    """
    from rapidfuzz import fuzz, process, utils

    wanted = _bare(text[:_LONGEST_NAME])
    bare = [_bare(path) for path in paths]
    name, names = _name(wanted), [_name(path) for path in bare]
    scores = {i: _HOLDS for i, path in enumerate(bare) if len(wanted) > 2 and wanted in path}
    for asked, known, weight in (
        (wanted, bare, 1.0),
        (name, names, _BY_FILE_NAME),
    ):
        for _, score, i in process.extract(
            asked,
            known,
            scorer=fuzz.ratio,
            processor=utils.default_process,
            limit=_MOST_NEAR,
            score_cutoff=60,
        ):
            # Long paths are alike by their folders alone; short names tell nothing.
            if len(name) < _SHORT_NAME or fuzz.ratio(name, names[i]) >= _SAME_NAME:
                scores[i] = max(scores.get(i, 0.0), score * weight)
    best = sorted(scores, key=lambda i: (-scores[i], paths[i]))[:_MOST_NEAR]
    return [paths[i] for i in best]


def _name(path: str) -> str:
    """Return what a page is called: by its file, or by the folder whose front page it is."""
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if folder and name in FRONT_PAGES else name


def _bare(path: str) -> str:
    """Return a path without its extension, in small letters."""
    stem, dot, extension = path.rpartition(".")
    return (stem if dot and "/" not in extension else path).casefold()


def nearest(text: str, names: Sequence[str]) -> list[str]:
    """Return the names most like a text, none that is quite unlike it."""
    from rapidfuzz import fuzz, process, utils

    found = process.extract(
        text[:_LONGEST_NAME],
        names,
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        limit=_MOST_NEAR,
        score_cutoff=60,
    )
    return [name for name, _, _ in found]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quoted(name) for name in names)


def require_text(*values: str) -> None:
    """Refuse halves of characters, which no file has and no store takes."""
    for value in values:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{value[:_LONGEST_NAME]!a} is not valid Unicode.") from None


def quoted(name: str) -> SafeText:
    """Return a name for a message: in quotes, on one line, of bounded length."""
    short = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
    return make_safe('"' + " ".join(short.split()) + '"')


def read_text(
    engine: Engine, document: Document, *, offset: int = 0, length: int | None = None
) -> TextPart:
    """Return a document's text, or the stretch of it asked for."""
    if offset < 0 or (length is not None and length < 1):
        raise BadRequest("The offset counts from 0 and the length from 1.")
    text = make_safe(engine.text(document.key).decode("utf-8", "replace"))
    end = len(text) if length is None else offset + length
    return TextPart(SafeText(text[offset:end]), min(offset, len(text)), len(text))


def read_lines(engine: Engine, document: Document, first: int, last: int) -> TextPart:
    """Return the lines of a document from `first` to `last`, both included."""
    if first < 1 or last < first:
        raise BadRequest("Lines count from 1, and the last must not come before the first.")
    text = make_safe(engine.text(document.key).decode("utf-8", "replace"))
    lines = text.removesuffix("\n").split("\n")
    if first > len(lines):
        raise BadRequest(f"The document has {len(lines)} lines.")
    before = sum(len(line) + 1 for line in lines[: first - 1])
    return TextPart(SafeText("\n".join(lines[first - 1 : last])), before, len(text))
