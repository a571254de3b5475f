"""Documents whose pages and chapters are known but do not stand in their text, as in PDF files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from bookwheel.reading.sections import Heading
from bookwheel.serve.site.markdown import Anchor, Rendered, Resolve, render, slug

_DEEPEST = 6


class _Stretch(NamedTuple):
    """Some lines of a text and the headings above them."""

    first_line: int
    text: str
    headings: Sequence[Heading]


def render_paged(
    text: str,
    resolve: Resolve,
    headings: Sequence[Heading],
    *,
    first_line: int = 1,
    line: int | None = None,
) -> Rendered:
    """Return a text as HTML with each heading above the line where it begins.

    `headings` count lines of the document, of which the text begins with `first_line`; `line` is
    one of the text's own.
    """
    used: dict[str, int] = {}
    html: list[str] = []
    anchors: list[Anchor] = []
    for stretch in _split(text, headings, first_line):
        for heading in stretch.headings:
            anchor = _anchor(heading, used)
            level = anchor.level
            words = escape(anchor.text)
            html.append(f'<h{level} class="page" id="{escape(anchor.id)}">{words}</h{level}>\n')
            anchors.append(anchor)
        lines = stretch.text.count("\n") + 1
        inside = None if line is None else line - stretch.first_line + 1
        is_here = inside is not None and 1 <= inside <= lines
        shown = render(stretch.text, resolve, line=inside if is_here else None, used=used)
        html.append(shown.html)
        anchors += shown.anchors
    return Rendered("".join(html), tuple(anchors))


def _anchor(heading: Heading, used: dict[str, int]) -> Anchor:
    """Return a heading one level down: the title of the page stands above all of them."""
    text = " ".join(heading.text.split())
    return Anchor(min(heading.level + 1, _DEEPEST), text or "§", slug(text, used))


def _split(text: str, headings: Sequence[Heading], first_line: int) -> Iterator[_Stretch]:
    lines = text.split("\n")
    above: dict[int, list[Heading]] = {1: []}
    for heading in headings:
        begin = heading.line - first_line + 1
        if 1 <= begin <= len(lines):
            above.setdefault(begin, []).append(heading)
    begins = sorted(above)
    for begin, end in zip(begins, [*begins[1:], len(lines) + 1], strict=True):
        yield _Stretch(begin, "\n".join(lines[begin - 1 : end - 1]), above[begin])
