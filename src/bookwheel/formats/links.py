"""Links that Markdown's grammar does not know, and the sentence around any link."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from bookwheel.text.cut import cut, letter_end, squeeze

MAX_TARGET = 2_048
MAX_LINK_TEXT = 300
MAX_CONTEXT = 300

_BARE = re.compile(
    r"(?<![\w@/])(?:https?://|ftp://|www\.(?=[\w-]+\.))[^\s<>\"`|{}\\^\x00-\x20]+", re.I
)
_TRAILING = frozenset("?!.,:;*_~'\"\u3001\u3002\uff0c\uff09\u3011\u300d")
_BRACKETS = {")": "(", "]": "["}
_WIKI = re.compile(r"(?<![\\!])\[\[([^\[\]\n]{1,1000})\]\]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SENTENCE_END = re.compile(
    "[.!?…\u3002\uff01\uff1f](?:(?<=[\u3002\uff01\uff1f])|[\"'\u201d\u2019)\\]]*\\s)"
)


def find_bare_urls(text: str) -> Iterator[tuple[int, str]]:
    """Yield place and URL of each that stands in plain text, without punctuation behind it."""
    for found in _BARE.finditer(text):
        url = _trim(found[0][: MAX_TARGET + 1])
        if len(url) <= MAX_TARGET and not url.endswith("://"):
            yield found.start(), url


def _trim(url: str) -> str:
    """Drop closing punctuation, and a closing bracket that the URL never opened."""
    while url[-1] in _TRAILING or _is_unopened(url):
        url = url[:-1]
    return url


def _is_unopened(url: str) -> bool:
    opening = _BRACKETS.get(url[-1])
    return opening is not None and url.count(url[-1]) > url.count(opening)


def find_wikilinks(source: str) -> Iterator[tuple[str, str]]:
    """Yield target and shown text of each `[[target#section|shown]]` in Markdown source."""
    for found in _WIKI.finditer(source):
        target, _, shown = found[1].replace("\\|", "|").partition("|")
        target = squeeze(_ESCAPE.sub(r"\1", target))
        if target:
            yield target, squeeze(_ESCAPE.sub(r"\1", shown)) or target


class Sentences:
    """The sentences of one block of text, found once for all its links."""

    __slots__ = ("ends", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends = [found.end() for found in _SENTENCE_END.finditer(text)]

    def around(self, start: int, end: int) -> str:
        """Return the sentence in which the characters from start to end stand."""
        text, ends = self.text, self.ends
        before = bisect_right(ends, start)
        after = bisect_left(ends, end)
        first = ends[before - 1] if before else 0
        last = ends[after] if after < len(ends) else len(text)
        if last - first <= MAX_CONTEXT:
            return squeeze(text[first:last]).rstrip(" |")
        return self._window(first, last, start)

    def _window(self, first: int, last: int, start: int) -> str:
        text = self.text
        if start - first > MAX_CONTEXT // 3:
            first = start - MAX_CONTEXT // 3
            space = text.find(" ", first, start)
            first = space + 1 if space >= 0 else letter_end(text, first)
        return cut(text[first : min(last, first + 2 * MAX_CONTEXT)], limit=MAX_CONTEXT)
