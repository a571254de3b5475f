"""Tests of Word files."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from bookwheel.formats import registry
from bookwheel.formats.base import Unreadable
from bookwheel.formats.docx import read
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk
from tests.formats.making_word import (
    STRICT_WORD,
    anchored,
    cell,
    docx,
    field,
    listed,
    mark,
    ole,
    p,
    package,
    part,
    related,
    relations,
    run,
    styled,
    table,
)

RENDERED = "<w:r><w:lastRenderedPageBreak/><w:t>{}</w:t></w:r>"
HARD = '<w:r><w:br w:type="page"/></w:r>'


def text_of(body: str, **more: dict[str, str]) -> str:
    return registry.read(docx(body, **more), "dir/file.docx").text  # type: ignore[arg-type] # all are dictionaries


def style(key: str, name: str, more: str = "", base: str = "") -> str:
    based = f'<w:basedOn w:val="{base}"/>' if base else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/>{based}'
        f"<w:pPr>{more}</w:pPr></w:style>"
    )


def level(number: int) -> str:
    return f'<w:outlineLvl w:val="{number}"/>'


def places(parsed: Parsed) -> list[tuple[str, str]]:
    """Return what stands at each place."""
    data = parsed.text.encode()
    ends = [place.start for place in parsed.places[1:]] + [len(data)]
    return [
        (place.label, " ".join(data[place.start : end].decode().split()))
        for place, end in zip(parsed.places, ends, strict=True)
    ]


@pytest.mark.requirement("X-025")
def test_styles_and_outline_levels_make_headings() -> None:
    styles = part(
        "styles",
        style("Title", "Title")
        + style("berschrift1", "heading 1", level(0))
        + style("Custom", "My own", base="berschrift1")
        + style("TOC", "TOC Heading", level(9), base="berschrift1")
        + style("Deep", "Deep &amp; far", level(8)),
    )
    body = (
        styled("The book", "Title")
        + styled("One", "berschrift1")
        + styled("Two", "Custom")
        + styled("Contents", "TOC")
        + styled("Nine", "Deep")
        + p("Three", level(2))
        + p("Body", level(9))
        + styled("No style part knows it", "Heading2")
    )
    parsed = registry.read(docx(body, parts={"styles": styles}), "a.docx")
    assert [(each.level, each.heading) for each in parsed.sections] == [
        (1, "The book"),
        (1, "One"),
        (1, "Two"),
        (6, "Nine"),
        (3, "Three"),
        (2, "No style part knows it"),
    ]
    assert parsed.title == "The book"
    assert "\nContents\n" in parsed.text


def test_styles_are_found_wherever_they_stand_in_a_long_part() -> None:
    many = "".join(style(f"Other{n}", f"Other {n}", "<w:b/>" * (n % 9)) for n in range(3_000))
    styles = part(
        "styles",
        style("Early", "heading 1")
        + many
        + style("Late", "heading 2")
        + style("Last", "heading 3"),
    )
    names = ("Early", "Other599", "Other600", "Other601", "Late", "Last")
    body = "".join(styled(name, name) for name in names)
    parsed = registry.read(docx(body, parts={"styles": styles}), "a.docx")
    assert [(each.level, each.heading) for each in parsed.sections] == [
        (1, "Early"),
        (2, "Late"),
        (3, "Last"),
    ]


@pytest.mark.requirement("X-025")
def test_links_are_links_with_their_sentence() -> None:
    body = p(
        "See ",
        more=f'<w:hyperlink r:id="k">{run("the ")}{run("guide")}</w:hyperlink>'
        + run(" and ")
        + anchored("below", "later")
        + related(".", "gone"),
    )
    parsed = registry.read(docx(body, links={"k": "https://x.org/a b(c)"}), "a.docx")
    assert parsed.text == "See [the guide](https://x.org/a%20b%28c%29) and [below](#later).\n"
    assert [(each.target, each.text, each.context) for each in parsed.links] == [
        ("https://x.org/a%20b%28c%29", "the guide", "See the guide and below."),
        ("#later", "below", "See the guide and below."),
    ]


@pytest.mark.requirement("X-025")
def test_page_breaks_that_word_has_stored_become_pages() -> None:
    body = (
        p("First.")
        + p("Ends a page.", more=HARD)
        + p(more=RENDERED.format("Second."))
        + p("Goes ", more=RENDERED.format("on."))
        + p("Third too.")
    )
    parsed = registry.read(docx(body), "a.docx")
    assert places(parsed) == [
        ("page 1", "First. Ends a page."),
        ("page 2", "Second. Goes on."),
        ("page 3", "Third too."),
    ]
    assert [each.pointer for each in chunk(parsed)] == ["page 1", "page 2", "page 3"]


def test_pages_between_hard_breaks_are_none_where_one_holds_too_much() -> None:
    """Word has not stored where they end, and a page of a reader holds less."""
    full = p("words " * 900) + p(more=HARD) + p("Second.")
    assert [place.label for place in registry.read(docx(full), "a.docx").places] == [
        "page 1",
        "page 2",
    ]
    assert registry.read(docx(p("words " * 900) + full), "a.docx").places == ()


def test_the_first_heading_of_any_level_is_the_title() -> None:
    body = p("Some words.") + p("Small", "<w:outlineLvl w:val='1'/>") + p("More words.")
    assert registry.read(docx(body), "a.docx").title == "Small"
    assert registry.read(docx(p("Some words.")), "dir/plan.docx").title == "plan"


_HINT = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent><w:r><w:t>{}</w:t></w:r></w:sdtContent></w:sdt>"


def test_hidden_text_and_hints_in_unfilled_fields_are_no_text() -> None:
    run = "<w:r><w:rPr><w:b/>{}</w:rPr><w:t>{}</w:t></w:r>"
    body = (
        p("Shown to its readers", more=run.format("<w:vanish/>", "secret"))
        + p(more=run.format('<w:vanish w:val="0"/>', "too"))
        + p("whole", "<w:rPr><w:vanish/></w:rPr>")
        + p(more=_HINT.format("<w:showingPlcHdr/>", "Click here."))
        + p(more=_HINT.format("", "filled"))
    )
    assert (
        registry.read(docx(body), "a.docx").text
        == "Shown to its readers\n\ntoo\n\nwhole\n\nfilled\n"
    )


def test_the_hints_of_a_form_that_is_little_else_are_its_text() -> None:
    hint = _HINT.format("<w:showingPlcHdr/>", "Type the name of your company here.")
    assert registry.read(docx(p("To: ", more=hint)), "a.dotx").text == (
        "To: Type the name of your company here.\n"
    )


def test_paragraphs_that_their_style_hides_are_no_text() -> None:
    styles = part(
        "styles",
        style("Form", "HTML Top of Form", "<w:rPr><w:vanish/></w:rPr>")
        + style("Inner", "inner", base="Form")
        + style("Back", "back", '<w:rPr><w:vanish w:val="0"/></w:rPr>', base="Form"),
    )
    body = styled("Top of Form", "Form") + p("Shown.") + styled("No", "Inner") + styled("I", "Back")
    assert text_of(body, parts={"styles": styles}) == "Shown.\n\nI\n"


def test_runs_that_say_themselves_that_they_are_shown_are_text_whatever_their_style_hides() -> None:
    shown = '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>{}</w:t></w:r>'
    styles = part(
        "styles",
        style("Hidden", "Normal", "<w:rPr><w:vanish/></w:rPr>")
        + style("Head", "heading 2", base="Hidden"),
    )
    hidden, head = ('<w:pStyle w:val="Hidden"/>', '<w:pStyle w:val="Head"/>')
    link = f'<w:hyperlink w:anchor="there">{shown.format("a link")}</w:hyperlink>'
    box = f"<w:r><w:txbxContent>{p('In a box.')}</w:txbxContent></w:r>"
    body = (
        p("", head, shown.format("A heading"))
        + p("secret", hidden, shown.format("Shown, ") + link + box)
        + p("secret", hidden)
        + p("secret", hidden, box)
    )
    assert text_of(body, parts={"styles": styles}) == (
        "## A heading\n\nShown, [a link](#there)\n\nIn a box.\n\nIn a box.\n"
    )


def test_headings_have_the_numbers_that_word_shows_before_them() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'
        for at, (form, text, more) in enumerate(
            [
                ("upperRoman", "Part %1:", ""),
                ("lowerLetter", "%1.%2", ""),
                ("decimal", "%1.%2.%3", "<w:isLgl/>"),
                ("bullet", "o", ""),
            ]
        )
    )
    numbering = part(
        "numbering",
        f'<w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
        '<w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>',
    )
    ruled = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="7"/></w:numPr>' + level(0)
    styles = part(
        "styles", "".join(style(f"H{n}", f"heading {n + 1}", ruled.format(n)) for n in range(4))
    )
    body = "".join(
        styled(text, name)
        for text, name in [
            ("Scope &lt;b&gt;", "H0"),
            ("Aims", "H1"),
            ("Words", "H1"),
            ("Deep", "H2"),
            ("Dot", "H3"),
            ("Terms", "H0"),
            ("Again", "H1"),
        ]
    )
    found = registry.read(docx(body, parts={"styles": styles, "numbering": numbering}), "a.docx")
    assert [each.heading for each in found.sections] == [
        "Part I: Scope <b>",
        "I.a Aims",
        "I.b Words",
        "1.2.1 Deep",
        "Dot",
        "Part II: Terms",
        "II.a Again",
    ]
    assert found.title == "Scope <b>"


def test_the_first_prose_describes_a_document_and_not_its_contents() -> None:
    body = (
        styled("Plan", "Heading1")
        + p("Plan")
        + p("Contents")
        + p("Introduction", more="<w:r><w:tab/><w:t>3</w:t></w:r>")
        + p(more=anchored("Costs of all that we plan to do there", "costs"))
        + p("12 May 2021")
        + p("What we want to do in the next year.")
    )
    styles = part("styles", style("Heading1", "heading 1"))
    found = registry.read(docx(body, parts={"styles": styles}), "a.docx")
    assert found.description == "What we want to do in the next year."
    assert registry.read(docx(p("Contents") + p("Costs")), "a.docx").description == "Contents"


def test_a_paragraph_lies_on_the_page_where_it_begins() -> None:
    body = (
        p(more=RENDERED.format("On one.") + RENDERED.format("Still."))
        + p("Three ", more=RENDERED.format("to ") + RENDERED.format("five."))
        + p("Five too.")
    )
    assert places(registry.read(docx(body), "a.docx")) == [
        ("page 2", "On one.Still."),
        ("page 3", "Three to five."),
        ("page 5", "Five too."),
    ]


def test_hard_page_breaks_count_where_word_has_stored_none() -> None:
    before = "<w:pageBreakBefore/>"
    body = (
        p("A", before)
        + p("B", more=HARD + "<w:r><w:t>C</w:t></w:r>")
        + p(more=HARD)
        + p("D")
        + p("E", before)
        + p("F", '<w:pageBreakBefore w:val="0"/>')
    )
    assert places(registry.read(docx(body), "a.docx")) == [
        ("page 1", "A B"),
        ("page 2", "C"),
        ("page 3", "D"),
        ("page 4", "E F"),
    ]


def section(kind: str = "", more: str = "") -> str:
    """Return the end of a section that begins in some way."""
    begins = f'<w:type w:val="{kind}"/>' if kind else ""
    return f"<w:sectPr>{begins}{more}</w:sectPr>"


@pytest.mark.parametrize("kind", ["", "nextPage", "oddPage", "evenPage"])
def test_a_section_that_begins_a_page_is_a_page_break(kind: str) -> None:
    body = (
        p("One.")
        + p(more=HARD)
        + p("Two.", section())
        + p("Three.", section(kind))
        + p("Still three.", section("continuous"))
        + p("In its next column.")
        + section("nextColumn")
    )
    assert places(registry.read(docx(body), "a.docx")) == [
        ("page 1", "One."),
        ("page 2", "Two."),
        ("page 3", "Three. Still three. In its next column."),
    ]


def test_a_text_box_lies_on_the_page_of_the_paragraph_that_ends_a_section() -> None:
    box = f"<w:r><w:txbxContent>{p('In a box.')}</w:txbxContent></w:r>"
    body = p("One.", section(), box) + p("Two.") + section()
    assert places(registry.read(docx(body), "a.docx")) == [
        ("page 1", "One. In a box."),
        ("page 2", "Two."),
    ]


def test_a_section_that_was_another_before_a_revision_begins_as_it_does_now() -> None:
    was = f"<w:sectPrChange>{section()}</w:sectPrChange>"
    body = p("One.", section()) + p("One too.") + section("continuous", was)
    assert registry.read(docx(body), "a.docx").places == ()


def test_what_begins_a_page_of_its_own_begins_none_after_a_break() -> None:
    before = "<w:pageBreakBefore/>"
    body = (
        p("One.", section())
        + p("Two.", before)
        + p(more=HARD)
        + p("Three.", before)
        + p(more=HARD)
        + p()
        + p("Five.", before)
        + section()
    )
    found = places(registry.read(docx(body), "a.docx"))
    assert [label for label, _ in found] == ["page 1", "page 2", "page 3", "page 5"]


def test_a_document_without_page_breaks_has_no_places() -> None:
    assert registry.read(docx(p("A") + p("B")), "a.docx").places == ()


def test_a_page_ends_between_items_and_between_rows() -> None:
    numbering = _numbering()
    body = (
        listed("one", 1)
        + p(
            format='<w:numPr><w:numId w:val="1"/></w:numPr>',
            more=RENDERED.format("two"),
        )
        + table(
            cell("a") + cell("b"),
            cell(p(more=RENDERED.format("c"))) + cell(p(more=RENDERED.format("d"))),
        )
        + p("end")
    )
    parsed = registry.read(docx(body, parts={"numbering": numbering}), "a.docx")
    assert places(parsed) == [
        ("page 1", "- one"),
        ("page 2", "- two | a | b | | --- | --- |"),
        ("page 3", "| c | d | end"),
    ]


def test_a_page_that_ends_within_a_row_is_turned_once() -> None:
    """Word marks it again where later cells of the row begin, and where the next row does."""
    split = p("begins ", more=RENDERED.format("ends"))
    again = p(more=RENDERED.format("begins ") + RENDERED.format("ends"))
    next_page = p(more=RENDERED.format("new"))
    body = table(
        cell("a") + cell(split) + cell(again) + cell(next_page),
        cell(next_page) + cell("b"),
        cell("c") + cell(split),
        cell(next_page) + cell(split),
        cell(next_page) + cell("d"),
        cell(next_page) + cell("e"),
    )
    assert places(registry.read(docx(body + p(more=RENDERED.format("end"))), "a.docx")) == [
        ("page 1", "| a | begins ends | begins ends | new | | --- | --- | --- | --- |"),
        ("page 2", "| new | b | | c | begins ends |"),
        ("page 3", "| new | begins ends |"),
        ("page 4", "| new | d |"),
        ("page 5", "| new | e |"),
        ("page 6", "end"),
    ]


def test_a_cell_may_go_on_over_several_pages() -> None:
    long = p("one ", more=RENDERED.format("two ") + RENDERED.format("three"))
    body = table(cell("a") + cell("b"), cell(long) + cell("c")) + p(more=RENDERED.format("end"))
    assert [label for label, _ in places(registry.read(docx(body), "a.docx"))] == [
        "page 1",
        "page 4",
    ]


def _numbering() -> str:
    bullet = '<w:lvl w:ilvl="{}"><w:numFmt w:val="bullet"/></w:lvl>'
    decimal = '<w:lvl w:ilvl="{}"><w:start w:val="{}"/><w:numFmt w:val="decimal"/></w:lvl>'
    none = '<w:lvl w:ilvl="0"><w:numFmt w:val="none"/></w:lvl>'
    return part(
        "numbering",
        f'<w:abstractNum w:abstractNumId="0">{bullet.format(0)}{bullet.format(1)}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{decimal.format(0, 1)}{decimal.format(1, 3)}'
        "</w:abstractNum>"
        f'<w:abstractNum w:abstractNumId="2">{none}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>'
        '<w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="7"/></w:lvlOverride></w:num>',
    )


def test_lists_have_bullets_or_numbers_and_are_nested() -> None:
    body = (
        listed("a", 1)
        + listed("deep", 1, 1)
        + listed("b", 1)
        + p("Between")
        + listed("one", 2)
        + listed("three", 2, 1)
        + listed("two", 2)
        + listed("seven", 4)
        + listed("eight", 4)
        + listed("unmarked", 3)
        + listed("unknown", 99)
        + listed("level first", 1, 1)
    )
    assert text_of(body, parts={"numbering": _numbering()}) == (
        "- a\n  - deep\n- b\n\nBetween\n\n1. one\n   3. three\n2. two\n7. seven\n8. eight\n\n"
        "unmarked\n\nunknown\n\n- level first\n"
    )


def test_lists_by_style_alone() -> None:
    number = '<w:numPr><w:numId w:val="2"/></w:numPr>'
    styles = part(
        "styles",
        style("ListBullet", "List Bullet")
        + style("LB2", "List Bullet 2")
        + style("N", "N", number),
    )
    body = styled("a", "ListBullet") + styled("b", "LB2") + styled("c", "N")
    found = text_of(body, parts={"styles": styles, "numbering": _numbering()})
    assert found == "- a\n  - b\n1. c\n"


def test_tables_with_merged_cells() -> None:
    span = '<w:gridSpan w:val="2"/>'
    body = table(
        cell("wide", span) + cell("x|y"),
        cell("a", '<w:vMerge w:val="restart"/>') + cell(p("b") + p("c")) + cell("# d"),
        cell("<w:p/>", "<w:vMerge/>") + cell("e") + cell("f"),
    )
    assert text_of(body) == (
        "| wide |  | x\\|y |\n| --- | --- | --- |\n| a | b c | \\# d |\n|  | e | f |\n"
    )


def test_nested_tables_are_flattened_and_frames_are_opened() -> None:
    inner = table(cell("1") + cell("2"), cell("3") + cell("4"))
    assert "| 1 2 3 4 | y |" in text_of(table(cell(inner + p()) + cell("y")))
    assert "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |" in text_of(table(cell(inner + p())))
    headed = table(cell(p("Head", level(0)) + p("text")) + cell("side"))
    assert text_of(headed) == "# Head\n\ntext\n\nside\n"


def test_a_hostile_width_of_cells_is_bounded() -> None:
    body = table(cell("a", '<w:gridSpan w:val="999999999"/>') + cell("b"), cell("c") * 200)
    found = text_of(body)
    assert found.count("c") == 200
    assert max(line.count("|") for line in found.splitlines()) == 65


def test_controls_fields_and_tags_around_text_are_no_hurdle() -> None:
    sdt = "<w:sdt><w:sdtPr><w:alias w:val='no'/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    body = (
        sdt.format(p("control"))
        + p(more=sdt.format(run("inner")))
        + p(more=f"<w:smartTag>{run('tag')}</w:smartTag>")
        + p(more=f'<w:fldSimple w:instr="AUTHOR">{run("Ann")}</w:fldSimple>')
        + p(
            more="<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t><w:tab/><w:t>so</w:t>"
            "<w:softHyphen/><w:t>ft w\u00ado\u200brd</w:t><w:br/><w:t>next</w:t></w:r>"
        )
        + table(sdt.format("<w:tc>" + p("cell") + "</w:tc>") + cell("b"))
        + p(
            more="<w:r><w:sym w:font='Symbol' w:char='F061'/>"
            "<w:sym w:font='Wingdings' w:char='F0FC'/></w:r>"
        )
    )
    assert text_of(body) == (
        "control\n\ninner\n\ntag\n\nAnn\n\nnon-stop\tsoft word\nnext\n\n"
        "| cell | b |\n| --- | --- |\n\nα✓\n"
    )


def test_of_fields_only_the_result_is_read() -> None:
    body = (
        p("Page ", more=field("PAGE", "7"))
        + p(more=field(run("IF ") + field("MERGEFIELD x", "no"), "yes"))
        + p(more=field('HYPERLINK "https://x.org/?a=1" \\l "part" \\o "Tip"', "shown", end=""))
        + p("second line", more=mark("end"))
        + p(more=field("MACROBUTTON NoMacro [Name]"))
        + p("rest")
    )
    assert text_of(body) == (
        "Page 7\n\nyes\n\n[shown](https://x.org/?a=1#part)\n\n"
        "[second line](https://x.org/?a=1#part)\n\n[Name]\n\nrest\n"
    )


def test_a_field_that_never_ends_swallows_nothing() -> None:
    assert text_of(p("a", more=field("PAGE", end="")) + p("b")) == "a\n\nb\n"


def test_fields_within_fields_without_end_swallow_nothing() -> None:
    assert text_of(p("a", more=field("PAGE", end="") * 80) + p("b")) == "a\n\nb\n"


def test_an_endless_target_makes_no_link() -> None:
    found = registry.read(docx(p(more=related("x", "k")), links={"k": "data:" + "a" * 9_999}), "a")
    assert (found.text, found.links) == ("x\n", ())


def test_text_boxes_are_read_once_and_after_their_paragraph() -> None:
    inside = f"<w:txbxContent>{p('boxed')}{table(cell('x') + cell('y'))}</w:txbxContent>"
    both = (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:inline>"
        f"<wp:docPr id='1' descr='A map'/><wps:txbx>{inside}</wps:txbx>"
        "</wp:inline></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{inside}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    assert text_of(p("before", more=both) + p("after")) == (
        "before A map\n\nboxed\n\n| x | y |\n| --- | --- |\n\nafter\n"
    )
    only_old = (
        "<w:r><mc:AlternateContent><mc:Choice/><mc:Fallback>"
        f"<w:pict>{inside}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert text_of(p(more=only_old)).count("boxed") == 1


def test_revisions_are_read_as_if_accepted() -> None:
    body = p(
        "kept ",
        more=f"<w:ins>{run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText><w:tab/></w:r></w:del>"
        f"<w:moveFrom>{run('from')}</w:moveFrom><w:moveTo>{run(' to')}</w:moveTo>",
    ) + table(cell("a") + cell("b"), "<w:trPr><w:del/></w:trPr>" + cell("gone") + cell("too"))
    assert text_of(body) == "kept new to\n\n| a | b |\n| --- | --- |\n"


def test_notes_comments_headers_and_footers_stand_at_the_end() -> None:
    reference = '<w:r><w:{}Reference w:id="{}"/></w:r>'
    parts = {
        "footnotes": part(
            "footnotes",
            f'<w:footnote w:id="-1" w:type="separator">{p("---")}</w:footnote>'
            f'<w:footnote w:id="4">{p("second")}</w:footnote>'
            '<w:footnote w:id="9">' + p("first", more=anchored(" x", "x")) + "</w:footnote>",
        ),
        "endnotes": part("endnotes", f'<w:endnote w:id="2">{p("last")}</w:endnote>'),
        "comments": part("comments", f'<w:comment w:id="0" w:author="Ann">{p("Why?")}</w:comment>'),
        "header1": part("hdr", p("Top") + table(cell("left") + cell("right"))),
        "header2": part("hdr", p("Top") + table(cell("left") + cell("right"))),
        "footer1": part("ftr", p("Page 1")),
    }
    body = p(
        "Text",
        more=reference.format("footnote", 9)
        + reference.format("endnote", 2)
        + reference.format("footnote", 4),
    )
    assert text_of(body, parts=parts) == (
        "Text[^1][^e1][^2]\n\nFootnotes\n\n[^1] first [x](#x)\n\n[^2] second\n\n"
        "Endnotes\n\n[^e1] last\n\nComments\n\nAnn: Why?\n\nTop left right\n\nPage 1\n"
    )


def test_a_damaged_part_beside_the_document_does_no_harm() -> None:
    parts = {"header1": "<broken", "comments": "", "numbering": "<a><b></a>"}
    assert text_of(p("text") + listed("item", 1), parts=parts) == "text\n\nitem\n"


def test_equations_charts_and_word_art() -> None:
    equation = (
        "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>"
        "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    chart = '<w:r><w:drawing><c:chart r:id="p-chart"/></w:drawing></w:r>'
    art = '<w:r><w:pict><v:shape alt="Sign"><v:textpath string="DRAFT"/></v:shape></w:pict></w:r>'
    cache = "<c:strCache><c:v>North</c:v></c:strCache>"
    drawn = (
        f'<c:chartSpace xmlns:c="c" xmlns:a="a"><a:t>Sales</a:t>{cache}{cache}'
        "<c:numCache><c:v>17</c:v></c:numCache></c:chartSpace>"
    )
    found = text_of(p(more=equation) + p(more=chart) + p(more=art), parts={"chart": drawn})
    assert found.split() == ["a/bx^2", "Sales", "North", "Sign", "DRAFT"]


def test_charts_of_newer_programs_are_read_too() -> None:
    chart = '<w:r><w:drawing><c:chart r:id="p-chartEx"/></w:drawing></w:r>'
    drawn = (
        '<c:chartSpace xmlns:c="c" xmlns:a="a"><c:strDim><c:lvl><c:pt idx="0">North</c:pt></c:lvl>'
        "</c:strDim><c:numDim><c:lvl><c:pt>17</c:pt></c:lvl></c:numDim>"
        "<c:title><a:t>Funnel</a:t></c:title><c:tx><c:txData><c:v>Sales</c:v></c:txData></c:tx>"
        "</c:chartSpace>"
    )
    assert text_of(p(more=chart), parts={"chartEx": drawn}).split() == ["Funnel", "Sales", "North"]


def test_embedded_documents_are_listed_by_name() -> None:
    data = docx(p("text"), parts={"package": "PK", "aFChunk": "<p/>"})
    assert registry.read(data, "a.docx").text == (
        "text\n\nEmbedded documents\n\naFChunk.xml\n\npackage.xml\n"
    )


def test_what_other_programs_put_into_the_text_is_listed_except_for_formulas() -> None:
    seen = (
        '<w:r><w:object><o:OLEObject xmlns:o="o" ProgID="{}" r:id="p-oleObject"/></w:object></w:r>'
    )
    body = p("text", more=seen.format("Excel.Sheet.8") + seen.format("Equation.3"))
    found = text_of(body, parts={"oleObject": "x"})
    assert found == "text\n\nEmbedded documents\n\noleObject.xml (Excel.Sheet.8)\n"


def test_properties_come_first() -> None:
    core = (
        '<c xmlns:dc="d" xmlns:t="t"><dc:title>Given</dc:title><dc:creator>Ann</dc:creator>'
        "<dc:description>About it.</dc:description><t:created>2024-05-01T10:00:00Z</t:created>"
        "<k:keywords xmlns:k='k'>a; b</k:keywords></c>"
    )
    ties = relations(
        ("d", "officeDocument", "w/main.xml"), ("c", "metadata/core-properties", "core.xml")
    )
    main = part("document", f"<w:body>{p('Head', level(0))}</w:body>")
    data = package({"_rels/.rels": ties, "w/main.xml": main, "core.xml": core})
    parsed = read(data, "a.docx")
    assert (parsed.title, parsed.author, parsed.date) == ("Given", "Ann", "2024-05-01T10:00:00Z")
    assert (parsed.description, parsed.tags) == ("About it.", ("a", "b"))


@pytest.mark.parametrize("main", ["word/document.xml", "word/document2.xml", "Folder/Other.XML"])
def test_the_main_part_may_have_any_name(main: str) -> None:
    assert registry.read(docx(p("text"), main=main), "a.docx").text == "text\n"


def test_strict_files_are_read_too() -> None:
    body = styled("One", "Heading1") + p("text")
    parsed = registry.read(docx(body, word=STRICT_WORD), "a.docx")
    assert parsed.text == "# One\n\ntext\n"


def test_text_that_looks_like_markdown_is_no_structure() -> None:
    body = p("# not") + p("> no") + p("```") + p("&lt;b&gt;") + p("    code") + p("a_b *c*")
    parsed = registry.read(docx(body), "a.docx")
    assert parsed.sections == ()
    assert "a_b *c*" in parsed.text


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (docx(""), Status.NO_TEXT),
        (docx("<w:p>"), Status.UNREADABLE),
        (docx(p("a")).replace(b"PK\x05\x06", b"PK\0\0"), Status.UNREADABLE),
        (docx(p("a"))[:300], Status.UNREADABLE),
        (package({"word/x.xml": "<x/>", "_rels/.rels": relations()}), Status.UNREADABLE),
        (ole({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}), Status.ENCRYPTED),
        (docx("<w:p><w:r><w:t>" + "a" * 60_000_000 + "</w:t></w:r></w:p>"), Status.TOO_LARGE),
        (docx("<w:tbl><w:tr><w:tc>" * 3_000), Status.UNREADABLE),
    ],
    ids=[
        "empty",
        "broken XML",
        "no directory",
        "truncated",
        "no main part",
        "password",
        "bomb",
        "deep",
    ],
)
def test_files_that_give_no_document_are_refused(data: bytes, status: Status) -> None:
    with pytest.raises(Unreadable) as refused:
        registry.read(data, "a.docx")
    assert refused.value.status is status


def test_entities_are_refused() -> None:
    laughs = (
        '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    )
    main = (
        laughs
        + "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>&b;&f;</w:t></w:r></w:p>"
        + "</w:body></w:document>"
    )
    data = package(
        {"_rels/.rels": relations(("d", "officeDocument", "word/d.xml")), "word/d.xml": main}
    )
    with pytest.raises(Unreadable, match="document type"):
        registry.read(data, "a.docx")


@pytest.mark.parametrize("opening", ["<w:tbl><w:tr><w:tc>", "<w:sdt><w:sdtContent>", "<w:ins>"])
def test_deep_nesting_is_read(opening: str) -> None:
    depth = 240 // opening.count("<")
    names = opening.strip("<>").split("><")
    closing = "".join(f"</{name}>" for name in reversed(names))
    assert "deep" in text_of(opening * depth + p("deep") + closing * depth)


SAMPLE = docx(
    styled("One", "Heading1")
    + p("See ", more=related("x", "k"))
    + table(cell("a") + cell("b"))
    + listed("i", 1)
    + p("end", more=HARD),
    links={"k": "https://x.org"},
    parts={"numbering": _numbering(), "styles": part("styles", style("Heading1", "heading 1"))},
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SAMPLE) - 1), st.binary(min_size=1, max_size=4))
def test_a_mutated_file_is_read_or_refused(at: int, change: bytes) -> None:
    try:
        chunk(registry.read(SAMPLE[:at] + change + SAMPLE[at + len(change) :], "a.docx"))
    except Unreadable:
        pass


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutated_xml_is_read_or_refused(data: st.DataObject) -> None:
    source = p("a", level(0), field("PAGE", "1") + HARD)
    source += table(cell("a") + cell("b"))
    at = data.draw(st.integers(0, len(source) - 1))
    other = data.draw(st.integers(0, len(source) - 1))
    length = data.draw(st.integers(0, 60))
    try:
        chunk(registry.read(docx(source[:at] + source[other : other + length] + source[at:]), "a"))
    except Unreadable:
        pass


LOOKS = "<w:rPr><w:b/></w:rPr>"
WAS = "<w:rPr><w:rPrChange><w:rPr><w:i/></w:rPr></w:rPrChange></w:rPr>"


@pytest.mark.parametrize(
    "looks",
    [
        pytest.param(LOOKS, id="plain"),
        pytest.param(WAS, id="within each other"),
        pytest.param("<w:rPr/>" + LOOKS, id="an empty one before"),
        pytest.param("<!-- </w:rPr> <w:rPr> -->" + LOOKS, id="in a comment"),
        pytest.param("<!-- <w:rPr> -->", id="without an end"),
        pytest.param("<w:pPr><w:jc w:val='end'/></w:pPr>", id="of a paragraph, out of place"),
    ],
)
def test_the_looks_of_runs_cost_no_word(looks: str) -> None:
    run_of = f"<w:r>{looks}<w:t>{{}}</w:t></w:r>"
    body = f"<w:p>{run_of.format('one ')}{run_of.format('two')}</w:p><w:p>three</w:p>{p('four')}"
    assert text_of(body) == "one two\n\nfour\n"


def test_no_word_between_looks_in_comments_is_lost() -> None:
    body = f"<!-- <w:rPr> -->{p('one')}<!-- </w:rPr> -->{p('two')}"
    assert text_of(body) == "one\n\ntwo\n"


def test_what_a_paragraph_a_row_or_a_cell_is_stays_among_its_looks() -> None:
    look, wide = '<w:jc w:val="end"/>', '<w:tcW w:w="9"/><w:gridSpan w:val="2"/>'
    gone = '<w:trPr><w:cantSplit/><w:del w:id="1"/></w:trPr>'
    late = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    rows = [
        f"<w:tcPr>{wide}</w:tcPr>{p('one')}</w:tc><w:tc><w:tcPr>{look}</w:tcPr>{p('two')}",
        p("a") + "</w:tc><w:tc>" + p("b") + "</w:tc><w:tc>" + p("c"),
    ]
    body = p("Head", f'{look}<w:outlineLvl w:val="1"/>{look}') + p("words", look)
    body += "<w:tbl><w:tblPr><w:tblW/></w:tblPr><w:tblGrid><w:gridCol/></w:tblGrid>"
    body += "".join(f"<w:tr><w:tc>{row}</w:tc></w:tr>" for row in rows)
    body += f"<w:tr>{gone}<w:tc>{p('gone')}</w:tc></w:tr><w:tr>{late}<w:tc>{p('d')}</w:tc></w:tr>"
    assert text_of(body + "</w:tbl>") == (
        "## Head\n\nwords\n\n| one |  | two |\n| --- | --- | --- |\n| a | b | c |\n|  | d |\n"
    )


def test_a_file_whose_looks_never_end_is_damaged_as_before() -> None:
    with pytest.raises(Unreadable) as refused:
        text_of("<w:p><w:r><w:rPr><w:b/><w:t>lost</w:t></w:r></w:p>")
    assert refused.value.status is Status.UNREADABLE


def test_no_tree_of_a_document_outlives_its_reading() -> None:
    data = docx("".join(p(f"word {number}") for number in range(50)))
    registry.read(data, "file.docx")
    gc.collect()
    gc.disable()
    try:
        registry.read(data, "file.docx")
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kept = [each for each in gc.garbage if isinstance(each, etree._Element)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert kept == []
