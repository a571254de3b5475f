"""The citation graph as a drawing that can be moved through."""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from bookwheel.reading.drawing import draw
from bookwheel.reading.graph import Graph
from bookwheel.serve.api import read_query
from bookwheel.serve.api_answers import node_address, read_graph
from bookwheel.serve.api_models import GraphAsked
from bookwheel.serve.site.navigation import OWN
from bookwheel.serve.site.pages import Pages
from bookwheel.serve.web import base_of
from bookwheel.view import View

# The summary is said by the page; a picture that holds links is none to those who cannot see it.
_ROLE = re.compile(r' role="img" aria-label="[^"]*"')


MOST_NODES = 300
"""More cannot be told apart, and placing them takes the square of their number."""
_USUAL_NODES = 150


class PageAsked(GraphAsked):
    """What the form of the page sends."""

    most: int = Field(_USUAL_NODES, ge=1, le=MOST_NODES)


@lru_cache(maxsize=32)
def _draw(graph: Graph, base: str) -> str:
    """Return the drawing of a graph; placing many nodes takes a second or two."""
    svg = draw(graph, link=lambda node: node_address(node, base), styled=False)
    return _ROLE.sub("", svg, count=1)


def _without_navigation(graph: Graph) -> Graph:
    """Return a graph without what leads to every page, and without pages that only it tied."""
    own = {each.id for each in graph.nodes if each.document and each.document.path in OWN}
    if not own:
        return graph
    edges = [each for each in graph.edges if own.isdisjoint((each.source, each.target))]
    tied = {end for each in edges for end in (each.source, each.target)}
    told = {end for each in graph.edges for end in (each.source, each.target)} - tied
    nodes = [each for each in graph.nodes if each.id not in own and each.id not in told]
    return graph._replace(nodes=tuple(nodes), edges=tuple(edges))


async def show_graph_page(pages: Pages, request: Request) -> Response:
    """Show the graph around a document, around what was found, or of all."""
    asked: PageAsked = read_query(request, PageAsked)
    base = base_of(request)

    def make(library: View) -> tuple[Graph, str]:
        graph = _without_navigation(read_graph(library, asked))
        return graph, _draw(graph, base)

    graph, svg = await pages.web.ask(request, make)
    number = {node.id: at for at, node in enumerate(graph.nodes)}
    values = {
        "asked": asked,
        "more": graph.is_cut and asked.most < MOST_NODES,
        "graph": graph,
        "svg": svg if graph.nodes else "",
        "ties": [[number[edge.source], number[edge.target]] for edge in graph.edges],
        "addresses": {node.id: node_address(node, base) for node in graph.nodes},
    }
    return pages.show(request, "graph.html", values)
