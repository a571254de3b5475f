"""Links that lead nowhere: to what is no document, or to no section of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import BookwheelError
from bookwheel.model import Document, Link, SafeText
from bookwheel.reading.anchors import WITH_ANCHORS, Anchors
from bookwheel.reading.documents import make_presentable
from bookwheel.safety.opener import Root
from bookwheel.safety.redact import make_safe
from bookwheel.text.targets import Origin, place_of

NO_DOCUMENT, NO_SECTION = "no such document", "no such section"
_MOST_LOOKED_AT = 100_000


class Broken(NamedTuple):
    """A link that leads nowhere, and where it stands."""

    source: Document
    kind: str
    address: SafeText
    text: SafeText
    context: SafeText
    line: int
    reason: str


def read_broken(
    engine: Engine, collection: str | None, *, document: Document | None = None, limit: int
) -> list[Broken]:
    """Return links without a target in the order of paths, of one document or of all.

    A file or folder that is there is no missing target, though no document was made of it.
    """
    names = [state.collection.name for state in engine.collections()]
    names = names if collection is None else [collection]
    only = document.key if document is not None else None
    every = (_read_without_document, _read_without_section)
    found = [each for read in every for each in islice(read(engine, names, only), limit)]
    return sorted(found, key=lambda each: (each.source.collection, each.source.path, each.line))[
        :limit
    ]


def _read_without_document(engine: Engine, names: list[str], only: int | None) -> Iterator[Broken]:
    with ExitStack() as stack:
        roots = _open_roots(engine, stack)
        for source, link in _with_sources(engine, names):
            if only in (None, source.key) and not _is_there(link, source, roots):
                yield _show(source, link, NO_DOCUMENT)


def _read_without_section(engine: Engine, names: list[str], only: int | None) -> Iterator[Broken]:
    found = engine.anchored(names, _MOST_LOOKED_AT)
    found = [each for each in found if only in (None, each.source)]
    keys = {end for each in found for end in (each.source, each.target) if end is not None}
    documents = engine.documents_by_key(list(keys))
    targets: dict[int, Anchors] = {}
    for each in found:
        source, target = documents.get(each.source), documents.get(each.target or 0)
        if source is None or target is None or target.extension not in WITH_ANCHORS:
            continue
        if target.key not in targets:
            targets[target.key] = Anchors(engine, target.key)
        if not targets[target.key].has(each.link.target.partition("#")[2]):
            yield _show(source, each.link, NO_SECTION)


def _with_sources(engine: Engine, names: list[str]) -> list[tuple[Document, Link]]:
    links = engine.unresolved(names, _MOST_LOOKED_AT)
    sources = engine.documents_by_key(list({source for source, _ in links}))
    return [(sources[source], link) for source, link in links if source in sources]


def _open_roots(engine: Engine, stack: ExitStack) -> dict[str, Root]:
    """Return the folders of collections; one that is gone shows nothing to be there."""
    roots = {}
    for state in engine.collections():
        try:
            root = Root.open(state.collection.path)
        except BookwheelError:
            continue
        roots[state.collection.name] = stack.enter_context(root)
    return roots


def _is_there(link: Link, source: Document, roots: Mapping[str, Root]) -> bool:
    own = roots.get(source.collection)
    folder = PurePath(own.path).name if own is not None else ""
    origin = Origin(source.collection, source.path, folder=folder)
    name, _, path = (place_of(link.kind, link.target, origin) or "").partition("/")
    if name not in roots:
        return False
    try:
        roots[name].stat_file(path)
    except BookwheelError:  # nothing stands there, or nothing that may be looked at
        return False
    return True


def _show(source: Document, link: Link, reason: str) -> Broken:
    return Broken(
        make_presentable(source),
        link.kind,
        make_safe(link.target),
        make_safe(link.text),
        make_safe(link.context),
        link.line,
        reason,
    )
