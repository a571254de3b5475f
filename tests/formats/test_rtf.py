"""Tests of RTF files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import registry
from bookwheel.formats.base import Unreadable
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk

FONTS = (
    r"{\fonttbl{\f0\froman\fcharset0{\*\panose 0202}Times;}{\f1\fcharset204 Arial{\*\falt x};}"
    r"{\f2\fcharset2 Symbol;}{\f3\fcharset128 MS Mincho;}}"
)


def rtf(body: str, head: str = "") -> Parsed:
    return registry.read(
        rf"{{\rtf1\ansi\ansicpg1252{FONTS}{head} {body}}}".encode("latin-1"), "a.rtf"
    )


@pytest.mark.requirement("X-025")
def test_styles_and_outline_levels_make_headings() -> None:
    styles = (
        r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 My own;}{\s2\sbasedon0 heading 2;}"
        r"{\s3 Title;}{\s4 heading 4;}{\*\cs10 heading 9;}}"
    )
    parsed = rtf(
        r"\pard\s3 Book\par\pard\s1 One\par\pard Text\par\pard\s2{\b Two}\par"
        r"\pard\outlinelevel2 Three\par\pard\s4\outlinelevel9 body\par",
        styles,
    )
    assert [(each.level, each.heading) for each in parsed.sections] == [
        (1, "Book"),
        (1, "One"),
        (2, "Two"),
        (3, "Three"),
    ]
    assert "\nText\n" in parsed.text


@pytest.mark.requirement("X-025")
def test_links_are_links_and_other_fields_give_their_result() -> None:
    parsed = rtf(
        r'See {\field{\*\fldinst{HYPERLINK "https://x.org/a" \\l "b"}}'
        r"{\fldrslt{\ul the guide}}}.\par "
        r"{\field{\*\fldinst PAGE}{\fldrslt 7}} of 8"
    )
    assert parsed.text == "See [the guide](https://x.org/a#b).\n\n7 of 8\n"
    assert [each.target for each in parsed.links] == ["https://x.org/a#b"]


@pytest.mark.requirement("X-025")
def test_page_breaks_become_pages() -> None:
    parsed = rtf(r"one\par two\page three\par\page four\par\pard\pagebb five\par")
    assert [each.label for each in parsed.places] == [f"page {n}" for n in range(1, 5)]
    data = parsed.text.encode()
    starts = [data[each.start :].split()[0] for each in parsed.places]
    assert starts == [b"one", b"three", b"four", b"five"]
    assert rtf("one").places == ()


def test_properties_are_read() -> None:
    info = (
        r"{\info{\title Gr\'fc\'dfe}{\author Ann}{\operator Bob}{\keywords a; b}{\subject About}"
        r"{\creatim\yr2024\mo5\dy1\hr9\min3}{\revtim\yr2025\mo1\dy1}}"
    )
    parsed = rtf(r"text {\title not}", info)
    assert (parsed.title, parsed.author, parsed.date) == ("Grüße", "Ann", "2024-05-01T09:03:00")
    assert (parsed.description, parsed.tags) == ("About", ("a", "b"))
    unicode = r"{\info{\upr{\author D?rer}{\*\ud{\author D\u252?rer}}}}"
    assert rtf("x", unicode).author == "Dürer"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"Gr\'fc\'dfe", "Grüße"),
        ("Gr\xfc\xdfe", "Grüße"),
        (r"\f1\'cf\'f0\'e8\'e2\'e5\'f2", "Привет"),
        (r"{\f1\'cf}\'fc", "Пü"),
        (r"\f3\'93\'fa\'96\'7b", "日本"),
        (r"\f3\'83A", "ア"),
        (r"\f2\'61\'b7", "α•"),
        (r"\u26085?\u26412 ?", "日本"),
        (r"\uc2\u252\'fc\'00x", "üx"),
        (r"\uc0\u252x", "üx"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"\u-10179?x", "\ufffdx"),
        (r"a\~b\_c\-d", "a\u00a0b-cd"),
        (r"\ldblquote x\rdblquote\emdash y\tab z", "“x”\u2014y\tz"),
        (r"\{a\} \\b", r"{a} \b"),
        ("one\nword\r\nhere", "onewordhere"),
        ("a\\line b\\\nc", "a\nb\n\nc"),
    ],
)
def test_letters_of_all_kinds(body: str, text: str) -> None:
    assert rtf(body).text == text + "\n"


def test_code_pages_of_the_document() -> None:
    data = rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0}"
    assert registry.read(data, "a.rtf").text == "Пр\n"
    assert registry.read(rb"{\rtf1\mac \'8a}", "a.rtf").text == "ä\n"
    assert registry.read(rb"{\rtf1\ansi\ansicpg99999 \'e4}", "a.rtf").text == "ä\n"


def test_tables_and_lists() -> None:
    table = (
        r"\trowd\pard\intbl a\cell b|c\par more\cell\row"
        r"\trowd\pard\intbl \cell d\cell\row\pard after\par"
    )
    assert rtf(table).text == "| a | b\\|c more |\n| --- | --- |\n|  | d |\n\nafter\n"
    items = (
        r"\pard{\listtext 1.\tab}\ls1\ilvl0 one\par{\listtext\f2\'b7\tab}\pard\ilvl1 deep\par"
        r"{\pntext 2)\tab}\pard two\par"
    )
    assert rtf(items).text == "1. one\n   - deep\n2. two\n"


def test_notes_comments_headers_and_boxes() -> None:
    parsed = rtf(
        r"{\header\pard Top\par}{\footerf Top}Text{\footnote\pard\chftn  foot\par}"
        r"{\footnote\ftnalt end}{\*\atnid A}{\*\atnauthor Ann}{\*\annotation\pard Why?\par} more"
        r"{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt\pard boxed\par}}{\shprslt old}}\par after\par"
    )
    assert parsed.text == (
        "Text[^1][^e1] more\n\nboxed\n\nafter\n\nFootnotes\n\n[^1] foot\n\n"
        "Endnotes\n\n[^e1] end\n\nComments\n\nAnn: Why?\n\nTop\n"
    )


def test_what_is_for_programs_is_left_out() -> None:
    parsed = rtf(
        r"a{\*\unknown no}{\pict\wmetafile8 0100beef}{\object{\*\objdata 01}{\result shown}}"
        r"{\deleted gone}{\*\bkmkstart mark}{\xe entry}{\nonesttables no} b"
    )
    assert parsed.text == "ashown b\n"


def test_embedded_bytes_are_passed_over() -> None:
    assert rtf(r"a{\pict\bin5 }{}\x} b").text == "a b\n"
    assert rtf(r"a{\pict\bin2000000000 } b").text == "a\n"


def test_the_text_ends_with_the_document() -> None:
    assert registry.read(rb"{\rtf1 a}} {b}", "a.rtf").text == "a\n"
    assert registry.read(rb"{\rtf1 a{\b b{\i c", "a.rtf").text == "abc\n"


def test_a_million_braces_are_read() -> None:
    assert rtf("{" * 1_000_000 + "deep" + "}" * 1_000_000).text == "deep\n"


def test_a_file_without_text_is_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        rtf(r"{\pict 00}")
    assert refused.value.status is Status.NO_TEXT


SAMPLE = (
    r"{\rtf1\ansi\ansicpg932" + FONTS + r"{\stylesheet{\s1 heading 1;}}\pard\s1 A\par\pard "
    r'\f3\'93\'fa\u252?{\field{\*\fldinst HYPERLINK "x"}{\fldrslt y\par z}}\page{\footnote n}'
    r"\trowd\intbl a\cell b\cell\row{\listtext 1.}\par}"
).encode()


@settings(max_examples=100, deadline=None)
@given(st.integers(6, len(SAMPLE) - 1), st.binary(max_size=6), st.integers(0, 6))
def test_a_mutated_file_is_read_or_refused(at: int, change: bytes, length: int) -> None:
    try:
        chunk(registry.read(SAMPLE[:at] + change + SAMPLE[at + length :], "a.rtf"))
    except Unreadable:
        pass


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "{",
                "}",
                r"\par",
                r"\*",
                r"\cell",
                r"\row",
                r"\page",
                r"\footnote",
                r"\header",
                r"\fldinst",
                r"\fldrslt",
                r"\info",
                r"\title",
                r"\u-1",
                r"\u99999999",
                r"\uc-5",
                r"\'e9",
                r"\f3",
                r"\shptxt",
                r"\outlinelevel-7",
                r"\stylesheet",
                r"\s-1",
                " x ",
            ]
        ),
        max_size=40,
    )
)
def test_any_order_of_words_is_read_or_refused(words: list[str]) -> None:
    try:
        chunk(rtf("".join(words)))
    except Unreadable:
        pass


def test_embedded_documents_are_listed_by_their_programs() -> None:
    found = r"{\object\objemb{\*\objclass %s}{\*\objdata 0105}{\result shown}}"
    data = r"{\rtf1 See " + found % "Excel.Sheet.12" + " " + found % "Equation.3" + r"\par}"
    assert registry.read(data.encode(), "a.rtf").text == (
        "See shown shown\n\nEmbedded documents\n\nExcel.Sheet.12\n"
    )
