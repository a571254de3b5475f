"""Tests of Org files."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.org import read
from bookwheel.formats.registry import read as read_any
from tests.formats.mutations import mutated

PAGE = """\
#+TITLE: Tides
#+AUTHOR: Ann Ash
#+DATE: <2024-05-06 Mon>
#+FILETAGS: :sea:moon:
# a comment

* TODO High water :tide:spring:
:PROPERTIES:
:ID: 1234
:END:
High and *low*, see [[file:guide.org][the guide]] and =code=.

** Causes
   - pull
     - more
   1. first

#+BEGIN_SRC python
  # x
    y
#+END_SRC
"""


def convert(source: str) -> str:
    return read(dedent(source).encode(), "dir/file.org").text


def test_headings_lists_and_code_become_markdown() -> None:
    parsed = read_any(PAGE.encode(), "a.org")
    assert parsed.text == (
        "# TODO High water\n\nTags: tide, spring\n\n"
        "High and **low**, see [the guide](guide.org) and `code`.\n\n"
        "## Causes\n\n- pull\n  - more\n1. first\n\n```python\n# x\n  y\n```\n"
    )
    assert (parsed.title, parsed.author, parsed.date) == ("Tides", "Ann Ash", "2024-05-06")
    assert parsed.tags == ("sea", "moon")
    assert [link.target for link in parsed.links] == ["guide.org"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("| a | b |\n|---+---|\n| 1 | =x= |", "| a | b |\n| --- | --- |\n| 1 | `x` |"),
        (": literal\n: # two", "```\nliteral\n# two\n```"),
        ("#+begin_quote\nSaid.\n\nTwice.\n#+end_quote", "> Said.\n>\n> Twice."),
        ("#+begin_comment\ngone\n#+end_comment\nkept", "kept"),
        ("#+begin_src sh\nnever closed", "never closed"),
        ("#+CAPTION: Shown\n#+NAME: gone\ntext", "Shown\n\ntext"),
        ("[[https://x.org]] [[*Heading][h]] [[#id]]",
         "[https://x.org](https://x.org) [h](#Heading) [#id](#id)"),
        ("=l= then ~P~ and a=b=c", "`l` then `P` and a=b=c"),
        ("# comment\n#hashtag <tag>", "#hashtag \\<tag>"),
        ("-----", "---"),
        ("*not a heading*", "**not a heading**"),
        (":NOTE:\nno end", ":NOTE:\nno end"),
    ],
)  # fmt: skip
def test_blocks_and_links(source: str, shown: str) -> None:
    assert convert(source).strip() == shown


def test_drawers_that_never_end_are_looked_for_once() -> None:
    assert convert(":a:\n#+begin_x\n" * 20_000 + "end").endswith("end\n")


def test_a_file_of_nothing_but_comments_is_plain_text() -> None:
    assert convert("# only a comment\n") == "# only a comment\n"


@given(st.text(alphabet="ab*#+|:-=[]~ \n_1.", max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        assert read(source.encode(), "a.org").title
    except Unreadable:
        pass


@given(mutated(PAGE.encode()))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read(data, "a.org").text
    except Unreadable:
        pass


def test_tags_of_a_heading_are_no_description() -> None:
    parsed = read(b"* Notes :work:\nWe spoke.\n", "a.org")
    assert parsed.description == "We spoke."
    assert parsed.text == "# Notes\n\nTags: work\n\nWe spoke.\n"
