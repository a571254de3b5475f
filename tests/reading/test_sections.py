"""Outlines, and sections found by their heading."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bookwheel.errors import BadRequest, BookwheelError, NotFound
from bookwheel.formats.registry import read
from bookwheel.library import Library
from bookwheel.model import Document
from bookwheel.reading.sections import Heading, Headings, SectionText
from tests.conftest import Shelf

GUIDE = """\
# Guide
Intro.
## Set up
Before.
### Examples
First.
## Use
### Examples
Second.
### Examples
Third.
## Using it *well*
Well.
## Issue #2
Numbered like a choice.
#### Deep
Skips a level.
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    shelf = Shelf(tmp_path_factory.mktemp("sections"))
    shelf.put("guide.md", GUIDE)
    shelf.put("plain.txt", "no headings here")
    with shelf.open() as library:
        library.update()
        yield library


@pytest.fixture(scope="module")
def guide(library: Library) -> Document:
    return library.document("guide.md")


@pytest.mark.requirement("P-061")
@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        ("Examples", (5, 6)),
        ("examples #1", (5, 6)),
        ("Examples #2", (8, 9)),
        ("Examples #3", (10, 11)),
        ("Use > Examples", (8, 9)),
        ("use>examples #2", (10, 11)),
        ("Guide > Set up > Examples", (5, 6)),
        ("USE", (7, 11)),
        ("## Use", (7, 11)),
        ("using", (12, 13)),
        ("Using it well", (12, 13)),
        ("Issue #2", (14, 17)),
        ("Issue #2 > Deep", (16, 17)),
        ("guide", (1, 17)),
        ("se", (3, 6)),
        ("se #2", (7, 11)),
    ],
)
def test_a_section_is_found_by_heading_trail_number_or_part(
    library: Library, guide: Document, wanted: str, lines: tuple[int, int]
) -> None:
    found = library.section(guide, wanted)

    assert (found.start_line, found.end_line) == lines
    assert found.text == "\n".join(GUIDE.split("\n")[lines[0] - 1 : lines[1]])


@pytest.mark.parametrize("wanted", ["Examples #4", "Examples #0", "", "   ", "Set up > Use", "#"])
def test_a_section_that_there_is_not_is_not_found(
    library: Library, guide: Document, wanted: str
) -> None:
    with pytest.raises(NotFound):
        library.section(guide, wanted)


def test_further_sections_of_a_name_are_given_by_names_that_find_them(
    library: Library, guide: Document
) -> None:
    found = library.section(guide, "Examples")

    assert found.others == ("Guide > Use > Examples #1", "Guide > Use > Examples #2")
    assert [library.section(guide, other).start_line for other in found.others] == [8, 10]


def test_a_section_comes_with_or_without_what_lies_below_it(
    library: Library, guide: Document
) -> None:
    whole = library.section(guide, "Set up")
    own = library.section(guide, "Set up", subsections=False)

    assert whole == SectionText(
        heading="Set up",  # type: ignore[arg-type] # compared only
        level=2,
        text="## Set up\nBefore.\n### Examples\nFirst.",  # type: ignore[arg-type] # compared only
        start_line=3,
        end_line=6,
        others=(),
    )
    assert (own.text, own.start_line, own.end_line) == ("## Set up\nBefore.", 3, 4)


def test_a_heading_that_is_nearly_right_gets_the_nearest_ones(
    library: Library, guide: Document
) -> None:
    with pytest.raises(NotFound) as caught:
        library.section(guide, "Exmaples")

    assert caught.value.message == 'Section "Exmaples" not found in document "guide.md".'
    assert '"Examples"' in (caught.value.hint or "")


def test_a_document_without_headings_says_so(library: Library) -> None:
    with pytest.raises(NotFound) as caught:
        library.section(library.document("plain.txt"), "Any")

    assert caught.value.hint == "It has no headings."


def test_an_outline_goes_down_to_the_depth_asked_for(library: Library, guide: Document) -> None:
    outline = [(each.level, each.text, each.line) for each in library.outline(guide, depth=2)]

    assert outline == [
        (1, "Guide", 1),
        (2, "Set up", 3),
        (2, "Use", 7),
        (2, "Using it well", 12),
        (2, "Issue #2", 14),
    ]
    assert len(library.outline(guide, depth=3)) == 8
    assert library.outline(guide, depth=6)[-1] == Heading(4, "Deep", 16)  # type: ignore[arg-type] # compared only


@pytest.mark.parametrize("depth", [0, 7, -1])
def test_a_depth_that_cannot_be_is_refused(library: Library, guide: Document, depth: int) -> None:
    with pytest.raises(BadRequest, match="must lie between 1 and 6"):
        library.outline(guide, depth=depth)


@given(wanted=st.text())
def test_any_text_may_be_asked_for_as_a_section(
    library: Library, guide: Document, wanted: str
) -> None:
    with suppress(BookwheelError):
        library.section(guide, wanted)


@pytest.mark.parametrize(
    "wanted", ["Use #" + "9" * 5000, "Use #²", "\ud800", "a\0b", "x" * 100_000]
)
def test_odd_names_of_sections_are_not_found(
    library: Library, guide: Document, wanted: str
) -> None:
    with pytest.raises(NotFound) as caught:
        library.section(guide, wanted)

    assert len(caught.value.message) < 300


words = st.text(st.sampled_from("ab #>ä`*\t"), max_size=8)
markdown_lines = st.one_of(
    words,
    st.tuples(st.integers(1, 6), words).map(lambda pair: "#" * pair[0] + " " + pair[1]),
    st.sampled_from(
        ["---", "===", "```", "", "> # quoted", "- # item", "    # code", "<!--", "-->"]
    ),
)
markdown = st.builds(
    lambda lines, end: end.join(lines),
    st.lists(markdown_lines, max_size=25),
    st.sampled_from(["\n", "\r\n"]),
)


@pytest.mark.requirement("P-061")
@settings(max_examples=200)
@given(markdown)
def test_the_lines_of_a_section_are_exactly_its_content(text: str) -> None:
    parsed = read(b"x\n" + text.encode(), "a.md")
    lines = parsed.text.split("\n")
    for section in parsed.sections:
        inside = parsed.text.encode()[section.start : section.end].decode()
        assert inside.removesuffix("\n") == "\n".join(
            lines[section.start_line - 1 : section.end_line]
        )


@settings(max_examples=150)
@given(markdown)
@example("# >\n#\n##")
@example("# A\n## a\n## a\n# a #2")
def test_the_name_given_to_a_section_finds_that_one(text: str) -> None:
    headings = Headings(read(b"x\n" + text.encode(), "a.md").sections)
    for index in range(len(headings.sections)):
        assert headings.find(headings.address(index))[0] == index
