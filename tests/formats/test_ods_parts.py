"""Tests of what stands beside the cells of OpenDocument sheets."""

from __future__ import annotations

import pytest

from bookwheel.formats import ods_parts
from bookwheel.formats.registry import read
from bookwheel.model import Link, Parsed
from tests.formats.making_office import opendocument

LINKED = '<text:p>See <text:a xlink:href="https://x.org/a">the site</text:a> now</text:p>'
NOTE = (
    "<office:annotation><dc:creator>Ann Lee</dc:creator><dc:date>2020-01-01</dc:date>"
    "<text:p>Why<text:s/><text:span>so</text:span>?</text:p><text:p>Ask\n Bo.</text:p>"
    "</office:annotation>"
)


def cell(content: str = "", *, times: int = 1, kind: str = "table-cell") -> str:
    repeated = f' table:number-columns-repeated="{times}"' if times > 1 else ""
    return f'<table:{kind} office:value-type="string"{repeated}>{content}</table:{kind}>'


def row(*cells: str, times: int = 1) -> str:
    repeated = f' table:number-rows-repeated="{times}"' if times > 1 else ""
    return f"<table:table-row{repeated}>{''.join(cells)}</table:table-row>"


def ods(before: str = "", **tables: str) -> Parsed:
    every = "".join(f'<table:table table:name="{n}">{r}</table:table>' for n, r in tables.items())
    body = f"<office:body><office:spreadsheet>{every}</office:spreadsheet></office:body>"
    return read(opendocument("spreadsheet", before + body), "a.ods")


def words(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def test_links_and_comments_stand_at_their_cells() -> None:
    parsed = ods(
        First=row(cell(), times=3)
        + row(cell(times=2), cell(NOTE + LINKED), cell(words("x"), kind="covered-table-cell"))
        + row(cell(words("one")), times=2)
        + row(cell(NOTE)),
        Second=row(cell(words("y"))) + row(cell(LINKED), cell(LINKED)),
    )
    site = "[See the site now](https://x.org/a)"
    assert parsed.text == (
        f"## First\n\n|  |  | {site} | x |\n| --- | --- | --- | --- |\n| one |\n| one |\n\n"
        "Comments:\n\n- C4: Ann Lee: Why so? Ask Bo.\n- A7: Ann Lee: Why so? Ask Bo.\n\n"
        f"## Second\n\n| y |  |\n| --- | --- |\n| {site} | {site} |\n"
    )
    assert parsed.links[0] == Link(
        "inline", "https://x.org/a", "See the site now", "See the site now | x", 3
    )
    assert [link.line for link in parsed.links] == [3, 17, 17]


def test_a_link_within_the_file_is_none_and_a_cell_has_its_first_one() -> None:
    inner = LINKED.replace("https://x.org/a", "#Second.A1")
    parsed = ods(A=row(cell(inner), cell(LINKED + LINKED.replace("/a", "/b"))))
    assert [link.target for link in parsed.links] == ["https://x.org/a"]


def test_a_sheet_with_nothing_but_comments_is_read() -> None:
    parsed = ods(A=row(cell(NOTE.replace("<dc:creator>Ann Lee</dc:creator>", ""))))
    assert parsed.text == "## A\n\nComments:\n\n- A1: Why so? Ask Bo.\n"


def test_there_are_only_so_many_links_and_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ods_parts, "MAX_LINKED", 3)
    monkeypatch.setattr(ods_parts, "MAX_NOTES", 2)
    parsed = ods(A=row(*[cell(NOTE + LINKED)] * 5), B=row(cell(NOTE + LINKED)))
    assert (len(parsed.links), parsed.text.count("Ann Lee")) == (3, 2)


def test_t16_entities_in_comments_are_never_expanded_and_do_not_keep_the_cells_out() -> None:
    entity = '<!DOCTYPE a [<!ENTITY e "boom">]>'
    parsed = ods(entity, A=row(cell(NOTE.replace("Why", "&e;") + words("x"))))
    assert parsed.text == "## A\n\n| x |\n| --- |\n"
