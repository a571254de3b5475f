"""One table in a TOML settings file: put in or taken out as text, so that all else stays as it is.

Only whole tables under their own header are found. Whoever calls checks the result by reading it
again, which also finds the files where the text means something else than it looks like.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[(?!\[)([^\r\n]*?)\][ \t]*(#[^\r\n]*)?(?=\r?$)", re.MULTILINE)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a text says."""
    return tomllib.loads(text)


def put_toml(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    """Return the text with the table in place of the old one, else at the end."""
    newline = _newline_of(text)
    lines = [f"[{section}.{write_key(name)}]"]
    lines += [f"{write_key(key)} = {write_value(value)}" for key, value in entry.items()]
    table = newline.join(lines) + newline
    spans = _find_spans(text, section, name)
    if not spans:
        return text + _gap(text, newline) + table
    for start, end in reversed(spans[1:]):
        text = text[:start] + text[end:]
    start, end = spans[0]
    return text[:start] + table + text[end:]


def drop_toml(text: str, section: str, name: str) -> str:
    """Return the text without the table and those below it."""
    newline = _newline_of(text)
    for start, end in reversed(_find_spans(text, section, name)):
        before, after = text[:start].rstrip(), text[end:]
        text = before + newline + after if before else after.lstrip("\r\n")
    return text


def _newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str, newline: str) -> str:
    """Return what parts a text from a table put after it: the end of its line, an empty line."""
    if not text.strip():
        return ""
    missing = 2 - len(re.search(r"(\r?\n){0,2}\Z", text)[0].replace("\r", ""))  # type: ignore[index] # matches always
    return newline * missing


def _find_spans(text: str, section: str, name: str) -> list[tuple[int, int]]:
    """Return where the table and the tables below it stand, without the comments that follow."""
    spans = []
    for header in _HEADER.finditer(text):
        if _read_key(header[1])[:2] != [section, name]:
            continue
        following = _ANY_HEADER.search(text, header.end())
        end = following.start() if following else len(text)
        spans.append((header.start(), header.end() + _length(text[header.end() : end])))
    return spans


def _length(body: str) -> int:
    """Return how far a table's own lines go: to the last that is neither blank nor a comment."""
    length = place = 0
    for line in body.splitlines(keepends=True):
        place += len(line)
        if (line.strip() and not line.lstrip().startswith("#")) or place == len(line):
            length = place
    return length


def _read_key(dotted: str) -> list[str]:
    """Return the parts of a dotted key, however they are quoted; nothing for what is no key."""
    try:
        value: Any = tomllib.loads(f"[{dotted}]")
    except tomllib.TOMLDecodeError:
        return []
    parts = []
    while value:
        ((part, value),) = value.items()
        parts.append(part)
    return parts


def write_key(key: str) -> str:
    """Return a key, bare where that is allowed."""
    return key if _BARE.fullmatch(key) else _write_text(key)


def write_value(value: Any) -> str:
    """Return a value on one line; raises ValueError for kinds that have no such form here."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(write_value, value)) + "]"
    if isinstance(value, dict):
        pairs = (f"{write_key(key)} = {write_value(each)}" for key, each in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    raise ValueError(f"a value of type {type(value).__name__} cannot be moved")


def _write_text(text: str) -> str:
    """Return a basic string: JSON escapes all that TOML wants escaped, save one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
