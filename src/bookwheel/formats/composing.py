"""Composes the Markdown of a document that is not Markdown: blocks, tables, links and places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from bookwheel.formats.base import (
    MAX_CONVERTED,
    MAX_LINKS,
    Unreadable,
    require_length,
    shorten_description,
    shorten_title,
    title_from_path,
)
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.decoding import clean
from bookwheel.formats.excerpt import Pieces, read_excerpt
from bookwheel.model import Link, Parsed, Place, Section, Status

_STRUCTURE = re.compile(
    r"^((?:[ \t]*+(?:[-+*]|[0-9]{1,9}[.)])[ \t]++(?=[^\n]))*+)[ \t]*+"  # of a line, or of its item
    r"(?=#{1,6}(?:[ \t]|$)|>|`{3}|~{3}|(?:=++|-++)[ \t]*+$|(?:[-*_][ \t]*+){3,}+$)",
    re.MULTILINE,
)
_INDENT = re.compile(r"^[ \t]{4,}", re.MULTILINE)
_TAG = re.compile(r"(?<!\\)((?:\\\\)*+)<(?=[A-Za-z/!?])")
_MAY_MATTER = re.compile(r"[#><=`~-]|^[ \t*_]", re.MULTILINE)
_BLANK = re.compile(r"[\s|\\<]")
_MAY_BEGIN = re.compile(r" *[-+*#>`~=_0-9]|    ")
_BREAK = re.compile("\r\n?|[\x0b\x0c]")
"""What ends a line beside a line feed: Office writes a vertical tab, others a form feed."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_TICKS = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[\w.+#-]{1,40}")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_ENCODED = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "\\\\"})
_BRACKETS = str.maketrans({"[": "(", "]": ")", "`": "'"})
_MAX_KEYWORDS = 50


def plain(text: str) -> str:
    """Return text that a Markdown reader takes for text: no headings, fences, quotes or tags.

    Only what would change the structure is escaped, so that words stay as people search them.
    """
    if text.isprintable():  # a single line, as most paragraphs are
        if "<" not in text and not _MAY_BEGIN.match(text):
            return text
    elif _BREAK.search(text):
        text = _BREAK.sub("\n", text)
    if not _MAY_MATTER.search(text):
        return text
    return _without_tags(_STRUCTURE.sub(r"\1\\", _INDENT.sub("", text)))


def _without_tags(text: str) -> str:
    return _TAG.sub(r"\1\\<", text) if "<" in text else text


def convert_marks(
    text: str, marks: re.Pattern[str], show: Callable[[re.Match[str]], str | None]
) -> str:
    """Return text whose marks are shown as Markdown; where `show` gives None they stay text."""
    pieces: list[str] = []
    at = 0
    for found in marks.finditer(text):
        shown = show(found)
        if shown is not None:
            pieces += (plain(text[at : found.start()]), shown)
            at = found.end()
    return "".join((*pieces, plain(text[at:])))


def link(text: str, target: str) -> str:
    """Return a Markdown link; a text without letters is the target itself."""
    shown = _without_tags(" ".join(text.split()).translate(_BRACKETS))
    address = _CONTROL.sub("", target).strip().translate(_ENCODED)
    if not address:
        return shown
    if shown.endswith("\\"):  # it would escape the bracket
        shown += " "
    return f"[{shown or address}]({address})"


def fenced(text: str, language: str = "") -> str:
    """Return a fence around the text that nothing inside it ends; nothing around a blank one."""
    if not text.strip():
        return ""
    fence = "```"
    if fence in text:
        fence = max(_TICKS.findall(text), key=len) + "`"
    word = language if _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{word}\n{text.strip(chr(10))}\n{fence}"


def cell(text: str) -> str:
    """Return text as one cell of a Markdown table."""
    if text.isalnum() or not _BLANK.search(text):
        return text
    text = text.replace("\\", "\\\\").replace("|", "\\|")
    return " ".join(_without_tags(text).split())


def table_row(cells: Iterable[str]) -> str:
    """Return one line of a Markdown table; the cells are escaped already."""
    return "| " + " | ".join(cells) + " |"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first row is its head; the cells are escaped already."""
    width = max(len(row) for row in rows)
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    lines = [table_row(full[0]), table_row(["---"] * width)]
    return "\n".join(lines + [table_row(row) for row in full[1:]])


class About(NamedTuple):
    """What a document says of itself beside its text."""

    title: str = ""
    description: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()


def split_keywords(text: str) -> tuple[str, ...]:
    """Return the keywords of a property as tags; commas or semicolons part them."""
    words = (word.strip() for word in text.replace(";", ",").split(","))
    return tuple(filter(None, words))[:_MAX_KEYWORDS]


class Composer:
    """The Markdown of one document as it grows; every place is a page, slide, sheet or the like."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._places: list[tuple[int, str, int]] = []

    def begin(self, label: str, row: int = 0) -> None:
        """Say that what is added next lies at a place; with a row, each line is one row."""
        self._places.append((len(self._pieces), label, row))

    def add(self, block: str) -> None:
        """Add a block of Markdown: a paragraph, heading, list or table."""
        if block:
            self._pieces.append(block + "\n\n")

    def add_lines(self, lines: str) -> None:
        """Add lines that the next piece follows without a blank line, as rows of a table do."""
        if lines:
            self._pieces.append(lines + "\n")

    def end_lines(self) -> None:
        """Add the blank line that ends a block of lines."""
        self._pieces.append("\n")

    def finish(self) -> tuple[str, tuple[Place, ...], Pieces]:
        """Return the text, where its places begin, and the pieces that it was composed of."""
        while self._pieces and not self._pieces[-1].strip("\n"):
            self._pieces.pop()
        if self._pieces:
            self._pieces[-1] = self._pieces[-1].rstrip("\n") + "\n"
        pieces, text = self._pieces, "".join(self._pieces)
        try:  # each is encoded once, which is what takes long here
            sizes = [
                len(piece) for piece in (pieces if text.isascii() else map(str.encode, pieces))
            ]
        except UnicodeEncodeError:
            sizes = []
        if len(sizes) < len(pieces) or clean(text) != text:
            pieces = [_storable(piece) for piece in pieces]
            text, sizes = "".join(pieces), [len(piece.encode()) for piece in pieces]
        starts = list(accumulate(sizes, initial=0))
        places = tuple(
            Place(starts[min(index, len(pieces))], label, row) for index, label, row in self._places
        )
        return text, places, Pieces(pieces, starts)


def _storable(piece: str) -> str:
    try:
        piece.encode()  # many times faster than looking for what can hardly be there
    except UnicodeEncodeError:
        piece = _SURROGATE.sub("\ufffd", piece)
    return clean(piece)


def parsed(
    composer: Composer,
    path: str,
    about: About,
    *,
    sections: tuple[Section, ...] = (),
    links: Iterable[Link] = (),
    is_blockwise: bool = False,
) -> Parsed:
    """Return the composed document; its headings are its sections, else its places are.

    Sections given by the reader, such as a PDF's outline, stand instead of those in the text.
    In a blockwise document each block was added by itself, and nothing in it reaches beyond it.
    """
    text, places, pieces = composer.finish()
    require_length(text, MAX_CONVERTED)
    if not text.strip():
        raise Unreadable(Status.NO_TEXT, "it holds no text")
    outline = read_excerpt(text, pieces) if is_blockwise else read_outline(text)
    every = (*outline.links, *links)
    headed = next((section.heading for section in outline.sections if section.heading), "")
    return Parsed(
        title=shorten_title(_storable(about.title))
        or shorten_title(headed or outline.title)
        or title_from_path(path),
        description=shorten_description(_storable(about.description) or outline.description),
        text=text,
        tags=tuple(map(_storable, about.tags)),
        author=shorten_title(_storable(about.author)) or None,
        date=_storable(about.date) or None,
        language=_storable(about.language) or None,
        sections=sections or outline.sections or place_sections(pieces, places),
        links=every[:MAX_LINKS],
        places=places,
    )


def place_sections(pieces: Pieces, places: Sequence[Place]) -> tuple[Section, ...]:
    """Return one section per place, for documents without headings."""
    borders: list[Place] = []
    for place in places:
        if place.label and (not borders or borders[-1].label != place.label):
            borders.append(place)
    if not borders:
        return ()
    lines = list(accumulate((piece.count("\n") for piece in pieces.texts), initial=1))
    starts = [place.start for place in borders]
    first = [lines[bisect_left(pieces.starts, start)] for start in starts]
    return tuple(
        Section(1, place.label[0].upper() + place.label[1:], start, end, line, max(line, after - 1))
        for place, start, end, line, after in zip(
            *(borders, starts, [*starts[1:], pieces.starts[-1]], first, [*first[1:], lines[-1]]),
            strict=True,
        )
    )
