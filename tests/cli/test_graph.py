"""`bookwheel graph`: who cites whom, in every form, and what leads nowhere."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Call
from tests.clients.archive import fill_archive
from tests.conftest import Shelf


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("graph").resolve()
    fill_archive(Shelf(place)).close()
    return place


@pytest.fixture
def here(place: Path) -> list[str]:
    """The arguments that name the archive of two collections."""
    return [str(place / "research"), str(place / "saved"), "--index", str(place / "index")]


def test_a_table_counts_citations_the_most_cited_first(call: Call, here: list[str]) -> None:
    answer = call("graph", *here)

    head, *rows = answer.out.splitlines()
    assert head == "cited\tcites\tdocument"
    assert "1\t1\tresearch/2025-05-23/chain-two.md" in rows
    assert rows[-1].startswith("0\t1\t")
    assert (answer.code, answer.err) == (0, "")


def test_a_table_that_is_cut_counts_all_citations(call: Call, here: list[str]) -> None:
    whole = call("graph", *here).out.splitlines()
    answer = call("graph", *here, "--limit", "4")
    head, *rows = answer.out.splitlines()
    assert "this is not all of it" in answer.err
    assert rows
    assert {head, *rows} <= set(whole)


def test_around_a_document_both_directions_are_listed(call: Call, here: list[str]) -> None:
    answer = call("graph", "2025-05-23/chain-two.md", *here, "--depth", "2")

    assert answer.out.splitlines() == [
        "research/2025-05-23/chain-two.md  Chain two",
        "cites:",
        "  1.0  research/2025-05-23/chain three.md  (line 3: Next is three.)",
        "  1.0  research/2025-05-23/chain three.md -> research/loops/four.md  "
        "(line 3: Next: docs://research/loops/four.)",
        "is cited by:",
        "  1.0  research/2025-05-22/chain one.md  (line 3: Next: [[Chain two]].)",
    ]


def test_a_document_as_json_names_kind_line_and_section(call: Call, here: list[str]) -> None:
    name = "2025-05-21/naïve bayes & <friends>.md"
    answer = call("graph", name, *here, "--json").value

    (cited,) = answer["citing"]
    assert cited["target"]["document"] == "2025-05-20/machine_learning_intro.md"
    assert (cited["kind"], cited["line"], cited["section"]) == ("inline", 5, "Introduction")
    assert cited["confidence"] == 1.0
    assert answer["cited"] == []
    assert answer["cut"] is False


def test_the_graph_as_json_has_nodes_and_edges(call: Call, here: list[str]) -> None:
    answer = call("graph", *here, "--format", "json").value

    ids = {node["id"] for node in answer["nodes"]}
    assert len(answer["edges"]) == 8
    assert {end for edge in answer["edges"] for end in (edge["from"], edge["to"])} == ids
    assert call("graph", *here, "--json", "--outside").value["nodes"][-1]["type"] == "outside"


def test_other_programs_are_served(call: Call, here: list[str]) -> None:
    assert call("graph", *here, "-f", "dot").out.startswith("digraph citations {")
    assert call("graph", *here, "-f", "mermaid").out.startswith("graph LR\n")
    for form in ("graphml", "svg"):
        assert len(ElementTree.fromstring(call("graph", *here, "-f", form).out)) > 3


def test_odd_letters_in_paths_and_links_keep_no_program_from_reading(
    call: Call, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n\n[b](<b%02.md>) and [gone](gone%01.md)\n", "utf-8")
    (tmp_path / "b\x02.md").write_text("# B\n", encoding="utf-8")

    for form in ("graphml", "svg"):
        drawn = call("graph", str(tmp_path), "--outside", "--format", form).out
        assert ElementTree.fromstring(drawn).tag
        assert "gone.md" in drawn


def test_a_drawing_may_be_of_one_documents_surroundings(call: Call, here: list[str]) -> None:
    whole = call("graph", *here, "-f", "svg").out
    part = call("graph", "loops/tail.md", *here, "-f", "svg").out
    assert "2 documents and 2 citations" in part
    assert "11 documents and 8 citations" in whole


def test_a_large_graph_is_cut_and_that_is_said(call: Call, here: list[str]) -> None:
    answer = call("graph", *here, "--limit", "4", "--json")
    assert answer.value["cut"] is True
    assert "this is not all of it" in answer.err


def test_broken_links_are_listed_with_their_line(call: Call, here: list[str]) -> None:
    answer = call("graph", *here, "--broken")
    assert answer.out.splitlines() == [
        "research/broken.md:3\t2025-05-20/gone.md",
        "research/broken.md:3\tNobody",
    ]
    assert answer.err == "2 broken links.\n"
    entries = call("graph", *here, "--broken", "--json").value["broken"]
    assert [(each["document"], each["address"]) for each in entries] == [
        ("broken.md", "2025-05-20/gone.md"),
        ("broken.md", "Nobody"),
    ]
    assert call("graph", "loops/tail.md", *here, "--broken").out == ""


def test_where_nobody_cites_anybody_that_is_said(call: Call, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Alone.")
    answer = call("graph", str(tmp_path / "notes"), "--index", str(tmp_path / "index"))
    assert answer.out == "cited\tcites\tdocument\n"
    assert "No document cites another." in answer.err


def test_broken_links_of_one_document_are_not_crowded_out(call: Call, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("[x](gone-one.md) [y](gone-two.md)")
    (tmp_path / "notes" / "b.md").write_text("[z](gone-three.md)")
    here = [str(tmp_path / "notes"), "--index", str(tmp_path / "index"), "--broken"]
    assert call("graph", "b.md", *here, "--limit", "1").out == "notes/b.md:1\tgone-three.md\n"


def test_the_graph_of_one_collection_is_that_alone(call: Call, here: list[str]) -> None:
    whole, alone = (
        call("graph", *here, *option, "--json").value for option in ((), ("-c", "research"))
    )
    within = {node["id"] for node in whole["nodes"] if node["collection"] == "research"}
    edges = [edge for edge in whole["edges"] if {edge["from"], edge["to"]} <= within]
    assert 0 < len(edges) < len(whole["edges"])
    assert sorted(map(repr, alone["edges"])) == sorted(map(repr, edges))
    unknown = call("graph", *here, "-c", "save")
    assert (unknown.code, unknown.out) == (4, "")
    assert '"saved"' in unknown.err


def test_what_cannot_be_shown_is_refused(call: Call, here: list[str]) -> None:
    answer = call("graph", *here, "--broken", "-f", "svg")
    assert (answer.code, answer.err) == (
        2,
        "bookwheel: Broken links are listed as table or json.\n",
    )
    missing = call("graph", "loops/tale.md", *here)
    assert missing.code != 0
    assert "loops/tail.md" in missing.err
