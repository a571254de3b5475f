"""One walk over the events of a Markdown parser: headings, links and the first paragraph."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple, cast

import pyromark

from bookwheel.formats.base import MAX_LINKS, MAX_SECTIONS
from bookwheel.formats.description import describe
from bookwheel.formats.links import (
    MAX_LINK_TEXT,
    MAX_TARGET,
    find_references,
    find_wikilinks,
    sentence_around,
)
from bookwheel.model import Link, Section
from bookwheel.text.cut import cut
from bookwheel.text.targets import WIKILINK

# Identifiers that some tools write behind a heading: `{#name}`, in MDX `{/* #name */}`.
_HEADING_MARK = re.compile(r"\s*\{(?:#[\w-]+|/\*.*?\*/)\}\s*$")
MAX_HEADING = 300

_PARSER = pyromark.Markdown(
    # Footnotes and wikilinks stay off: both had superlinear or wrong cases in the parser.
    options=pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS,
)
_KINDS = {"Inline": "inline", "Autolink": "autolink", "Email": "autolink"}
_RAW_TITLE = re.compile(r"<h1\b[^>]*>(.*?)</h1\s*>", re.S | re.I)
_TAG = re.compile(r"<[^>]*>")
_EMPHASIS = frozenset({"Emphasis", "Strong", "Strikethrough"})
_INSIDE_BLOCK = _EMPHASIS | {"TableCell"}
_LEAVES = frozenset({"Paragraph", "Item", "TableRow", "TableHead", "HtmlBlock"})
_CONTAINERS = frozenset({"List", "BlockQuote", "Table"})

Span = tuple[int, int]
_Mark = tuple[str, str, str, int, int, int, int]
"""A link in the open block: kind, target, shown text, first part, place in it, end part, line."""
_Events = Iterator[tuple[dict[str, Any], dict[str, int]]]
Tag = dict[str, Any]
"""An opening or closing tag as the parser hands it over: its name and what belongs to it."""


class Outline(NamedTuple):
    """What a walk finds: sections and links in order, and the texts that can name the document."""

    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    title: str
    description: str


def read_outline(
    body: str, *, offset: int = 0, line: int = 1, quiet: tuple[Span, ...] = ()
) -> Outline:
    """Walk Markdown that begins `offset` bytes and at this line into its document's text.

    Headings and links in the quiet spans (bytes of the body) are passed over.
    """
    walk = _Walk(body, offset=offset, line=line, quiet=quiet)
    walk.run(body)
    return Outline(
        sections=tuple(nest(walk.headings, offset + len(walk.data), walk.last_line())),
        links=tuple(walk.links),
        title=walk.title or walk.raw_title(),
        description=walk.paragraph or walk.elsewhere,
    )


def nest(headings: list[tuple[int, str, int, int]], end: int, end_line: int) -> list[Section]:
    """Give each heading its end: the next heading that is not deeper."""
    sections: list[Section] = []
    following: list[tuple[int, int, int]] = []
    for level, heading, start, line in reversed(headings):
        while following and following[-1][0] > level:
            following.pop()
        stop, stop_line = following[-1][1:] if following else (end, end_line + 1)
        sections.append(Section(level, heading, start, stop, line, max(line, stop_line - 1)))
        following.append((level, start, line))
    sections.reverse()
    return sections


class _Walk:
    """The state of one walk; `parts` holds the plain text of the block that is open."""

    def __init__(self, body: str, *, offset: int, line: int, quiet: tuple[Span, ...]) -> None:
        self.data = body.encode()
        self.offset = offset
        self.line = line
        self.counted = 0
        self.quiet = list(reversed(quiet))
        self.headings: list[tuple[int, str, int, int]] = []
        self.links: list[Link] = []
        self.title = ""
        self.paragraph = ""
        self.elsewhere = ""
        self.raw_at = -1
        self.parts: list[str] = []
        self.alts: list[str] = []
        self.images: list[int] = []
        self.marks: list[_Mark] = []
        self.open_link: tuple[str, str, int, int, int] | None = None
        self.open_heading: tuple[int, int, int] = (0, 0, 0)
        self.depth = 0
        self.in_code = False
        self.in_table = False

    def run(self, body: str) -> None:
        # The hot loop of indexing: text, code and emphasis are dealt with without a call.
        parts, append = self.parts, self.parts.append
        events = cast(_Events, _PARSER.events_with_range(body, merge_text=True))
        for event, span in events:
            if "Text" in event:
                value = event["Text"]
                append(value)
                if (
                    "://" in value
                    or "[[" in value
                    or "www." in value
                    or "10." in value
                    or "rXiv:" in value
                ):
                    self.find_in_text(value, span["start"], span["end"])
            elif "Start" in event:
                value = event["Start"]
                if value.__class__ is dict:
                    self.open_tag(value, span["start"])
                elif parts and value not in _INSIDE_BLOCK:
                    self.close_block("")
            elif "End" in event:
                value = event["End"]
                if value.__class__ is dict or value not in _EMPHASIS:
                    self.close_tag(value if value.__class__ is str else next(iter(value)))
            elif "Code" in event:
                append(event["Code"])
            else:
                self.pass_by(event, span["start"])

    def pass_by(self, event: dict[str, Any] | str, start: int) -> None:
        """Take note of line breaks and rules, which come as words, and of raw HTML."""
        if isinstance(event, str):
            self.parts.append("\n")
        elif self.raw_at < 0 and "<h1" in event.get("Html", "")[:200].lower():
            self.raw_at = start

    def open_tag(self, tag: Tag, start: int) -> None:
        if "Link" in tag:
            link = tag["Link"]
            kind = _KINDS.get(link["link_type"], "reference")
            line = self.line_at(start)
            self.open_link = (kind, _target(link), len(self.parts), len(self.alts), line)
        elif "Image" in tag:
            self.images.append(len(self.parts))
        else:
            if self.parts:
                self.close_block("")
            self.open_block(tag, start)

    def open_block(self, tag: Tag, start: int) -> None:
        if "Heading" in tag:
            level = int(tag["Heading"]["level"][1])
            self.open_heading = (level, start, self.line_at(start))
            self.alts.clear()
        elif "CodeBlock" in tag:
            self.in_code = True
        else:
            self.depth += "BlockQuote" not in tag  # what is quoted first describes a text too
            self.in_table = "Table" in tag

    def close_tag(self, name: str) -> None:
        if name in _LEAVES:
            if self.marks or not self.paragraph:
                self.close_block(name)
            else:
                self.parts.clear()
        elif name == "TableCell":
            self.parts.append(" | ")
        elif name == "Link":
            self.close_link()
        elif name == "Image":
            first = self.images.pop()
            self.alts.append("".join(self.parts[first:]))
            del self.parts[first:]
        elif name == "Heading":
            self.close_heading()
        else:
            self.close_container(name)

    def close_container(self, name: str) -> None:
        if self.parts:
            self.close_block(name)
        if name == "CodeBlock":
            self.in_code = False
        elif name in _CONTAINERS:
            self.depth -= name != "BlockQuote"
            self.in_table = False

    def close_link(self) -> None:
        if self.open_link is None:
            return
        kind, target, first, first_alt, line = self.open_link
        self.open_link = None
        if target and line and len(self.marks) < MAX_LINKS:
            shown = cut("".join(self.parts[first:]), limit=MAX_LINK_TEXT)
            if not shown:
                shown = cut(" ".join(self.alts[first_alt:]), limit=MAX_LINK_TEXT)
            self.marks.append((kind, target, shown, first, 0, len(self.parts), line))

    def close_heading(self) -> None:
        level, start, line = self.open_heading
        text = cut(_HEADING_MARK.sub("", "".join(self.parts)), limit=MAX_HEADING)
        if not text:
            text = cut(" ".join(self.alts), limit=MAX_HEADING)
        if self.marks:
            self.file_links()
        self.parts.clear()
        if not line:
            return
        if level == 1 and not self.title:
            self.title = text
        if len(self.headings) < MAX_SECTIONS:
            line_start = self.data.rfind(b"\n", 0, start) + 1
            self.headings.append((level, text, self.offset + line_start, line))

    def close_block(self, name: str) -> None:
        if self.marks:
            self.file_links()
        if not (self.paragraph or self.in_code or self.in_table):
            self.consider(name)
        self.parts.clear()

    def consider(self, name: str) -> None:
        """Take the block as the description if it is the first that can be one."""
        text = "".join(self.parts)
        if name == "Paragraph" and self.depth == 0 and not text.startswith("[!"):
            self.paragraph = describe(text)
        elif not self.elsewhere:
            self.elsewhere = describe(text)

    def find_in_text(self, value: str, start: int, end: int) -> None:
        if self.in_code or self.images or self.open_link is not None:
            return
        line = self.line_at(start)
        if not line:
            return
        last = len(self.parts)
        marks = [
            (kind, target, target, last - 1, at, last, line)
            for at, kind, target in find_references(value)
        ]
        if "[[" in value:
            # One byte more: the backslash of an escape lies before the text that it escapes.
            source = self.data[max(0, start - 1) : end].decode("utf-8", "replace")
            for target, shown in find_wikilinks(source):
                at = max(0, value.find(target))
                marks.append((WIKILINK, target, shown, last - 1, at, last, line))
        self.marks += sorted(marks, key=_place)

    def file_links(self) -> None:
        """Turn the marks of the block into links, each with its sentence."""
        places = list(accumulate(map(len, self.parts), initial=0))
        text = "".join(self.parts).replace("\n", " ")
        last = len(places) - 1
        room = MAX_LINKS - len(self.links)
        for kind, target, shown, first, at, stop, line in self.marks[:room]:
            start = places[min(first, last)] + at
            end = start + len(shown) if at else places[min(stop, last)]
            self.links.append(Link(kind, target, shown, sentence_around(text, start, end), line))
        self.marks.clear()

    def line_at(self, start: int) -> int:
        """Return the line of a place not before the last one asked for; 0 in a quiet span."""
        self.line += self.data.count(b"\n", self.counted, start)
        self.counted = start
        quiet = self.quiet
        if not quiet:
            return self.line
        while quiet and quiet[-1][1] <= start:
            quiet.pop()
        return 0 if quiet and quiet[-1][0] <= start else self.line

    def last_line(self) -> int:
        rest = self.data.count(b"\n", self.counted)
        return self.line + rest - (1 if self.data.endswith(b"\n") else 0)

    def raw_title(self) -> str:
        """Return the text of an `<h1>` written as HTML, for want of a heading."""
        if self.raw_at < 0:
            return ""
        source = self.data[self.raw_at : self.raw_at + 4_000].decode("utf-8", "replace")
        found = _RAW_TITLE.search(source)
        return cut(html.unescape(_TAG.sub("", found[1])), limit=MAX_HEADING) if found else ""


def _place(mark: _Mark) -> int:
    return mark[4]


def _target(link: dict[str, str]) -> str:
    """Return where a link leads; nothing for footnotes and targets nobody could follow."""
    target = link["dest_url"]
    if link["link_type"] == "Email":
        return target if target.startswith("mailto:") else f"mailto:{target}"
    footnote = link["id"].startswith("^") and "://" not in target
    return "" if footnote or len(target) > MAX_TARGET or target.startswith("data:") else target
