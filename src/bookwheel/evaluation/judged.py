"""Judged queries of somebody's own folder: a small TOML file, and one to begin with."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.errors import BadRequest, NotFound
from bookwheel.library import Library
from bookwheel.model import Document

FILE_NAME = "bookwheel-eval.toml"
EXAMPLES = 10
_BEST, _USEFUL = 2.0, 1.0
_KEYS = {"ask", "find", "also", "example"}
_PAGE, _MOST_PAGES = 1000, 10
"""Examples are drawn from so many documents of a collection at a time, so many times at most."""
_HEAD = """\
# Judged queries: what is asked of these documents, and which of them should answer.
#
#   ask   what somebody would type or ask
#   find  the documents that answer it, by path; any of them may come first
#   also  documents that help but do not answer (optional; they count half)
#
# The entries below are EXAMPLES, made from titles and headings, which search finds easily.
# Replace them by 20 or more questions that were really asked, in the words in which they were
# asked, and take `example = true` away. Then run `bookwheel eval` on this folder.
"""


class Judged(NamedTuple):
    """A query with the documents that should answer it, as a person names them."""

    query: str
    gains: Mapping[str, float]
    example: bool = False


def read_judged(file: Path) -> list[Judged]:
    """Read a file of judged queries; what cannot be used is named by its number in the file."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        hint = "`bookwheel eval init FOLDER` writes one to fill in."
        raise NotFound(f"There is no file of judged queries {file}.", hint=hint) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadRequest(f"{file} cannot be read: {error}.") from None
    rows = content.pop("query", None)
    if content or not isinstance(rows, list) or not rows:
        hint = 'Each query is written [[query]], then ask = "words" and find = ["path"].'
        trouble = f"{next(iter(content))!r} means nothing here" if content else "it has no query"
        raise BadRequest(f"{file} cannot be used: {trouble}.", hint=hint)
    judged = [_read_query(row, f"{file}: query {n}") for n, row in enumerate(rows, start=1)]
    twice = [text for text, number in Counter(each.query for each in judged).items() if number > 1]
    if twice:
        raise BadRequest(f"{file}: {twice[0]!r} is asked twice.", hint="Join the two entries.")
    return judged


def _read_query(row: Any, place: str) -> Judged:
    if not isinstance(row, dict):
        raise BadRequest(f"{place}: write [[query]], with two brackets.")
    if unknown := sorted(row.keys() - _KEYS):
        raise BadRequest(f"{place}: {unknown[0]!r} is none of {', '.join(sorted(_KEYS))}.")
    text = row.get("ask")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f'{place}: write what is asked, as ask = "words".')
    best, useful = (_read_paths(row, key, place) for key in ("find", "also"))
    if not best:
        raise BadRequest(f'{place}: name the document to find, as find = ["path"].')
    gains = dict.fromkeys(useful, _USEFUL) | dict.fromkeys(best, _BEST)
    return Judged(text, gains, row.get("example") is True)


def _read_paths(row: dict[str, Any], key: str, place: str) -> list[str]:
    value = row.get(key, [])
    paths = [value] if isinstance(value, str) else value
    if not isinstance(paths, list) or not all(isinstance(each, str) and each for each in paths):
        raise BadRequest(f'{place}: {key} is a list of paths, as ["guides/setup.md"].')
    return paths


def propose_queries(library: Library, wanted: int = EXAMPLES) -> list[Judged]:
    """Return queries made from titles, every other with a heading, of documents far apart."""
    documents = [
        each
        for collection in library.collections
        for each in _list_documents(library, collection.name)
    ]
    titles = Counter(each.title.casefold() for each in documents)
    own = [each for each in documents if titles[each.title.casefold()] == 1 and _is_plain(each)]
    spread = [own[len(own) * n // wanted] for n in range(wanted)] if len(own) > wanted else own
    several = len(library.collections) > 1
    return [
        Judged(
            _example(library, document, with_heading=bool(number % 2)),
            {f"{document.collection}/{document.path}" if several else document.path: _BEST},
            example=True,
        )
        for number, document in enumerate(spread)
    ]


def _list_documents(library: Library, collection: str) -> Iterator[Document]:
    for number in range(_MOST_PAGES):
        page = library.list_documents(collection, limit=_PAGE, offset=number * _PAGE)
        yield from page.documents
        if not page.has_more:
            return


def _is_plain(document: Document) -> bool:
    """Tell a document whose title and path can be written down and have something to look for."""
    return document.path.isprintable() and any(map(str.isalnum, document.title))


def _example(library: Library, document: Document, *, with_heading: bool) -> str:
    headings = library.outline(document) if with_heading else []
    own = [each.text for each in headings if each.text.casefold() != document.title.casefold()]
    return " ".join(f"{document.title} {own[0] if own else ''}".split())


def write_judged(judged: Sequence[Judged]) -> str:
    """Return the text of a file of judged queries."""
    return "\n".join([_HEAD, *map(_write_query, judged)])


def _write_query(judged: Judged) -> str:
    best = [name for name, gain in judged.gains.items() if gain == _BEST]
    useful = [name for name, gain in judged.gains.items() if gain != _BEST]
    lines = ["[[query]]", f"ask = {_quote(judged.query)}", f"find = {_quote_all(best)}"]
    lines += [f"also = {_quote_all(useful)}"] if useful else []
    lines += ["example = true"] if judged.example else []
    return "\n".join([*lines, ""])


def _quote_all(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quote, names))}]"


def _quote(text: str) -> str:
    """Return a string as TOML writes it, which is as JSON does but for one control character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
