"""Markdown and MDX: title, description and tags by their priorities, sections and links."""

from __future__ import annotations

from bookwheel.formats.base import (
    require_length,
    shorten_description,
    shorten_title,
    title_from_path,
)
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.decoding import decode
from bookwheel.formats.frontmatter import read_front_matter
from bookwheel.formats.modules import without_modules
from bookwheel.model import Parsed
from bookwheel.text.plain import unmarked


def read(data: bytes, path: str) -> Parsed:
    """Read a Markdown file."""
    return read_text(require_length(decode(data)), path)


def read_text(text: str, path: str) -> Parsed:
    """Read Markdown that is decoded already."""
    front = read_front_matter(text)
    head = text[: front.body]
    start = front.span[1] if front.span else 0
    body, code = without_modules(text[front.body :])
    outline = read_outline(body, offset=start, line=1 + head.count("\n"))
    return Parsed(
        title=shorten_title(unmarked(front.title or "") or outline.title) or title_from_path(path),
        description=shorten_description(front.description or outline.description),
        text=text,
        tags=front.tags,
        date=front.date,
        language=front.language,
        source=front.source,
        url=front.url,
        aliases=front.aliases,
        sections=outline.sections,
        links=outline.links,
        quiet=((front.span,) if front.span else ())
        + tuple((start + first, start + last) for first, last in code),
    )
