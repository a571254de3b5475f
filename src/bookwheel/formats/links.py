"""Links that Markdown's grammar does not know, and the sentence around any link."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookwheel.model import Link
from bookwheel.text.cut import cut, letter_end, squeeze
from bookwheel.text.targets import ARXIV, DOI

MAX_TARGET = 2_048
MAX_LINK_TEXT = 300
MAX_CONTEXT = 300

_IN_URL = r"[^\s<>\"`|{}\\^\x00-\x20]"
# What may not stand before it is looked at after the first letters: a search for those is faster.
# Most letters of a URL are ASCII, which are told at half the cost of others.
_BARE = re.compile(
    r"[HhFfWw](?<![\w@/].)(?:(?i:(?<=h)ttps?|(?<=f)tp)://|(?i:(?<=w)ww)\.(?=[\w-]+\.))"
    rf"(?:[!#-;=?-\[\]_a-z~]++|{_IN_URL}){_IN_URL}*+"
)
_TRAILING = frozenset("?!.,:;*_~'\"\u3001\u3002\uff0c\uff09\u3011\u300d")
_BRACKETS = {")": "(", "]": "["}
_CLOSING = _TRAILING | _BRACKETS.keys()
_WIKI = re.compile(r"(?<![\\!])\[\[([^\[\]\n]{1,1000})\]\]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_DOI = re.compile(r"10\.(?<![\w/.]10\.)[0-9]{4,9}(?:\.[0-9]+)*/[^\s<>\"`|{}\\^\x00-\x20]+")
_ARXIV = re.compile(
    r"(?<![\w/])arXiv:\s?([0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?|[a-z-]+(?:\.[a-z]{2})?/[0-9]{7})(?!\w)",
    re.I,
)
_PARAGRAPH = "\n\n"
_WIDE_STOPS = "\u3002\uff01\uff1f"
_SENTENCE_END = re.compile(
    "[.!?…\u3002\uff01\uff1f](?:(?<=[\u3002\uff01\uff1f])|[\"'\u201d\u2019)\\]]*\\s)"
)


def find_references(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield place, kind and target of what plain text refers to: URLs, DOIs and arXiv ids."""
    if "://" in text or "www." in text:
        for at, url in find_bare_urls(text):
            yield at, "bare", url
    if "10." in text:
        for found in _DOI.finditer(text):
            doi = _trim(found[0][: MAX_TARGET + 1])
            if len(doi) <= MAX_TARGET and not doi.endswith("/"):
                yield found.start(), DOI, doi
    if "rXiv:" in text or "rxiv:" in text:
        for found in _ARXIV.finditer(text):
            yield found.start(1), ARXIV, found[1]


def has_doi(text: str) -> bool:
    """Tell whether a DOI stands anywhere in a text."""
    return "/" in text and "10." in text and _DOI.search(text) is not None


def read_plain_links(text: str, most: int) -> Iterator[Link]:
    """Yield what plain text refers to in order, each with its sentence, up to so many."""
    line, counted = 1, 0
    for at, kind, target in sorted(find_references(text))[:most]:
        line += text.count("\n", counted, at)
        counted = at
        low = max(0, at - 2 * MAX_CONTEXT)
        border = text.rfind(_PARAGRAPH, low, at)
        low = border + len(_PARAGRAPH) if border >= 0 else low
        high = text.find(_PARAGRAPH, at, at + 2 * MAX_CONTEXT)
        window = text[low : high if high >= 0 else at + 2 * MAX_CONTEXT].replace("\n", " ")
        context = sentence_around(window, at - low, at - low + len(target))
        yield Link(kind, target, cut(target, limit=MAX_LINK_TEXT), context, line)


def find_bare_urls(text: str) -> Iterator[tuple[int, str]]:
    """Yield place and URL of each that stands in plain text, without punctuation behind it."""
    for found in _BARE.finditer(text):
        url = found[0]
        if url[-1] in _CLOSING or len(url) > MAX_TARGET:
            url = _trim(url[: MAX_TARGET + 1])
            if len(url) > MAX_TARGET or url.endswith("://"):
                continue
        yield found.start(), url


def _trim(url: str) -> str:
    """Drop closing punctuation, and a closing bracket that the URL never opened."""
    while (last := url[-1]) in _CLOSING and (last in _TRAILING or _is_unopened(url, last)):
        url = url[:-1]
    return url


def _is_unopened(url: str, last: str) -> bool:
    return url.count(last) > url.count(_BRACKETS[last])


def find_wikilinks(source: str) -> Iterator[tuple[str, str]]:
    """Yield target and shown text of each `[[target#section|shown]]` in Markdown source."""
    for found in _WIKI.finditer(source):
        target, _, shown = found[1].replace("\\|", "|").partition("|")
        target = squeeze(_ESCAPE.sub(r"\1", target))
        if target:
            yield target, squeeze(_ESCAPE.sub(r"\1", shown)) or target


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence of a one-line text in which the characters from start to end stand."""
    low = max(0, start - MAX_CONTEXT)
    first = max(text.rfind(". ", low, start), text.rfind("! ", low, start))
    first = max(first, text.rfind("? ", low, start)) + 1
    if not text.isascii():
        first = max(first, *(text.rfind(stop, low, start) + 1 for stop in _WIDE_STOPS))
    first = max(first, low)
    # A stop may be the last letter of the link itself.
    after = _SENTENCE_END.search(text, max(start, end - 1), end + MAX_CONTEXT)
    last = after.end() if after else min(len(text), end + MAX_CONTEXT)
    if last - first <= MAX_CONTEXT:
        sentence = text[first:last].strip(" |")
        return squeeze(sentence) if "  " in sentence or "\t" in sentence else sentence
    return _window(text, first, last, start)


def _window(text: str, first: int, last: int, start: int) -> str:
    """Cut a sentence that is too long to what stands next to its link."""
    if start - first > MAX_CONTEXT // 3:
        first = start - MAX_CONTEXT // 3
        space = text.find(" ", first, start)
        first = space + 1 if space >= 0 else letter_end(text, first)
    return cut(text[first:last], limit=MAX_CONTEXT)
