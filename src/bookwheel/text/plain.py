"""Markdown as a reader sees it, on one line: the words without what only steers their look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

BREAK = " · "
"""Stands where a heading, a cell or a row of a table ends."""
_LINK_TARGET = re.compile(
    r"(?:!\[|\[)([^\]\[]*)\]\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)"
)
_TEXT_OF_LINK = itemgetter(1)
"""A template would be filled in by Python for each link."""
_UNSEEN = re.compile(r"\{(?:#[\w-]+|/\*.*?\*/)\}|<!--.*?-->", re.S)
"""Identifiers behind headings, and comments: no reader of the document sees them."""
_FENCE = re.compile(r"(?m)^[ \t]{0,3}(?:[-*+][ \t]+)?(?:```+|~~~+)[^\n`]*$")
_RULE = re.compile(r"(?m)^[ \t]{0,3}(?:---+|\*\*\*+|___+)[ \t]*$")
_HEADING = re.compile(r"(?m)^[ \t]{0,3}#{1,6}[ \t]+([^\n]*)$")
_UNDERLINED = re.compile(r"(?m)^([^\n]*\S)[ \t]*\n[ \t]{0,3}===+[ \t]*$")
_QUOTED = re.compile(r"(?m)^[ \t]{0,3}>[ \t]?")
_CALLOUT = re.compile(
    r"(?m)^[ \t]*(?:\[!(\w+)\][-+]?|:{3,}[ \t]*(?:\{?(\w[\w-]*)\}?)?"
    r"|(?:!!!|\?\?\?\+?)[ \t]+(\w[\w-]*))"
)
_BOX = re.compile(r"(?m)^([ \t]*[-*+])[ \t]+\[[ xX]\](?=[ \t])")
_BELOW_HEAD = re.compile(r"(?m)^(?=[^\n]*-)(?=[^\n]*\|)[ \t|:-]+$")
_ROW = re.compile(r"(?m)^[ \t]*\|([^\n]*)$")
_BREAKS = re.compile("·(?: ·)+")
_TURN = re.compile("<br[ \t]*/?>", re.I)
_MARKED = re.compile(
    r"(?P<tick>`+)(?=[^`])(?P<code>[^\n]*?)(?<=[^`])(?P=tick)(?!`)"
    r"|(?P<strong>\*\*|~~)(?=\S)(?P<bold>(?:`[^`\n]*`|[^`\n])*?)(?<=\S)(?P=strong)"
    r"|\*(?<![\w*]\*)(?=[^\s*])(?P<slanted>[^\n*]*?)(?<=[^\s*])\*(?![\w*])"
    r"|_(?<![\w/]_)(?=[^\W_])(?P<underscored>[^\n_]*?)(?<=[^\s_])_(?![\w/])"
)


_ESCAPED = re.compile(
    r"(?ms)(^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)|\Z)|`[^`\n]*`)"
    r"|\\(?=<[A-Za-z/!?])|^([ \t]*(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*)\\(?=[#>=`~*_-])"
)
"""Code, in which a backslash is one, or a backslash that keeps text from being structure."""
_ESCAPE = "\ue000"
"""Stands for such a backslash until structure has been dealt with."""

_LONGEST = 4_000
"""Characters that are looked at together: marks of emphasis are sought over all of them."""


def plain(markdown: str) -> str:
    """Return Markdown on one line, without what only steers its look."""
    if len(markdown) <= _LONGEST:
        return _plain(markdown)
    return " ".join(part for part in map(_plain, _parts(markdown)) if part)


def _parts(markdown: str) -> Iterator[str]:
    """Yield a long text in parts that end with a line, where there are lines."""
    start = 0
    while start < len(markdown):
        end = markdown.rfind("\n", start, start + _LONGEST) + 1 or start + _LONGEST
        end = len(markdown) if len(markdown) - start <= _LONGEST else end
        yield markdown[start:end]
        start = end


def _plain(markdown: str) -> str:
    is_escaped = "\\" in markdown
    text = seen(_ESCAPED.sub(_keep_code, markdown) if is_escaped else markdown)
    if "#" in text:
        text = _HEADING.sub(_ended, text)
    if "===" in text:
        text = _UNDERLINED.sub(_ended, text)
    if "---" in text or "***" in text or "___" in text:
        text = _RULE.sub("", text)
    if ">" in text:
        text = _QUOTED.sub("", text)
    if "[!" in text or ":::" in text or "!!!" in text or "???" in text:
        text = _CALLOUT.sub(_named, text)
    if "|" in text:
        text = _ROW.sub(_cells, _BELOW_HEAD.sub("", text))
    text = _without_marks(text)
    if is_escaped:
        text = text.replace(_ESCAPE, "")
    text = " ".join(text.split())
    return _BREAKS.sub("·", text).strip(" ·") if "·" in text else text


def _keep_code(found: re.Match[str]) -> str:
    return found[1] or (found[3] or "") + _ESCAPE


def seen(markdown: str) -> str:
    """Return Markdown without the words that no reader sees."""
    has_unseen = "{#" in markdown or "{/*" in markdown or "<!--" in markdown
    shown = _UNSEEN.sub("", markdown) if has_unseen else markdown
    if "```" in shown or "~~~" in shown:
        shown = _FENCE.sub("", shown)
    for _ in range(2):  # a picture may be a link
        shown = _LINK_TARGET.sub(_TEXT_OF_LINK, shown) if "](" in shown else shown
    return shown


def _without_marks(text: str) -> str:
    if "<" in text:
        text = _TURN.sub(" ", text)
    if "[ ]" in text or "[x]" in text or "[X]" in text:
        text = _BOX.sub(r"\1", text)
    return unmarked(text)


def unmarked(text: str) -> str:
    """Return text without the marks of emphasis and code; in code they are no marks."""
    if not ("`" in text or "*" in text or "_" in text or "~~" in text):
        return text
    return _MARKED.sub(_inside, text)


def _inside(marked: re.Match[str]) -> str:
    code = marked["code"]
    if code is not None:
        return code
    return unmarked(marked["bold"] or marked["slanted"] or marked["underscored"] or "")


def _ended(heading: re.Match[str]) -> str:
    """Return a heading with what parts it from its text, unless it ends by itself."""
    words = heading[1].rstrip()
    opened = words.rstrip("#")
    if not opened or opened[-1] in " \t":
        words = opened.rstrip()  # `# A heading #`, but not `# About C#`
    return words if not words or words[-1] in ".:!?…" else words + BREAK


def _named(callout: re.Match[str]) -> str:
    """Return the kind of a note as a word; its end has none."""
    name = callout[1] or callout[2] or callout[3] or ""
    return f"{name.capitalize()}: " if name else ""


def _cells(row: re.Match[str]) -> str:
    cells = row[1].rstrip().removesuffix("|")
    return cells.replace("\\|", "\0").replace("|", BREAK).replace("\0", "|") + BREAK
