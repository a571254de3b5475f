"""Tests of spreadsheets."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import spreadsheet, xlsx_parts
from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.formats.xls_records import OldWorkbook
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk
from bookwheel.text.pointers import find_stretch
from tests.formats.making_office import (
    NAMES,
    SHEETS,
    biff,
    core,
    label,
    number,
    ole,
    opendocument,
    relations,
    sheet,
    xls,
    xlsx,
)

TIES = "xl/worksheets/_rels/sheet1.xml.rels"


def text_of(*rows: str, after: str = "", workbook: str = "", **more: str) -> str:
    data = xlsx({"S": sheet(*rows, after=after)}, workbook=workbook)
    return read(data, "a.xlsx").text.removeprefix("## S\n\n")


def refusal(data: bytes, path: str = "a.xlsx") -> Status:
    with pytest.raises(Unreadable) as refused:
        read(data, path)
    return refused.value.status


@pytest.mark.requirement("X-027")
def test_sheets_are_tables_whose_lines_point_to_their_rows() -> None:
    rows = [f"{n}: B{n}=name{n} | C{n}=word{n}" for n in (3, 4, 5, 9, 10)]
    data = xlsx({"O'Neil Q2": sheet(*rows), "Empty": sheet()})
    parsed = read(data, "plan.xlsx")
    assert parsed.text == (
        "## O'Neil Q2\n\n| name3 | word3 |\n| --- | --- |\n| name4 | word4 |\n| name5 | word5 |\n"
        "| name9 | word9 |\n| name10 | word10 |\n"
    )
    assert (parsed.title, parsed.description) == ("plan", "name3, word3")
    assert [(s.level, s.heading) for s in parsed.sections] == [(2, "O'Neil Q2")]
    assert [c.pointer for c in chunk(parsed)] == ["sheet 'O'Neil Q2' rows 3-10"]
    source, places = parsed.text.encode(), list(parsed.places)
    for pointer, first, last in (
        ("sheet 'O'Neil Q2' rows 5-9", "| name5", "word9 |\n"),
        ("sheet 'O'Neil Q2' row 4", "| name4", "word4 |\n"),
        ("sheet 'O'Neil Q2' row 3", "| name3", "word3 |\n"),
    ):
        stretch = find_stretch(source, places, pointer)
        assert stretch is not None
        found = source[stretch.start : stretch.end].decode()
        assert (found[: len(first)], found[-len(last) :]) == (first, last)


@pytest.mark.requirement("X-027")
def test_chunks_of_a_long_sheet_name_their_rows() -> None:
    rows = [f"{n}: A{n}={' '.join(['word'] * 10)} {n}" for n in range(1, 61)]
    pointers = [c.pointer for c in chunk(read(xlsx({"Q2": sheet(*rows)}), "a.xlsx"))]
    assert len(pointers) > 3
    assert pointers[0].startswith("sheet 'Q2' rows 1-")
    assert pointers[-1].endswith("-60")


def test_values_stand_as_a_person_would_write_them() -> None:
    cells = [
        '<c r="A1"><v>3.0</v></c>',
        '<c r="B1"><v>0.30000000000000004</v></c>',
        '<c r="C1"><v>1234567890123456</v></c>',
        '<c r="D1" t="b"><v>1</v></c>',
        '<c r="E1" t="e"><v>#N/A</v></c>',
        '<c r="F1" s="1"><v>45000</v></c>',
        '<c r="G1" s="2"><v>45000.25</v></c>',
        '<c r="H1" s="3"><v>1.5</v></c>',
        '<c r="I1" s="4"><v>0.5</v></c>',
        '<c r="J1"><f>A1+1</f></c>',
        '<c r="K1" t="str"><f>X()</f><v>a|b\\c\nd</v></c>',
    ]
    assert text_of("1: " + " | ".join(cells)) == (
        "| 3 | 0.3 | 1234567890123456 | TRUE | #N/A | 2023-03-15 | 2023-03-15 06:00:00 | 36:00:00 "
        "| 12:00:00 |  | a\\|b\\\\c d |\n" + "| --- " * 11 + "|\n"
    )


def test_borders_in_cells_are_escaped_though_blank_rows_stand_beside_them() -> None:
    wide = [f"{n}: A{n}=a|b | B{n}=x | C{n}=y" for n in (1, 2, 9, 10, 200)]
    line = "| a\\|b | x | y |\n"
    assert text_of(*wide) == f"{line}| --- | --- | --- |\n{line * 4}"


def test_dates_count_from_1904_where_the_workbook_says_so() -> None:
    row = '1: <c r="A1" s="1"><v>45000</v></c>'
    assert "2027-03-16" in text_of(row, workbook='<workbookPr date1904="1"/>')


def test_merged_cells_stand_once_and_empty_columns_at_the_end_not_at_all() -> None:
    merged = '<mergeCells><mergeCell ref="A1:C1"/></mergeCells>'
    empty = '<c r="XFD1" s="1"/>'
    assert text_of(f"1: A1=all | {empty}", "2: A2=x | C2=y", after=merged) == (
        "| all |  |  |\n| --- | --- | --- |\n| x |  | y |\n"
    )


def test_hidden_sheets_are_kept_and_marked() -> None:
    parsed = read(xlsx({"A": sheet("1: A1=x"), "B!": sheet("1: A1=y")}), "a.xlsx")
    assert [s.heading for s in parsed.sections] == ["A", "B (hidden)"]
    assert {p.label for p in parsed.places} == {"sheet 'A'", "sheet 'B'"}


def test_links_comments_text_boxes_and_properties_are_read() -> None:
    links = (
        '<hyperlinks><hyperlink ref="A2" r:id="r1"/><hyperlink ref="A1" location="S!B1"/>'
        "</hyperlinks>"
    )
    comments = (
        f'<comments xmlns="{SHEETS}"><authors><author>Ann</author></authors><commentList>'
        '<comment ref="A2" authorId="0"><text><t>Why\nso?</t></text></comment>'
        '<comment ref="A1" authorId="0"><text><t>[Threaded comment] old</t></text></comment>'
        "</commentList></comments>"
    )
    threads = (
        '<ThreadedComments xmlns="http://t"><threadedComment ref="A1" personId="{p}">'
        "<text>Look</text></threadedComment></ThreadedComments>"
    )
    people = '<personList xmlns="http://t"><person displayName="Bo" id="{p}"/></personList>'
    box = (
        f'<xdr:wsDr xmlns:xdr="http://d" {NAMES}><xdr:txBody><a:p><a:r><a:t>Boxed</a:t></a:r></a:p>'
        "</xdr:txBody></xdr:wsDr>"
    )
    data = xlsx(
        {"S": sheet("1: A1=head", "2: A2=site", "3: A3=https://bare.org/x", after=links)},
        more={
            TIES: relations(
                "r1 hyperlink https://x.org/",
                "r2 comments ../comments1.xml",
                "r3 drawing ../drawing1.xml",
                "r4 threadedComment ../t.xml",
            ),
            "xl/comments1.xml": comments,
            "xl/t.xml": threads,
            "xl/p.xml": people,
            "xl/drawing1.xml": box,
            "xl/_rels/workbook.xml.rels": relations(
                "r1 worksheet worksheets/sheet1.xml", "r2 person p.xml"
            ),
            "docProps/core.xml": core(title="Plan", creator="Ann", keywords="a; b"),
        },
    )
    parsed = read(data, "a.xlsx")
    assert parsed.text == (
        "## S\n\n| head |\n| --- |\n| [site](https://x.org/) |\n| https://bare.org/x |\n\n"
        "Comments:\n\n- A2: Ann: Why so?\n- A1: Bo: Look\n\nBoxed\n"
    )
    assert (parsed.title, parsed.author, parsed.tags) == ("Plan", "Ann", ("a", "b"))
    assert [(k.kind, k.target, k.text, k.line) for k in parsed.links] == [
        ("inline", "https://x.org/", "site", 5),
        ("bare", "https://bare.org/x", "https://bare.org/x", 6),
    ]


def test_links_of_many_rows_keep_their_lines_and_words() -> None:
    links = "".join(f'<hyperlink ref="A{row}" r:id="r{row}"/>' for row in (2, 3, 5))
    rows = ["1: A1=head", "2: A2=two", "3: A3=three", "4: A4=www.four.org", "5: A5=five"]
    ties = relations(*(f"r{row} hyperlink https://x.org/{row}" for row in (2, 3, 5)))
    table = sheet(*rows, after=f"<hyperlinks>{links}</hyperlinks>")
    parsed = read(xlsx({"S": table}, more={TIES: ties}), "a.xlsx")
    assert [(k.target, k.text, k.context, k.line) for k in parsed.links] == [
        ("https://x.org/2", "two", "two", 5),
        ("https://x.org/3", "three", "three", 6),
        ("www.four.org", "www.four.org", "www.four.org", 7),
        ("https://x.org/5", "five", "five", 8),
    ]


def test_rows_of_few_and_of_many_numbers_are_written_alike() -> None:
    numbers = {"C": "1.5", "D": "1e20", "E": "0"}
    some = [f'<c r="{at}{{0}}"><v>{number}</v></c>' for at, number in numbers.items()]
    few = " | ".join(["1: A1=a", "B1=b", *some[:2], "E1=c"]).format(1)
    many = " | ".join(["2: A2=a", "B2=b", *some]).format(2)
    parsed = read(xlsx({"S": sheet(few, many)}), "a.xlsx")
    assert parsed.text.splitlines()[2::2] == [
        "| a | b | 1.5 | 100000000000000000000 | c |",
        "| a | b | 1.5 | 100000000000000000000 | 0 |",
    ]


BROKEN = '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>9</v></c></row>'


def test_a_damaged_sheet_does_not_keep_the_others_out() -> None:
    parsed = read(xlsx({"Bad": BROKEN, "Good": sheet("1: A1=z")}), "a.xlsx")
    assert parsed.text == (
        "## Bad\n\n(This sheet is left out: it is damaged.)\n\n## Good\n\n| z |\n| --- |\n"
    )
    assert parsed.remark == "1 sheet left out"


@pytest.mark.parametrize("tail", ['<mergeCells><mergeCell ref="A1', "<foo <bar", '<a b="'])
def test_a_sheet_that_is_damaged_behind_its_cells_is_read(tail: str) -> None:
    cut = sheet("1: A1=z").partition("</sheetData>")[0] + "</sheetData>" + tail
    assert read(xlsx({"Cut": cut}), "a.xlsx").text == "## Cut\n\n| z |\n| --- |\n"


@pytest.mark.parametrize("content", ["", "none", "\0" * 500, "<\0s\0h\0e\0e\0t\0/\0>\0"])
def test_a_sheet_without_its_xml_is_damaged_and_not_blank(content: str) -> None:
    assert refusal(xlsx({"S": content})) is Status.UNREADABLE


def test_blank_sheets_are_passed_over_and_odd_ones_are_read() -> None:
    blank = sheet().replace("<sheetData></sheetData>", "<sheetData/>")
    odd = sheet("1: A1=z").replace("<sheetData>", "<!-- <sheetData/> --><sheetData>", 1)
    parsed = read(xlsx({"Blank": blank, "Odd": odd, "Good": sheet("1: A1=y")}), "a.xlsx")
    assert [section.heading for section in parsed.sections] == ["Odd", "Good"]


def test_a_workbook_of_damaged_sheets_alone_is_unreadable() -> None:
    with pytest.raises(Unreadable) as refused:
        read(xlsx({"Bad": BROKEN, "Worse": BROKEN, "Empty": sheet()}), "a.xlsx")
    assert refused.value.status is Status.UNREADABLE


def test_cells_too_far_from_the_others_are_counted_and_left_out() -> None:
    far = sheet("1: A1=x", "1048576: XFD1048576=y")
    parsed = read(xlsx({"Far": far, "Near": sheet("1: A1=z")}), "a.xlsx")
    assert parsed.text == (
        "## Far\n\n| x |\n| --- |\n\n(1 more cell is left out: too far from the others.)\n\n"
        "## Near\n\n| z |\n| --- |\n"
    )
    assert parsed.remark == "1 cell left out"
    strayed = sheet("1: A1=x", "1: XFD1048576=y")
    assert "| x |" in read(xlsx({"Far": strayed}), "a.xlsx").text


@pytest.mark.parametrize(
    "stray",
    [
        '<c r="XFD1048576" s="1"/>',
        '<c r="XFD1048576" s="1" t="n"></c>',
        '<c r="XFD1048576" t="inlineStr"><is><t xml:space="preserve"> </t></is></c>',
        '<c r="XFD1048576" t="s"><v>1</v></c>',
        '<c r="XFD1048576"><f>A1</f><v></v></c>',
    ],
)
def test_a_blank_cell_far_down_costs_a_sheet_nothing(stray: str) -> None:
    ties = relations("r1 worksheet worksheets/sheet1.xml", "r9 sharedStrings sharedStrings.xml")
    strings = "<si><t>one</t></si><si><t> </t></si>"
    more: dict[str, str | bytes] = {
        "xl/_rels/workbook.xml.rels": ties,
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{strings}</sst>',
    }
    shared = '<c r="B2" t="s"><v>0</v></c>'
    rows = sheet("1: A1=x", f"2: A2=y | {shared}", f"1048576: {stray}")
    text = read(xlsx({"S": rows}, more=more), "a.xlsx").text
    assert text == "## S\n\n| x |  |\n| --- | --- |\n| y | one |\n"


@pytest.mark.parametrize(
    ("wide", "tall", "is_whole"),
    [
        ("ZZ1", "A99999", False),
        ("XFD1", "A9999", False),
        ("A1", "Z999999", False),
        ("AAA1", "A1200", True),
        ("AB1", "A10001", True),
    ],
)
def test_a_sheet_is_as_large_as_its_widest_row_and_its_tallest_column(
    wide: str, tall: str, is_whole: bool
) -> None:
    last = int(tall.lstrip("AZ"))
    rows = sheet(f"1: A1=x | {wide}=y" if wide != "A1" else "1: A1=x", f"{last}: {tall}=z")
    text = read(xlsx({"S": rows}), "a.xlsx").text
    assert ("| x" in text, "too far" not in text) == (True, is_whole)


@pytest.mark.parametrize(("far", "is_whole"), [("AA", True), ("AB", False), ("AAA", False)])
def test_a_sheet_is_read_as_far_as_its_rectangle_fits(
    far: str, is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreadsheet, "MAX_AREA", 270)
    monkeypatch.setattr(xlsx_parts, "MAX_AREA", 270)
    rows = sheet("1: A1=x", f"10: {far}10=y")
    text = read(xlsx({"S": rows}), "a.xlsx").text
    assert ("| x |" in text, "too far" not in text) == (True, is_whole)


def test_what_is_left_out_of_a_very_large_sheet_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "MAX_TEXT", 20)
    rows = [f"{n}: A{n}=word{n}" for n in range(1, 10)]
    parsed = read(xlsx({"A": sheet(*rows), "B": sheet(*rows)}), "a.xlsx")
    assert parsed.text.endswith(
        "| word4 |\n\n(5 more rows left out.)\n\n"
        "## B\n\n(This sheet is left out: the file is too long.)\n"
    )
    assert parsed.remark == "5 rows, 1 sheet left out"
    wide = "1: " + " | ".join(f'<c r="{c}1"><v>1</v></c>' for c in ("A", "ALM", "ALN"))
    assert text_of(wide).endswith("(2 more columns left out.)\n")


def test_a_table_of_strings_that_claims_too_much_is_refused() -> None:
    ties = relations("r1 worksheet worksheets/sheet1.xml", "r2 sharedStrings sharedStrings.xml")
    more: dict[str, str | bytes] = {
        "xl/_rels/workbook.xml.rels": ties,
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}" uniqueCount="99999999999"/>',
    }
    assert refusal(xlsx({"S": sheet("1: A1=x")}, more=more)) is Status.UNREADABLE


def test_a_workbook_of_formulas_without_values_says_so() -> None:
    with pytest.raises(Unreadable, match="formulas have no stored values") as refused:
        read(xlsx({"S": sheet('1: <c r="A1"><f>1+1</f></c>')}), "a.xlsx")
    assert refused.value.status is Status.NO_TEXT


def test_empty_and_damaged_workbooks_are_refused() -> None:
    assert refusal(xlsx({"S": sheet()})) is Status.NO_TEXT
    assert refusal(xlsx({"S": "<worksheet"})) in (Status.UNREADABLE, Status.NO_TEXT)
    assert refusal(xlsx({"S": sheet("1: A1=x")})[:-40]) is Status.UNREADABLE


def test_opendocument_sheets_are_read_unless_they_need_a_password() -> None:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = "".join(f"<table:table-row>{cell.format(w)}</table:table-row>" for w in ("head", "one"))
    body = (
        "<office:body><office:spreadsheet><table:table table:name='Q1'>"
        f"{rows}</table:table></office:spreadsheet></office:body>"
    )
    parsed = read(opendocument("spreadsheet", body), "a.ods")
    assert parsed.text == "## Q1\n\n| head |\n| --- |\n| one |\n"
    assert (parsed.title, parsed.tags) == ("Kept", ("one", "two"))
    locked = {"META-INF/manifest.xml": "<root><m:encryption-data xmlns:m='m'/></root>"}
    assert refusal(opendocument("spreadsheet", body, dict(locked)), "a.ods") is Status.ENCRYPTED


def test_old_workbooks_give_errors_links_and_comments_too() -> None:
    url = "https://x.org/\0".encode("utf-16-le")
    moniker = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
    link = (
        struct.pack("<HHHH", 1, 1, 0, 0) + bytes(24) + moniker + struct.pack("<I", len(url)) + url
    )
    drawn = struct.pack("<HHHH", 0x15, 0x12, 0x19, 7) + bytes(10)
    note = struct.pack("<HHHHHB", 1, 27, 0, 7, 3, 0) + b"Ann"
    parsed = read(
        xls(
            label(0, 0, "héad"),
            label(1, 0, "site"),
            number(1, 1, 4.5),
            biff(0x205, struct.pack("<HHHBB", 2, 0, 0, 0x2A, 1)),
            biff(0x06, struct.pack("<HHHBBBBBBHHIH", 2, 1, 0, 2, 0, 7, 0, 0, 0, 0xFFFF, 0, 0, 0)),
            biff(0x1B8, link),
            biff(0x5D, drawn),
            biff(0x1B6, bytes(10) + struct.pack("<H", 4) + bytes(6)),
            biff(0x3C, b"\0Look"),
            biff(0x1C, note),
        ),
        "a.xls",
    )
    assert parsed.text == (
        "## Old 1\n\n| héad |  |\n| --- | --- |\n| [site](https://x.org/) | 4.5 |\n"
        "| #N/A | #DIV/0! |\n\nComments:\n\n- AB2: Ann: Look\n"
    )


def test_numbers_that_a_chart_keeps_do_not_overwrite_cells() -> None:
    chart = biff(0x809, struct.pack("<HHHHII", 0x600, 0x20, 0, 0, 0, 0)) + number(0, 0, 7)
    data = xls(label(0, 0, "head"), label(1, 0, "one"), chart, biff(0x0A))
    assert "| head |\n| --- |\n| one |\n" in read(data, "a.xls").text


SOUND = xls(label(0, 0, "x"))


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (xls(label(0, 0, "x"), first=biff(0x2F, b"\1\0" + bytes(52))), Status.ENCRYPTED),
        (xls(label(0, 0, "x"), label(3, 60_000, "y")), Status.UNREADABLE),
        (xls(biff(0x200, struct.pack("<IIHHH", 0, 0xFFFFFFF, 0, 9, 0))), Status.UNREADABLE),
        (xls(), Status.NO_TEXT),
        (SOUND[:64] + b"\0\0\x2b\x30" + SOUND[68:], Status.UNREADABLE),
        (ole({"Workbook": b"\1\2\3"}), Status.UNREADABLE),
    ],
)
def test_old_workbooks_that_cannot_be_read_are_refused(data: bytes, status: Status) -> None:
    assert refusal(data, "a.xls") is status


WHOLE = xlsx({"A": sheet("1: A1=x | B1=y", "4: A4=z"), "B": sheet("1: A1=t")})


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4))
def test_any_damage_gives_a_document_or_a_refusal(at: int, piece: bytes) -> None:
    try:
        parsed = read(WHOLE[:at] + piece + WHOLE[at + len(piece) :], "a.xlsx")
    except Unreadable:
        return
    assert isinstance(parsed, Parsed)


RECORDS = label(0, 0, "x") + number(1, 1, 2) + biff(0x1C, bytes(12)) + biff(0x1B8, bytes(60))


@settings(max_examples=60)
@given(st.integers(0, len(RECORDS) - 1), st.binary(min_size=1, max_size=6))
def test_any_damage_to_old_records_is_survived(at: int, piece: bytes) -> None:
    stream = biff(0x85, bytes(12)) + RECORDS[:at] + piece + RECORDS[at + len(piece) :]
    try:
        workbook = OldWorkbook(stream)
    except Unreadable:
        return
    list(workbook.read_blocks(0, "x"))


def test_what_a_library_writes_into_every_file_is_no_description() -> None:
    for described, shown in (("generated by python-docx", "x"), ("On tides", "On tides")):
        more: dict[str, str | bytes] = {"docProps/core.xml": core(description=described)}
        assert read(xlsx({"S": sheet("1: A1=x")}, more=more), "a.xlsx").description == shown
