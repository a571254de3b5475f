"""Tests of notebooks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from bookwheel.formats.base import Unreadable
from bookwheel.formats.ipynb import read
from bookwheel.formats.registry import read as read_any
from bookwheel.model import Status
from bookwheel.text.chunking import chunk
from tests.formats.mutations import mutated

NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "authors": [{"name": "Ann"}, {"name": "Bob"}],
        "language_info": {"name": "Python"},
    },
    "cells": [
        {"cell_type": "markdown", "source": ["# Tides\n", "High and [low](a.md) water.\n"]},
        {
            "cell_type": "code",
            "source": "# no heading\nprint('```')",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["10%\r", "99%\r100%\n", "b"]},
                {
                    "output_type": "execute_result",
                    "data": {
                        "text/plain": "frame",
                        "text/html": "<b>rich</b>",
                        "image/png": "iVBO",
                    },
                },
                {"output_type": "display_data", "data": {"image/png": "iVBO"}},
                {"output_type": "display_data", "data": {"text/html": "<h2>only</h2><p>rich"}},
                {
                    "output_type": "error",
                    "ename": "E",
                    "evalue": "v",
                    "traceback": ["\x1b[0;31mNameError\x1b[0m", "line two"],
                },
            ],
        },
        {"cell_type": "raw", "source": "raw words"},
        {"cell_type": "markdown", "source": "![dot](data:image/png;base64,iVBORw0KGgo=) after"},
    ],
}

OLD = {
    "nbformat": 3,
    "metadata": {"name": ""},
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 2, "source": ["Old\n", "heading"]},
                {
                    "cell_type": "code",
                    "language": "julia",
                    "input": "x = 1",
                    "outputs": [
                        {"output_type": "pyout", "text": "1", "html": "<b>1</b>"},
                        {"output_type": "pyerr", "traceback": ["bad"]},
                    ],
                },
            ]
        }
    ],
}


def notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def markdown(source: object) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source}


@pytest.mark.requirement("X-028")
def test_cells_are_places_with_code_and_output_in_fences() -> None:
    parsed = read_any(json.dumps(NOTEBOOK).encode(), "a.ipynb")
    assert [place.label for place in parsed.places] == ["cell 1", "cell 2", "cell 3", "cell 4"]
    assert parsed.text == (
        "# Tides\nHigh and [low](a.md) water.\n\n"
        "````python\n# no heading\nprint('```')\n````\n\n"
        "```\n100%\nb\n```\n\n```\nframe\n```\n\n## only\n\nrich\n\n"
        "```\nNameError\nline two\n```\n\n```\nraw words\n```\n\n![dot](data:) after\n"
    )
    assert {found.pointer for found in chunk(parsed)} == {"cell 1", "cell 2", "cell 3", "cell 4"}


@pytest.mark.requirement("X-028")
def test_a_notebook_is_named_by_its_properties_or_first_heading() -> None:
    parsed = read(json.dumps(NOTEBOOK).encode(), "a.ipynb")
    assert (parsed.title, parsed.author) == ("Tides", "Ann, Bob")
    assert [link.target for link in parsed.links] == ["a.md"]
    named = NOTEBOOK | {"metadata": {"title": "Named"}}
    assert read(json.dumps(named).encode(), "a.ipynb").title == "Named"
    assert read(notebook(markdown("plain")), "dir/b.ipynb").title == "b"


def test_notebooks_of_version_3_have_worksheets_and_headings() -> None:
    parsed = read(json.dumps(OLD).encode(), "a.ipynb")
    assert parsed.text == "## Old heading\n\n```julia\nx = 1\n```\n\n```\n1\n```\n\n```\nbad\n```\n"


def test_a_fence_or_comment_left_open_ends_with_its_cell() -> None:
    cells = [markdown("```python\nx = 1"), markdown("<!-- note"), markdown("# Real")]
    parsed = read(notebook(*cells), "a.ipynb")
    assert [section.heading for section in parsed.sections] == ["Real"]


def test_long_outputs_are_cut_and_say_so() -> None:
    output = {"output_type": "stream", "text": "word " * 100_000}
    cell = {"cell_type": "code", "source": "x", "outputs": [output]}
    text = read(notebook(cell), "a.ipynb").text
    assert "(450,000 more characters)" in text
    assert len(text) < 60_000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" * 200_000, "its JSON is nested too deeply"),
        (b"{", "damaged JSON"),
        (b"[1, 2]", "JSON, but not a notebook"),
        (b'{"a": 1}', "JSON, but not a notebook"),
        (b'{"cells": [' + b"9" * 5_000 + b"]}", "damaged JSON"),
    ],
)
def test_what_is_no_notebook_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(data, "a.ipynb")
    assert caught.value.status is Status.UNREADABLE
    assert caught.value.reason.startswith(reason)


def test_half_letters_are_shown_as_unreadable() -> None:
    data = {"cells": [markdown("a\ud800b")], "metadata": {"title": "T\udfff"}}
    parsed = read(json.dumps(data).encode(), "a.ipynb")
    assert (parsed.title, parsed.text) == ("T\ufffd", "a\ufffdb\n")


def test_a_notebook_without_cells_has_no_text() -> None:
    with pytest.raises(Unreadable) as caught:
        read(notebook(), "a.ipynb")
    assert caught.value.status is Status.NO_TEXT


@pytest.mark.parametrize("wrong", [None, 5, {"a": 1}, [1, ["x"], None]])
def test_values_of_the_wrong_kind_are_passed_over(wrong: object) -> None:
    cells = [
        markdown(wrong),
        {"cell_type": wrong, "source": wrong},
        {"cell_type": "code", "source": "kept", "outputs": wrong, "language": wrong},
        {"cell_type": "code", "outputs": [wrong, {"output_type": wrong, "data": wrong}]},
        {"cell_type": "heading", "level": wrong, "source": "Kept"},
    ]
    data = {"nbformat": wrong, "metadata": wrong, "worksheets": wrong, "cells": cells}
    assert "kept" in read(json.dumps(data).encode(), "a.ipynb").text


@given(mutated(json.dumps(NOTEBOOK).encode()))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read(data, "a.ipynb").text
    except Unreadable:
        pass
