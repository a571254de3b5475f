"""Lines of MDX that fetch or give out code: no reader of the page sees them."""

from __future__ import annotations

import re

from bookwheel.formats.blocks import Span

_MODULE = re.compile(
    r"""^import\s(?:[\w*\s{},$]{1,500}?\sfrom\s)?\s*["'][^"'\n]+["'];?[ \t]*$"""
    r"""|^export\s(?:const|let|var)\s[^\n]*;[ \t]*$""",
    re.M,
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.M)


def without_modules(body: str) -> tuple[str, list[Span]]:
    """Return Markdown with such lines blank, and where they stood, in bytes."""
    found = list(_MODULE.finditer(body)) if "import" in body or "export" in body else []
    spans = [each.span() for each in found if not _is_fenced(body, each.start())]
    at = size = 0
    parts: list[str] = []
    quiet: list[Span] = []
    for start, end in spans:
        before, blank = body[at:start], body[start:end].encode()
        size += len(before.encode())
        quiet.append((size, size + len(blank)))
        size += len(blank)
        parts += (before, re.sub(rb"[^\n]", b" ", blank).decode())
        at = end
    return "".join((*parts, body[at:])), quiet


def _is_fenced(body: str, at: int) -> bool:
    """Tell whether a place lies in a block of code."""
    opened = ""
    for fence in _FENCE.finditer(body, 0, at):
        if not opened:
            opened = fence[1]
        elif fence[1].startswith(opened):
            opened = ""
    return bool(opened)
