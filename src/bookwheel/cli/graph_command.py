"""Show who cites whom: around a document, or in all folders.

With --broken it lists the links that lead nowhere instead. Addresses outside of your folders are
shown with --outside, and always in the table of one document.

    bookwheel graph ~/notes
    bookwheel graph guides/setup.md ~/notes --depth 2
    bookwheel graph ~/notes --format svg > notes.svg
    bookwheel graph ~/notes --broken
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bookwheel.cli.fresh import make_fresh
from bookwheel.cli.options import Collection, Config, Index, Json, open_library
from bookwheel.cli.output import count, one_line, print_json
from bookwheel.errors import BadRequest
from bookwheel.library import Library
from bookwheel.model import Document
from bookwheel.reading.broken import NO_DOCUMENT, Broken
from bookwheel.reading.citations import Cited
from bookwheel.reading.graph import MOST_NODES, Graph


class Format(StrEnum):
    """In what form a graph is shown."""

    TABLE = "table"
    JSON = "json"
    DOT = "dot"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    SVG = "svg"


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DOCUMENT] [PATH...]",
            help="A document by path, docs:// address or file; then folders as elsewhere.",
        ),
    ] = None,
    index: Index = None,
    config: Config = None,
    collection: Collection = None,
    depth: Annotated[
        int, typer.Option(metavar="N", min=1, max=3, help="Follow links this many levels deep.")
    ] = 1,
    form: Annotated[Format, typer.Option("--format", "-f", help="How to show it.")] = Format.TABLE,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            max=MOST_NODES,
            help="Show at most this many nodes, or links.",
        ),
    ] = MOST_NODES,
    outside: Annotated[bool, typer.Option("--outside", help="Show addresses outside too.")] = False,
    broken: Annotated[bool, typer.Option("--broken", help="List links that lead nowhere.")] = False,
    json: Json = False,
) -> None:
    """See the module's text."""
    form = Format.JSON if json else form
    wanted, paths = _split(names or [])
    with open_library(paths, index, config) as library:
        make_fresh(library, None)
        if broken:
            _show_broken(library, wanted, collection, limit, form)
            return
        roots = [library.document(wanted, collection)] if wanted is not None else []
        if roots and form in (Format.TABLE, Format.JSON):
            _show_document(library, roots[0], depth, limit, form)
            return
        within = collection if wanted is None else None
        graph = library.graph(roots, collection=within, depth=depth, most=limit, outside=outside)
        _show_graph(library, graph, form)


def _split(names: list[str]) -> tuple[str | None, list[str]]:
    """Return the document, if the first name is one, and the folders."""
    if names and not Path(names[0]).is_dir():
        return names[0], names[1:]
    return None, names


def _show_broken(
    library: Library, wanted: str | None, collection: str | None, limit: int, form: Format
) -> None:
    if form not in (Format.TABLE, Format.JSON):
        raise BadRequest("Broken links are listed as table or json.")
    document = library.document(wanted, collection) if wanted is not None else None
    found = library.broken_links(collection, document=document, limit=limit)
    if form is Format.JSON:
        entries = [_named(each.source) | _link(each) | {"reason": each.reason} for each in found]
        print_json({"broken": entries})
        return
    for each in found:
        why = "" if each.reason == NO_DOCUMENT else f"\t{each.reason}"
        print(f"{_place(each.source)}:{each.line}\t{one_line(each.address)}{why}")
    more = " or more" if len(found) == limit else ""
    print(f"{count(len(found), 'broken link')}{more}.", file=sys.stderr)


def _link(link: Broken | Cited) -> dict[str, Any]:
    names = ("address", "kind", "text", "context", "line")
    return {name: getattr(link, name) for name in names}


def _named(document: Document) -> dict[str, Any]:
    return {"collection": document.collection, "document": document.path, "title": document.title}


def _place(document: Document) -> str:
    return one_line(f"{document.collection}/{document.path}")


def _show_document(
    library: Library, document: Document, depth: int, limit: int, form: Format
) -> None:
    (found,) = library.citations([document], depth=depth, most=limit)
    if form is Format.JSON:
        entries = {
            "citing": [_citation(library, each) for each in found.citing],
            "cited": [_citation(library, each) for each in found.cited],
        }
        print_json(_named(document) | entries | {"cut": found.is_cut})
        return
    print(f"{_place(document)}  {one_line(document.title)}")
    for title, citations in (("cites", found.citing), ("is cited by", found.cited)):
        print(f"{title}:" if citations else f"{title} nothing that is known")
        for cited in citations:
            print(f"  {_line(cited, document, is_source=title != 'cites')}")
    if found.is_cut:
        print("There are more; --limit gives up to 300.", file=sys.stderr)


def _line(cited: Cited, document: Document, *, is_source: bool) -> str:
    """Return one citation: how sure, from or to where, and its sentence."""
    source = _place(cited.source)
    target = _place(cited.target) if cited.target else one_line(cited.address)
    near, far = (target, source) if is_source else (source, target)
    shown = far if near == _place(document) else f"{source} -> {target}"
    return f"{cited.confidence:.1f}  {shown}  (line {cited.line}: {one_line(cited.context)})"


def _citation(library: Library, cited: Cited) -> dict[str, Any]:
    return {
        "source": _named(cited.source),
        "target": _named(cited.target) if cited.target else None,
        "section": library.section_cited(cited),
        **_link(cited),
        "confidence": cited.confidence,
    }


def _show_graph(library: Library, graph: Graph, form: Format) -> None:
    if form is Format.JSON:
        print_json(_graph_as_json(graph))
    elif form is Format.TABLE:
        _print_counts(graph, library.count_citations(graph))
    else:
        print(_writers()[form](graph), end="")
    if graph.is_cut:
        shown = count(len(graph.nodes), "node")
        print(f"bookwheel: this is not all of it, but the best connected {shown}.", file=sys.stderr)


def _writers() -> dict[Format, Any]:
    from bookwheel.reading.drawing import draw
    from bookwheel.reading.graph_formats import as_dot, as_graphml, as_mermaid

    return {
        Format.DOT: as_dot,
        Format.MERMAID: as_mermaid,
        Format.GRAPHML: as_graphml,
        Format.SVG: draw,
    }


def _graph_as_json(graph: Graph) -> dict[str, Any]:
    nodes = [
        {"id": node.id, "label": node.label, "level": node.level}
        | ({"type": "document"} | _named(node.document) if node.document else {"type": "outside"})
        for node in graph.nodes
    ]
    edges = [
        {"from": edge.source, "to": edge.target, "confidence": edge.confidence}
        for edge in graph.edges
    ]
    return {"nodes": nodes, "edges": edges, "cut": graph.is_cut}


def _print_counts(graph: Graph, counts: Mapping[str, tuple[int, int]]) -> None:
    """Print how often each document is cited and cites, the most cited first."""
    rows = []
    for node in graph.nodes:
        place = _place(node.document) if node.document else one_line(node.id)
        rows.append((*counts[node.id], place))
    print("cited\tcites\tdocument")
    for cited, citing, place in sorted(rows, key=lambda row: (-row[0], -row[1], row[2])):
        print(f"{cited}\t{citing}\t{place}")
    if not rows:
        print("No document cites another.", file=sys.stderr)
