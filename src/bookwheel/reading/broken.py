"""Links that lead nowhere: to a path or a name of the library without a document."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import BookwheelError
from bookwheel.model import Document, Link, SafeText
from bookwheel.reading.documents import make_presentable
from bookwheel.safety.opener import Root
from bookwheel.safety.redact import make_safe
from bookwheel.text.targets import Origin, place_of


class Broken(NamedTuple):
    """A link that leads nowhere, and where it stands."""

    source: Document
    kind: str
    address: SafeText
    text: SafeText
    context: SafeText
    line: int


def read_broken(
    engine: Engine, collection: str | None, *, document: Document | None = None, limit: int
) -> list[Broken]:
    """Return links without a target in the order of paths, of one document or of all.

    A file or folder that is there is no missing target, though no document was made of it.
    """
    names = [state.collection.name for state in engine.collections()]
    names = names if collection is None else [collection]
    found: list[Broken] = []
    with ExitStack() as stack:
        roots = _open_roots(engine, stack)
        for source, link in _with_sources(engine, names):
            if document is not None and document.key != source.key:
                continue
            if not _is_there(link, source, roots):
                found.append(_show(source, link))
            if len(found) == limit:
                break
    return found


def _with_sources(engine: Engine, names: list[str]) -> list[tuple[Document, Link]]:
    links = engine.unresolved(names, _MOST_LOOKED_AT)
    sources = engine.documents_by_key(list({source for source, _ in links}))
    return [(sources[source], link) for source, link in links if source in sources]


_MOST_LOOKED_AT = 100_000


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
    place = place_of(link.kind, link.target, Origin(source.collection, source.path))
    name, _, path = (place or "").partition("/")
    root = roots.get(name)
    try:
        return root is not None and root.stat_file(path) is not None
    except BookwheelError:  # nothing stands there, or nothing that may be looked at
        return False


def _show(source: Document, link: Link) -> Broken:
    return Broken(
        make_presentable(source),
        link.kind,
        make_safe(link.target),
        make_safe(link.text),
        make_safe(link.context),
        link.line,
    )
