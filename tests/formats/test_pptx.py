"""Tests of PowerPoint files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk
from tests.formats.making_office import NAMES, core, pptx, relations, shape, slide

CHART = f"""<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r>
</a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef>
</c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v>
</c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>
<c:pt idx="0"><c:v>1.5</c:v></c:pt><c:pt idx="1"><c:v>0.30000000000000004</c:v></c:pt>
</c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"""
DIAGRAM = f"""<dgm:dataModel {NAMES}><dgm:ptLst>
<dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>third</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="0" type="doc"/><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>first</a:t></a:r></a:p>
</dgm:t></dgm:pt><dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>below</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="9" type="pres"><dgm:t><a:p><a:r><a:t>unseen</a:t></a:r></a:p></dgm:t></dgm:pt>
</dgm:ptLst><dgm:cxnLst><dgm:cxn srcId="0" destId="3" srcOrd="1"/>
<dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn srcId="1" destId="2" srcOrd="0"/>
<dgm:cxn srcId="2" destId="1" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>"""


def frame(content: str) -> str:
    return (
        f"<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr/></p:nvGraphicFramePr><a:graphic>"
        f"<a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def text_of(*shapes: str, **more: str) -> str:
    parts = {name.replace("__", "/"): content for name, content in more.items()}
    found = read(pptx(slide(*shapes), more=dict(parts)), "a.pptx").text
    return found.removeprefix("## Slide 1\n\n")


@pytest.mark.requirement("X-026")
def test_slides_come_in_the_order_of_the_show_with_notes_and_pointers() -> None:
    notes = f"<p:notes {NAMES}>{shape('Say this', 'body')}{shape('7', 'sldNum')}</p:notes>"
    parsed = read(
        pptx(
            slide(shape("Hello", "title"), shape("World", "body")),
            slide(shape("Only words")),
            slide(shape("After", "body"), shape("Last", "ctrTitle"), show="0"),
            more={
                "ppt/slides/_rels/slide3.xml.rels": relations("r1 notesSlide ../notes/n1.xml"),
                "ppt/notes/n1.xml": notes,
                "docProps/core.xml": core(title="PowerPoint Presentation", creator="Ann"),
            },
        ),
        "a.pptx",
    )
    assert parsed.text == (
        "## Hello\n\nWorld\n\nNotes: Say this\n\n"
        "## Slide 2\n\nOnly words\n\n## Last (hidden)\n\nAfter\n"
    )
    assert (parsed.title, parsed.author, parsed.description) == ("Hello", "Ann", "World")
    assert [place.label for place in parsed.places] == ["slide 1", "slide 2", "slide 3"]
    assert [c.pointer for c in chunk(parsed)] == ["slide 1", "slide 2", "slide 3"]
    assert [s.heading for s in parsed.sections] == ["Hello", "Slide 2", "Last (hidden)"]


def test_the_title_of_the_properties_comes_first() -> None:
    more: dict[str, str | bytes] = {"docProps/core.xml": core(title="Plan", description="Why")}
    parsed = read(pptx(slide(shape("Hello", "title")), more=more), "a.pptx")
    assert (parsed.title, parsed.description) == ("Plan", "Why")


@pytest.mark.parametrize(
    ("shapes", "described"),
    [
        ([shape("Plan", "title"), shape("The &lt;b&gt; costs\nThe time", "body")], "The <b> costs"),
        ([shape("Plan", "title")], "Notes: Say this"),
    ],
)
def test_notes_describe_slides_that_say_nothing_but_their_titles(
    shapes: list[str], described: str
) -> None:
    more: dict[str, str | bytes] = {
        "ppt/slides/_rels/slide1.xml.rels": relations("r1 notesSlide ../notes/n1.xml"),
        "ppt/notes/n1.xml": f"<p:notes {NAMES}>{shape('Say this', 'body')}</p:notes>",
    }
    assert read(pptx(slide(*shapes), more=more), "a.pptx").description == described


def test_bullets_are_lists_with_their_levels() -> None:
    assert text_of(shape("a\n\tb\n\t\tc\nd", "body")) == "- a\n  - b\n    - c\n- d\n"
    assert text_of(shape("\t\tdeep\nup", "body")) == "- deep\n- up\n"
    plain = "<a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>intro</a:t></a:r></a:p>"
    bullet = '<a:p><a:pPr><a:buChar char="x"/></a:pPr><a:r><a:t>dot</a:t></a:r></a:p>'
    assert text_of(shape("", "body", inner=plain + bullet)) == "intro\n\n- dot\n"
    assert text_of(shape("", inner=bullet + bullet)) == "- dot\n- dot\n"


def test_links_of_runs_and_shapes_lead_out_of_the_file_only() -> None:
    runs = "".join(
        f'<a:r><a:rPr><a:hlinkClick r:id="{name}"/></a:rPr><a:t>{text}</a:t></a:r>'
        for name, text in (("r1", "the "), ("r1", "site "), ("r2", "next slide"))
    )
    body = shape("", inner=f"<a:p><a:r><a:t>See </a:t></a:r>{runs}<a:br/></a:p>")
    more: dict[str, str | bytes] = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            "r1 hyperlink https://x.org/a b", "r2 slide slide1.xml"
        )
    }
    parsed = read(pptx(slide(body), more=more), "a.pptx")
    assert "See [the site](https://x.org/a%20b) next slide\n" in parsed.text
    assert [(k.target, k.text, k.context) for k in parsed.links] == [
        ("https://x.org/a%20b", "the site", "See the site next slide")
    ]


def test_tables_groups_pictures_and_alternatives_stand_once_in_their_place() -> None:
    cells = "".join(
        f"<a:tc><a:txBody><a:p><a:r><a:t>{t}</a:t></a:r></a:p></a:txBody></a:tc>" for t in "ab"
    )
    table = frame(f"<a:tbl><a:tr>{cells}</a:tr><a:tr>{cells}</a:tr></a:tbl>")
    group = f"<p:grpSp><p:nvGrpSpPr><p:cNvPr/></p:nvGrpSpPr>{shape('inside')}</p:grpSp>"
    picture = '<p:pic><p:nvPicPr><p:cNvPr descr="A  cat"/></p:nvPicPr></p:pic>'
    both = (
        f"<mc:AlternateContent><mc:Choice>{shape('new')}</mc:Choice>"
        f"<mc:Fallback>{shape('old')}</mc:Fallback></mc:AlternateContent>"
    )
    footers = shape("foot", "ftr") + shape("3", "sldNum") + shape("May", "dt")
    assert text_of(table, group, picture, both, footers) == (
        "| a | b |\n| --- | --- |\n| a | b |\n\ninside\n\nImage: A cat\n\nnew\n"
    )


def test_charts_and_diagrams_give_their_words() -> None:
    ties = relations("r1 chart ../charts/c.xml", "r2 diagramData ../d.xml")
    chart, diagram = '<c:chart r:id="r1"/>', '<dgm:relIds r:dm="r2"/>'
    more = {
        "ppt/slides/_rels/slide1.xml.rels": ties,
        "ppt/charts/c.xml": CHART,
        "ppt/d.xml": DIAGRAM,
    }
    found = read(pptx(slide(frame(chart), frame(diagram)), more=dict(more)), "a.pptx").text
    assert found == (
        "## Slide 1\n\nSales\n\n|  | North |\n| --- | --- |\n| Q1 | 1.5 |\n| Q2 | 0.3 |\n\n"
        "- first\n  - below\n- third\n"
    )


def test_comments_of_both_generations_and_embedded_files_are_named() -> None:
    old = f'<p:cmLst {NAMES}><p:cm authorId="0"><p:text>Why?</p:text></p:cm></p:cmLst>'
    new = (
        f'<p:cmLst {NAMES}><p:cm authorId="g"><p:txBody><a:p><a:r><a:t>So.</a:t></a:r></a:p>'
        "</p:txBody></p:cm></p:cmLst>"
    )
    authors = f'<p:cmAuthorLst {NAMES}><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>'
    others = f'<p:authorLst {NAMES}><p:author id="g" name="Bo"/></p:authorLst>'
    more: dict[str, str | bytes] = {
        "ppt/_rels/presentation.xml.rels": relations(
            "r0 slide slides/slide1.xml", "r1 commentAuthors ca.xml", "r2 authors a.xml"
        ),
        "ppt/ca.xml": authors,
        "ppt/a.xml": others,
        "ppt/slides/_rels/slide1.xml.rels": relations(
            "r1 comments ../c1.xml", "r2 comments ../c2.xml", "r3 package ../embeddings/plan.xlsx"
        ),
        "ppt/c1.xml": old,
        "ppt/c2.xml": new,
    }
    assert read(pptx(slide(), more=more), "a.pptx").text == (
        "## Slide 1\n\nEmbedded: plan.xlsx\n\nComments:\n\n- Ann: Why?\n- Bo: So.\n"
    )


def test_strict_files_are_read_as_well() -> None:
    parsed = read(pptx(slide(shape("Hello", "title"), shape("a\nb", "body")), strict=True), "a")
    assert parsed.text == "## Hello\n\n- a\n- b\n"


def test_words_of_a_slide_are_no_markdown() -> None:
    assert text_of(shape("# no heading\n&lt;b>no tag")) == "\\# no heading\n\n\\<b>no tag\n"


def test_a_damaged_slide_does_not_keep_the_others_out() -> None:
    parsed = read(pptx("<p:sld", slide(shape("Good", "title"))), "a.pptx")
    assert parsed.text == "## Slide 1\n\n(This slide is damaged.)\n\n## Good\n"
    deep = "<p:grpSp>" * 300 + shape("x") + "</p:grpSp>" * 300
    assert "damaged" in read(pptx(slide(deep), slide(shape("ok"))), "a.pptx").text


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (pptx(), Status.NO_TEXT),
        (pptx(slide()), Status.NO_TEXT),
        (pptx("<p:sld"), Status.UNREADABLE),
        (
            pptx(slide(shape("x"))).replace(b"presentation.xml", b"elsewhere___.xml"),
            Status.UNREADABLE,
        ),
    ],
)
def test_files_without_text_are_refused_by_name(data: bytes, status: Status) -> None:
    with pytest.raises(Unreadable) as refused:
        read(data, "a.pptx")
    assert refused.value.status is status


WHOLE = pptx(slide(shape("Hello", "title"), shape("a\n\tb", "body")), slide(frame("<a:tbl/>")))


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4))
def test_any_damage_gives_a_document_or_a_refusal(at: int, piece: bytes) -> None:
    try:
        parsed = read(WHOLE[:at] + piece + WHOLE[at + len(piece) :], "a.pptx")
    except Unreadable:
        return
    assert isinstance(parsed, Parsed)


@settings(max_examples=60)
@given(st.integers(0, 400), st.binary(max_size=6))
def test_any_damage_to_a_slide_gives_a_document_or_a_refusal(at: int, piece: bytes) -> None:
    whole = slide(shape("Hello", "title"), frame("<a:tbl><a:tr/></a:tbl>")).encode()
    broken = (whole[: at + 600] + piece + whole[at + 600 + len(piece) :]).decode("utf-8", "replace")
    try:
        parsed = read(pptx(broken, slide(shape("x"))), "a.pptx")
    except Unreadable:
        return
    assert isinstance(parsed, Parsed)


def test_a_deck_without_titles_is_called_by_its_file() -> None:
    assert read(pptx(slide(shape("words"))), "dir/deck.pptx").title == "deck"
