"""HTML: converted to Markdown and read as such; navigation and footers stay, as quiet spans."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from turbohtml import Document, Element, Markdown, Text, parse

from bookwheel.formats.base import (
    require_length,
    shorten_description,
    shorten_title,
    title_from_path,
)
from bookwheel.formats.blocks import Span, read_outline
from bookwheel.formats.decoding import clean, decode, decode_unicode
from bookwheel.formats.html_tables import simplify_tables, unfold_layout
from bookwheel.model import Parsed
from bookwheel.text.cut import squeeze

_UNSHOWN = "script, style, template, noscript, [hidden]:not([hidden=until-found i])"
_QUIET = (
    "nav, footer, aside, form, "
    "[role=navigation i], [role=banner i], [role=contentinfo i], [role=search i]"
)
_MAIN = "main, article, h1, [role=main i]"
_DATES = (
    'meta[property="article:published_time" i]',
    "meta[name=date i]",
    'meta[name="dcterms.date" i]',
    'meta[name="dc.date" i]',
    'meta[name="dcterms.created" i]',
    "meta[itemprop=datePublished i]",
)
_AUTHORS = (
    "meta[name=author i]",
    'meta[property="article:author" i]',
    'meta[name="dc.creator" i]',
    'meta[name="dcterms.creator" i]',
)
_MAX_KEYWORDS = 100
_MAX_PROPERTY = 2_048
_MAX_QUIET = 2_000
_EMPTY_LINK = re.compile(r"\[\]\([^()\s]*\)")
"""What is left of an image that was a link."""
_STYLE = Markdown(tables=Markdown.Tables(cell_blocks="text"))
_PLAIN_STYLE = Markdown(
    tables=Markdown.Tables(cell_blocks="text"), inline=Markdown.Inline(ignore_emphasis=True)
)
_INNER_STYLE = Markdown(
    tables=Markdown.Tables(cell_blocks="text"),
    images=Markdown.Images(mode="alt"),
    inline=Markdown.Inline(ignore_emphasis=True),  # marks for half a word would part it
)
_LEFT_TAGS = ("</strong>", "</em>", "</del>")
"""How the converter ends emphasis for which Markdown has no marks, such as that of half a word."""
_PLACEHOLDER = re.compile("\ufdd0([0-9]{1,6})\ufdd1")
_WIDE_SPACE = re.compile("[\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
"""What the converter would write as `&#160;` and the like at either end of a block."""
_CODE = "pre, code, kbd, samp"
_BACKSLASH = re.compile(r"\\")
_CODE_BACKSLASH = "\ufdd2"
_INWORD_UNDERSCORES = re.compile(r"(?<=[^\W_])(?:\\_)+(?=[^\W_])")
_RESERVED = re.compile("[\ufdd0-\ufdd2]|&#(?:x0*fdd[0-2]|0*6497[6-8])(?![0-9a-f]);?", re.I)
"""The noncharacters that stand for something here, in a page, plain or as references."""
_RESERVED_HINTS = ("\ufdd0", "\ufdd1", "\ufdd2", "&#")
_CODECS = {"shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "gb2312": "gb18030"}
"""What browsers mean by a label, where Python's codec of that name is narrower."""
_MAX_SOURCE = 20_000_000
_PRESCAN = 4_096
_LINE_START = re.compile(r"\n(?!\n)")
_DECLARED = re.compile(rb"<meta[^>]{0,200}charset|<\?xml[^>]{0,100}encoding", re.I)
_ASCII = bytes(range(128))
_TRUE = 4
"""Of so many bytes that are not ASCII one at most is wrong where a page says how it is written."""


def read(data: bytes, path: str) -> Parsed:
    """Read an HTML file."""
    document = open_page(decode_page(data))
    title = _title(document)
    described = _property(document, "meta[name=description i]", "content")
    simplify_tables(document)
    apart = _set_apart(document)
    described = described or _first_paragraph(document)
    text, quiet = _put_back(_convert(document), apart)
    outline = read_outline(text, quiet=quiet)
    return Parsed(
        title=title or shorten_title(outline.title) or title_from_path(path),
        description=shorten_description(described or outline.description),
        text=text,
        tags=_keywords(document),
        author=_author(document),
        date=_date(document),
        language=_property(document, "html[lang]", "lang"),
        url=_property(document, "link[rel~=canonical i]", "href")
        or _property(document, 'meta[property="og:url" i]', "content"),
        aliases=_identifiers(document),
        sections=outline.sections,
        links=outline.links,
        quiet=quiet,
    )


def open_page(source: str) -> Document:
    """Parse a page; what it does not show is gone, its links and layout are tamed."""
    text = require_length(source, _MAX_SOURCE)
    if any(mark in text for mark in _RESERVED_HINTS):
        text = _RESERVED.sub("\ufffd", text)
    document = parse(text, positions=False)
    document.remove(_UNSHOWN)
    _replace_text(document, _WIDE_SPACE, " ")
    _tame_links(document, _property(document, "base[href]", "href") or "")
    unfold_layout(document)
    return document


def inner_markdown(document: Document) -> str:
    """Return a page inside a book or a mail as Markdown without emphasis and images."""
    simplify_tables(document)
    text = _convert(document, _INNER_STYLE)
    return _EMPTY_LINK.sub("", text) if "[](" in text else text


def decode_page(data: bytes) -> str:
    """Decode by our rules where the bytes are Unicode; else the page's own word comes first."""
    declared = _DECLARED.search(data, 0, _PRESCAN) is not None
    text = None if declared and b"\x1b" in data[:100_000] else decode_unicode(data)
    if text is None and declared:
        label = parse(data[:_PRESCAN], positions=False).encoding or ""
        try:
            text = clean(data.decode(_CODECS.get(label.lower(), label), "replace"))
        except (LookupError, UnicodeError):
            text = None
        if text and text.count("\ufffd") * _TRUE > len(data.translate(None, _ASCII)):
            text = None  # the page's word is wrong
    return decode(data) if text is None else text


def _title(document: Document) -> str:
    for name in ("title:not(svg *)", "h1"):
        for element in document.select(name):
            if title := shorten_title(clean(element.text)):
                return title
    return ""


def _property(document: Document, selector: str, name: str) -> str | None:
    element = document.select_one(selector)
    value = element.attr(name) if element is not None else None
    return squeeze(clean(value[:_MAX_PROPERTY])) or None if value else None


def _identifiers(document: Document) -> tuple[str, ...]:
    """Return the DOI and arXiv id that a saved article names."""
    doi = _property(document, "meta[name=citation_doi i]", "content")
    doi = doi or _property(document, "meta[name='dc.identifier' i]", "content") or ""
    arxiv = _property(document, "meta[name=citation_arxiv_id i]", "content")
    found = [f"doi:{doi}"] if "10." in doi else []
    return (*found, f"arxiv:{arxiv}") if arxiv else tuple(found)


def _author(document: Document) -> str | None:
    found = (_property(document, selector, "content") for selector in _AUTHORS)
    name = next((name for name in found if name and "://" not in name), "")
    return shorten_title(name) or None


def _keywords(document: Document) -> tuple[str, ...]:
    words = (_property(document, "meta[name=keywords i]", "content") or "").split(",")
    return tuple(dict.fromkeys(word.strip() for word in words[:_MAX_KEYWORDS] if word.strip()))


def _date(document: Document) -> str | None:
    found = (_property(document, selector, "content") for selector in _DATES)
    return next((date for date in found if date), None)


def _tame_links(document: Document, base: str) -> None:
    """Resolve links against the page's base, and keep embedded files out of the text."""
    for element in document.select('[href^="data:" i], [src^="data:" i]'):
        for name in ("href", "src"):
            if (element.attr(name) or "")[:5].lower() == "data:":
                element.attrs[name] = "data:"
    if base:
        document.rewrite_links(lambda link: _resolve(base, link))


def _resolve(base: str, link: str) -> str | None:
    """Return the link seen from the page's folder; a link within the page stays as it is."""
    if link.startswith("#"):
        return None
    try:
        if link.startswith("/") or base.startswith("/"):
            return urljoin(base, link)
        if urlsplit(link).scheme or urlsplit(base).scheme:
            return urljoin(base, link)
    except ValueError:
        return None
    # urljoin would drop the leading `..` of a base that is itself relative.
    return base[: base.rfind("/") + 1] + link


def _set_apart(document: Document) -> list[str]:
    """Replace each outermost quiet element with a placeholder; return them as Markdown."""
    inner: set[Element] = set()
    apart: list[str] = []
    whole = len(document.text)
    for element in document.select(_QUIET):
        if element in inner or len(apart) >= _MAX_QUIET or _is_page(element, whole):
            continue
        inner.update(element.select(_QUIET))
        holder = Element("p")
        holder.append(Text(f"\ufdd0{len(apart)}\ufdd1"))
        element.replace_with(holder)
        apart.append(_convert(element))
    return apart


def _is_page(element: Element, whole: int) -> bool:
    """Tell whether a form or the like is wrapped around the page itself."""
    if element.tag != "form":
        return False
    return 2 * len(element.text) > whole or element.select_one(_MAIN) is not None


def _convert(node: Document | Element, style: Markdown = _STYLE) -> str:
    """Return Markdown in which names such as `my_function` stand as they are.

    The converter escapes every underscore, but within a word none is ever emphasis.
    """
    _hide_backslashes(node)
    text = node.to_markdown(style)
    if style is _STYLE and any(tag in text for tag in _LEFT_TAGS):
        text = node.to_markdown(_PLAIN_STYLE)
    text = clean(text).strip("\n")
    if "\\_" in text:
        text = _INWORD_UNDERSCORES.sub(lambda found: found[0].replace("\\", ""), text)
    return text.replace(_CODE_BACKSLASH, "\\")


def _hide_backslashes(node: Document | Element) -> None:
    """Put a stand-in for the backslashes in code, which are no escapes."""
    if "\\" not in node.text:
        return
    inner: set[Element] = set()
    for code in node.select(_CODE):
        if code not in inner:
            inner.update(code.select(_CODE))
            _replace_text(code, _BACKSLASH, _CODE_BACKSLASH)


def _replace_text(node: Document | Element, old: re.Pattern[str], new: str) -> None:
    if not old.search(node.text):
        return
    for text in node.descendants:
        if isinstance(text, Text) and old.search(text.data):
            text.data = old.sub(new, text.data)


def _first_paragraph(document: Document) -> str:
    for paragraph in document.select("p"):
        text = _PLACEHOLDER.sub("", clean(paragraph.text)).strip()
        if text:
            return text
    return ""


def _put_back(text: str, apart: list[str]) -> tuple[str, tuple[Span, ...]]:
    """Put the quiet parts where they stood; return the text and their spans in bytes."""
    pieces: list[str] = []
    quiet: list[Span] = []
    size = at = 0
    for found in _PLACEHOLDER.finditer(text):
        before = text[at : found.start()]
        part = _fit(apart[int(found[1])], text, found.start())
        size += len(before.encode())
        quiet.append((size, size + len(part.encode())))
        size = quiet[-1][1]
        pieces += (before, part)
        at = found.end()
    loud = "".join((*pieces[::2], text[at:]))
    whole = require_length("".join((*pieces, text[at:])))
    # A page that is nothing but navigation is about what it lists.
    return whole, tuple(_within(quiet, whole)) if loud.strip("\n \t-*>|") else ()


def _within(quiet: list[Span], whole: str) -> list[Span]:
    size = len(whole.encode())
    return [(start, min(end, size)) for start, end in quiet if start < min(end, size)]


def _fit(part: str, text: str, at: int) -> str:
    """Return the part so that it can stand at this place: in a list, a quote or a table cell."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    if not before:
        return part
    if "|" in before:
        return " ".join(part.split()).replace("|", "\\|")
    indent = "".join(letter if letter == ">" else " " for letter in before)
    return _LINE_START.sub("\n" + indent, part)
