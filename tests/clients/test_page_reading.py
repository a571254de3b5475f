"""Reading pages with `get_doc_page`: whole, by section, too long for an answer, not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.library import Library
from tests.clients.assistant import LEGACY, MODERN, Assistant, assisting
from tests.clients.handbook import FILLER, HANDBOOK, asking, fill, refusal
from tests.conftest import Shelf

INSIDE = (
    "The path must be that of a page inside the documentation: relative, without '..'. "
    '`list_doc_pages` lists the pages. Example: {"path": "guides/setup.md"}'
)
ENDPOINTS = "# API Endpoints\n\n## GET /llms.txt\n\nThe index.\n\n## POST /mcp\n\nThe tools.\n"
TWICE = (
    "# Twice\n\n## A\n\n### Example\n\nOne.\n\n## B\n\n### Example\n\nTwo.\n\n### Example\n\nIII.\n"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    files = HANDBOOK | {"api/endpoints.md": ENDPOINTS, "twice.md": TWICE}
    with fill(Shelf(tmp_path_factory.mktemp("one")), files) as made:
        yield made


@pytest.fixture(scope="module")
def handbook(library: Library) -> Iterator[Assistant]:
    with assisting(library, "pages") as assistant:
        yield assistant


def page(assistant: Assistant, path: str, *sections: str) -> str:
    wanted = {"sections": list(sections)} if sections else {}
    return assistant.call("get_doc_page", path=path, **wanted).text


@pytest.mark.requirement("P-023")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_page_is_given_whole_as_it_stands(library: Library, era: str) -> None:
    with assisting(library, "pages", era) as assistant:
        assert page(assistant, "api/endpoints.md") == ENDPOINTS
        assert page(assistant, "guides/setup.md") == HANDBOOK["guides/setup.md"]
        assert page(assistant, "api/reference.html") == (
            "# Reference\n\nCall the **turnPage** endpoint."
        )


@pytest.mark.requirement("P-022")
def test_a_path_is_needed_and_sections_are_a_list_of_texts(handbook: Assistant) -> None:
    told = [
        refusal(handbook.call, "get_doc_page", **wrong)
        for wrong in (
            {},
            {"path": ""},
            {"path": 5},
            {"path": "README.md", "sections": "Setup"},
            {"path": "README.md", "sections": [1]},
            {"path": "README.md", "sections": ["x"] * 101},
            {"path": "README.md", "section": "x"},
        )
    ]

    page = {"path": "README.md"}
    example = ' Example: {"path": "guides/setup.md", "sections": ["Install"]}'
    assert all(message.endswith(example) for _, message, _ in told)
    assert [(code, message.removesuffix(example), data) for code, message, data in told] == [
        (-32602, "Argument 'path' is missing.", {}),
        (-32602, "Argument 'path': string should have at least 1 character.", {"path": ""}),
        (-32602, "Argument 'path': input should be a valid string.", {}),
        (-32602, "Argument 'sections': input should be a valid list.", page),
        (-32602, "Argument 'sections.0': input should be a valid string.", page),
        (-32602, "Argument 'sections': must hold at most 100 headings.", page),
        (-32602, "Unknown argument 'section': did you mean 'sections'?", page),
    ]
    whole = HANDBOOK["README.md"]
    assert handbook.call("get_doc_page", path="README.md", sections=[]).text == whole
    assert handbook.call("get_doc_page", path="README.md", sections=None).text == whole


@pytest.mark.requirement("P-025")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_sections_come_alone_in_the_order_asked_for_whatever_their_case(
    library: Library, era: str
) -> None:
    with assisting(library, "pages", era) as assistant:
        assert page(assistant, "guides/setup.md", "installation", "REQUIREMENTS") == (
            "## Installation\n\nThe installation steps are as follows: unpack, turn, read.\n\n"
            "## Requirements\n\nPython and patience."
        )
        assert page(assistant, "api/endpoints.md", "get /LLMS.txt", "get /LLMS.txt") == (
            "## GET /llms.txt\n\nThe index."
        )


@pytest.mark.requirement("P-025")
def test_of_sections_with_one_heading_the_first_is_given_and_the_others_are_named(
    handbook: Assistant,
) -> None:
    assert page(handbook, "twice.md", "example") == (
        "### Example\n\nOne.\n\n"
        '[Other sections of such a heading: "Twice > B > Example #1", "Twice > B > Example #2".]'
    )
    assert page(handbook, "twice.md", "Twice > B > Example #2") == "### Example\n\nIII."
    assert page(handbook, "twice.md", "A > Example") == "### Example\n\nOne."


@pytest.mark.requirement("P-026")
def test_a_missing_section_is_named_with_the_headings_there_are(handbook: Assistant) -> None:
    assert page(handbook, "guides/setup.md", "Nope", "Requirements", "Nor this") == (
        "## Requirements\n\nPython and patience.\n\n"
        '[Sections not found: "Nope", "Nor this". '
        'The headings of this page: "Setup", "Requirements", "Installation".]'
    )
    assert page(handbook, "notes/memo.txt", "Nope") == (
        '[Section not found: "Nope". It has no headings.]'
    )
    assert page(handbook, "README.md", "x\n\n# Forged").startswith(
        '[Section not found: "x # Forged". '
    )


@pytest.mark.requirement("P-027", "P-048")
def test_a_page_that_is_not_there_is_refused_with_similar_names(handbook: Assistant) -> None:
    code, message, data = refusal(page, handbook, "guide/setup")

    assert (code, data) == (-32602, {"path": "guide/setup"})
    assert message.startswith('Document "guide/setup" not found. Near are "guides/setup.md"')


@pytest.mark.parametrize("path", ["./README.md", "docs://README.md", "notes/README.md"])
def test_a_page_goes_by_other_spellings_of_its_path(handbook: Assistant, path: str) -> None:
    assert page(handbook, path) == HANDBOOK["README.md"]


# ----------------------------------------------------------------------------- no way out


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Assistant, Path]]:
    """A folder with links that lead out of it, to what is there and to what is not."""
    shelf = Shelf(tmp_path_factory.mktemp("walled"))
    secret = shelf.put("../secret.md", "the outside")
    shelf.folder.joinpath("link.md").symlink_to(secret)
    shelf.folder.joinpath("dead.md").symlink_to(shelf.place / "none.md")
    shelf.folder.joinpath("linkto").symlink_to(shelf.place)
    shelf.folder.joinpath("deadto").symlink_to(shelf.place / "nowhere")
    with asking(fill(shelf, {"a.md": "zebra"}), "pages") as assistant:
        yield assistant, shelf.place


@pytest.mark.requirement("P-028")
@pytest.mark.parametrize(
    "path",
    [
        "../{}.md",
        "..",
        "x/../../{}.md",
        "x/../a.md",
        "..\\{}.md",
        "./../{}.md",
        "../{}.md\0",
        "a.md\0",
        "{place}/{}.md",
        "/{place}/{}.md",
        "{place}/notes/a.md",
        "/etc/{}",
        "\\etc\\{}",
        "docs://../{}.md",
    ],
)
def test_a_path_that_leads_outside_is_refused_in_the_same_words_whatever_is_there(
    walled: tuple[Assistant, Path], path: str
) -> None:
    assistant, place = walled
    for target in ("secret", "none", "passwd"):
        asked = path.replace("{place}", str(place)).replace("{}", target)
        assert refusal(page, assistant, asked) == (
            -32602,
            INSIDE,
            {"path": asked},
        )


@pytest.mark.requirement("P-028")
@pytest.mark.parametrize(
    ("real", "unreal"),
    [
        ("link.md", "dead.md"),
        ("linkto/secret.md", "deadto/secret.md"),
        ("linkto/secret.md", "linkto/secrex.md"),
        ("%2e%2e%2fsecret.md", "%2e%2e%2fsecrex.md"),
        ("docs://%2e%2e%2fsecret.md", "docs://%2e%2e%2fsecrex.md"),
        ("~/secret.md", "~/secrex.md"),
    ],
)
def test_t02_a_link_or_other_way_outside_is_as_good_as_not_there(
    walled: tuple[Assistant, Path], real: str, unreal: str
) -> None:
    assistant, _ = walled
    is_there = refusal(page, assistant, real)
    is_not = refusal(page, assistant, unreal)

    assert is_there[0] == -32602
    assert is_there[1].replace(real, unreal) == is_not[1]
    assert "outside" not in is_there[1]


# ------------------------------------------------------------------------- pages too long


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Assistant, dict[str, str]]]:
    """Pages of more than 50,000 characters: of many sections, of one, of none, of one line."""
    part = f"{FILLER.strip()}\n" * 40
    sections = "".join(f"## Part {n}\n\n{part}\n" for n in range(8))
    files = {
        "parts.md": f"# Long\n\n{sections}",
        "one.md": f"# One\n\nShort.\n\n## Long\n\n{part * 7}\n## Last\n\nThe end.\n",
        "none.txt": part * 7,
        "line.txt": "word " * 20_000,
    }
    with asking(fill(Shelf(tmp_path_factory.mktemp("long")), files), "pages") as assistant:
        yield assistant, files


@pytest.mark.requirement("P-024")
def test_a_long_page_ends_at_a_section_and_lists_the_headings_to_ask_for(long: Any) -> None:
    assistant, files = long
    whole = files["parts.md"]
    shown, _, note = page(assistant, "parts.md").rpartition("\n\n[")

    assert whole.startswith(shown + "\n\n## Part 5\n")
    assert note == (
        f"Too long for one answer: {len(whole) - len(shown):,} of {len(whole):,} characters "
        'are left out. Headings that `sections` may ask for: "Part 5", "Part 6", "Part 7". '
        'Going on: `sections` ["lines 218-346"].]'
    )
    assert page(assistant, "parts.md", "Part 7").startswith("## Part 7\n\nOther matters")


@pytest.mark.requirement("P-024")
def test_what_a_long_page_leaves_out_can_be_asked_for(long: Any) -> None:
    assistant, files = long
    for path in ("parts.md", "one.md", "none.txt"):
        got, note = page(assistant, path).rsplit("\n\n[Too long", 1)
        while going_on := re.search(r'\["(lines \d+-\d+)"\]', note):
            more, _, note = page(assistant, path, going_on[1]).partition("\n\n[Too long")
            got += "\n" + more
        assert got.split() == files[path].split()


def test_a_section_too_long_for_an_answer_is_cut_as_well(long: Any) -> None:
    text = page(long[0], "one.md", "Long")

    assert text.startswith("## Long\n\nOther matters")
    assert len(text) < 51_000
    assert "Going on: `sections`" in text


def test_sections_that_do_not_fit_together_are_named(long: Any) -> None:
    text = page(long[0], "parts.md", *(f"Part {n}" for n in range(8)))

    assert len(text) < 51_000
    assert text.endswith(
        '[No room in this answer for "Part 5", "Part 6", "Part 7". Ask for them again.]'
    )
    assert page(long[0], "one.md", "Long", "Last").endswith(
        '[No room in this answer for "Last". Ask for them again.]'
    )


def test_many_names_of_no_section_are_all_named_or_counted(long: Any) -> None:
    text = page(long[0], "parts.md", *(f"Nope {n}" for n in range(100)))

    assert text.startswith('[Sections not found: "Nope 0", "Nope 1", ')
    assert ' and 50 more. The headings of this page: "Long", "Part 0", ' in text


def test_a_line_too_long_for_an_answer_is_cut_with_a_word_on_it(long: Any) -> None:
    text = page(long[0], "line.txt")

    assert text.startswith("word word ")
    assert text.endswith("[Too long for one answer: 50,000 of 100,000 characters are left out.]")


@pytest.mark.parametrize("wanted", ["lines 0-3", "lines 5-2", "lines 99999-100000", "lines"])
def test_lines_that_are_not_there_are_missing_like_sections(long: Any, wanted: str) -> None:
    assert page(long[0], "none.txt", wanted).startswith(f'[Section not found: "{wanted}".')
