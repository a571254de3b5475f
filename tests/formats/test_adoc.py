"""Tests of AsciiDoc files."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.adoc import read
from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read as read_any
from tests.formats.mutations import mutated

PAGE = """\
// a comment
= Tides
Ann Ash <ann@x.org>
v1.0, 2024-05-06
:keywords: sea, moon
:site: https://x.org

High water, see {site}/guide[the guide^] and xref:low.adoc#ebb[low].

[#causes]
== Causes

.Pull
[source,python]
----
# x
== y
----

* moon
** near
. first

NOTE: Mind it.
"""


def convert(source: str) -> str:
    return read(dedent(source).encode(), "dir/file.adoc").text


@pytest.mark.parametrize("path", ["a.adoc", "a.asciidoc"])
def test_headings_blocks_and_lists_become_markdown(path: str) -> None:
    parsed = read_any(PAGE.encode(), path)
    assert parsed.text == (
        "# Tides\n\n"
        "High water, see [the guide](https://x.org/guide) and [low](low.adoc#ebb).\n\n"
        "## Causes\n\n**Pull**\n\n```python\n# x\n== y\n```\n\n"
        "- moon\n  - near\n1. first\n\n**Note:** Mind it.\n"
    )
    assert (parsed.title, parsed.author, parsed.date) == ("Tides", "Ann Ash", "2024-05-06")
    assert parsed.tags == ("sea", "moon")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("....\n# x\n....", "```\n# x\n```"),
        ("```ruby\nx\n```", "```ruby\nx\n```"),
        ("[WARNING]\n====\nHot.\n\nVery.\n====", "**Warning:**\n\nHot.\n\nVery."),
        ("[TIP]\nTry.", "**Tip:** Try."),
        ("____\nSaid.\n____", "> Said."),
        ("////\ngone\n////\nkept", "kept"),
        ("[cols=\"1,2\"]\n|===\n|a |b\n\n|1\n|2 or\nmore\n|===",
         "| a | b |\n| --- | --- |\n| 1 | 2 or more |"),
        ("|===\n|a |b\n\n2+|wide\n|===", "| a | b |\n| --- | --- |\n| wide |  |"),
        ("|===\n|a |b \\| c\n|===", "| a | b \\| c |\n| --- | --- |"),
        ("link:a.html[A, window=_blank] <<here,Here>> <<there>>",
         "[A](a.html) [Here](#here) [there](#there)"),
        ("image::a.png[The sea, width=3]", "The sea"),
        ("Word footnote:[Note.] kbd:[Ctrl]", "Word  (Note.) Ctrl"),
        ("term:: What it means.", "term: What it means."),
        ("one +\ntwo", "one\ntwo"),
        ("ifdef::x[]\nkept\nendif::[]\ninclude::b.adoc[]", "kept"),
        ("x\n\n  # indented\n  code", "x\n\n```\n  # indented\n  code\n```"),
        ("'''", "---"),
        ("* item\n+\n----\nx\n----", "- item\n\n```\nx\n```"),
        ("----\nnever closed", "```\nnever closed\n```"),
        ("# Also a heading <b>", "# Also a heading \\<b>"),
        ("{unknown} `{x}`", "{unknown} `{x}`"),
    ],
)  # fmt: skip
def test_blocks_and_links(source: str, shown: str) -> None:
    assert convert(source).strip() == shown


def test_a_file_of_nothing_but_comments_is_plain_text() -> None:
    assert convert(":only: settings\n") == ":only: settings\n"


@given(st.text(alphabet="ab=-.*|_+/[]<>:,{}` \n1#", max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        assert read(source.encode(), "a.adoc").title
    except Unreadable:
        pass


@given(mutated(PAGE.encode()))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read(data, "a.adoc").text
    except Unreadable:
        pass


def test_cells_need_no_blanks_between_them() -> None:
    source = b"|===\n|Port|Use\n|443|a \\| b\n2+|x a|y\n|==="
    assert read(source, "a.adoc").text == (
        "| Port | Use |\n| --- | --- |\n| 443 | a \\| b |\n| x | y |\n"
    )


def test_author_and_revision_under_the_title_are_no_text() -> None:
    parsed = read(b"= Guide\nJane Doe <j@x.org>\nv1.0, 2024-02-03\n\nOn quolls.\n", "a.adoc")
    assert parsed.text == "# Guide\n\nOn quolls.\n"
    assert (parsed.author, parsed.date) == ("Jane Doe", "2024-02-03")
    assert parsed.description == "On quolls."
    assert read(b"= Guide\nJane Doe", "a.adoc").text == "# Guide\n"


def test_an_attribute_may_be_made_of_those_before_it() -> None:
    source = ":org: https://x.org\n:repo: {org}/a\n\nSee {repo}/b[the page] and {none}.\n"
    assert read(source.encode(), "a.adoc").text.endswith(
        "See [the page](https://x.org/a/b) and {none}.\n"
    )


def test_attributes_that_grow_without_end_do_no_harm() -> None:
    lines = [":a0: ha", *(f":a{n}: {f'{{a{n - 1}}}' * 10}" for n in range(1, 30)), "", "{a29}"]
    assert len(read("\n".join(lines).encode(), "a.adoc").text) < 100_000
