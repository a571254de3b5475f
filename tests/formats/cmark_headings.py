"""The reference for headings: what cmark-gfm's source positions say."""

from __future__ import annotations

import re

import cmarkgfm  # type: ignore[import-untyped] # the package has no stubs
from cmarkgfm.cmark import Options  # type: ignore[import-untyped] # the same

_HEADING = re.compile(r'<h([1-6]) data-sourcepos="(\d+):')


def cmark_headings(body: str, *, lines_before: int = 0) -> list[tuple[int, int]]:
    """Return level and line of each heading in Markdown without front matter."""
    # Raw HTML is left out by default, so every tag in the output is cmark's own.
    page = cmarkgfm.github_flavored_markdown_to_html(body, options=Options.CMARK_OPT_SOURCEPOS)
    return [(int(level), int(line) + lines_before) for level, line in _HEADING.findall(page)]
