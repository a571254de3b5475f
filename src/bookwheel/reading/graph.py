"""The citation graph: documents and addresses as nodes, citations as edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bookwheel.addresses import document_id
from bookwheel.engines.base import Engine
from bookwheel.model import Citation, Document, SafeText
from bookwheel.reading.citations import Cited, Showing

MOST_NODES = 300
"""So many can be told apart in a drawing."""
_MOST_LINKS = 400
"""Citations of one document that are looked at."""
_PAGE = 1000


class Node(NamedTuple):
    """A document, or an address outside; `level` is how far it is from where one began."""

    id: str
    label: SafeText
    document: Document | None
    level: int = 0


class Edge(NamedTuple):
    """At least one citation from a node to another; the surest counts."""

    source: str
    target: str
    confidence: float


class Graph(NamedTuple):
    """Nodes and edges, each once; both ends of an edge are nodes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    is_cut: bool = False
    """There is more of it than was asked for."""


def make_graph(
    roots: Sequence[Document], citations: Iterable[Cited], *, is_cut: bool = False
) -> Graph:
    """Return the graph of citations around documents, which come first."""
    nodes = {each.id: each for each in map(_node, roots)}
    edges: dict[tuple[str, str], Edge] = {}
    for cited in citations:
        source = _node(cited.source, level=1)
        target = _node(cited.target, level=1) if cited.target else _outside(cited)
        nodes.setdefault(source.id, source)
        nodes.setdefault(target.id, target)
        edge = Edge(source.id, target.id, cited.confidence)
        other = edges.setdefault((edge.source, edge.target), edge)
        if edge.confidence > other.confidence:
            edges[edge.source, edge.target] = edge
    return Graph(tuple(nodes.values()), tuple(edges.values()), is_cut)


def _node(document: Document, *, level: int = 0) -> Node:
    name = document_id(document.collection, document.path)
    return Node(name, SafeText(document.title), document, level)


def _outside(cited: Cited) -> Node:
    return Node(cited.target_id, cited.address, None, 1)


def read_graph(
    engine: Engine,
    roots: Sequence[Document],
    *,
    depth: int = 1,
    most: int = MOST_NODES,
    outside: bool = False,
) -> Graph:
    """Return what lies around documents, followed so many levels in both directions.

    Without documents it is the graph of all: of its best connected ones, if they are too many.
    """
    if not roots:
        return _read_whole(engine, most=most, outside=outside)
    levels = dict.fromkeys((root.key for root in roots), 0)
    citations: list[Citation] = []
    frontier, is_cut = list(levels), False
    for level in range(1, depth + 1):
        found = _around(engine, frontier)
        citations += found
        ends = (end for each in found for end in (each.target, each.source) if end is not None)
        new = [end for end in dict.fromkeys(ends) if end not in levels]
        is_cut |= len(levels) + len(new) > most
        frontier = new[: max(0, most - len(levels))]
        levels |= dict.fromkeys(frontier, level)
    if frontier and depth:  # what the outermost cite among themselves
        citations += _flat(engine.outgoing(frontier, _MOST_LINKS))
    return _assemble(engine, levels, citations, most=most, outside=outside, is_cut=is_cut)


def _around(engine: Engine, keys: Sequence[int]) -> list[Citation]:
    found = [engine.outgoing(keys, _MOST_LINKS), engine.incoming(keys, _MOST_LINKS)]
    return [each for lists in found for each in _flat(lists)]


def _flat(lists: dict[int, list[Citation]]) -> list[Citation]:
    return [each for own in lists.values() for each in own]


def _read_whole(engine: Engine, *, most: int, outside: bool) -> Graph:
    states = engine.collections()
    total = sum(state.documents for state in states)
    if total <= 4 * most:
        names = [state.collection.name for state in states]
        keys = [key for name in names for key in _keys_of(engine, name)]
    else:
        keys = list(engine.most_cited(most))
    citations = _flat(engine.outgoing(keys, _MOST_LINKS))
    degrees: Counter[int] = Counter()
    for each in citations:
        if each.target is not None:
            degrees.update((each.source, each.target))
        elif outside:
            degrees.update((each.source,))
    allowed = set(keys)
    kept = [key for key, _ in degrees.most_common() if key in allowed][:most]
    is_cut = len(kept) < min(total, len(degrees))
    levels = dict.fromkeys(kept, 0)
    return _assemble(engine, levels, citations, most=most, outside=outside, is_cut=is_cut)


def _keys_of(engine: Engine, collection: str) -> list[int]:
    keys: list[int] = []
    while True:
        page, total = engine.list_documents(collection, limit=_PAGE, offset=len(keys))
        keys += [each.key for each in page]
        if not page or len(keys) >= total:
            return keys


def _assemble(
    engine: Engine,
    levels: dict[int, int],
    citations: Iterable[Citation],
    *,
    most: int,
    outside: bool,
    is_cut: bool,
) -> Graph:
    """Return the graph of the documents chosen, with addresses outside as far as there is room."""
    among = [
        each
        for each in citations
        if each.source in levels and (each.target in levels or (outside and each.target is None))
    ]
    shown = Showing(engine, among, others=levels)
    roots = [shown.documents[key] for key in levels if key in shown.documents]
    graph = make_graph(roots, shown.all(among), is_cut=is_cut)
    depths = [levels[key] for key in levels if key in shown.documents]
    nodes = [
        node._replace(level=depths[at] if at < len(depths) else max(depths, default=0) + 1)
        for at, node in enumerate(graph.nodes)
    ]
    if len(nodes) <= most:
        return graph._replace(nodes=tuple(nodes))
    kept = {node.id for node in nodes[:most]}
    edges = tuple(each for each in graph.edges if each.source in kept and each.target in kept)
    return Graph(tuple(nodes[:most]), edges, True)
