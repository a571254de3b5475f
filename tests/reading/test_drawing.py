"""Drawings and other forms of a graph: well-formed, complete, and with labels apart."""

from __future__ import annotations

import re
from itertools import combinations
from math import dist
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.model import Document, SafeText, Status
from bookwheel.reading.drawing import COLOURS, draw
from bookwheel.reading.graph import Edge, Graph, Node
from bookwheel.reading.graph_formats import as_dot, as_graphml, as_mermaid
from bookwheel.reading.layout import Box, lay_out

SVG = "{http://www.w3.org/2000/svg}"
LABELS = [
    "Short",
    'A "quoted" <b> & co.',
    "一个很长的标题，写在图里面看看会不会重叠",
    "x" * 70,
    "A\\B|[C]",
]


def document(name: str, collection: str = "notes") -> Document:
    about = ("", (), ".md", "text/markdown", 1, 1, "", "2025-01-01", "s", "en")
    return Document(1, collection, name, name, *about, 1, 1, 1, Status.OK, "", 1)


def make(count: int, ties: list[tuple[int, int]]) -> Graph:
    nodes = [
        Node(
            f"doc-{at}",
            SafeText(LABELS[at % len(LABELS)]),
            document(f"{at}.md", "notes" if at % 3 else "other") if at % 4 else None,
            level=min(at, 1),
        )
        for at in range(count)
    ]
    edges = [Edge(f"doc-{a}", f"doc-{b}", (1.0, 0.9, 0.8)[(a + b) % 3]) for a, b in ties]
    return Graph(tuple(nodes), tuple(edges))


STAR = make(30, [(0, at) for at in range(1, 20)] + [(at, 0) for at in range(5)] + [(20, 21)])


def overlapping(boxes: list[Box], ties: list[tuple[int, int]]) -> list[tuple[int, int]]:
    spots = lay_out(boxes, ties)
    frames = [
        (x - box.half, x + box.half, y - box.up, y + box.down)
        for box, (x, y) in zip(boxes, spots, strict=True)
    ]
    return [
        (a, b)
        for (a, one), (b, other) in combinations(enumerate(frames), 2)
        if one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
    ]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.builds(Box, st.floats(5, 90), st.floats(5, 20), st.floats(10, 50)),
        min_size=1,
        max_size=25,
    ),
    st.data(),
)
def test_no_two_nodes_with_their_labels_overlap(boxes: list[Box], data: st.DataObject) -> None:
    number = st.integers(0, len(boxes) - 1)
    ties = data.draw(st.lists(st.tuples(number, number), max_size=60))
    assert overlapping(boxes, [tie for tie in ties if tie[0] != tie[1]]) == []


@pytest.mark.parametrize("shape", ["star", "clique", "ring", "alone"])
def test_large_graphs_are_laid_out_without_overlap(shape: str) -> None:
    count = {"star": 300, "clique": 40, "ring": 150, "alone": 100}[shape]
    ties = {
        "star": [(0, at) for at in range(1, count)],
        "clique": list(combinations(range(count), 2)),
        "ring": [(at, (at + 1) % count) for at in range(count)],
        "alone": [],
    }[shape]
    assert overlapping([Box(60, 10, 40)] * count, ties) == []


def test_a_drawing_shows_every_node_and_edge_and_is_always_the_same() -> None:
    drawn = draw(STAR)

    assert drawn == draw(STAR)
    root = ElementTree.fromstring(drawn)
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    assert len(titles) == len(STAR.nodes)
    assert titles[1] == f"{LABELS[1]} (notes/1.md)"
    arrows = [each for each in root.iter(f"{SVG}path") if each.get("class") == "h"]
    assert len(arrows) == len(STAR.edges)
    colours = {each.get("fill") for each in root.iter(f"{SVG}circle")}
    assert set(COLOURS[:2]) <= colours
    assert set(COLOURS[2:]).isdisjoint(colours)
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in drawn


def test_labels_stand_on_the_side_without_arrows() -> None:
    star = make(20, [(0, at) for at in range(1, 20)])
    sides = set()
    hub, *spots = [
        ((float(circle.get("cx", "")), float(circle.get("cy", ""))), group)
        for group in ElementTree.fromstring(draw(star)).iter(f"{SVG}g")
        if (circle := group.find(f"{SVG}circle")) is not None
    ]
    for (x, y), group in spots:
        up = (hub[0][1] - y) / dist(hub[0], (x, y))
        if abs(up) > 0.7:
            lines = [float(line.get("y", "")) for line in group.iter(f"{SVG}text")]
            assert (max(lines) < y) if up > 0 else (min(lines) > y)
            sides.add(up > 0)
    assert sides == {True, False}


def test_nodes_may_lead_somewhere() -> None:
    drawn = draw(STAR, link=lambda node: f"/d?a=1&id={node.id}" if node.document else None)

    found = ElementTree.fromstring(drawn).iter(f"{SVG}a")
    assert next(each.get("href") for each in found) == "/d?a=1&id=doc-1"


def test_an_empty_graph_is_drawn_too() -> None:
    assert "0 documents and 0 citations" in draw(Graph((), ()))


def test_graphml_has_all_that_is_known() -> None:
    root = ElementTree.fromstring(as_graphml(STAR))
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    nodes = root.findall(".//g:node", space)
    data = {each.get("key"): each.text for each in nodes[1].findall("g:data", space)}
    assert data["label"] == LABELS[1]
    assert (data["collection"], data["path"]) == ("notes", "1.md")
    assert len(nodes) == len(STAR.nodes)
    assert len(root.findall(".//g:edge", space)) == len(STAR.edges)


def test_dot_and_mermaid_quote_what_would_be_markup() -> None:
    dot = as_dot(STAR)
    assert r'label="A \"quoted\" <b> & co."' in dot
    assert r'label="A\\B|[C]"' in dot
    assert dot.count(" -> ") == len(STAR.edges)
    mermaid = as_mermaid(STAR)
    assert 'n1["A #34;quoted#34; #60;b#62; #38; co."]' in mermaid
    assert len(re.findall(r"^  n\d+ (?:-->|-\.->) n\d+$", mermaid, re.M)) == len(STAR.edges)
