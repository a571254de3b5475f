"""From a document's text to HTML that can do nothing but be read.

Raw HTML is shown as text, pictures become links or words, nothing is loaded from elsewhere, and
what comes out has passed a sanitiser besides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, NamedTuple

import nh3
import pyromark

DEEPEST = 40
"""Deeper lists and quotes are shown at this depth: sanitising takes the square of the depth."""
TARGET = "bw-target"
_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_GFM
    | pyromark.Options.ENABLE_YAML_STYLE_METADATA_BLOCKS
)
_PARSER = pyromark.Markdown(options=_OPTIONS)

_TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "pre", "code", "blockquote"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a", "em", "strong", "del"),
    *("sup", "span", "div", "mark"),
}
_ATTRIBUTES = {
    "*": {"id", "class"},
    "a": {"href", "title"},
    "ol": {"start"},
    "div": {"tabindex", "role", "aria-label"},
    "pre": {"tabindex"},
}
_SANITISER = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
    clean_content_tags=set(),
)
_PLAIN_TAGS = {
    "Paragraph": "p",
    "Item": "li",
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "del",
    "TableRow": "tr",
}
_DROPPED = frozenset({"MetadataBlock"})
_TARGETS = frozenset(
    {"Paragraph", "Item", "TableRow", "TableHead", "Heading", "CodeBlock", "HtmlBlock"}
)
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_COMMENT = re.compile(r"(?:<!--(?:(?!-->).)*+-->\s*+)+", re.DOTALL)
_NOT_IN_SLUG = re.compile(r"[^\w\- ]+")

Resolve = Callable[[str], str | None]
"""Returns the address that a link leads to, or None for one that leads nowhere."""


class Anchor(NamedTuple):
    """A heading as a table of contents lists it."""

    level: int
    text: str
    id: str


class Rendered(NamedTuple):
    """A document or a part of it as HTML, and its headings."""

    html: str
    anchors: tuple[Anchor, ...]


def render(
    text: str, resolve: Resolve, *, line: int | None = None, used: dict[str, int] | None = None
) -> Rendered:
    """Return Markdown as HTML; with a line the block that it stands in is marked.

    `used` holds the anchors that the page has already.
    """
    writer = _Writer(text, resolve, line, {} if used is None else used)
    writer.write()
    return Rendered(_SANITISER.clean("".join(writer.out)), tuple(writer.anchors))


def render_plain(text: str, *, line: int | None = None) -> Rendered:
    """Return a text that is no Markdown as it stands; with a line, that line is marked."""
    return Rendered(f'<pre class="plain" tabindex="0">{_lines(text, line)}</pre>', ())


def _lines(text: str, line: int | None) -> str:
    """Return a text with one of its lines marked, counted from 1."""
    if line is None:
        return escape(text)
    lines = text.split("\n")
    chosen = min(max(line, 1), len(lines)) - 1
    before, after = "\n".join(lines[:chosen]), "\n".join(lines[chosen + 1 :])
    marked = f'<span id="{TARGET}" class="target">{escape(lines[chosen])}\n</span>'
    return f"{escape(before)}{chr(10) if chosen else ''}{marked}{escape(after)}"


def slug(heading: str, used: dict[str, int]) -> str:
    """Return the anchor of a heading as code hosts make it; a second of its name has a number."""
    made = _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-") or "section"
    if made.startswith("bw-"):  # those are ours
        made = f"section-{made}"
    count = used.get(made, 0)
    used[made] = count + 1
    return f"{made}-{count}" if count else made


class _Writer:
    """Writes the events of one text."""

    def __init__(self, text: str, resolve: Resolve, line: int | None, used: dict[str, int]) -> None:
        self.out: list[str] = []
        self.anchors: list[Anchor] = []
        self._resolve = resolve
        self._events = list(_PARSER.events_with_range(text, merge_text=True))
        self._line = line
        self._newlines: list[int] = []
        self._target = -1
        if line is not None:
            data = text.encode()
            self._newlines = [at for at, byte in enumerate(data) if byte == 10]
            self._target = self._find_target(line)
        self._closing: list[str] = []
        """What closes each element that is open; empty for one that was not written."""
        self._depth = 0
        self._alignments: list[str] = []
        self._cell = 0
        self._in_head = False
        self._used = used
        self._heading: tuple[int, int, list[str]] | None = None
        self._footnotes: dict[str, int] = {}

    def _find_target(self, line: int) -> int:
        """Return the innermost block that a line stands in, else the first one after it."""
        at = self._newlines[line - 2] + 1 if 1 < line <= len(self._newlines) + 1 else 0
        if line > len(self._newlines) + 1:
            at = self._events[-1][1]["end"] - 1 if self._events else 0
        found = -1
        for number, (event, span) in enumerate(self._events):
            if isinstance(event, dict) and "Start" in event and _name(event["Start"]) in _TARGETS:
                if span["start"] > at:
                    # A row or item may begin after the line's own indent or mark.
                    same = self._line_of(span["start"]) == line
                    return number if found < 0 or same else found
                if at < span["end"]:
                    found = number
        return found

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._newlines, offset - 1) + 1

    def write(self) -> None:
        """Write everything."""
        events = iter(enumerate(self._events))
        for number, (event, span) in events:
            if isinstance(event, str):
                self.out.append(_BREAKS.get(event, ""))
                continue
            ((kind, value),) = event.items()
            if kind == "Start":
                self._start(value, number, span, events)
            elif kind == "End":
                self._end(value)
            else:
                self._inline(kind, value)

    def _inline(self, kind: str, value: Any) -> None:
        if kind == "Text":
            self._text(value)
        elif kind == "InlineHtml":
            self._inline_html(value)
        elif kind == "Code":
            self._text(value, before="<code>", after="</code>")
        elif kind == "TaskListMarker":
            name = "done" if value else "open"
            self.out.append(f'<span class="task {name}">{"☑" if value else "☐"}</span> ')
        elif kind == "FootnoteReference":
            number = self._footnote(value)
            self.out.append(f'<sup><a href="#bw-note-{number}">{number}</a></sup>')

    def _inline_html(self, tag: str) -> None:
        if _BREAK_TAG.fullmatch(tag):
            self.out.append("<br>")
        elif not _COMMENT.fullmatch(tag):
            self._text(tag)

    def _raw(self, html: str, mark: str) -> None:
        """Show HTML as it is written; comments are for nobody."""
        if not _COMMENT.fullmatch(html.strip()):
            self.out.append(f"<div{mark or _RAW}>{escape(html.strip())}</div>\n")

    def _footnote(self, name: str) -> int:
        return self._footnotes.setdefault(name, len(self._footnotes) + 1)

    def _text(self, text: str, before: str = "", after: str = "") -> None:
        if self._heading is not None:
            self._heading[2].append(text)
        self.out.append(f"{before}{escape(text)}{after}")

    def _start(self, tag: Any, number: int, span: Any, events: Iterator[Any]) -> None:
        name, value = _part(tag)
        mark = f' id="{TARGET}" class="target"' if number == self._target else ""
        if name in _DROPPED:
            _skip(events, name)
        elif name == "HtmlBlock":
            self._raw("".join(_skip(events, name)), mark)
        elif name == "Image":
            self._image(value["dest_url"], _skip(events, name))
        elif name == "CodeBlock":
            self._code(value, "".join(_skip(events, name)), mark, span)
        elif self._depth >= DEEPEST and name in ("List", "Item", "BlockQuote", "Emphasis"):
            self._closing.append("")
        else:
            self._open(name, value, mark)

    def _open(self, name: str, value: Any, mark: str) -> None:
        if name in _PLAIN_TAGS:
            tag = _PLAIN_TAGS[name]
            self._push(f"<{tag}{mark}>", f"</{tag}>")
            self._cell = 0
        elif name == "Heading":
            self._open_heading(int(value["level"][1]), mark)
        elif name == "Link":
            self._open_link(value)
        else:
            self._open_block(name, value, mark)

    def _open_block(self, name: str, value: Any, mark: str) -> None:
        if name == "List":
            tag = "ul" if value is None else "ol"
            start = f' start="{value}"' if value not in (None, 1) else ""
            self._push(f"<{tag}{start}>", f"</{tag}>\n")
        elif name == "BlockQuote":
            kind = str(value).lower() if value else ""
            label = f'<div class="note-label">{escape(str(value))}</div>' if value else ""
            self._push(f'<blockquote class="{kind}">{label}', "</blockquote>\n")
        elif name == "FootnoteDefinition":
            number = self._footnote(value)
            self._push(f'<div class="footnote" id="bw-note-{number}">{number}. ', "</div>\n")
        else:
            self._open_table(name, value, mark)

    def _open_table(self, name: str, value: Any, mark: str) -> None:
        if name == "Table":
            self._alignments = [str(each).lower() for each in value]
            opening = '<div class="table" tabindex="0" role="region" aria-label="Table"><table>'
            self._push(opening, "</tbody></table></div>\n")
        elif name == "TableHead":
            self._cell, self._in_head = 0, True
            self._push(f"<thead><tr{mark}>", "</tr></thead><tbody>")
        elif name == "TableCell":
            tag = "th" if self._in_head else "td"
            align = self._alignments[self._cell] if self._cell < len(self._alignments) else "none"
            self._cell += 1
            look = f' class="{align}"' if align != "none" else ""
            self._push(f"<{tag}{look}>", f"</{tag}>")
        else:  # what a later parser may bring is shown by its words
            self._push("", "")

    def _push(self, opening: str, closing: str) -> None:
        self.out.append(opening)
        self._closing.append(closing)
        self._depth += 1 if closing else 0

    def _end(self, tag: Any) -> None:
        closing = self._closing.pop() if self._closing else ""
        if _name(tag) == "Heading":
            self._close_heading()
        elif _name(tag) == "TableHead":
            self._in_head = False
        self._depth -= 1 if closing else 0
        self.out.append(closing)

    def _open_heading(self, level: int, mark: str) -> None:
        self._heading = (level, len(self.out), [])
        look = ' class="target"' if mark else ""
        self._push(f"<h{level}{look}", f"</h{level}>\n")

    def _close_heading(self) -> None:
        if self._heading is None:
            return
        level, place, words = self._heading
        self._heading = None
        text = " ".join("".join(words).split())
        anchor = slug(text, self._used)
        opening = self.out[place]
        target = f'<span id="{TARGET}"></span>' if "target" in opening else ""
        self.out[place] = f'{opening} id="{escape(anchor)}">{target}'
        self.anchors.append(Anchor(level, text or "§", anchor))

    def _open_link(self, link: Any) -> None:
        url: str = link["dest_url"]
        if link["link_type"] == "Email" and not url.startswith("mailto:"):
            url = f"mailto:{url}"
        found = self._resolve(url)
        if found is None:
            self._push('<span class="broken">', "</span>")
            return
        title = f' title="{escape(link["title"])}"' if link["title"] else ""
        self._push(f'<a href="{escape(found)}"{title}>', "</a>")

    def _image(self, url: str, words: list[str]) -> None:
        text = " ".join("".join(words).split()) or url.rpartition("/")[2] or "picture"
        found = self._resolve(url)
        inside_link = any(each == "</a>" for each in self._closing)
        if found is None or inside_link or not found.startswith(("http:", "https:")):
            self._text(text, '<span class="picture">', "</span>")
        else:
            self._text(text, f'<a class="picture" href="{escape(found)}">', "</a>")

    def _code(self, kind: Any, code: str, mark: str, span: Any) -> None:
        fenced = isinstance(kind, dict)
        language = str(kind["Fenced"]).split(",")[0].split(" ")[0] if fenced else ""
        look = f' class="language-{escape(language)}"' if language.isalnum() else ""
        line = None
        if mark and self._line:
            line = max(1, self._line - self._line_of(span["start"]) + (not fenced))
        body = _lines(code, line)
        self.out.append(f'<pre tabindex="0"><code{look}>{body}</code></pre>\n')


_RAW = ' class="raw"'
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}


def _part(tag: Any) -> tuple[str, Any]:
    """Return the name of an element and what is told of it."""
    return (tag, None) if isinstance(tag, str) else next(iter(tag.items()))


def _name(tag: Any) -> str:
    return tag if isinstance(tag, str) else str(next(iter(tag)))


def _skip(events: Iterator[Any], name: str) -> list[str]:
    """Take all events up to the end of an element; return the words in it."""
    words: list[str] = []
    depth = 1
    for _, (event, _) in events:
        if isinstance(event, str):
            words.append(" " if event in ("SoftBreak", "HardBreak") else "")
            continue
        ((kind, value),) = event.items()
        if kind == "Start" and _name(value) == name:
            depth += 1
        elif kind == "End" and _name(value) == name:
            depth -= 1
            if not depth:
                break
        elif kind in ("Text", "Code", "Html", "InlineHtml"):
            words.append(value)
    return words
