"""Reading pages in the toolset `pages`: whole, by section, too long for an answer, not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from bookwheel.contracts.pages import CONTRACT
from bookwheel.library import Library
from tests.conftest import Shelf
from tests.contracts.conftest import FILLER, HANDBOOK, ask, fill, refuse, told

INSIDE = (
    "The path must be that of a page inside the documentation: relative, without '..'. "
    '`list_doc_pages` lists the pages. Example: {"path": "guides/setup.md"}'
)


def page(library: Library, path: str, *sections: str) -> str:
    wanted = {"sections": list(sections)} if sections else {}
    return ask(library, CONTRACT, "get_doc_page", path=path, **wanted).text


def test_a_page_is_given_whole_as_it_stands(handbook: Library) -> None:
    assert page(handbook, "guides/setup.md") == HANDBOOK["guides/setup.md"]
    assert page(handbook, "api/reference.html") == "# Reference\n\nCall the **turnPage** endpoint."


def test_sections_come_in_the_order_asked_for_whatever_their_case(handbook: Library) -> None:
    assert page(handbook, "guides/setup.md", "installation", "REQUIREMENTS") == (
        "## Installation\n\nThe installation steps are as follows: unpack, turn, read.\n\n"
        "## Requirements\n\nPython and patience."
    )


def test_a_missing_section_is_named_with_the_headings_there_are(handbook: Library) -> None:
    assert page(handbook, "guides/setup.md", "Nope", "Requirements", "Nor this") == (
        "## Requirements\n\nPython and patience.\n\n"
        '[Sections not found: "Nope", "Nor this". '
        'The headings of this page: "Setup", "Requirements", "Installation".]'
    )
    assert page(handbook, "notes/memo.txt", "Nope") == (
        '[Section not found: "Nope". It has no headings.]'
    )


def test_no_sections_mean_the_whole_page(handbook: Library) -> None:
    reply = ask(handbook, CONTRACT, "get_doc_page", path="README.md", sections=[])

    assert reply.text == HANDBOOK["README.md"]


def test_a_path_may_leave_the_collection_out_where_it_is_clear(two: Library) -> None:
    assert page(two, "beta/same.md") == "# Same\n\nThe beta wombat.\n"
    assert page(two, "only/here.md") == page(two, "alpha/only/here.md")
    assert told(refuse(two, CONTRACT, "get_doc_page", path="same.md")) == (
        -32602,
        '"same.md" names several documents: "alpha/same.md", "beta/same.md".',
        {"path": "same.md"},
    )


def test_a_page_that_is_not_there_is_refused_with_similar_names(handbook: Library) -> None:
    code, message, data = told(refuse(handbook, CONTRACT, "get_doc_page", path="guide/setup"))

    assert (code, data) == (-32602, {"path": "guide/setup"})
    assert message.startswith('Document "guide/setup" not found. Near are "guides/setup.md"')


def test_a_path_that_leads_outside_is_refused_in_the_same_words_whatever_is_there(
    shelf: Shelf,
) -> None:
    secret = shelf.put("../secret.md", "the outside")
    with fill(shelf, {"a.md": "zebra"}) as library:
        inside = str(shelf.folder / "a.md")
        for path in ("../secret.md", "../none.md", "x/../a.md", "..", "..\\secret.md", "a\0.md"):
            assert refuse(library, CONTRACT, "get_doc_page", path=path).message == INSIDE
        for path in (str(secret), str(secret) + "x", inside, "docs://../secret.md"):
            assert refuse(library, CONTRACT, "get_doc_page", path=path).message == INSIDE


def test_a_link_that_leads_outside_is_as_good_as_not_there(shelf: Shelf) -> None:
    secret = shelf.put("../secret.md", "the outside")
    shelf.folder.joinpath("link.md").symlink_to(secret)
    shelf.folder.joinpath("dead.md").symlink_to(shelf.place / "none.md")
    with fill(shelf, {"a.md": "zebra"}) as library:
        link = refuse(library, CONTRACT, "get_doc_page", path="link.md").message
        dead = refuse(library, CONTRACT, "get_doc_page", path="dead.md").message

    assert link.replace("link", "dead") == dead


# ------------------------------------------------------------------------- pages too long


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Pages of more than 50,000 characters: of many sections, of one, of none, of one line."""
    part = f"{FILLER.strip()}\n" * 40
    sections = "".join(f"## Part {n}\n\n{part}\n" for n in range(8))
    files = {
        "parts.md": f"# Long\n\n{sections}",
        "one.md": f"# One\n\nShort.\n\n## Long\n\n{part * 7}\n## Last\n\nThe end.\n",
        "none.txt": part * 7,
        "line.txt": "word " * 20_000,
    }
    with fill(Shelf(tmp_path_factory.mktemp("long")), files) as library:
        yield library


def test_a_long_page_ends_at_a_section_and_lists_the_headings_to_ask_for(long: Library) -> None:
    whole = (long.text(long.document("parts.md"))).text
    shown, _, note = page(long, "parts.md").rpartition("\n\n[")

    assert whole.startswith(shown + "\n\n## Part 5\n")
    assert note == (
        f"Too long for one answer: {len(whole) - len(shown):,} of {len(whole):,} characters "
        'are left out. Headings that `sections` may ask for: "Part 5", "Part 6", "Part 7". '
        'Going on: `sections` ["lines 218-346"].]'
    )


def test_what_a_long_page_leaves_out_can_be_asked_for(long: Library) -> None:
    for path in ("parts.md", "one.md", "none.txt"):
        whole = long.text(long.document(path)).text
        got, note = page(long, path).rsplit("\n\n[Too long", 1)
        while going_on := re.search(r'\["(lines \d+-\d+)"\]', note):
            more, _, note = page(long, path, going_on[1]).partition("\n\n[Too long")
            got += "\n" + more
        assert got.split() == whole.split()


def test_a_section_too_long_for_an_answer_is_cut_as_well(long: Library) -> None:
    text = page(long, "one.md", "Long")

    assert text.startswith("## Long\n\nOther matters")
    assert len(text) < 51_000
    assert "Going on: `sections`" in text


def test_sections_that_do_not_fit_together_are_named(long: Library) -> None:
    names = [f"Part {n}" for n in range(8)]

    text = page(long, "parts.md", *names)

    assert len(text) < 51_000
    assert text.endswith(
        '[No room in this answer for "Part 5", "Part 6", "Part 7". Ask for them again.]'
    )


def test_nothing_follows_a_section_that_fills_the_answer(long: Library) -> None:
    assert page(long, "one.md", "Long", "Last").endswith(
        '[No room in this answer for "Last". Ask for them again.]'
    )


def test_a_line_too_long_for_an_answer_is_cut_with_a_word_on_it(long: Library) -> None:
    text = page(long, "line.txt")

    assert text.startswith("word word ")
    assert text.endswith("[Too long for one answer: 50,000 of 100,000 characters are left out.]")


@pytest.mark.parametrize("wanted", ["lines 0-3", "lines 5-2", "lines 99999-100000", "lines"])
def test_lines_that_are_not_there_are_missing_like_sections(long: Library, wanted: str) -> None:
    assert page(long, "none.txt", wanted).startswith(f'[Section not found: "{wanted}".')


def test_too_many_sections_are_refused(long: Library) -> None:
    error = refuse(long, CONTRACT, "get_doc_page", path="one.md", sections=["x"] * 101)

    assert told(error) == (
        -32602,
        "Argument 'sections': must hold at most 100 headings.",
        {"path": "one.md"},
    )
