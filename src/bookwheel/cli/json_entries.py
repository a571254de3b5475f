"""One entry in a JSON settings file: put in or taken out as text, so that all else stays as it is.

Indentation, order, comments and the spelling of values are the owner's; this only ever changes
the entry itself and the comma beside it. Whoever calls checks the result by reading it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<comment>//[^\r\n]*|/\*.*?\*/)|[{}\[\]:,]|[^\s"{}\[\]:,/]+',
    re.DOTALL,
)
_OPENING, _CLOSING = frozenset("{["), frozenset("}]")


class Member(NamedTuple):
    """Where a member of an object stands: its key, its value, and the comma after it if any."""

    key: str
    start: int
    value: int
    end: int
    comma: int | None


class Table(NamedTuple):
    """Where an object stands: its braces, its members, the end of what comes before the last."""

    opening: int
    closing: int
    members: list[Member]
    tail: int

    def find(self, key: str) -> Member | None:
        """Return a member by key; of several the last, as readers of JSON do."""
        return next((each for each in reversed(self.members) if each.key == key), None)


def parse_json(text: str, *, comments: bool) -> Any:
    """Return what a text says; with `comments`, comments and trailing commas are passed over."""
    return json.loads(_without_comments(text) if comments else text)


def put_json(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    """Return the text with the entry in the section; both are made when they are missing."""
    if not text.strip():
        return json.dumps({section: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    root = _read_table(text, text.index("{", _start_of_value(text)))
    part = root.find(section)
    if part is None:
        return _add(text, root, section, {name: entry})
    table = _read_table(text, part.value)
    found = table.find(name)
    if found is None:
        return _add(text, table, name, entry)
    value = _write(entry, _Style.of(text), _indent_at(text, found.start))
    return text[: found.value] + value + text[found.end :]


def drop_json(text: str, section: str, name: str) -> str:
    """Return the text without the entry, which must be there."""
    root = _read_table(text, text.index("{", _start_of_value(text)))
    part = root.find(section)
    table = _read_table(text, part.value) if part else root
    found = table.find(name)
    if part is None or found is None:
        raise KeyError(name)
    end = found.end if found.comma is None else found.comma + 1
    place = table.members.index(found)
    alone = text[table.opening + 1 : found.start] + text[end : table.closing]
    if not alone.strip():
        return text[: table.opening + 1] + text[table.closing :]
    start, end = _whole_lines(text, found.start, end)
    kept = text[:start] + text[end:]
    before = table.members[place - 1] if place else None
    if found.comma is None and before is not None and before.comma is not None:
        kept = kept[: before.comma] + kept[before.comma + 1 :]
    return kept


def _start_of_value(text: str) -> int:
    return next(token.start() for token in _TOKEN.finditer(text) if not token["comment"])


def _without_comments(text: str) -> str:
    """Blank out comments and trailing commas; places stay, so that error messages fit."""
    letters = list(text)
    comma = None
    for token in _TOKEN.finditer(text):
        if token["comment"]:
            letters[token.start() : token.end()] = " " * len(token[0])
            continue
        if token[0] in _CLOSING and comma is not None:
            letters[comma] = " "
        comma = token.start() if token[0] == "," else None
    return "".join(letters)


def _read_table(text: str, opening: int) -> Table:
    """Find the members of the object that opens here; the text is known to be sound."""
    members: list[Member] = []
    pending: list[_Part] = []  # the key, the colon and the value
    tail = opening + 1
    for part in _read_parts(text, opening):
        if part.text in (",", "}"):
            if pending:
                key, _, value = pending
                comma = part.start if part.text == "," else None
                member = Member(json.loads(key.text), key.start, value.start, value.end, comma)
                members.append(member)
                pending = []
            if part.text == "}":
                return Table(opening, part.start, members, tail)
        elif not part.comment:
            pending.append(part)
        tail = part.end
    raise ValueError("the object has no end")


class _Part(NamedTuple):
    """A piece of an object: a mark, a comment, a key, or a whole value."""

    text: str
    start: int
    end: int
    comment: bool = False


def _read_parts(text: str, opening: int) -> Iterator[_Part]:
    """Give the pieces of the object that opens here, up to the brace that closes it."""
    depth, start = 0, opening
    for token in _TOKEN.finditer(text, opening + 1):
        mark = token[0]
        if mark in _OPENING:
            start = token.start() if depth == 0 else start
            depth += 1
        elif mark in _CLOSING and depth:
            depth -= 1
            if depth == 0:
                yield _Part(text[start : token.end()], start, token.end())
        elif depth == 0:
            yield _Part(mark, token.start(), token.end(), bool(token["comment"]))


class _Style(NamedTuple):
    """How a file is laid out."""

    unit: str
    newline: str

    @classmethod
    def of(cls, text: str) -> _Style:
        unit = re.search(r'^([ \t]+)"', text, re.MULTILINE)
        return cls(unit[1] if unit else "  ", "\r\n" if "\r\n" in text else "\n")


def _write(value: Any, style: _Style, indent: str) -> str:
    text = json.dumps(value, indent=style.unit, ensure_ascii=False)
    return text.replace("\n", style.newline + indent)


def _add(text: str, table: Table, key: str, value: Any) -> str:
    """Put a member at the end of an object, laid out as its neighbours are."""
    style = _Style.of(text)
    name = json.dumps(key, ensure_ascii=False) + ": "
    last = table.members[-1] if table.members else None
    tail, closing, comma = table.tail, table.closing, ""
    if last is not None and last.comma is None:
        text = text[: last.end] + "," + text[last.end :]
        tail, closing = tail + 1, closing + 1
    elif last is not None:
        comma = ","  # whoever ends a list with a comma wants to go on doing so
    if last is not None and "\n" not in text[table.opening : closing]:
        member = f" {name}{json.dumps(value, ensure_ascii=False)}{comma}"
        return text[:tail] + member + text[tail:]
    outer = _indent_at(text, table.opening)
    own_line = last is not None and not text[: last.start].rpartition("\n")[2].strip()
    indent = _indent_at(text, last.start) if last is not None and own_line else outer + style.unit
    between = text[tail:closing]
    after = between if "\n" in between else style.newline + outer
    member = f"{style.newline}{indent}{name}{_write(value, style, indent)}{comma}"
    return text[:tail] + member + after + text[closing:]


def _indent_at(text: str, place: int) -> str:
    """Return the white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a place to its whole lines when nothing else stands on them."""
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(\r?\n|\Z)").match(text, end)
    if text[line:start].strip() or rest is None:
        return start, end
    return line, rest.end()
