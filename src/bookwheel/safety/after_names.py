"""Values that stand after their names: in quotes, to the end of the line, or to the next space.

Reads them, and judges nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bookwheel.safety.values import has_digits_and_letters
from bookwheel.safety.wrapping import JOINT, end_of_joined
from bookwheel.safety.yaml_values import skip_properties

_QUOTE_PAIRS = {
    **{mark: mark for mark in ('\\"', "\\'", "&quot;", "&#39;", '"', "'", "`")},
    "“": "”",
    "„": "“",
    "«": "»",
    "‘": "’",
    "‹": "›",
    "「": "」",
    "『": "』",
}
_QUOTES = {opening.encode(): closing.encode() for opening, closing in _QUOTE_PAIRS.items()}
_LONG_QUOTES = {b'"""': b'"""', b"'''": b"'''", b"<![CDATA[": b"]]>"}
"""Those within which lines may end."""
_OPENING = re.compile(
    rb"(?:[rbuf@$]|rb)?(?:(%b)\s*|(%b))"
    % tuple(b"|".join(map(re.escape, each)) for each in (_LONG_QUOTES, _QUOTES))
)
_LINE_BEFORE = re.compile(
    rb"[ \t]*(?:> ?)*(?:\*\*?|__?|~~)?(?:export |set |ENV |ARG |env |\$env:|- |\* |\$|@|//|# ?|--)?"
    rb"[\w.\-:/]*[\"']?"
)
_EMPHASIS = re.compile(rb"(?:\*\*|__|~~|\*)$")
_REST = re.compile(rb"([^\s]+)(?:[ \t]+(?:[#;]|//)[^\n]*|[ \t]*)\r?(?:\n|$)")
_NEXT_LINE = re.compile(rb"\r?\n?(?:[ \t]*\r?\n)?[ \t]*")
LINE = re.compile(rb"[^\r\n]*")
"""What is left of a line."""
_BLANKS = re.compile(rb"\s{0,40}")
_NEXT_PAIR = re.compile(rb"[;&][\w .\-]{1,40}=")
_RUN = re.compile(rb"(?:[\w!@#$%^&*.-][\"'`](?=[\w])|[^\s\"'`<>\\]|\\[^nrt\"'\s])+")
_TRAILING = b".,;:)]}|*_>/"


class Value(NamedTuple):
    """What stands after a name, and how it stands there."""

    start: int
    end: int
    text: str
    quoted: bool
    fills_line: bool
    """It is all that follows its name, as in a file of settings."""


def read_value(data: bytes, start: int, at: int, sign: str) -> Value | None:
    """Read what stands after a sign: in quotes, or up to the next space."""
    if data[at : at + 1] in (b"\n", b"\r"):
        at = _NEXT_LINE.match(data, at).end()  # type: ignore[union-attr]  # matches always
        if sign not in (":", "=", "|", ">") or not _REST.match(data, at):
            return None
    at, in_block = skip_properties(data, at) if sign == ":" else (at, False)
    if in_block:
        return _read_line(data, at)
    if sign == "=" and data.startswith(b"(", at):
        at = _BLANKS.match(data, at + 1).end()  # type: ignore[union-attr]  # matches always
    opening = _OPENING.match(data, at)
    if opening is not None:
        if opening[1]:
            return _read_long(data, opening.end(), _LONG_QUOTES[opening[1]])
        return _read_quoted(data, opening.end(), opening[2])
    run = None if sign == "(" else _RUN.match(data, at)
    if run is None:
        return None
    if sign in ("=", ":") and _LINE_BEFORE.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start):
        line = _read_line(data, at)
        if line is not None:
            return line
    return _read_word(data, start, run, sign)


def _read_word(data: bytes, start: int, run: re.Match[bytes], sign: str) -> Value | None:
    """Read a value that ends before the next space, or sooner."""
    at, value = run.start(), run[0]
    pair = _NEXT_PAIR.search(value) if sign == "=" else None
    if pair is not None:
        value = value[: pair.start()]
    in_element = data.startswith(b"</", run.end())
    if sign == "|" and not in_element:
        value = value.partition(b"|")[0]
    is_variable = data[at - 1] == 61 and data[start : at - 1].isupper()  # NAME=value command
    closed = pair is not None or is_variable or (sign == ">" and in_element)
    value = value.rstrip(_TRAILING)
    is_element = in_element and data[at - 1] == 62  # <b>x</b>
    closed = closed or (is_element and has_digits_and_letters(value.decode("utf-8", "replace")))
    if value[:1] == b"(":  # (base64)
        at, value = at + 1, value[1:]
    if not value:
        return None
    return Value(at, at + len(value), value.decode("utf-8", "replace"), False, closed)


def _read_line(data: bytes, at: int) -> Value | None:
    """Read a value that is all that its line holds, but for a comment."""
    line = _REST.match(data, at)
    if line is None:
        return None
    value = _EMPHASIS.sub(b"", line[1].rstrip(b",;"))
    return Value(at, line.end(1), value.decode("utf-8", "replace"), False, True)


def _read_long(data: bytes, at: int, closing: bytes) -> Value | None:
    """Read a value in quotes within which lines may end: it is one line of them at most."""
    line = LINE.match(data, at)[0]  # type: ignore[index]  # matches always
    text, closed, _ = line.partition(closing)
    text = text.rstrip()
    if not text or (not closed and len(text.split()) > 1):  # several lines of prose or code
        return None
    return Value(at, at + len(text), text.decode("utf-8", "replace"), bool(closed), False)


def _read_quoted(data: bytes, at: int, opening: bytes) -> Value | None:
    closing = _QUOTES[opening]
    line = data.find(b"\n", at)
    limit = line if line >= 0 else len(data)
    end = data.find(closing, at, limit)
    while end > 0 and len(closing) == 1 and data[end - 1] == 92 and data[end - 2] != 92:
        end = data.find(closing, end + 1, limit)
    if end < 0:  # cut off before its end
        run = _RUN.match(data, at, limit)
        if run is None:
            return None
        end = run.end()
    last = end_of_joined(data, end)
    text = JOINT.sub(b"", data[at:last]) if last > end else data[at:end]
    return Value(at, last, text.decode("utf-8", "replace"), True, False)


def find_end(data: bytes, end: int) -> int:
    """Return where a value ends that is longer than what was looked at."""
    run = _RUN.match(data, end)
    return run.end() if run else end
