"""What kinds of mail share: decoding of headers and bodies, and the layout of a message."""

from __future__ import annotations

import re
from binascii import a2b_base64, a2b_qp
from codecs import lookup
from collections.abc import Iterator
from typing import NamedTuple

from bookwheel.formats.base import MAX_LINKS, Unreadable, title_from_path
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.composing import About, Composer, parsed, plain
from bookwheel.formats.decoding import clean, decode
from bookwheel.formats.html import decode_page, inner_markdown, open_page
from bookwheel.formats.prose import choose_prose
from bookwheel.model import Link, Parsed
from bookwheel.text.cut import squeeze

MAX_HEADER = 10_000
"""Characters of one header that are looked at."""
MAX_FORWARDED = 5
"""How deep messages inside messages are read."""
ENCRYPTED = "(the body is encrypted)"
TOO_DEEP = "(parts that are nested too deeply are left out)"

_MAX_NAME = 200
_DESCRIBED = 5_000
_CHARSETS = {
    "ascii": "",
    "us-ascii": "",
    "default": "",
    "unknown-8bit": "",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "cp936": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-8-i": "iso-8859-8",
    "unicode-1-1-utf-7": "utf-7",
    "x-mac-roman": "mac-roman",
}
"""What mail programs mean by a name, where Python knows it not or takes it too narrowly."""
_NUMBERED = re.compile(r"(?:x-)?(?:windows|cp|ibm|ms)-?(\d{3,5})")
_NOT_FOR_TEXT = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined"})
_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTE = re.compile(r"^((?:>[ \t]?)+)", re.M)
_ARMOUR = re.compile(
    r"^-----BEGIN PGP MESSAGE-----$.*?(?:^-----END PGP MESSAGE-----$|\Z)", re.M | re.S
)
_MUCH = 2
"""A form of the body that has more than so many times the letters says what the other does not."""
_ADDRESS = re.compile(r"\]\([^()\s]*\)|(?:[a-z]{3,8}://|www\.)\S+", re.I)
_NO_LETTERS = re.compile(r"[\W_]+")
_MAX_BESIDE = 1_000
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


class Attachment(NamedTuple):
    """A file that came with a message."""

    name: str
    mime: str
    size: int


class Mail(NamedTuple):
    """A message as it is shown."""

    subject: str
    headers: tuple[tuple[str, str], ...]
    body: str
    """Markdown."""
    attachments: tuple[Attachment, ...] = ()
    forwarded: tuple[Mail, ...] = ()
    author: str = ""
    date: str = ""
    links: tuple[Link, ...] = ()
    """Links of a form of the body that is not shown."""


def compose(mail: Mail, path: str) -> Parsed:
    """Return the document of a message."""
    composer = Composer()
    for count, (depth, message) in enumerate(_all_messages(mail), 1):
        composer.begin("message" if count == 1 else f"message {count}")
        composer.add(_heading(message.subject, depth))
        shown = [(name, value) for name, value in message.headers if value]
        composer.add("\n".join(plain(f"{name}: {value}") for name, value in shown))
        composer.add(message.body.strip("\n"))
        for attachment in message.attachments:
            name = _shown_name(attachment.name)
            composer.begin(f"attachment '{name}'")
            size = f"{attachment.size:,} bytes" if attachment.size else "size unknown"
            composer.add(plain(f"Attachment: {name} ({attachment.mime}, {size})"))
    body = mail.body[:_DESCRIBED]
    outline = read_outline(body)
    about = About(
        title=mail.subject or outline.title or title_from_path(path),
        description=choose_prose(body.split("\n\n"), mail.subject)
        or outline.description
        or mail.subject,
        author=mail.author,
        date=mail.date,
    )
    found = parsed(composer, path, about)
    more = [link for _, message in _all_messages(mail) for link in message.links]
    return found._replace(links=_merge_links(found, more)) if more else found


def choose_body(plain: str, rich: str) -> tuple[str, tuple[Link, ...]]:
    """Return the plain form of a body, or the rich one that says much more, and links beside it."""
    if _count_letters(rich) > _MUCH * _count_letters(plain):
        return rich, ()
    return plain, read_outline(rich).links if "](" in rich else ()


def _count_letters(body: str) -> int:
    """Count the letters of words; addresses say nothing."""
    return len(_NO_LETTERS.sub("", _ADDRESS.sub(" ", body)))


def _merge_links(document: Parsed, more: list[Link]) -> tuple[Link, ...]:
    """Return the links with others that the text does not show, each where its words stand."""
    known = {link.target.rstrip("/") for link in document.links}
    text, at = document.text, 0
    added: list[Link] = []
    for link in more[:_MAX_BESIDE]:
        if link.target.rstrip("/") not in known:
            known.add(link.target.rstrip("/"))
            place = text.find(link.text, at)
            at = place if place >= 0 else at
            added.append(link._replace(line=1 + text.count("\n", 0, at)))
    merged = sorted((*document.links, *added), key=lambda link: link.line)
    return tuple(merged[:MAX_LINKS])


def _all_messages(mail: Mail, depth: int = 0) -> Iterator[tuple[int, Mail]]:
    yield depth, mail
    for inner in mail.forwarded:
        yield from _all_messages(inner, depth + 1)


def _heading(subject: str, depth: int) -> str:
    text = plain(squeeze(subject))
    if not depth:
        return f"# {text}" if text else ""
    return f"{'#' * min(depth + 1, 6)} Forwarded message{': ' if text else ''}{text}"


def _shown_name(name: str) -> str:
    shown = squeeze(_CONTROLS.sub("", name.replace("\\", "/").rstrip("/").rpartition("/")[2]))
    return shown[:_MAX_NAME] or "unnamed"


def plain_body(text: str) -> str:
    """Return plain text as Markdown: quotes are quotes, nothing else is structure."""
    text = clean(_ARMOUR.sub(ENCRYPTED, text))
    marks = dict(enumerate(map(_QUOTE.match, text.split("\n")))) if "\n>" in f"\n{text}" else {}
    lines = plain(_QUOTE.sub("", text)).split("\n")
    for number, mark in marks.items():
        if mark:
            lines[number] = mark[1] + lines[number]
    return "\n".join(lines)


def html_body(data: bytes, charset: str = "") -> str:
    """Return a body in HTML as Markdown."""
    source = decode_as(data, charset) if charset else decode_page(data)
    return inner_markdown(open_page(source))


def decode_as(data: bytes, charset: str) -> str:
    """Decode by a charset's name, however odd, and by our own rules where it says nothing."""
    name = _codec(charset)
    # What says that it is UTF-8 and is not is in whatever the sender's machine uses.
    errors = "strict" if name == "utf-8" else "replace"
    try:
        if name:
            text = clean(data.decode(name, errors)).removeprefix("\ufeff")
            # UTF-7 can write half a letter, which no text can hold.
            return _SURROGATE.sub("\ufffd", text) if name == "utf-7" else text
    except (LookupError, ValueError):
        pass
    try:
        return decode(data)
    except Unreadable:  # binary data: of a part only, the other parts can be read
        return clean(data.decode("cp1252", "replace"))


def _codec(charset: str) -> str:
    name = charset.strip().strip("\"'").lower()
    name = _CHARSETS.get(name, name)
    for candidate in (name, _NUMBERED.sub(r"cp\1", name)):
        try:
            found = lookup(candidate).name if candidate else ""
        except (LookupError, ValueError):
            continue
        return "" if found in _NOT_FOR_TEXT else _CHARSETS.get(found, found)
    return ""


def decode_header(raw: str) -> str:
    """Return a header on one line, its encoded words decoded and stray bytes read as text."""
    raw = raw[:MAX_HEADER]
    if _SURROGATE.search(raw):
        raw = decode_as(raw.encode("utf-8", "surrogateescape"), "")
    if "=?" not in raw:
        return squeeze(_CONTROLS.sub("", raw))
    pieces: list[str] = []
    waiting, charset, at = b"", "", 0
    for word in _WORD.finditer(raw):
        gap = raw[at : word.start()]
        data = _word_bytes(word)
        # Neighbours of one charset may share a letter, and the blanks between words do not count.
        if gap.strip() or not at or word[1].lower() != charset:
            pieces += (decode_as(waiting, charset), gap if gap.strip() or not at else "")
            waiting, charset = b"", word[1].lower().partition("*")[0]
        waiting, at = waiting + data, word.end()
    pieces += (decode_as(waiting, charset), raw[at:])
    return squeeze(_CONTROLS.sub("", "".join(pieces)))


def _word_bytes(word: re.Match[str]) -> bytes:
    text = word[3].encode("utf-8", "replace")
    if word[2] in "qQ":
        return a2b_qp(text, header=True)
    try:
        return a2b_base64(text + b"=" * (-len(text) % 4))
    except ValueError:
        return text
