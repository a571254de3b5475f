"""Bytes to text: byte order mark, UTF-8, UTF-16 by its zeros, and a guess only when those fail.

Refuses what is not text at all.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from bookwheel.formats.base import Unreadable
from bookwheel.model import Status

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD = 8_192
_GUESS_SAMPLE = 65_536
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\x0b\x0c\r\x08\x1b")) + b"\x7f"
_PRINTABLE = bytes(range(32, 127)) + b"\t\n\r"
_TYPOGRAPHIC = b"\x80\x85\x8b\x91\x92\x93\x94\x95\x96\x97\x99\x9b\xa0\xa7\xa9\xab\xae\xb0\xb7\xbb"
"""Quotes, dashes and signs of windows-1252: in English the only high bytes there are."""
_FEW = 40
_ASCII = bytes(range(128))
_LETTER = (
    "(?:[äöü]ß|ää|öö|éé|éç|ç[ãáéíóàû]|[áâàäåçéëíîïóôöúûüßÿ]"
    # Where Western languages have these; elsewhere they are mostly č ě ę ć ň ń ř ů ă ő misread.
    "|è(?![aeiouy])|[ìòù](?![a-z])|[êæ](?=[a-z])|ñ(?=[aeiouáéíóú])|ø(?![aeiíéáý])"
    "|ã(?=[oes]|[^a-z]|$)|õ(?=e)|œ(?=u|il))"
)
_WESTERN = re.compile(
    rf"(?P<within>(?<=[a-z]){_LETTER}|{_LETTER}(?=[a-z]))|(?P<alone>[àéèòó])"
    "|\u2019|(?<![a-z])[€\u201a„…\u2039\u2018“”•–—™\u203a\xa0§©«®°·»²µ½]"
    "|[€…”™\u203a\xa0§©»®°²·](?![a-z])"
    "|£(?=\\s?[0-9])|(?<=[0-9n.])[ºª]|¿(?=[^?\n]{1,200}\\?)|¡(?=[^!\n]{1,200}!)",
    re.I,
)
"""Accented letters within Latin words, and signs where they do not part a word."""
_HIGH = re.compile(rb"[\x80-\xff]")


def decode(data: bytes) -> str:
    """Return the text with `\\n` line ends and nothing in it that cannot be stored."""
    text = decode_unicode(data)
    return clean(_guess(data)) if text is None else text


def decode_unicode(data: bytes) -> str | None:
    """Return the text if the bytes are Unicode in some form, else None."""
    marked = _by_mark(data)
    if marked is not None:
        return marked
    if b"\0" in data:
        wide = _by_zeros(data)
        if wide is not None:
            return clean(wide)
        _refuse_binary(data)
    try:
        return clean(data.decode())
    except UnicodeDecodeError:
        damaged = _damaged_utf8(data)
        return None if damaged is None else clean(damaged)


def clean(text: str) -> str:
    """Return decoded text with `\\n` line ends and zeros shown as unreadable."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text


def _by_mark(data: bytes) -> str | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return clean(data[len(mark) :].decode(encoding, "replace"))
    return None


def _by_zeros(data: bytes) -> str | None:
    """Read UTF-16 without a mark: its zeros stand at even or at odd places, never at both."""
    head = data[:_HEAD]
    high, low = head[0::2].count(0), head[1::2].count(0)
    if high == low or len(data) % 2 or min(high, low) * 20 > max(high, low):
        return None
    if max(high, low) * 3 < len(head) and _looks_like_ascii(head):
        return None
    encoding = "utf-16-be" if high > low else "utf-16-le"
    sample = head[: len(head) // 2 * 2].decode(encoding, "replace")
    odd = sum(unicodedata.category(letter) in ("Cn", "Co", "Cs", "Cc") for letter in sample)
    odd += sample.count("\ufffd") - sum(map(sample.count, "\t\n\r\f"))
    return data.decode(encoding, "replace") if odd * 50 <= len(sample) else None


def _looks_like_ascii(head: bytes) -> bool:
    """Tell words with zeros between them from wide letters, whose bytes are of every kind."""
    solid = head.replace(b"\0", b"")
    return len(solid.translate(None, _PRINTABLE)) * 7 < len(solid)


def _refuse_binary(data: bytes) -> None:
    head = data[:_HEAD]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    # A stray zero in a page of prose is damage; more of them is another kind of file.
    if controls * 100 > len(head):
        raise Unreadable(Status.BINARY, "the file holds binary data, not text")


def _damaged_utf8(data: bytes) -> str | None:
    """Read UTF-8 with broken places, if what is sound outweighs what is broken."""
    try:
        paired = data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
        return paired.decode("utf-16-le", "replace")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    sound = len(data) - len(data.translate(None, bytes(range(0xC2, 0xF5)))) - broken
    return text if sound > broken else None


def _guess(data: bytes) -> str:
    _refuse_binary(data)
    try:
        return data.decode(guess_encoding(data), "replace")
    except (LookupError, UnicodeError, ValueError):
        return data.decode("cp1252", "replace")


def guess_encoding(data: bytes) -> str:
    """Return the code page that text without a mark of one is most likely written in."""
    import chardet

    first = _HIGH.search(data)
    start = max(0, first.start() - 1_000) if first else 0
    sample = data[start : start + _GUESS_SAMPLE]
    if sample.translate(None, _TYPOGRAPHIC).isascii() or _is_short_western(sample):
        return "cp1252"
    return chardet.detect(sample)["encoding"] or "cp1252"


def _is_short_western(sample: bytes) -> bool:
    """Tell Western text by where its few high bytes stand, too few for statistics to tell.

    In Western words accented letters stand by themselves; in other scripts they are the words.
    """
    if len(sample.translate(None, _ASCII)) > _FEW:
        return False
    text = sample.decode("cp1252", "replace")
    if not _WESTERN.sub("", text).isascii():
        return False
    kinds = [found.lastgroup for found in _WESTERN.finditer(text)]
    return kinds.count("alone") <= kinds.count("within")
