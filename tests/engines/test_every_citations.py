"""Citations, as every engine must give them."""

from __future__ import annotations

import pytest

from bookwheel.engines.base import WritableEngine as Engine
from bookwheel.text.targets import document_key
from tests.engines.drafts import NOTES, PAPERS, draft

A = "# A\n\n[b](b.md) then [b again](b.md#x), [paper](../papers/p.md), [no](no.md) https://x.example\n"


@pytest.fixture
def linked(engine: Engine) -> Engine:
    engine.begin_writing()
    engine.declare([NOTES, PAPERS])
    engine.write(
        [
            draft("a.md", A),
            draft("b.md", "# B\n\n[[A]] and [me](b.md)\n"),
            draft("c.md", "# C\n\nhttps://x.example/p and [a](a.md)\n"),
            draft("p.md", "---\nurl: http://x.example/p/\n---\n# P\n", collection="papers"),
        ]
    )
    engine.commit()
    return engine


def key(engine: Engine, path: str, collection: str = "notes") -> int:
    found = engine.document(collection, path)
    assert found is not None
    return found.key


def test_outgoing_citations_come_in_order_and_once_each(linked: Engine) -> None:
    a, b, p = key(linked, "a.md"), key(linked, "b.md"), key(linked, "p.md", "papers")

    found = linked.outgoing([a, b], 10)

    assert [(each.target, each.link.target) for each in found[a]] == [
        (b, "b.md"),
        (p, "../papers/p.md"),
        (None, "no.md"),
        (None, "https://x.example"),
    ]
    assert [(each.target, each.link.kind) for each in found[b]] == [(a, "wikilink")]
    assert [each.link.target for each in linked.outgoing([a], 2)[a]] == ["b.md", "../papers/p.md"]


def test_incoming_citations_come_by_path_from_every_collection(linked: Engine) -> None:
    a, p = key(linked, "a.md"), key(linked, "p.md", "papers")

    found = linked.incoming([a, p], 10)

    assert [each.source for each in found[a]] == [key(linked, "b.md"), key(linked, "c.md")]
    assert [each.source for each in found[p]] == [a, key(linked, "c.md")]
    assert [each.source for each in linked.incoming([a], 1)[a]] == [key(linked, "b.md")]
    assert linked.most_cited(1) in ({a: 2}, {p: 2})


def test_a_removed_document_neither_cites_nor_is_cited(linked: Engine) -> None:
    a, b = key(linked, "a.md"), key(linked, "b.md")
    linked.remove("notes", ["a.md"])
    linked.commit()

    assert [each.target for each in linked.outgoing([b], 10)[b]] == [None]
    assert linked.outgoing([a], 10)[a] == linked.incoming([a], 10)[a] == []
    assert [link.target for _, link in linked.unresolved(["notes"], 10)] == ["A", "a.md"]


def test_what_leads_nowhere_is_known_and_addresses_of_the_web_are_not_meant(
    linked: Engine,
) -> None:
    found = linked.unresolved(["notes", "papers"], 10)
    assert [(source, link.target) for source, link in found] == [(key(linked, "a.md"), "no.md")]
    assert linked.unresolved(["papers"], 10) == linked.unresolved(["notes"], 0) == []


def test_links_to_a_place_in_a_document_come_with_the_document(linked: Engine) -> None:
    linked.write([draft("d.md", "# D\n\n[up](#d), [there](c.md#c), [lost](no.md#x), [c](c.md)\n")])
    linked.commit()
    a, b, c, d = (key(linked, f"{name}.md") for name in "abcd")

    found = linked.anchored(["notes", "papers"], 10)

    assert [(each.source, each.target, each.link.target) for each in found] == [
        (a, b, "b.md#x"),
        (d, d, "#d"),
        (d, c, "c.md#c"),
    ]
    assert linked.anchored(["papers"], 10) == linked.anchored(["notes"], 0) == []


def test_a_document_is_found_by_its_own_key(linked: Engine) -> None:
    assert linked.named(document_key("notes", "c.md")) == [key(linked, "c.md")]
    assert linked.named(document_key("notes", "no.md")) == []


def test_many_sources_of_one_document_are_read_up_to_the_limit(linked: Engine) -> None:
    linked.write([draft(f"m/{n:03}.md", f"# M{n}\n\n[a](../a.md) [[A]]\n") for n in range(150)])
    linked.commit()
    a = key(linked, "a.md")
    assert len(linked.incoming([a], 10_000)[a]) == 152
    few = linked.incoming([a], 5)[a]
    paths = linked.documents_by_key([each.source for each in few])
    assert [paths[each.source].path for each in few] == [
        "b.md",
        "c.md",
        "m/000.md",
        "m/001.md",
        "m/002.md",
    ]
