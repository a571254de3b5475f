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
_MOST_COUNTED = 100_000
_PAGE = 1000
_STEP = 8


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
    inside = {each.key: _node(each) for each in roots}
    outside: dict[int, Node] = {}

    def node_of(document: Document) -> Node:
        known = inside.get(document.key)
        return known or inside.setdefault(document.key, _node(document, level=1))

    nodes = {each.id: each for each in inside.values()}
    edges: dict[tuple[str, str], Edge] = {}
    for cited in citations:
        source = node_of(cited.source)
        if cited.target is not None:
            target = node_of(cited.target)
        else:
            target = outside.get(cited.key) or outside.setdefault(cited.key, _outside(cited))
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
    return Node(cited.target_id, SafeText(cited.url), None, 1)


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
    spread = _Spread(engine, (root.key for root in roots), most)
    for level in range(1, depth + 1):
        spread.go_on(level)
    citations = spread.finish(has_edges=depth > 0)
    return _assemble(
        engine, spread.levels, citations, most=most, outside=outside, is_cut=spread.is_cut
    )


class _Spread:
    """Documents found from some others level by level, until there are enough."""

    def __init__(self, engine: Engine, starts: Iterable[int], most: int) -> None:
        self._engine = engine
        self._most = most
        self._citations: list[Citation] = []
        self._waiting = list(starts)
        self.levels = dict.fromkeys(self._waiting, 0)
        """How far each is from where one began."""
        self.is_cut = False

    def go_on(self, level: int) -> None:
        """Take in what the outermost documents cite and are cited by."""
        before, self._waiting = self._waiting, []
        for at in range(0, len(before), _STEP):
            if self.is_cut:
                self._waiting += before[at:]
                return
            self._take_in(before[at : at + _STEP], level)

    def _take_in(self, keys: Sequence[int], level: int) -> None:
        around = (self._engine.outgoing, self._engine.incoming)
        found = [each for read in around for each in _flat(read(keys, _MOST_LINKS))]
        ends = (end for each in found for end in (each.target, each.source) if end is not None)
        new = [end for end in dict.fromkeys(ends) if end not in self.levels]
        room = self._most - len(self.levels)
        self.is_cut |= len(new) > room
        self._waiting += new[:room]
        self.levels |= dict.fromkeys(new[:room], level)
        self._citations += found

    def finish(self, *, has_edges: bool) -> list[Citation]:
        """Return all citations met, those among the outermost documents included."""
        if has_edges and self._waiting:
            self._citations += _flat(self._engine.outgoing(self._waiting, _MOST_LINKS))
        return self._citations


def count_citations(engine: Engine, graph: Graph) -> dict[str, tuple[int, int]]:
    """Return how often each node is cited, and cites; documents in all that there is.

    The citations of a graph that was cut are only some of them.
    """
    cited = Counter(edge.target for edge in graph.edges)
    citing = Counter(edge.source for edge in graph.edges)
    if graph.is_cut:
        names = {node.document.key: node.id for node in graph.nodes if node.document}
        for key, own in engine.incoming([*names], _MOST_COUNTED).items():
            cited[names[key]] = len(own)
        outside = len(names) < len(graph.nodes)
        for key, own in engine.outgoing([*names], _MOST_COUNTED).items():
            citing[names[key]] = sum(outside or each.target is not None for each in own)
    return {node.id: (cited[node.id], citing[node.id]) for node in graph.nodes}


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
    graph = _assemble(engine, levels, citations, most=most, outside=outside, is_cut=is_cut)
    tied = {end for edge in graph.edges for end in (edge.source, edge.target)}
    return graph._replace(nodes=tuple(node for node in graph.nodes if node.id in tied))


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
