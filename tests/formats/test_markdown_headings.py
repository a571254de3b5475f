"""Tests of Markdown sections: level, line and span, with cmark-gfm as the reference."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import MAX_SECTIONS
from bookwheel.formats.frontmatter import read_front_matter
from bookwheel.formats.markdown import read_text
from bookwheel.formats.registry import read
from bookwheel.model import Parsed, Section
from tests.formats.cmark_headings import cmark_headings

CASES = {
    "setext": "Title\n===\n\nSub\n---\n",
    "setext of two lines": "Two\nlines\n===\n",
    "a rule under a list item": "- item\n---\n",
    "a rule under a table": "| a |\n|---|\n| b |\n---\n",
    "backtick fence": "```\n# no\n```\n# yes\n",
    "tilde fence": "~~~\n# no\n```\n# no\n~~~\n# yes\n",
    "longer fence": "````\n```\n# no\n````\n# yes\n",
    "unclosed fence": "# yes\n```\n# no\n",
    "indented code": "a\n\n    # no\n\n   # yes\n",
    "no space": "#no\n\n# yes\n",
    "seven": "####### no\n",
    "closing hashes": "## two ##\n## kept#\n",
    "empty": "#\n\n## \n",
    "tab": "#\ttab\n",
    "escaped": "\\# no\n",
    "in a list": "- # one\n- ## two\n\n  # three\n",
    "in a quote": "> # one\n> text\n\n> > ## two\n",
    "in details": "<details>\n\n# yes\n\n</details>\n",
    "in an HTML block": "<div>\n# no\n</div>\n",
    "in a comment": "<!--\n# no\n-->\n# yes\n",
    "in a paragraph": "text\n# yes\nmore\n",
    "level 4 first": "#### four\n# one\n### three\n",
    "no final newline": "# a",
    "only blank": "\n\n",
    "footnote-like": "[^1]: # x\n\n# y\n",
    "table then heading": "| a | b |\n| - | - |\n| c | d |\n# yes\n",
    "MDX": "import X from 'x'\n\n<X a={1}>\n\n# yes\n\n</X>\n",
    "separators that are no lines": "# a\u2028# b\x0b# c\x0c\n# d\n",
}
BODIES = st.text(alphabet="#=-`~> \n\tab<!|*1.", max_size=60).filter(
    # The reference follows an older rule, by which only capitals begin a declaration.
    lambda body: not re.search("<![ab]", body)
)


def headings(parsed: Parsed) -> list[tuple[int, int]]:
    return [(section.level, section.start_line) for section in parsed.sections]


def assert_sections_fit(parsed: Parsed) -> None:
    data = parsed.text.encode()
    lines = parsed.text.split("\n")
    for section in parsed.sections:
        assert 0 <= section.start < section.end <= len(data)
        assert data[: section.start].count(b"\n") + 1 == section.start_line
        assert data[section.start : section.end].decode().startswith(lines[section.start_line - 1])
        inner = data[section.start : section.end].removesuffix(b"\n")
        assert section.end_line == section.start_line + inner.count(b"\n")


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_headings_are_those_of_the_reference(body: str) -> None:
    parsed = read_text(body, "a.md")
    assert headings(parsed) == cmark_headings(body)
    assert_sections_fit(parsed)


@settings(max_examples=300)
@given(BODIES)
def test_headings_of_any_markdown_are_those_of_the_reference(body: str) -> None:
    front = read_front_matter(body)
    parsed = read_text(body, "a.md")
    before = body[: front.body].count("\n")
    assert headings(parsed) == cmark_headings(body[front.body :], lines_before=before)
    assert_sections_fit(parsed)


@given(st.text(max_size=80))
def test_spans_fit_in_any_text(body: str) -> None:
    text = body.replace("\r", "").replace("\0", "")
    assert_sections_fit(read_text(f"é# x\n{text}\n# ü\n{text}", "a.md"))


def test_sections_hold_their_subsections_and_count_lines_with_the_front_matter() -> None:
    text = "---\ntitle: ü\n---\n# A\ntext\n## B\nb\n# C"
    parsed = read_text(text, "a.md")
    assert parsed.sections == (
        Section(1, "A", 18, 34, 4, 7),
        Section(2, "B", 27, 34, 6, 7),
        Section(1, "C", 34, 37, 8, 8),
    )
    assert_sections_fit(parsed)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("# `code` and *em* and **b**", "code and em and b"),
        ("# [link](x) &amp; <b>bold</b>", "link & bold"),
        ("# ![logo](l.png) Name", "Name"),
        ("# ![logo](l.png)", "logo"),
        ("# [![badge](b.svg)](x)", "badge"),
        ("#  spaced   out  ##", "spaced out"),
        ("Two\nlines\n===", "Two lines"),
        ("#", ""),
    ],
)
def test_a_heading_is_shown_as_plain_text(written: str, shown: str) -> None:
    assert [section.heading for section in read_text(written, "a.md").sections] == [shown]


def test_duplicate_headings_are_kept_apart_by_their_places() -> None:
    parsed = read_text("# A\n# A\n", "a.md")
    assert [(section.heading, section.start) for section in parsed.sections] == [("A", 0), ("A", 4)]


def test_more_headings_than_anyone_reads_are_capped() -> None:
    assert len(read_text("# x\n" * (MAX_SECTIONS + 5), "a.md").sections) == MAX_SECTIONS


@pytest.mark.corpus
@pytest.mark.timeout(1_800)
def test_headings_of_a_whole_corpus_are_those_of_the_reference() -> None:
    root = Path(os.environ["BOOKWHEEL_TEST_CORPUS"])
    wrong, seen = [], 0
    for path in root.rglob("*.md*"):
        if path.suffix not in (".md", ".mdx") or not path.is_file():
            continue
        parsed = read(path.read_bytes(), str(path))
        body = read_front_matter(parsed.text).body
        before = parsed.text[:body].count("\n")
        seen += 1
        if headings(parsed) != cmark_headings(parsed.text[body:], lines_before=before):
            wrong.append(str(path))
    assert seen
    assert wrong == []


@pytest.mark.parametrize(
    "line", ["## Setup {#setup}", "## Setup {/* #setup-here */}", "## Setup", "## `Setup` {#a-b}"]
)
def test_identifiers_behind_a_heading_are_not_its_text(line: str) -> None:
    parsed = read(f"# T\n\n{line}\n\ntext\n".encode(), "a.mdx")
    assert parsed.sections[1].heading == "Setup"
