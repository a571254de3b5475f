"""Tests of tables as text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import csv as tables
from bookwheel.formats import grid
from bookwheel.formats.registry import read
from bookwheel.model import Parsed, Place
from bookwheel.text.chunking import chunk


def text_of(source: str | bytes, path: str = "a.csv") -> str:
    return read(source.encode() if isinstance(source, str) else source, path).text


@pytest.mark.requirement("X-027")
def test_a_table_has_its_columns_for_description_and_rows_for_pointers() -> None:
    rows = "".join(f"{n},{' '.join(['word'] * 9)}\n" for n in range(2, 41))
    parsed = read(f"No,Text\n{rows}".encode(), "dir/data.csv")
    assert (parsed.title, parsed.description) == ("data", "No, Text")
    assert parsed.text.startswith("| No | Text |\n| --- | --- |\n| 2 | word word")
    assert parsed.sections == ()
    pointers = [c.pointer for c in chunk(parsed)]
    assert pointers[0].startswith("rows 1-")
    assert pointers[-1].endswith("-40")
    assert parsed.places == (Place(0, "", 1), Place(14, ""), Place(28, "", 2))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [["name", "note"], ["a", '"x, y; z"'], ["b", '"1|2"'], ["c", "d"]]
    source = "\n".join(delimiter.join(row) for row in rows)
    assert text_of(source) == (
        "| name | note |\n| --- | --- |\n| a | x, y; z |\n| b | 1\\|2 |\n| c | d |\n"
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", "| 1,5 | 2,5 |"),
        ("1,5;2,5\n3,5;4,5\n", "| 1,5 | 2,5 |"),
        ("Report\na,b,c\n1,2,3\n4,5,6\n", "| 1 | 2 | 3 |"),
        ("sep=;\na;b,c\n1;2,3\n", "| a | b,c |"),
        ("a\nb\nc\n", "| a |\n| --- |\n| b |"),
    ],
)
def test_commas_in_numbers_title_lines_and_named_delimiters(source: str, shown: str) -> None:
    assert shown in text_of(source)


def test_a_record_of_several_lines_is_one_row() -> None:
    parsed = read(b'a,b\n"one\r\ntwo",x\ny,"say ""hi"""\n\nz\n', "a.csv")
    assert parsed.text == '| a | b |\n| --- | --- |\n| one two | x |\n| y | say "hi" |\n| z |\n'
    assert [place.row for place in parsed.places] == [1, 0, 2, 5]


def test_rows_may_be_shorter_and_longer_than_the_head() -> None:
    assert text_of("a,b\n1\n1,2,3,,\n,,\n") == (
        "| a | b |  |\n| --- | --- | --- |\n| 1 |\n| 1 | 2 | 3 |\n"
    )


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_any_usual_encoding_is_read(codec: str) -> None:
    assert "| Zürich | 4 |" in text_of("Ort,Zahl\nZürich,4\nMünchen,5\nKöln,6\n".encode(codec))


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest() -> None:
    source = 'a\tb\n"stray\t1\nx\t2\ny\t3\n'
    assert '| "stray | 1 |\n| x | 2 |\n| y | 3 |\n' in text_of(source, "a.tsv")


def test_very_long_cells_and_tables_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    found = text_of("a,b\n" + "x" * 200_000 + ",y\n")
    assert "x ... (150,000 more characters left out) | y |" in found
    monkeypatch.setattr(tables, "MAX_TEXT", 10)
    parsed = read(b"a,b\n1,2\n3,4\n5,6\n7,8\n", "a.csv")
    assert parsed.text.endswith("| 1 | 2 |\n\n(3 more rows left out.)\n")
    assert parsed.remark == "3 rows left out"


def test_a_table_of_very_many_gaps_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "_MAX_RUNS", 2)
    parsed = read(b"a\n\nb\n\n\nc\n", "a.csv")
    assert parsed.text == "| a |\n| --- |\n| b |\n| |\n| |\n| c |\n"
    assert [place.row for place in parsed.places] == [1, 0, 3]


def test_links_are_found_with_their_rows() -> None:
    parsed = read(b"name,site\nAnn,https://x.org/a\n", "a.csv")
    assert [(k.target, k.context, k.line) for k in parsed.links] == [
        ("https://x.org/a", "Ann | https://x.org/a", 3)
    ]


@pytest.mark.parametrize("source", ["", " \n\t\n", ",,,\n,,\n"])
def test_a_table_without_words_is_a_document_without_text(source: str) -> None:
    parsed = read(source.encode(), "blank.csv")
    assert (parsed.title, parsed.description, parsed.text.strip()) == ("blank", "", "")
    assert chunk(parsed) == []


@settings(max_examples=60)
@given(st.text(alphabet='ab,;|\t"\n\r \\', max_size=60))
def test_any_text_is_a_table(source: str) -> None:
    parsed = read(f"x{source}".encode(), "a.csv")
    assert isinstance(parsed, Parsed)
    assert all(line.startswith("|") for line in parsed.text.split("\n") if line)


def test_urls_alone_are_found_as_they_are_row_by_row() -> None:
    long = "words " * 60
    rows = [
        *("name,site", "Ann,https://x.org/a and http://y.org/b.", "Bo,none", "Cy,WWW.EXAMPLE.ORG"),
        *(
            "Di,www.x.org (WWW.Y.ORG)",
            f"{long},see https://x.org/c",
            f"{long}https://x.org/d {long},",
        ),
    ]
    alone = read("\n".join(rows).encode(), "a.csv").links
    with_others = read("\n".join([*rows, "Ed,[shown](https://z.org)"]).encode(), "a.csv").links
    assert alone == with_others[:-1]
    assert [(link.target, link.line) for link in alone] == [
        *(("https://x.org/a", 3), ("http://y.org/b", 3), ("www.x.org", 6), ("WWW.Y.ORG", 6)),
        *(("https://x.org/c", 7), ("https://x.org/d", 8)),
    ]
