"""Tests of HTML files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.html import read
from bookwheel.model import Parsed
from bookwheel.text.chunking import chunk

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title> The &amp; Title </title>
<meta name="Description" content="About the page.">
<meta property="article:published_time" content="2025-05-20">
<link rel="canonical" href="https://x.org/page">
<style>.a{color:red}</style><script>alert("bad")</script></head>
<body><nav><a href="/">Home</a><ul><li>Näv</li></ul></nav>
<main><h1>Heading</h1><p>First <b>para</b> with <a href="g.html">a guide</a>.</p>
<h2>Part</h2><ul><li>one</li><li>two<aside><p>side</p><p>note</p></aside></li></ul>
<blockquote><p>quoted</p><footer>Someone</footer></blockquote>
<table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td><nav>in | cell</nav></td></tr></table>
<template>tpl</template><noscript>nos</noscript><p hidden>hid</p>
</main><footer><p>© Föot</p></footer></body></html>"""


def page(body: str, head: str = "") -> Parsed:
    return read(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "dir/file.html")


def quiet_parts(parsed: Parsed) -> list[str]:
    data = parsed.text.encode()
    return [data[start:end].decode() for start, end in parsed.quiet]


@pytest.mark.requirement("F-011")
def test_a_page_becomes_markdown_with_its_properties() -> None:
    parsed = read(PAGE.encode(), "a.html")
    assert (parsed.title, parsed.description) == ("The & Title", "About the page.")
    assert (parsed.language, parsed.date) == ("en", "2025-05-20")
    assert parsed.url == "https://x.org/page"
    assert [(s.level, s.heading) for s in parsed.sections] == [(1, "Heading"), (2, "Part")]
    assert [(k.target, k.text) for k in parsed.links] == [("g.html", "a guide")]
    for piece in (
        "# Heading",
        "First **para** with [a guide](g.html).",
        "- one\n\n- two",
        "| k | v |",
    ):
        assert piece in parsed.text
    for gone in ("alert", "color:red", "tpl", "nos", "hid"):
        assert gone not in parsed.text


@pytest.mark.requirement("F-012")
def test_navigation_and_footers_stay_in_the_text_but_are_quiet() -> None:
    parsed = read(PAGE.encode(), "a.html")
    assert quiet_parts(parsed) == [
        "[Home](/)\n\n- Näv",
        "side\n\n  note",
        "Someone",
        "in \\| cell",
        "© Föot",
    ]
    assert "\ufdd0" not in parsed.text


@pytest.mark.requirement("F-012")
def test_quiet_spans_are_in_no_chunk() -> None:
    parsed = read(PAGE.encode(), "a.html")
    data = parsed.text.encode()
    shown = "".join(data[part.start : part.end].decode() for part in chunk(parsed))
    assert "Föot" not in shown
    assert "Näv" not in shown
    assert "quoted" in shown


@pytest.mark.requirement("F-009")
@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>T</title>", "<h1>H</h1>", "T"),
        ("<title>  </title>", "<h1>H <b>x</b></h1>", "H x"),
        ("", "<h1> </h1><h1>H</h1>", "H"),
        ("", "<svg><title>icon</title></svg><h1>H</h1>", "H"),
        ("", "<p>text</p>", "file"),
        ("<title>a\nb</title>", "", "a b"),
        ("", "<nav><h1>Site</h1></nav><p>x</p>", "Site"),
    ],
)
def test_the_title_is_the_first_there_is(head: str, body: str, title: str) -> None:
    assert page(body, head).title == title


@pytest.mark.requirement("F-010")
@pytest.mark.parametrize(
    ("head", "body", "description"),
    [
        ('<meta name="description" content="M">', "<p>P</p>", "M"),
        ('<meta name="description" content=" ">', "<p>P</p>", "P"),
        ("", "<p><img src=x alt=y></p><p>P <i>q</i></p>", "P q"),
        ("", "<nav><p>nav</p></nav><footer><p>foot</p></footer><p>P</p>", "P"),
        ("", "<p><script>x</script></p><p>P", "P"),
        ("", "<div>Only a block</div>", "Only a block"),
        ("", "", ""),
    ],
)
def test_the_description_is_the_first_there_is(head: str, body: str, description: str) -> None:
    assert page(body, head).description == description


@pytest.mark.requirement("F-016")
def test_a_long_meta_description_is_cut_at_a_word() -> None:
    found = page("", f'<meta name=description content="{"lorem " * 90}">').description
    assert found.endswith("lorem…")
    assert len(found) <= 150


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("<p>Grüße".encode(), "Grüße"),
        (b"\xef\xbb\xbf<meta charset=latin1><p>Gr\xc3\xbc\xc3\x9fe", "Grüße"),
        (b"<meta charset=windows-1252><p>Gr\xc3\xbc\xc3\x9fe", "Grüße"),
        (b"<meta charset=iso-8859-1><p>Gr\xfc\xdfe", "Grüße"),
        (
            b"<meta http-equiv=content-type content='a; charset=shift_jis'><p>\x93\xfa\x96{",
            "日本",
        ),
        (b"<meta charset=iso-2022-jp><p>\x1b$BF|K\\\x1b(B", "日本"),
        ("<p>Grüße".encode("utf-16"), "Grüße"),
        ("<html><p>Grüße aus Köln</p></html>".encode("utf-16-le"), "Grüße aus Köln"),
        (b"<meta charset=no-such-thing><p>Gr\xfc\xdfe", "Gr"),
        (
            b"<meta charset=utf-8><p>" + "في قرية من القرى كان هناك رجل حكيم".encode("cp1256"),
            "في قرية من القرى كان هناك رجل حكيم",
        ),
    ],
)
def test_pages_are_decoded_by_mark_then_utf8_then_their_own_word(data: bytes, word: str) -> None:
    assert word in read(data, "a.html").text


def test_links_are_resolved_against_the_base() -> None:
    body = '<a href="a.html">1</a> <a href="#f">2</a> <a href="http://[bad">3</a>'
    found = page(body, '<base href="https://x.org/d/">').links
    assert [link.target for link in found] == ["https://x.org/d/a.html", "#f", "http://[bad"]
    assert [link.target for link in page(body, '<base href="../up/">').links][:1] == [
        "../up/a.html"
    ]


def test_embedded_files_do_not_swell_the_text() -> None:
    blob = "A" * 1_000_000
    parsed = page(f'<p>x<img src="data:image/png;base64,{blob}"><a href="DATA:x,{blob}">d</a>')
    assert len(parsed.text) < 100


def test_the_author_and_keywords_of_a_page_are_read() -> None:
    head = '<meta name="Author" content=" Hank  Hill "><meta name=keywords content="a b, c,, a b">'
    parsed = page("<p>x</p>", head)
    assert (parsed.author, parsed.tags) == ("Hank Hill", ("a b", "c"))
    bare = page("<p>x</p>", '<meta property="article:author" content="https://x.org/hank">')
    assert (bare.author, bare.tags) == (None, ())


def test_cells_that_span_others_leave_blanks_and_no_tags() -> None:
    wide = page(
        "<table><tr><th colspan=2>Zone</th><th>Fee</th></tr>"
        "<tr><td rowspan=2>A</td><td>B</td><td>3</td></tr><tr><td>C</td></tr></table>"
    )
    assert wide.text == ("| Zone |  | Fee |\n| --- | --- | --- |\n| A | B | 3 |\n|  | C |  |")


def test_rows_of_many_lengths_leave_no_tags() -> None:
    rows = "<tr><td>1</td></tr><tr><td>2</td><td>3</td></tr>"
    assert page(f"<table>{rows}</table>").text == "| 1 |  |\n| --- | --- |\n| 2 | 3 |"
    wide = page("<table><tr><td>1</td></tr><tr>" + "<td>x</td>" * 200 + "</tr></table>")
    assert "<" not in wide.text


def test_cells_that_claim_to_span_everything_cost_little() -> None:
    row = '<tr><td colspan=99999 rowspan="99999">x</td><td rowspan=-1 colspan=y>y</td></tr>'
    assert "<" not in page(f"<table>{row * 300}</table>" * 5).text


def test_emphasis_that_markdown_cannot_mark_leaves_no_tags() -> None:
    broken = page("<h1>Head<b>(ing)</b>s</h1><p>a<b><i>b</i></b>c <s>d</s></p>")
    assert broken.text == "# Head(ing)s\n\nabc d"
    assert broken.sections[0].heading == "Head(ing)s"
    assert page("<p>1<b>!x!</b>2 <code>&lt;em&gt;</code></p>").text == "1!x!2 `<em>`"


def test_layout_tables_give_way_to_what_they_hold() -> None:
    parsed = page(
        "<table><tr><td><h2>Left</h2><p>text</p></td><td><table><tr><td>in</td></tr></table></td></tr></table>"
    )
    assert [section.heading for section in parsed.sections] == ["Left"]
    assert "in" in parsed.text


def test_a_form_around_the_whole_page_is_not_quiet() -> None:
    assert page("<form><main><p>All of it</p></main></form>").quiet == ()
    assert quiet_parts(page("<p>Some text here</p><form>Search</form>")) == ["Search"]


def test_a_page_of_nothing_but_navigation_is_not_quiet() -> None:
    parsed = page("<nav><a href=a>A</a></nav>")
    assert parsed.quiet == ()
    assert parsed.links


def test_quiet_elements_within_quiet_ones_are_one_span() -> None:
    assert len(page("<p>x</p><nav>a<nav>b<aside>c</aside></nav></nav>").quiet) == 1


def test_a_page_cannot_forge_the_placeholder() -> None:
    parsed = page("<p>\ufdd00\ufdd1 &#xFDD0;0&#64977; \ufdd2 &#xfdd2; x</p><nav>n</nav>")
    assert quiet_parts(parsed) == ["n"]
    assert "\ufdd0" not in parsed.text
    assert "\\" not in parsed.text


def test_text_that_looks_like_markdown_is_no_heading() -> None:
    parsed = page("<p># not</p><p>1. no</p><pre># code</pre><p>a\n===</p>")
    assert parsed.sections == ()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>my_function_name", "my_function_name"),
        ("<p>my__name straße_ñ_1", "my__name straße_ñ_1"),
        ("<p>my_<wbr>function", "my_function"),
        ("<p>_a_ __init__ b_ _", r"\_a\_ \_\_init\_\_ b\_ \_"),
        (r"<p>a\_b", r"a\\\_b"),
        ("<p>a*b*c", r"a\*b\*c"),
        (r"<p><code>a\_b</code> c_d", r"`a\_b` c_d"),
        (r"<p>\<code>`a\<b>_b</b></code>", "\\\\`` `a\\_b ``"),
        (r"<pre>a\_b <code>c\_d</code></pre><p>e_f", "```\na\\_b c\\_d\n```\n\ne_f"),
        (r"<nav>a_b <kbd>c\_d</kbd></nav>", r"a_b `c\_d`"),
    ],
)
def test_names_with_underscores_stand_as_they_are(body: str, text: str) -> None:
    assert page(body).text == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>&nbsp;a&nbsp;b&#160;c&#xa0;d\xa0e&nbsp;", "a b c d e"),
        ("<p>a</p><p>&nbsp;</p><p>b</p>", "a\n\nb"),
        ("<p>\u3000a\u2003</p>", "a"),
        ("<p><code>a&nbsp;b</code>", "`a b`"),
        ("<pre>x\n&nbsp;&nbsp;a\xa0b</pre>", "```\nx\n  a b\n```"),
        ("<p>&amp;#160; &amp;nbsp;", r"\&#160; \&nbsp;"),
        ("<p><code>&amp;#160;</code>", "`&#160;`"),
        ("<p><a href='a&nbsp;b'>&nbsp;c</a>", "[c](a\xa0b)"),
    ],
)
def test_no_break_spaces_become_plain_ones(body: str, text: str) -> None:
    assert page(body).text == text


def test_markup_that_never_ends_is_read() -> None:
    assert "deep" in page("<div>" * 50_000 + "deep").text
    assert "deep" in page("<nav>" * 5_000 + "deep").text
    assert "x" in page("<table><tr><td>" * 500 + "x").text
    assert page("<ul><li>" * 300 + "x").text


@given(st.text(alphabet='<>/navpdiul h1b"=&;é|\n', max_size=120))
def test_quiet_spans_of_any_markup_lie_on_letters(markup: str) -> None:
    try:
        parsed = read(f"<p>x</p><nav>é{markup}</nav>{markup}".encode(), "a.html")
    except Unreadable:
        return
    data = parsed.text.encode()
    end = 0
    for start, stop in parsed.quiet:
        assert end <= start < stop <= len(data)
        data[start:stop].decode()
        end = stop
