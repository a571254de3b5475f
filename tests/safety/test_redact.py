"""The door for text: what is invisible yet acts on a reader stays inside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.safety.redact import make_safe


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\U000e0041\U000e0042b", "ab"),
        ("a\u202eb\u2066c\u2069", "abc"),
        ("a\u2060\u2061\u2064b", "ab"),
        ("\ufeffa\x00\x1b[31mb\x7f\x85", "a[31mb"),
        ("a\u200bb", "a b"),
    ],
)
def test_invisible_characters_are_removed(hidden: str, shown: str) -> None:
    assert make_safe(hidden) == shown


@pytest.mark.parametrize(
    "text",
    ["می\u200cخواهم", "क्\u200dष", "👩\u200d👧", "line\nnext\ttab", "naïve — “quoted”", "e\u0301"],
)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert make_safe(text) == text


@given(st.text())
def test_safe_text_stays_as_it_is(text: str) -> None:
    assert make_safe(make_safe(text)) == make_safe(text)
