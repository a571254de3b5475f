"""Markdown on one line as its reader sees it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.text.plain import plain, unmarked


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("## Set up\n\nRun it.", "Set up · Run it."),
        ("Set up\n===\nRun it.", "Set up · Run it."),
        ("# Why?\nSo.", "Why? So."),
        (
            "| a | b |\n| --- | :-: |\n| 1 |  |\n| x \\| y | `z` |\n\nEnd",
            "a · b · 1 · x | y · z · End",
        ),
        ("> [!NOTE]\n> Take **care**.", "Note: Take care."),
        (":::tip Read this\nIt *helps*.\n:::\nMore", "Tip: Read this It helps. More"),
        ('!!! warning "Hot"\n    Do not touch.', 'Warning: "Hot" Do not touch.'),
        ("- [ ] to do\n- [x] done", "- to do - done"),
        ("a **bold `x**y` end** b", "a bold x**y end b"),
        ("`**kwargs` and `**more`", "**kwargs and **more"),
        ("_so_ snake_case_name __init__ 2 * 3 * 4", "so snake_case_name __init__ 2 * 3 * 4"),
        ("[![badge](b.svg)](ci) [page](<a b.md>)", "badge page"),
        ("one<br/>two ~~three~~", "one two three"),
        ("```py title=x\na = b * c\n```", "a = b * c"),
        ("x\n\n***\n\ny", "x y"),
        ("Ann \\<ann@x.org> and \\</td>", "Ann <ann@x.org> and </td>"),
        ("\\# 3\n\\> no quote\n- \\--- x", "# 3 > no quote - --- x"),
        ("`\\<w` in\n```\n\\<td>\n```\nC:\\# \\d", "\\<w in \\<td> C:\\# \\d"),
        ("", ""),
    ],
)
def test_what_only_steers_the_look_is_gone(markdown: str, shown: str) -> None:
    assert plain(markdown) == shown


@pytest.mark.parametrize(
    "text", ["*" * 5000, "`" * 5001, "_a" * 3000, "[" * 5000, "|" * 5000, "**a" * 3000]
)
def test_very_many_marks_do_no_harm(text: str) -> None:
    assert plain(text) is not None


@given(st.text(alphabet="ab `*_~|#>-:![]()\n", max_size=80))
def test_no_word_is_lost_but_the_targets_of_links(text: str) -> None:
    if "](" not in text and "```" not in text and "~~~" not in text:
        assert sorted(filter(str.isalpha, plain(text).lower())) == sorted(filter(str.isalpha, text))


def test_a_title_goes_without_marks() -> None:
    assert unmarked("`:hover` CSS **pseudo**-class of a * b") == ":hover CSS pseudo-class of a * b"
