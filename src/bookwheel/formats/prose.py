"""Which paragraph tells what a document is about, where the document itself does not say it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bookwheel.formats.blocks import read_outline
from bookwheel.text.cut import squeeze

_SENTENCE = re.compile(r"\S\s+\S.*[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$", re.S)
"""Two words and a stop."""
_LONG = 30
_MANY_WORDS = 5
_LONG_UNPARTED = 20
"""Letters of a paragraph in a script that does not part words."""
_UNPARTED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENTRY = re.compile(
    r"(?:\t|\.{3}|(?:\. ){3}|\u2026)[\s.]*+(?:\d{1,5}|[ivxlc]{1,8})[\])]*(?:\([^()\s]*\))?\s*$",
    re.I,
)
"""The end of a line of a table of contents: a page behind a gap."""
_INWARD = re.compile(r"\[[^\[\]]*\]\(#[^()\s]*\)")
"""One that is a link into the text and nothing else."""
_TAIL = 200
_LOOKED_AT = 2_000

_MARKUP = re.compile(r"[^\w\s,.;()'\"\u2013\u2018-\u201d-]|^(?:[\W\d]|import|export)")
"""What may be Markdown, or a line of a program; most paragraphs have none and are read at once."""
_ASIDE = re.compile(r"\\?(?:[-+*\u2022\u2013>]|\d{1,9}[.)])")
"""An item of a list, a quotation, or what stands below a signature."""


def choose_prose(paragraphs: Iterable[str], title: str) -> str:
    """Return the words of the first paragraph of prose, else of the first; nothing of none.

    Paragraphs are Markdown. Those that repeat the title and tables of contents are passed over.
    """
    first = ""
    for paragraph in paragraphs:
        text = paragraph.strip()
        if not text or _ENTRY.search(text[-_TAIL:]) or _INWARD.fullmatch(text):
            continue
        text = text[:_LOOKED_AT]
        words = squeeze(read_outline(text).description if _MARKUP.search(text) else text)
        if not words or words.casefold() == squeeze(title).casefold():
            continue
        if _is_prose(words) and not _ASIDE.match(text):
            return words
        first = first or words
    return first


def _is_prose(words: str) -> bool:
    if _UNPARTED.search(words):
        return len(words) >= _LONG_UNPARTED
    if len(words) >= _LONG and words.count(" ") + 1 >= _MANY_WORDS:
        return True
    return _SENTENCE.search(words) is not None
