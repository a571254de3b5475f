"""Markdown as HTML: what is shown, what is marked, and that nothing in it can act."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.serve.site.markdown import DEEPEST, render, render_plain
from tests.site.payloads import PAYLOADS

SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][\w+.\-\t\n]*):")


def html(text: str, line: int | None = None) -> str:
    return render(text, str, line=line).html


def marked(text: str, line: int) -> str:
    """Return what is marked as the line that was looked for."""
    found = re.search(r'<(\w+)[^>]* class="target"[^>]*>(.*?)</\1>', html(text, line), re.DOTALL)
    return re.sub(r"<[^>]*>", "", found[2]).strip() if found else ""


class Harm(HTMLParser):
    """Notes whatever could act or load by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "iframe", "object", "embed", "form", "base", "meta", "link"):
            self.found.append(tag)
        for name, value in attrs:
            if name in ("style", "src", "srcset", "srcdoc", "action") or name.startswith("on"):
                self.found.append(name)
            scheme = SCHEME.match(value or "") if name == "href" else None
            if scheme and scheme[1].lower() not in ("http", "https", "mailto"):
                self.found.append(scheme[0])


def harm_in(text: str) -> list[str]:
    harm = Harm()
    harm.feed(html(text))
    return harm.found


def test_blocks_and_inline_marks_become_html() -> None:
    text = (
        "# A *b*\n\n- [x] done\n- `c`\n\n> [!WARNING]\n> hot\n\n~~no~~ a  \nb[^1]\n\n[^1]: note\n"
    )

    assert html(text) == (
        '<h1 id="a-b">A <em>b</em></h1>\n'
        '<ul><li><span class="task done">☑</span> done</li><li><code>c</code></li></ul>\n'
        '<blockquote class="warning"><div class="note-label">Warning</div><p>hot</p></blockquote>\n'
        "<p><del>no</del> a<br>\n"
        'b<sup><a href="#bw-note-1" rel="noopener noreferrer nofollow">1</a></sup></p>'
        '<div class="footnote" id="bw-note-1">1. <p>note</p></div>\n'
    )


def test_t23_raw_html_is_shown_as_it_is_written_and_comments_are_not() -> None:
    text = "<div onclick='x'>\nhi\n</div>\n\na <b>c</b><br/>d <!-- e -->\n\n<!-- f -->\n"

    assert html(text) == (
        "<div class=\"raw\">&lt;div onclick='x'&gt;\nhi\n&lt;/div&gt;</div>\n"
        "<p>a &lt;b&gt;c&lt;/b&gt;<br>d </p>"
    )


def test_t22_pictures_are_links_or_words_and_are_never_loaded() -> None:
    assert "<img" not in html("![a](https://x.example/a.png) ![](b.png)")
    assert html("![a *b*](https://x.example/a.png)") == (
        '<p><a class="picture" href="https://x.example/a.png"'
        ' rel="noopener noreferrer nofollow">a b</a></p>'
    )
    assert html("[![badge](https://x.example/b.svg)](https://x.example/)").count("<a ") == 1


def test_links_that_lead_nowhere_are_words() -> None:
    assert render("[a](b.md)", lambda _: None).html == '<p><span class="broken">a</span></p>'


def test_headings_of_one_name_have_anchors_of_their_own() -> None:
    anchors = render("# A b!\n\n## A b\n\n## bw-main\n\n##\n", str).anchors

    assert [each.id for each in anchors] == ["a-b", "a-b-1", "section-bw-main", "section"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (1, "Title"),
        (3, "one\ntwo"),
        (4, "one\ntwo"),
        (6, "a"),
        (7, "b"),
        (11, "code 2"),
        (16, "12"),
        (17, ""),
        (18, "last"),
        (99, "last"),
    ],
)
def test_the_block_of_a_line_is_marked(line: int, expected: str) -> None:
    text = (
        "# Title\n\none\ntwo\n\n- a\n- b\n\n```\ncode 1\ncode 2\n```\n\n"
        "|x|y|\n|-|-|\n|1|2|\n\nlast\n"
    )

    assert marked(text, line) == (expected or "last")


def test_lines_of_plain_texts_are_marked_one_by_one() -> None:
    shown = render_plain("a <b>\nc\nd", line=2).html

    assert shown == (
        '<pre class="plain" tabindex="0">a &lt;b&gt;\n'
        '<span id="bw-target" class="target">c\n</span>d</pre>'
    )


def test_t18_depth_is_bounded() -> None:
    assert html(">" * 5000 + "a").count("<blockquote") <= DEEPEST
    assert html("".join("  " * n + "- a\n" for n in range(300))).count("<ul>") <= DEEPEST


def test_t23_none_of_five_hundred_payloads_acts() -> None:
    assert {each: found for each in PAYLOADS if (found := harm_in(each))} == {}
    assert len(set(PAYLOADS)) > 500


@settings(max_examples=150)
@given(st.text(alphabet="<>[]()!*_`#|-\n \"'=:/ajsx&;\\0", max_size=120))
def test_t23_no_text_acts_or_breaks(text: str) -> None:
    assert harm_in(text) == []


@settings(max_examples=60)
@given(st.text(alphabet="#>-*`|[]() a\n1.", max_size=80), st.integers(1, 40))
def test_any_line_can_be_asked_for(text: str, line: int) -> None:
    assert html(text, line).count('id="bw-target"') <= 1
