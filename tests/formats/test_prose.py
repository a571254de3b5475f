"""Tests of what describes a document."""

from __future__ import annotations

import pytest

from bookwheel.formats.prose import choose_prose


@pytest.mark.parametrize(
    ("paragraphs", "description"),
    [
        ((), ""),
        (("Hi,", "we meet at noon."), "we meet at noon."),
        (("Hi Ann,", "Regards"), "Hi Ann,"),
        (("1. An item of a list.", "Plain mail.", "It says more."), "Plain mail."),
        (("Title", "By Ann"), "By Ann"),
        (("Scope ........ 12", "Aims\tiv", "[Costs\t3](#c)", "Ann"), "Ann"),
        (("See [the guide](https://x.org) first.",), "See the guide first."),
        (("See table 3", "Nothing is to be seen here"), "See table 3"),
        (("\u7b2c1\u7ae0", "\u4e00" * 20), "\u4e00" * 20),
        (("Ann", "five words that have no stop"), "Ann"),
        (("Ann", "five words which do without any stop"), "five words which do without any stop"),
    ],
)
def test_the_first_prose_is_chosen(paragraphs: tuple[str, ...], description: str) -> None:
    assert choose_prose(paragraphs, "title") == description


@pytest.mark.parametrize("text", ["." * 300_000, ". " * 100_000, "\t" * 300_000, "[" * 100_000])
def test_very_many_marks_do_no_harm(text: str) -> None:
    assert choose_prose([f"a{text}b"] * 40, "") is not None
