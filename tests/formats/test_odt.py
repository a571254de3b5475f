"""Tests of OpenDocument texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import registry
from bookwheel.formats.base import Unreadable
from bookwheel.model import Status
from bookwheel.text.chunking import chunk
from tests.formats.making_word import odt, package

BREAK = "<text:soft-page-break/>"


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def h(text: str, level: int) -> str:
    return f'<text:h text:outline-level="{level}">{text}</text:h>'


def item(*content: str) -> str:
    return f"<text:list-item>{''.join(content)}</text:list-item>"


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}>{p(text)}</table:table-cell>"


def table(*rows: str) -> str:
    inner = "".join(row if row.startswith("<table:table-row") else _row(row) for row in rows)
    return f"<table:table>{inner}</table:table>"


def _row(cells: str) -> str:
    return f"<table:table-row>{cells}</table:table-row>"


def text_of(body: str, styles: str = "", common: str = "") -> str:
    return registry.read(odt(body, styles=styles, common=common), "a.odt").text


@pytest.mark.requirement("X-025")
def test_headings_links_and_properties() -> None:
    body = (
        p("The book", "P1")
        + h("One", 1)
        + p('See <text:a xlink:href="https://x.org">the <text:span>guide</text:span></text:a>.')
        + h("Part", 3)
    )
    styles = (
        '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    )
    meta = (
        "<dc:title>Given</dc:title><meta:initial-creator>Ann</meta:initial-creator>"
        "<meta:creation-date>2024-05-01T10:00:00</meta:creation-date><meta:keyword>k</meta:keyword>"
    )
    parsed = registry.read(odt(body, styles=styles, meta=meta), "a.odt")
    assert [(each.level, each.heading) for each in parsed.sections] == [
        (1, "The book"),
        (1, "One"),
        (3, "Part"),
    ]
    assert [(each.target, each.text) for each in parsed.links] == [("https://x.org", "the guide")]
    assert (parsed.title, parsed.author, parsed.date) == ("Given", "Ann", "2024-05-01T10:00:00")
    assert parsed.tags == ("k",)


@pytest.mark.requirement("X-025")
def test_stored_page_breaks_become_pages() -> None:
    styles = (
        '<style:style style:name="B" style:family="paragraph">'
        '<style:paragraph-properties fo:break-before="page"/></style:style>'
    )
    body = (
        p("first", "B")
        + p(f"goes {BREAK}on")
        + BREAK
        + p("third")
        + p("fourth", "B")
        + table(cell("a") + cell("b"), cell(f"{BREAK}c") + cell(f"{BREAK}d"))
        + p("end")
    )
    parsed = registry.read(odt(body, styles=styles), "a.odt")
    assert [each.label for each in parsed.places] == [f"page {n}" for n in (1, 3, 4, 5)]
    data = parsed.text.encode()
    assert data.startswith(b"first\n\ngoes on\n")
    assert data[parsed.places[1].start :].startswith(b"third\n")
    assert data[parsed.places[3].start :].startswith(b"end\n")


def test_lists_have_bullets_or_numbers_and_are_nested() -> None:
    styles = (
        '<text:list-style style:name="L"><text:list-level-style-bullet text:level="1"/>'
        '<text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>'
    )
    common = (
        '<office:styles><text:list-style style:name="N">'
        '<text:list-level-style-number text:level="1" style:num-format="a"/>'
        "</text:list-style></office:styles>"
    )
    inner = f"<text:list>{item(p('x'))}{item(p('y'))}</text:list>"
    body = (
        f'<text:list text:style-name="L">{item(p("a"), inner)}{item(p("b"))}</text:list>'
        + p("between")
        + f'<text:list text:style-name="N">{item(p("one"))}{item(p("two"), p("more"))}</text:list>'
        + f'<text:list text:style-name="N" text:continue-numbering="true">{item(p("three"))}'
        + f'<text:list-item text:start-value="9">{p("nine")}</text:list-item></text:list>'
    )
    assert text_of(body, styles, common) == (
        "- a\n  1. x\n  2. y\n- b\n\nbetween\n\n1. one\n2. two\n\nmore\n\n3. three\n9. nine\n"
    )


def test_tables_with_merged_and_repeated_cells() -> None:
    body = table(
        "<table:table-header-rows>"
        + _row(cell("wide", 'table:number-columns-spanned="2"') + "<table:covered-table-cell/>")
        + "</table:table-header-rows>",
        cell("a|b") + cell("c"),
        '<table:table-row table:number-rows-repeated="1000000000">'
        + cell("r", 'table:number-columns-repeated="1000000000"')
        + "</table:table-row>",
        '<table:table-row table:number-rows-repeated="1000000000"><table:table-cell/>'
        "</table:table-row>",
    )
    lines = text_of(body).splitlines()
    assert lines[0].startswith("| wide |  |")
    assert lines[2] == "| a\\|b | c |"
    assert lines[3].count("r") == 1
    assert lines[3].count("|") == 65
    assert len(lines) == 4


def test_blanks_are_as_the_author_sees_them() -> None:
    body = p(
        "  a\n   b<text:s text:c='3'/>c<text:tab/>d<text:line-break/>e"
        "<text:s text:c='999999999'/>f so\u00adft"
    )
    assert text_of(body) == "a b   c\td\ne" + " " * 100 + "f soft\n"


def test_notes_and_comments_stand_at_the_end() -> None:
    note = (
        '<text:note text:note-class="{}"><text:note-citation>9</text:note-citation>'
        "<text:note-body>{}</text:note-body></text:note>"
    )
    comment = (
        "<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024</dc:date>"
        f"{p('Why?')}</office:annotation>"
    )
    common = (
        "<office:master-styles><style:master-page><style:header>"
        f"{p('Top')}</style:header><style:footer-left>{p('Top')}{p('2')}</style:footer-left>"
        "</style:master-page></office:master-styles>"
    )
    body = p(
        "A"
        + note.format("footnote", p("foot"))
        + comment
        + " B"
        + note.format("endnote", p("end"))
        + note.format("footnote", p("second"))
    )
    assert text_of(body, common=common) == (
        "A[^1] B[^e1][^2]\n\nFootnotes\n\n[^1] foot\n\n[^2] second\n\nEndnotes\n\n[^e1] end\n\n"
        "Comments\n\nAnn: Why?\n\nTop\n\nTop 2\n"
    )


def test_deletions_and_declarations_are_left_out() -> None:
    body = (
        f"<text:tracked-changes><text:deletion>{p('gone')}</text:deletion></text:tracked-changes>"
        "<text:sequence-decls><text:x>no</text:x></text:sequence-decls>"
        + p("kept")
        + "<text:table-of-content><text:table-of-content-source><text:index-title-template>no"
        "</text:index-title-template></text:table-of-content-source>"
        f"<text:index-body>{p('entry')}</text:index-body></text:table-of-content>"
    )
    assert text_of(body) == "kept\n\nentry\n"


def test_frames_give_their_text_and_what_pictures_show() -> None:
    frame = (
        f"<draw:frame><draw:text-box>{p('boxed')}</draw:text-box>"
        "<svg:title>A map</svg:title></draw:frame>"
    )
    shape = f"<draw:custom-shape>{p('shaped')}</draw:custom-shape>"
    assert text_of(p(f"before{frame}{shape}") + p("after")) == (
        "before A map\n\nboxed\n\nshaped\n\nafter\n"
    )


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (odt(""), Status.NO_TEXT),
        (odt("<text:p>"), Status.UNREADABLE),
        (odt(p("a"), manifest="<m:encryption-data/>"), Status.ENCRYPTED),
        (package({"mimetype": "application/vnd.oasis.opendocument.text"}), Status.UNREADABLE),
        (odt("<text:section>" * 3_000), Status.UNREADABLE),
    ],
    ids=["empty", "broken", "password", "no content", "deep"],
)
def test_files_that_give_no_document_are_refused(data: bytes, status: Status) -> None:
    with pytest.raises(Unreadable) as refused:
        registry.read(data, "a.odt")
    assert refused.value.status is status


def test_damaged_styles_and_properties_do_no_harm() -> None:
    data = odt(
        f'<text:list text:style-name="N">{item(p("a"))}</text:list>', common="<x>", meta="<x>"
    )
    assert registry.read(data, "a.odt").text == "- a\n"


def test_deep_nesting_is_read() -> None:
    body = "<table:table><table:table-row><table:table-cell>" * 80 + p("deep")
    body += "</table:table-cell></table:table-row></table:table>" * 80
    assert "deep" in text_of(body)


SAMPLE = odt(h("One", 1) + p(f"a{BREAK}b") + table(cell("a") + cell("b")), meta="<dc:title/>")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SAMPLE) - 1), st.binary(min_size=1, max_size=4))
def test_a_mutated_file_is_read_or_refused(at: int, change: bytes) -> None:
    try:
        chunk(registry.read(SAMPLE[:at] + change + SAMPLE[at + len(change) :], "a.odt"))
    except Unreadable:
        pass


def test_formulas_and_charts_are_words_and_other_objects_are_listed() -> None:
    shown = '<text:p>See<draw:frame><draw:object xlink:href="./{}"/></draw:frame>.</text:p>'
    math = '<math xmlns="m"><mi>E</mi><mn>2</mn>{}</math>'
    parts: dict[str, str | bytes] = {
        "Object 1/content.xml": math.format('<annotation encoding="s">E = 2</annotation>'),
        "Object 2/content.xml": math.format(""),
        "Object 3/content.xml": "<a><chart><p>Sales</p><p>7</p></chart></a>",
        "Object 4/content.xml": "<a/>",
        "Object 5": b"x",
        "Object 6/content.xml": "<broken",
    }
    body = "".join(shown.format(f"Object%20{n}") for n in (*range(1, 7), 1))
    assert registry.read(odt(body, parts=parts), "a.odt").text.split("\n\n") == [
        "See E = 2 .",
        "See E2 .",
        "See Sales 7 .",
        *["See."] * 4,
        "Embedded documents",
        "Object 4",
        "Object 5\n",
    ]
