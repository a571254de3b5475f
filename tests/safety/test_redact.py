"""The door for text: what is invisible yet acts on a reader stays inside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.model import Redact, Span
from bookwheel.safety.finding import redact_text
from bookwheel.safety.redact import Moves, cover, in_bytes, make_safe


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
def test_t21_invisible_characters_are_removed(hidden: str, shown: str) -> None:
    assert make_safe(hidden) == shown


@pytest.mark.parametrize(
    "text",
    ["می\u200cخواهم", "क्\u200dष", "👩\u200d👧", "line\nnext\ttab", "naïve — “quoted”", "e\u0301"],
)
def test_t21_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert make_safe(text) == text


@given(st.text())
def test_safe_text_stays_as_it_is(text: str) -> None:
    assert make_safe(make_safe(text)) == make_safe(text)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8, unique=True))
def test_what_lies_between_the_spans_is_found_where_it_was_moved_to(
    data: bytes, edges: list[int]
) -> None:
    edges = sorted(edge for edge in edges if edge <= len(data))
    spans = [Span(a, b, "key") for a, b in zip(edges[::2], edges[1::2], strict=False)]
    covered, moved = cover(data, spans), Moves(data, spans)
    borders = [0, *(edge for span in spans for edge in span[:2]), len(data)]
    for start, end in zip(borders[::2], borders[1::2], strict=True):
        assert covered[moved(start) : moved(end)] == data[start:end]
    for span in spans:
        named = covered[moved(span.start) : moved(span.end)]
        assert named.startswith(b"[redacted:key]")
        assert all(moved(at) == moved(span.start) for at in range(span.start, span.end))
    assert covered.count(b"\n") == data.count(b"\n")


@given(st.binary(max_size=40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_t26_a_stretch_shows_nothing_of_a_span_that_reaches_into_it(
    data: bytes, start: int, first: int, last: int
) -> None:
    data = bytes(0x80 | byte for byte in data)  # no letter of the name that takes its place
    stretch = cover(data[start:], [Span(first, last, "key")] if first < last else [], start=start)
    shown = [byte for at, byte in enumerate(data) if at >= start and not first <= at < last]
    assert [byte for byte in stretch if byte >= 0x80] == shown


@given(st.text(max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_spans_in_characters_become_spans_in_bytes(text: str, first: int, last: int) -> None:
    first, last = sorted((min(first, len(text)), min(last, len(text))))
    text = text.encode(errors="replace").decode()
    (span,) = in_bytes(text, [Span(first, last, "key")])
    assert text.encode()[span.start : span.end].decode() == text[first:last]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("see ann@example.com.txt", "see [redacted:email].txt"),
        ("ann@mail.example.de.tar.gz", "[redacted:email].tar.gz"),
        ("a%40example.com.csv", "[redacted:email].csv"),
        ("logo@2x.png jquery@3.6.min.js getty@tty1.service", None),
    ],
)
def test_t26_an_address_that_a_file_is_called_after_is_hidden(
    text: str, hidden: str | None
) -> None:
    assert redact_text(text, Redact.ALL) == (hidden or text)
