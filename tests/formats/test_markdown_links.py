"""Tests of the links in a Markdown file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.formats.base import MAX_LINKS
from bookwheel.formats.links import find_bare_urls
from bookwheel.formats.markdown import read_text
from bookwheel.model import Link


def links(text: str) -> list[tuple[str, str, str]]:
    return [(link.kind, link.target, link.text) for link in read_text(text, "a.md").links]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[a](b.md "title")', ("inline", "b.md", "a")),
        ("[a](<with spaces.md>)", ("inline", "with spaces.md", "a")),
        ("[a](x_(y).md)", ("inline", "x_(y).md", "a")),
        ("[a](../up/b%20c.md?q=1#frag)", ("inline", "../up/b%20c.md?q=1#frag", "a")),
        ("[a](/docs/x)", ("inline", "/docs/x", "a")),
        ("[`code` *em*](B.MD)", ("inline", "B.MD", "code em")),
        ("[![alt](i.png)](b)", ("inline", "b", "alt")),
        ("[two\nlines](b)", ("inline", "b", "two lines")),
        ("[a][r]\n\n[r]: http://x 'T'", ("reference", "http://x", "a")),
        ("[a][]\n\n[a]: b.md", ("reference", "b.md", "a")),
        ("[a]\n\n[A]: b.md", ("reference", "b.md", "a")),
        ("<https://x.org/a>", ("autolink", "https://x.org/a", "https://x.org/a")),
        ("<me@x.org>", ("autolink", "mailto:me@x.org", "me@x.org")),
        (
            "see https://x.org/a_b_c(d).",
            ("bare", "https://x.org/a_b_c(d)", "https://x.org/a_b_c(d)"),
        ),
        ("(https://x.org/)", ("bare", "https://x.org/", "https://x.org/")),
        ("at www.x.org, then", ("bare", "www.x.org", "www.x.org")),
        ("[[Page]]", ("wikilink", "Page", "Page")),
        ("[[Page#Part|shown]]", ("wikilink", "Page#Part", "shown")),
        ("| a |\n|---|\n| [[Page\\|shown]] |", ("wikilink", "Page", "shown")),
        ("[[a_b_c]] and", ("wikilink", "a_b_c", "a_b_c")),
    ],
)
def test_every_way_to_write_a_link_is_found(text: str, expected: tuple[str, str, str]) -> None:
    assert links(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "`[a](b)`",
        "```\n[a](b) https://x.org [[W]]\n```",
        "    [a](b) https://x.org",
        "`https://x.org` `[[W]]`",
        "![image](i.png)",
        "![[embedded.png]]",
        "\\[[no]]",
        "\\[a](b)",
        "[a]",
        "[a] (b)",
        "[[]]",
        "http://",
        "<div>\n[a](b)\n</div>",
        "[^1]\n\n[^1]: word",
        "[a](data:text/plain;base64,AAAA)",
        "[a](" + "x" * 3_000 + ")",
        "---\nurl: https://x.org\n---\n",
    ],
)
def test_what_is_no_link_is_left_alone(text: str) -> None:
    assert links(text) == []


def test_a_link_knows_its_sentence_and_its_line() -> None:
    text = (
        "---\ntitle: t\n---\nFirst sentence. See the\n[guide](g.md) for *more*! Last one.\n\n"
        "- item [x](y)\n"
    )
    assert read_text(text, "a.md").links == (
        Link("inline", "g.md", "guide", "See the guide for more!", 5),
        Link("inline", "y", "x", "item x", 7),
    )


def test_the_context_in_a_table_is_the_row() -> None:
    (link,) = read_text("| n | l |\n|---|---|\n| Name | [x](y) |\n", "a.md").links
    assert link.context == "Name | x"


def test_links_in_headings_are_links() -> None:
    assert links("# A [b](c)") == [("inline", "c", "b")]


def test_a_long_sentence_is_cut_around_its_link() -> None:
    (link,) = read_text("word " * 200 + "[here](x) " + "more " * 200, "a.md").links
    assert len(link.context) <= 300
    assert "here" in link.context


def test_several_bare_links_in_one_text_have_each_their_sentence() -> None:
    found = read_text("One https://a.org ok. Two https://b.org ok.", "a.md").links
    assert [link.context for link in found] == ["One https://a.org ok.", "Two https://b.org ok."]


def test_more_links_than_anyone_follows_are_capped() -> None:
    assert len(read_text("[a](b) " * (MAX_LINKS + 5), "a.md").links) == MAX_LINKS


@pytest.mark.parametrize(
    "url", ["http://日本.jp/ä/b", "https://x.org/[a]_(b)", "ftp://x/~a;b=1?c&d", "http://é"]
)
@pytest.mark.parametrize("end", [" ", "|", '"', "<", "`", "\u3000", "\u2028", "", ".", ")", "]。"])
def test_a_bare_url_ends_where_no_letter_of_it_can_stand(url: str, end: str) -> None:
    assert list(find_bare_urls(f"see {url}{end}")) == [(4, url)]


@given(st.text(alphabet="htp:/w.)(]['x ,!", max_size=40))
def test_bare_urls_are_where_they_are_said_to_be(text: str) -> None:
    for at, url in find_bare_urls(text):
        assert text[at:].startswith(url)


@given(st.text(alphabet="[]()!|`<>ab.: \n\\#", max_size=60))
def test_links_of_any_markup_lie_on_lines_that_exist(text: str) -> None:
    for link in read_text(text, "a.md").links:
        assert 1 <= link.line <= text.count("\n") + 1
        assert link.target
        assert len(link.context) <= 300
