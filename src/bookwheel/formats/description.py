"""Which paragraph of a Markdown file can stand as its description."""

from __future__ import annotations

import re

_MODULE_LINE = re.compile(
    r"import\s+(?:[\"']|.+?\sfrom\s+[\"'])"
    r"|export\s+(?:default\b|const\b|let\b|var\b|function\b|async\b|class\b|\{|\*)",
    re.S,
)
_MARKER_LINE = re.compile(
    r"^[ \t]*(?:\[![a-z]+\][+-]?|:::+.*|(?:!!!|\?\?\?)\+?[ \t]+\w.*|\[\[?_?TOC_?\]?\])[ \t]*$\n?",
    re.M | re.I,
)
_MARKER_HINTS = ("[!", ":::", "!!!", "???", "[TOC", "[[_TOC")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{/\*.*?\*/\}|<[A-Za-z/][^<>]*>", re.S)
_JSX_START = re.compile(r"<(?:[A-Za-z/][\w.:-]*(?:[\s/>]|$)|>)|\{[^}]*\}$")
_WORD = re.compile(r"\w")
_LONGEST_LOOKED_AT = 5_000


def describe(paragraph: str) -> str:
    """Return what the paragraph tells a reader, or nothing when it is markup for a machine."""
    text = paragraph[:_LONGEST_LOOKED_AT].strip()
    if text.startswith(("import", "export")) and _MODULE_LINE.match(text):
        return ""
    if any(hint in text for hint in _MARKER_HINTS):
        text = _MARKER_LINE.sub("", text).strip()
    if text.startswith(("<", "{")) and _JSX_START.match(text):
        return ""
    bare = _TEMPLATE.sub("", text) if "{" in text or "<" in text else text
    return text if _WORD.search(bare) else ""
