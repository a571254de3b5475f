"""Tests of OpenDocument slides."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk
from tests.formats.making_office import opendocument


def frame(content: str, kind: str = "") -> str:
    mark = f' presentation:class="{kind}"' if kind else ""
    return f"<draw:frame{mark}><draw:text-box>{content}</draw:text-box></draw:frame>"


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def odp(*pages: str, styles: str = "", more: dict[str, str | bytes] | None = None) -> bytes:
    shown = "".join(f"<draw:page>{page}</draw:page>" for page in pages)
    shown = shown.replace("<draw:page>HIDDEN", '<draw:page draw:style-name="d1">')
    body = f"<office:body><office:presentation>{shown}</office:presentation></office:body>"
    return opendocument("presentation", styles + body, more)


def text_of(*shapes: str, more: dict[str, str | bytes] | None = None) -> str:
    return read(odp("".join(shapes), more=more), "a.odp").text.removeprefix("## Slide 1\n\n")


def test_pages_are_slides_with_titles_and_notes() -> None:
    hidden = (
        '<office:automatic-styles><style:style style:name="d1"><style:drawing-page-properties '
        'presentation:visibility="hidden"/></style:style></office:automatic-styles>'
    )
    notes = f"<presentation:notes>{frame(p('Say'), 'notes')}{frame(p('3'), 'page-number')}"
    parsed = read(
        odp(
            frame(p("World")) + frame(p("Hello"), "title") + notes + "</presentation:notes>",
            f"HIDDEN{frame(p('Alone'))}",
            styles=hidden,
        ),
        "a.odp",
    )
    assert parsed.text == ("## Hello\n\nWorld\n\nNotes: Say\n\n## Slide 2 (hidden)\n\nAlone\n")
    assert (parsed.title, parsed.tags) == ("Kept", ("one", "two"))
    assert [c.pointer for c in chunk(parsed)] == ["slide 1", "slide 2"]


def test_lists_tables_links_groups_and_alt_text_stand_in_their_place() -> None:
    items = (
        "<text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p>"
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>c</text:p>"
        "</text:list-item></text:list>"
    )
    linked = 'see<text:s text:c="2"/><text:a xlink:href="https://x.org/">it</text:a><text:tab/>x'
    cells = "".join(f"<table:table-cell>{p(word)}</table:table-cell>" for word in "kv")
    row = f"<table:table-row>{cells}</table:table-row>"
    table = f"<draw:frame><table:table>{row}{row}</table:table></draw:frame>"
    picture = "<draw:frame><draw:image/><svg:title>A cat</svg:title></draw:frame>"
    group = (
        f"<draw:g>{frame(p('inside'))}</draw:g><draw:custom-shape>{p('shape')}</draw:custom-shape>"
    )
    footer = frame(p("foot"), "footer")
    assert text_of(frame(items), frame(p(linked)), table, picture, group, footer) == (
        "- a\n  - b\n- c\n\nsee  [it](https://x.org/)\tx\n\n| k | v |\n| --- | --- |\n| k | v |\n\n"
        "Image: A cat\n\ninside\n\nshape\n"
    )


def test_charts_comments_and_embedded_files_are_named() -> None:
    objects = "".join(
        f'<draw:frame><draw:object xlink:href="./Object {n}"/></draw:frame>' for n in (1, 2)
    )
    said = f"<office:annotation><dc:creator>Ann</dc:creator>{p('Why?')}</office:annotation>"
    chart = (
        f"<root><office:chart><chart:chart><chart:title>{p('Sales')}</chart:title><table:table>"
        f"<table:table-row><table:table-cell>{p('Q1')}</table:table-cell><table:table-cell>"
        f"{p('7')}</table:table-cell></table:table-row></table:table></chart:chart></office:chart>"
        "</root>"
    )
    more: dict[str, str | bytes] = {
        "Object 1/content.xml": chart,
        "Object 2/content.xml": "<root><office:text/></root>",
    }
    assert text_of(objects, said, more=more) == (
        "Sales\n\n| Q1 | 7 |\n| --- | --- |\n\nEmbedded: Object 2\n\nComments:\n\n- Ann: Why?\n"
    )


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (odp(), Status.NO_TEXT),
        (odp(frame(p("&bomb;"))), Status.UNREADABLE),
        (
            odp(more={"META-INF/manifest.xml": "<root><encryption-data/></root>"}),
            Status.ENCRYPTED,
        ),
    ],
)
def test_files_that_cannot_be_read_are_refused(data: bytes, status: Status) -> None:
    with pytest.raises(Unreadable) as refused:
        read(data, "a.odp")
    assert refused.value.status is status


WHOLE = odp(frame(p("Hello"), "title"), frame(p("x")))


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4))
def test_any_damage_gives_a_document_or_a_refusal(at: int, piece: bytes) -> None:
    try:
        parsed = read(WHOLE[:at] + piece + WHOLE[at + len(piece) :], "a.odp")
    except Unreadable:
        return
    assert isinstance(parsed, Parsed)
