"""Markup within AsciiDoc text: attributes, links and macros, and the cells of tables."""

from __future__ import annotations

import re

from bookwheel.formats.composing import cell, convert_marks, link, plain, table

_ATTRIBUTE = re.compile(r"^:([\w-]+):[ \t]+(\S.*?)[ \t]*$", re.M)
_USED = re.compile(r"\{([\w-]+)\}")
_INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|(?:link:|xref:)(?P<target>[^\s\[\]]+)\[(?P<text>[^\]]*)\]"
    r"|(?P<url>(?:https?|ftp|irc|mailto):[^\s\[\]<>]+)\[(?P<label>[^\]]*)\]"
    r"|<<(?P<near>[^<>,]+)(?:,(?P<called>[^<>]*))?>>"
    r"|image::?(?P<image>[^\s\[\]]+)\[(?P<alt>[^\]]*)\]"
    r"|(?:kbd|btn|menu|pass|stem|icon|footnote):(?:\w[\w-]*)?\[(?P<macro>[^\]]*)\]"
    r"|\[\[(?P<anchor>[^\]]+)\]\]|\[(?P<role>[.#][\w.#-]+)\](?=[#*_`])"
)
_CELL = re.compile(
    r"(?:(?:^|(?<=\s))(?:\d+[+*]|\.\d+\+|\d+\.\d+\+)?[<^>.]{0,4}[adehlmsv]?)?(?<!\\)\|"
)
_COLUMNS = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\]]+))")
_REPEATED = re.compile(r"(\d+)\*")
_MAX_COLUMNS = 200
_LONGEST_FILLED = 2_000
"""Characters of an attribute that is made of others, which could grow without end."""


def attribute_lines(text: str) -> dict[str, str]:
    """Return the attributes that a document sets; one may be made of those before it."""
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        filled = _fill(value, attributes)
        attributes[name.lower()] = filled if len(filled) <= _LONGEST_FILLED else value
    return attributes


def _fill(text: str, attributes: dict[str, str]) -> str:
    if "{" not in text:
        return text
    return _USED.sub(lambda found: attributes.get(found[1].lower(), found[0]), text)


def inline(text: str, attributes: dict[str, str]) -> str:
    """Return a text with its links in Markdown and its attributes filled in."""
    return convert_marks(_fill(text, attributes), _INLINE, _shown)


def _shown(found: re.Match[str]) -> str:
    if found["code"]:
        return found["code"]
    if found["anchor"] or found["role"]:
        return ""
    if found["near"]:
        target = found["near"].strip()
        return link(found["called"] or target.lstrip("#"), "#" + target.lstrip("#"))
    if found["image"]:
        return plain(_first(found["alt"]))
    if found["target"] or found["url"]:
        target = found["target"] or found["url"]
        return link(_first(found["text"] or found["label"] or ""), target)
    return f" ({plain(found['macro'])})" if found[0].startswith("footnote") else found["macro"]


def _first(text: str) -> str:
    """Return the text of a link or image without the settings behind it."""
    quoted = re.match(r"\s*\"([^\"]*)\"", text)
    return quoted[1] if quoted else re.split(r",(?=\s*\w+=)|\^(?=,|$)", text)[0].strip()


def table_text(lines: list[str], settings: str, attributes: dict[str, str]) -> str:
    """Return a table; its rows are as long as its settings or its first line say."""
    first = next((line for line in lines if line.strip()), "")
    width = _width(settings) or max(1, len(_CELL.findall(first)))
    cells = [part.replace("\\|", "|") for part in _CELL.split("\n".join(lines))[1:]]
    shown = [cell(inline(" ".join(text.split()), attributes)) for text in cells]
    rows = [shown[at : at + width] for at in range(0, len(shown), width)]
    return table(rows) if rows else ""


def _width(settings: str) -> int:
    found = _COLUMNS.search(settings)
    if not found:
        return 0
    value = found[1] or found[2] or found[3]
    columns = re.split(r"[,;]", value)
    repeated = [_REPEATED.search(column) for column in columns]
    return min(_MAX_COLUMNS, sum(int(many[1][:4]) if many else 1 for many in repeated))
