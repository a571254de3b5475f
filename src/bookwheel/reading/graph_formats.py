"""A citation graph in the languages of other programs: DOT, Mermaid and GraphML."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from bookwheel.reading.graph import Graph, Node
from bookwheel.safety.redact import make_safe
from bookwheel.text.cut import cut

_LONGEST_LABEL = 80


def as_dot(graph: Graph) -> str:
    """Return a graph for Graphviz."""
    lines = ["digraph citations {", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    for node in graph.nodes:
        style = "" if node.document else ", style=dashed"
        lines.append(
            f"  {_quoted(node.id)} [label={_quoted(_label(node))}, tooltip={_quoted(_place(node))}"
            f"{style}];"
        )
    for edge in graph.edges:
        style = "" if edge.confidence >= 1 else ", style=dashed"
        ends = f"{_quoted(edge.source)} -> {_quoted(edge.target)}"
        lines.append(f"  {ends} [weight={edge.confidence:g}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _label(node: Node) -> str:
    return cut(node.label, limit=_LONGEST_LABEL) or node.id


def _place(node: Node) -> str:
    return f"{node.document.collection}/{node.document.path}" if node.document else node.id


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def as_mermaid(graph: Graph) -> str:
    """Return a graph for Mermaid, whose names of nodes are plain numbers."""
    names = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    lines = ["graph LR"]
    for node in graph.nodes:
        opening, closing = ("[", "]") if node.document else ("([", "])")
        lines.append(f'  {names[node.id]}{opening}"{_entities(_label(node))}"{closing}')
    for edge in graph.edges:
        arrow = "-->" if edge.confidence >= 1 else "-.->"
        lines.append(f"  {names[edge.source]} {arrow} {names[edge.target]}")
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    """Return a text in which nothing is taken for markup."""
    return "".join(
        letter if letter.isalnum() or letter in " .,:!?/'-_+=" else f"#{ord(letter)};"
        for letter in text
    )


def as_graphml(graph: Graph) -> str:
    """Return a graph for programs that read GraphML, such as Gephi and yEd."""
    keys = [
        f'  <key id="{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
        for name, owner, kind in _ATTRIBUTES
    ]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *keys,
        '  <graph id="citations" edgedefault="directed">',
    ]
    for node in graph.nodes:
        data = {"label": node.label, "type": "document" if node.document else "outside"}
        if node.document:
            path = make_safe(node.document.path)
            data |= {"collection": node.document.collection, "path": path}
            data |= {"date": node.document.date}
        lines.append(f"    <node id={quoteattr(node.id)}>{_data(data)}</node>")
    for edge in graph.edges:
        ends = f"source={quoteattr(edge.source)} target={quoteattr(edge.target)}"
        data = {"confidence": f"{edge.confidence:g}"}
        lines.append(f"    <edge {ends}>{_data(data)}</edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


_ATTRIBUTES = (
    ("label", "node", "string"),
    ("type", "node", "string"),
    ("collection", "node", "string"),
    ("path", "node", "string"),
    ("date", "node", "string"),
    ("confidence", "edge", "double"),
)


def _data(values: dict[str, str]) -> str:
    return "".join(f'<data key="{name}">{escape(value)}</data>' for name, value in values.items())
