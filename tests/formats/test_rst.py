"""Tests of reStructuredText."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read as read_any
from bookwheel.formats.rst import read
from bookwheel.text.chunking import chunk
from tests.formats.mutations import mutated

PAGE = """\
=====
Tides
=====

:Author: Ann Ash
:Date: 2024-05-06

High and *low* water, see `the guide <guide.html>`_.

Causes
------

.. note:: Mind the moon.

Moon
~~~~

- pull
- push

Effects
-------

Done.
"""


def convert(source: str) -> str:
    return read(dedent(source).encode(), "dir/file.rst").text


@pytest.mark.requirement("X-023")
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.rst", "Tides\n=====\n\nSee `b <b.md>`_.\n\nMoon\n----\n\nPull."),
        ("a.md", "# Tides\n\nSee [b](b.md).\n\n## Moon\n\nPull."),
        ("a.markdown", "# Tides\n\nSee [b](b.md).\n\n## Moon\n\nPull."),
        ("a.mdx", "# Tides\n\nSee [b](b.md).\n\n## Moon\n\nPull."),
        ("a.html", "<h1>Tides</h1><p>See <a href='b.md'>b</a>.</p><h2>Moon</h2><p>Pull."),
        ("a.htm", "<h1>Tides</h1><p>See <a href='b.md'>b</a>.</p><h2>Moon</h2><p>Pull."),
    ],
)
def test_text_files_have_titles_sections_links_and_lines(path: str, source: str) -> None:
    parsed = read_any(source.encode(), path)
    assert parsed.title == "Tides"
    assert [(s.level, s.heading) for s in parsed.sections] == [(1, "Tides"), (2, "Moon")]
    assert [(link.target, link.text) for link in parsed.links] == [("b.md", "b")]
    assert [found.pointer for found in chunk(parsed)] == ["lines 1-7"]


@pytest.mark.requirement("X-023")
def test_plain_text_is_pointed_into_by_lines() -> None:
    parsed = read_any(b"Tides\nHigh and low.\n", "a.txt")
    assert (parsed.title, parsed.text) == ("Tides", "Tides\nHigh and low.\n")
    assert [found.pointer for found in chunk(parsed)] == ["lines 1-2"]


def test_a_document_is_described_by_its_fields_and_headings() -> None:
    parsed = read(PAGE.encode(), "a.rst")
    assert (parsed.title, parsed.author, parsed.date) == ("Tides", "Ann Ash", "2024-05-06")
    assert parsed.description == "High and low water, see the guide."
    assert [(s.level, s.heading) for s in parsed.sections] == [
        (1, "Tides"),
        (2, "Causes"),
        (3, "Moon"),
        (2, "Effects"),
    ]
    meta = ".. meta::\n   :description: Of water\n   :keywords: sea, moon\n\nText.\n"
    described = read(meta.encode(), "a.rst")
    assert (described.description, described.tags) == ("Of water", ("sea", "moon"))


def test_levels_follow_the_order_of_adornments_over_and_under() -> None:
    text = convert("""\
        Under
        =====

        Deep
        ....

        ====
        Over
        ====

        Deep again
        ..........
        """)
    assert text == "# Under\n\n## Deep\n\n### Over\n\n## Deep again\n"


def test_what_only_looks_like_a_heading_is_none() -> None:
    text = convert("""\
        A paragraph
        of two lines
        that ends.

        ----

        >>> print("x")
        ---

        # no heading
        """)
    assert text == (
        'A paragraph\nof two lines\nthat ends.\n\n---\n\n```python\n>>> print("x")\n---\n```\n\n'
        "\\# no heading\n"
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("``a_b`` and *c* and **d**", "`a_b` and *c* and **d**"),
        ("``a`b``", "`` a`b ``"),
        ("`text <http://x.org/a>`_ end", "[text](http://x.org/a) end"),
        ("`over\nlines <http://x.org/\na>`__", "[over lines](http://x.org/a)"),
        ("see name_ and `Long Name`_\n\n.. _name: a.html\n.. _Long name: b.html",
         "see [name](a.html) and [Long Name](b.html)"),
        ("`b: c`_\n\n.. _`b: c`:\n   http://x.org/\n   long", "[b: c](http://x.org/long)"),
        ("`x`__ and `y`__\n\n__ 1.html\n.. __: 2.html", "[x](1.html) and [y](2.html)"),
        ("`alias`_\n\n.. _alias: other_\n.. _other: o.html", "[alias](o.html)"),
        (":doc:`Guide <../guide>` :doc:`/intro`", "[Guide](../guide.rst) [/intro](/intro.rst)"),
        (":ref:`Here <label>` :ref:`label`", "[Here](#label) [label](#label)"),
        (":py:func:`~a.b` `c`:meth: :pep:`8` :term:`word <w>`", "`a.b` `c` PEP 8 word"),
        ("|x| and |y|\n\n.. |x| replace:: some *text*", "some *text* and y"),
        ("see [1]_ and [Cit2]_", "see [1] and [Cit2]"),
        ("snake_case_ and under_\\ score a\\*b", "snake_case_ and under_score a\\*b"),
        ("`default role` <tag>", "default role \\<tag>"),
        ("the `<a:rPr>` element, a `List <T>`", "the \\<a:rPr> element, a List \\<T>"),
        (".. [1] The note.", "[1] The note."),
    ],
)  # fmt: skip
def test_markup_within_lines(source: str, shown: str) -> None:
    assert convert(source).strip() == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (".. code-block:: python\n   :linenos:\n   :caption: Listing\n\n   # x\n   y",
         "Listing\n\n```python\n# x\ny\n```"),
        ("Code::\n\n    # x\n\n      y\n\nafter", "Code:\n\n```\n# x\n\n  y\n```\n\nafter"),
        ("Lone ::\n\n    x", "Lone\n\n```\nx\n```"),
        ("::\n\n    x", "```\nx\n```"),
        (".. note:: One.\n\n   Two.", "**Note:** One.\n\nTwo."),
        (".. admonition:: Look\n\n   Here.", "**Look**\n\nHere."),
        (".. versionadded:: 2.0\n   New.", "**Added in:** 2.0\n\nNew."),
        (".. image:: a.png\n   :alt: The sea", "The sea"),
        (".. figure:: a.png\n\n   A caption.", "A caption."),
        (".. toctree::\n   :maxdepth: 2\n\n   one\n   Two <sub/two>\n   self",
         "- [one](one.rst)\n- [Two](sub/two.rst)"),
        (".. py:function:: f(x)\n   :async:\n\n   Does it.", "f(x)\n\nDoes it."),
        (".. rubric:: Notes", "**Notes**"),
        (".. csv-table:: T\n   :header: a,b\n\n   1,\"2, 3\"",
         "T\n\n| a | b |\n| --- | --- |\n| 1 | 2, 3 |"),
        (".. list-table::\n\n   * - a\n     - b", "| a | b |\n| --- | --- |"),
        (".. math:: x^2", "```math\nx^2\n```"),
        (".. a comment\n   of two lines\n\ntext", "text"),
        (".. include:: other.rst\n\ntext", "text"),
    ],
)  # fmt: skip
def test_directives_and_literal_blocks(source: str, shown: str) -> None:
    assert convert(source).strip() == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("* a\n* b\n\n  c\n\n  * d", "- a\n- b\n\n  c\n\n  - d"),
        ("3. a\n4. b\n#. c", "3. a\n4. b\n3. c"),
        ("a) x\nb) y", "- a) x\n- b) y"),
        ("term\n    What it means.", "term\n\nWhat it means."),
        ("Said:\n\n    Quoted *text*.", "Said:\n\n> Quoted *text*."),
        (":p x: one\n   two\n:q y:", "- p x: one two\n- q y"),
        ("| one\n| two", "one  \ntwo"),
    ],
)
def test_lists_terms_and_quotes(source: str, shown: str) -> None:
    assert convert(source).strip() == shown


def test_tables_become_markdown_where_they_can() -> None:
    grid = """\
        +-----+-----+
        | a   | b|c |
        +=====+=====+
        | 1   | 2   |
        | one |     |
        +-----+-----+
        """
    assert convert(grid) == "| a | b\\|c |\n| --- | --- |\n| 1 one | 2 |\n"
    simple = """\
        ===  =====
        a    b
        ===  =====
        1    two
             lines
        2    x
        ===  =====

        after
        """
    assert convert(simple) == "| a | b |\n| --- | --- |\n| 1 | two lines |\n| 2 | x |\n\nafter\n"
    spanned = "+---+---+\n| a     |\n+---+---+\n| 1 | 2 |\n+---+---+\n"
    assert convert(spanned) == f"```\n{spanned}```\n"


def test_deep_nesting_and_endless_lines_are_bounded() -> None:
    deep = "".join("  " * n + "* x\n\n" for n in range(300))
    assert convert(deep).count("x") == 300
    for hostile in ("`" * 50_000, "|a " * 30_000, "_" * 50_000, "a_ " * 30_000, "\\" * 50_000):
        assert convert(f"{hostile}\n\nend").endswith("end\n")


def test_a_file_of_nothing_but_comments_is_plain_text() -> None:
    assert convert(".. only a comment\n") == ".. only a comment\n"


@given(st.text(alphabet="ab:.`|_*=-~+ \n\t\\<>[]#1)", max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        assert read(source.encode(), "a.rst").title
    except Unreadable:
        pass


@given(mutated(PAGE.encode()))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read(data, "a.rst").text
    except Unreadable:
        pass


def test_a_list_table_is_a_table_without_its_options() -> None:
    source = """
.. list-table:: Ports
   :header-rows: 1
   :widths: 20 80

   * - Port
     - Use
   * - 443
     - https,

       - safe
   * -
     - none

.. table:: Drawn
   :widths: auto

   == ==
   a  b
   == ==
   1  2
   == ==
"""
    assert read(source.encode(), "a.rst").text == (
        "Ports\n\n| Port | Use |\n| --- | --- |\n| 443 | https, - safe |\n|  | none |\n\n"
        "Drawn\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    )
