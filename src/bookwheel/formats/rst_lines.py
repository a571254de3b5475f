"""Lines of reStructuredText: where blocks end, what belongs to an item or a directive."""

from __future__ import annotations

import re

_OPTION = re.compile(r":([\w-]+):(?:\s+(.*)|$)")

Lines = list[str]


def line_at(lines: Lines, at: int) -> str:
    """Return a line, or nothing behind the last one."""
    return lines[at] if at < len(lines) else ""


def paragraph_end(lines: Lines, at: int) -> int:
    """Return the next blank line."""
    while at < len(lines) and lines[at].strip():
        at += 1
    return at


def indented(lines: Lines, at: int) -> tuple[Lines, int]:
    """Return the indented lines from here on, without their indent, and the line behind them."""
    end = at
    while end < len(lines) and (lines[end][:1] == " " or not lines[end].strip()):
        end += 1
    inside = lines[at:end]
    while inside and not inside[-1].strip():
        inside.pop()
    return dedent(inside), at + len(inside)


def dedent(lines: Lines) -> Lines:
    """Return the lines without the indent that they share."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents, default=0)
    return [line[least:].rstrip() for line in lines]


def literal_block(lines: Lines, at: int) -> tuple[str, int]:
    """Return the code under a text that ends with two colons: indented, or quoted by a mark."""
    start = at
    while start < len(lines) and not lines[start].strip():
        start += 1
    first = line_at(lines, start)
    if first.startswith(" "):
        inside, end = indented(lines, start)
        return "\n".join(inside), end
    if first and start > at and not first[0].isalnum() and first[0] in ">|#%$":
        end = paragraph_end(lines, start)
        return "\n".join(lines[start:end]), end
    return "", at


def item_end(lines: Lines, at: int, marker: str) -> int:
    """Return the line behind an item: what is indented belongs to it, and blanks before such."""
    indent = " " * min(len(marker), 2)
    end = at = at + 1
    while at < len(lines):
        if lines[at].startswith(indent) and lines[at].strip():
            end = at + 1
        elif lines[at].strip():
            break
        at += 1
    return end


def item_marker(marker: str, index: int) -> str:
    """Return the mark of a list item in Markdown."""
    if marker[0] in "-*+\u2022":
        return "- "
    number = marker.strip("(). ")
    if number.isdecimal():
        return f"{number}. "
    return f"{index + 1}. " if number == "#" else f"- {marker.strip()} "


def list_item(marker: str, blocks: list[str]) -> str:
    """Return a list item with what stands in it."""
    indent = " " * (2 if marker[0] == "-" else len(marker))
    lines = "\n\n".join(blocks).split("\n")
    return "\n".join([marker + lines[0], *(indent + line if line else "" for line in lines[1:])])


def options_of(inside: Lines, argument: str) -> tuple[dict[str, str], Lines, str]:
    """Part what follows a directive: the rest of its argument, its options, its content."""
    at = 0
    while at < len(inside) and inside[at].strip() and not _OPTION.match(inside[at]):
        at += 1
    head: Lines = []
    if argument and at < len(inside) and at and _OPTION.match(inside[at]):
        head, inside = inside[:at], inside[at:]
    options: dict[str, str] = {}
    at, last = 0, ""
    while at < len(inside) and inside[at].strip():
        if found := _OPTION.match(inside[at]):
            last = found[1].lower()
            options[last] = (found[2] or "").strip()
        elif last and inside[at].startswith(" "):
            options[last] += " " + inside[at].strip()
        else:
            break
        at += 1
    return options, inside[at:], " ".join([argument, *map(str.strip, head)]).strip()
