"""Citations and their graph: golden on a small archive, and the same however it came to be."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookwheel.addresses import document_id
from bookwheel.library import Library
from bookwheel.reading.graph import Graph
from tests.clients.archive import fill_archive
from tests.clients.handbook import fill
from tests.conftest import Shelf


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with fill_archive(Shelf(tmp_path_factory.mktemp("archive"))) as library:
        yield library


def edges(graph: Graph) -> set[tuple[str, str, float]]:
    """Return the edges of a graph by path."""
    names = {
        node.id: f"{node.document.collection}/{node.document.path}" if node.document else node.id
        for node in graph.nodes
    }
    return {(names[edge.source], names[edge.target], edge.confidence) for edge in graph.edges}


INSIDE = {
    ("research/2025-05-20/machine_learning_intro.md", "saved/ml-algorithms.html", 1.0),
    (
        "research/2025-05-21/naïve bayes & <friends>.md",
        "research/2025-05-20/machine_learning_intro.md",
        1.0,
    ),
    ("research/2025-05-22/chain one.md", "research/2025-05-23/chain-two.md", 1.0),
    ("research/2025-05-23/chain-two.md", "research/2025-05-23/chain three.md", 1.0),
    ("research/2025-05-23/chain three.md", "research/loops/four.md", 1.0),
    ("research/loops/ouroboros.md", "research/loops/tail.md", 1.0),
    ("research/loops/tail.md", "research/loops/ouroboros.md", 1.0),
    ("research/papers/reading list.txt", "research/papers/attention.md", 0.9),
}
OUTSIDE = {
    ("research/papers/reading list.txt", "https://doi.org/10.1000/182", 0.8),
    ("research/broken.md", "research/2025-05-20/gone.md", 1.0),
    ("research/broken.md", "Nobody", 1.0),
}


def test_the_graph_of_the_archive_is_known_edge_by_edge(archive: Library) -> None:
    assert edges(archive.graph()) == INSIDE
    assert edges(archive.graph(outside=True)) == INSIDE | OUTSIDE


def test_addresses_are_nodes_of_their_own_by_what_they_mean(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(
        "one/a.md", "[x](setup.md), [w](https://example.com/page#top) and arXiv:1706.03762.\n"
    )
    shelf.put("two/b.md", "[y](setup.md), [z](../one/Setup.md), <http://www.example.com/page>\n")
    with shelf.open() as library:
        library.update()
        graph = library.graph(outside=True)
    assert {(source[-4:], target) for source, target, _ in edges(graph)} == {
        ("a.md", "notes/one/setup.md"),
        ("b.md", "notes/one/setup.md"),
        ("b.md", "notes/two/setup.md"),
        ("a.md", "https://example.com/page#top"),
        ("b.md", "https://example.com/page#top"),
        ("a.md", "https://arxiv.org/abs/1706.03762"),
    }


def test_a_graph_around_a_document_goes_both_ways_as_deep_as_asked(archive: Library) -> None:
    two = archive.document("2025-05-23/chain-two.md", "research")
    levels = {
        depth: {
            node.document.path.rpartition("/")[2]: node.level
            for node in archive.graph([two], depth=depth).nodes
            if node.document
        }
        for depth in (1, 2)
    }
    assert levels[1] == {"chain-two.md": 0, "chain three.md": 1, "chain one.md": 1}
    assert levels[2] == levels[1] | {"four.md": 2}


def test_a_graph_is_cut_where_it_grows_too_large(tmp_path: Path) -> None:
    files = {"hub.md": "# Hub\n" + "".join(f"[x](p/{n}.md) " for n in range(40))}
    files |= {f"p/{n}.md": f"# P{n}\n\n[up](../hub.md) [next]({n + 1}.md)\n" for n in range(40)}
    with fill(Shelf(tmp_path), files) as library:
        around = library.graph([library.document("hub.md")], depth=2, most=20)
        whole = library.graph(most=20)
        every = library.graph()
    assert (len(around.nodes), around.is_cut) == (20, True)
    assert (len(whole.nodes), whole.is_cut) == (20, True)
    assert whole.nodes[0].label == "Hub"
    assert (len(every.nodes), len(every.edges), every.is_cut) == (41, 119, False)
    for graph in (around, whole):
        ids = {node.id for node in graph.nodes}
        assert all(edge.source in ids and edge.target in ids for edge in graph.edges)


def test_broken_links_are_those_to_nothing_at_all(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("logo.png", b"\x89PNG\r\n")
    shelf.put("sub/folder/x.bin", b"\x00")
    text = (
        "# A\n\n[ok](b.md) [picture](logo.png) [folder](sub/folder) [web](https://x.example/)\n\n"
        "[gone](gone.md#part), [[Lost note]], [up](../../outside.md), <docs://notes/no.md>\n"
    )
    with fill(shelf, {"a.md": text, "b.md": "# B\n\n[also](gone.md) [me](#part)\n"}) as library:
        broken = library.broken_links()
        (first,) = library.broken_links(limit=1)
    assert [(each.source.path, each.address, each.line) for each in broken] == [
        ("a.md", "gone.md#part", 5),
        ("a.md", "Lost note", 5),
        ("a.md", "../../outside.md", 5),
        ("a.md", "docs://notes/no.md", 5),
        ("b.md", "gone.md", 3),
        ("b.md", "#part", 3),
    ]
    assert first == broken[0]
    assert first.context.startswith("gone, [[Lost note]]")


def test_an_anchor_that_is_nowhere_in_its_document_is_broken(tmp_path: Path) -> None:
    rightly = ("#set-up", "#set-up-1", "#stated", "#own", "#term", "#top", "#L3", "")
    text = "# A\n\n" + " ".join(f"[x](b.md{each})" for each in rightly)
    text += "\n\n[no](b.md#gone) [me](#a) [not me](#nowhere) [[B#Set up]] [[B#^block]] [[B#None]]\n"
    other = '# B\n\n## Set up\n\n<a id="stated"></a>\n\n### Else {#own}\n\n- `term`\n\nEnd ^block\n'
    with fill(Shelf(tmp_path), {"a.md": text, "b.md": other}) as library:
        broken = library.broken_links()
        (first,) = library.broken_links(limit=1)
        assert library.broken_links(document=library.document("b.md")) == []
    assert [(each.address, each.line, each.reason) for each in broken] == [
        ("b.md#gone", 5, "no such section"),
        ("#nowhere", 5, "no such section"),
        ("B#None", 5, "no such section"),
    ]
    assert first == broken[0]


def test_a_link_that_comes_back_by_the_name_of_the_folder_stays_in_its_collection(
    tmp_path: Path,
) -> None:
    shelf = Shelf(tmp_path)
    for folder in ("one", "two"):
        shelf.put(f"../{folder}/docs/x.md", f"# X of {folder}\n")
        shelf.put(
            f"../{folder}/docs/sub/y.md", "# Y\n\n[x](../../docs/x.md) [no](../../docs/no.md)\n"
        )
    folders = (shelf.place / "one/docs", shelf.place / "two/docs")
    shelf.put("../one/docs/no.md", "# Only one has it\n")
    shelf.update(*folders)
    with shelf.open(*folders) as library:
        names = [state.collection.name for state in library.states()]
        for name, title in zip(names, ("X of one", "X of two"), strict=True):
            (found,) = library.citations([library.document("sub/y.md", name)])
            assert found.citing[0].target is not None
            assert found.citing[0].target.title == title
        assert [each.source.collection for each in library.broken_links()] == [names[1]]


def test_a_picture_cites_nothing(tmp_path: Path) -> None:
    text = (
        "# A\n\n![](x.png) [large](y.PNG?raw=1) [![s](s.jpg)](l.jpg) ![https://p.example/q](z.gif) "
        "<https://h.example/i.webp> [page](b.md)\n"
    )
    with fill(Shelf(tmp_path), {"a.md": text, "b.md": "# B\n"}) as library:
        (found,) = library.citations([library.document("a.md")])
        assert [each.address for each in found.citing] == ["b.md"]
        assert library.broken_links() == []


def test_an_anchor_leads_to_its_section(archive: Library) -> None:
    bayes = archive.document("2025-05-21/naïve bayes & <friends>.md", "research")
    (found,) = archive.citations([bayes])
    (cited,) = found.citing
    assert archive.section_cited(cited) == "Introduction"


def test_a_document_is_found_by_its_id(archive: Library) -> None:
    four = document_id("research", "loops/four.md")
    assert archive.document(four).path == "loops/four.md"
    assert archive.document(four, "research").path == "loops/four.md"


def test_links_of_a_page_that_was_left_are_forgotten(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    with fill(shelf, {"a.md": "# A\n\n[b](b.md)\n", "b.md": "# B\n"}) as library:
        assert len(library.graph().edges) == 1
        shelf.put("a.md", "# A\n\nNothing any more.\n", at=1_800_000_000_000_000_000)
        library.update()
        assert library.graph() == Graph((), ())


_NAMES = ("a.md", "b.md", "sub/a.md", "sub/index.md", "Ä ö.md", "c.html")
_TARGETS = ("a.md", "b", "sub/", "../a.md", "/sub/a", "%C3%84%20%C3%B6", "c.html", "#x", "no.md")
_PAGES = st.dictionaries(
    st.sampled_from(_NAMES),
    st.lists(st.sampled_from(_TARGETS), max_size=4).map(
        lambda targets: "# T\n\n" + " ".join(f"[x]({each})" for each in targets) + " [[a]]\n"
    ),
    max_size=5,
)


def known_edges(library: Library) -> set[tuple[str, str, float]]:
    return edges(library.graph(outside=True)) if library.exists else set()


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(states=st.lists(_PAGES, min_size=2, max_size=3))
def test_however_it_came_to_be_the_graph_is_that_of_its_files(
    tmp_path: Path, states: list[dict[str, str]]
) -> None:
    place = tmp_path / "run"
    shutil.rmtree(place, ignore_errors=True)
    shelf = Shelf(place)
    shelf.put("always.md", "# Always\n\n[a](a.md) [s](sub) [[b]]\n")
    grown = shelf.open()
    with grown:
        for moment, pages in enumerate(states, start=1):
            for name in _NAMES:
                (shelf.folder / name).unlink(missing_ok=True)
            for name, text in pages.items():
                shelf.put(name, text, at=1_700_000_000_000_000_000 + moment * 10**10)
            grown.update()
        once = known_edges(grown)
        grown.update()
        assert known_edges(grown) == once
    with shelf.open(index=str(place / "fresh")) as fresh:
        fresh.update()
        assert known_edges(fresh) == once
