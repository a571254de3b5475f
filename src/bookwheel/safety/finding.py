"""Finding what must not be seen in a text: secrets, e-mail addresses, phone numbers.

Works on the bytes of the text with patterns in RE2, so that no text can make it slow.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.model import Redact, Span
from bookwheel.safety import words
from bookwheel.safety.aligned import find_in_aligned_columns
from bookwheel.safety.assignments import find_named
from bookwheel.safety.before_names import find_before_names
from bookwheel.safety.blocks import find_blocks
from bookwheel.safety.columns import find_in_columns
from bookwheel.safety.density import Allowance, Found
from bookwheel.safety.emails import find_emails
from bookwheel.safety.html_tables import find_in_html_tables
from bookwheel.safety.notation_search import find_notations
from bookwheel.safety.notations import NOTATIONS
from bookwheel.safety.own_rules import check_rules, find_own
from bookwheel.safety.phones import REGIONS, find_phones
from bookwheel.safety.split import find_split
from bookwheel.safety.tokens import TOKENS
from bookwheel.safety.vendors import find_tokens
from bookwheel.safety.wrapping import SHORTEST, end_of_joined, end_of_wrapped

if TYPE_CHECKING:
    from bookwheel.settings import Settings

CODE_VERSION = "17"
"""To be raised when the code finds something else by the same rules."""


_LONGEST_ADDRESS = 1000
_REMEMBERED = 1000
"""Characters of the longest text whose redacted form is remembered."""


_VAGUE = {
    "token": 1,
    "authorization": 1,
    "password": 2,
    "secret": 2,
    "api key": 3,
    "email": 4,
    "phone": 5,
}
"""Kinds that say less than any other, by how little they say."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u115f\u1160\u3164\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters without a look of their own, which could stand in the midst of a secret."""

_WIDE_ONES = "".join(
    chr(code) for code in range(0xFF01, 0xFF5F) if chr(code - 0xFEE0) not in "():;,!?"
)
_WIDE = re.compile(f"[{re.escape(_WIDE_ONES)}]")
_NARROW = {ord(wide): ord(wide) - 0xFEE0 for wide in _WIDE_ONES}

_ASCII_UNSEEN = dict.fromkeys([*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_MARK = re.compile(rb"\[redacted:[^\[\]\n]{1,40}\]")


class Rules(NamedTuple):
    """What is looked for; compiled where it is used, so that it travels between processes."""

    version: str
    regions: tuple[str, ...] = REGIONS
    """Countries whose phone numbers are known without their country code."""
    own: tuple[tuple[str, str, str], ...] = ()
    """The operator's own rules: name, kind, pattern."""


def rules_of(
    regions: tuple[str, ...] = REGIONS, own: tuple[tuple[str, str, str], ...] = ()
) -> Rules:
    """Return rules with the version that their data has."""
    patterns = tuple((row.kind, row.hint, row.rest) for row in NOTATIONS)
    named = (words.PASSWORDS, words.ABBREVIATED, words.KEYS, words.KINDS_OF_KEY)
    said = repr((CODE_VERSION, TOKENS, patterns, named, regions, own))
    return Rules(blake2b(said.encode(), digest_size=8).hexdigest(), regions, own)


OWN_RULES = rules_of()


def make_rules(settings: Settings) -> Rules:
    """Return the rules that the settings ask for; raises BadRequest if one cannot be used."""
    named: str | None = settings["redact_regions"]
    regions = tuple(named.split(",")) if named else REGIONS
    own = check_rules(settings.redaction) if settings.redaction else ()
    return rules_of(regions, own) if own or regions != REGIONS else OWN_RULES


def is_secret(kind: str) -> bool:
    """Tell secrets from what only belongs to a person."""
    return kind not in ("email", "phone")


def find_spans(text: str, rules: Rules | None = None) -> tuple[Span, ...]:
    """Return what must not be seen, in characters, in order and without overlaps."""
    text = _narrowed(text)
    unseen = not text.isascii() or len(text.translate(_ASCII_UNSEEN)) < len(text)
    hidden = [found.start() for found in _UNSEEN.finditer(text)] if unseen else []
    if not hidden:
        return tuple(_find(text, rules or OWN_RULES))
    # What no reader sees must not keep a secret from being found either.
    seen = _UNSEEN.sub("", text)
    before = [at - number for number, at in enumerate(hidden)]
    return tuple(
        Span(start + bisect_right(before, start), end + bisect_left(before, end), kind)
        for start, end, kind in _find(seen, rules or OWN_RULES)
    )


def _narrowed(text: str) -> str:
    """Return a text with the wide letters, digits and signs of East Asia as narrow ones."""
    return text if text.isascii() or not _WIDE.search(text) else text.translate(_NARROW)


def _find(text: str, rules: Rules) -> Iterator[Span]:
    data = text.encode("utf-8", "replace")
    shown = _MARK.sub(_as_stand_in, data)
    allowance = Allowance(len(shown))
    found = [*_find_ends(shown, rules, allowance)]
    rest = allowance.rest_of(shown)
    found += find_split(rest, lambda part: _find_ends(part, rules, allowance))
    found = _merge(found)
    if len(data) == len(text):
        return map(Span._make, found)
    return _in_characters(data, found)


def _as_stand_in(mark: re.Match[bytes]) -> bytes:
    """Return something of the same length that no rule looks into."""
    return b"<" + b"_" * (len(mark[0]) - 2) + b">"


def _find_secrets(data: bytes, rules: Rules, allowance: Allowance) -> Iterator[Found]:
    yield from find_blocks(data, allowance)
    yield from find_in_columns(data, allowance)
    yield from find_in_aligned_columns(data, allowance)
    yield from find_in_html_tables(data, allowance)
    yield from find_own(data, rules.own)
    for find in (find_tokens, find_notations, find_named, find_before_names):
        yield from find(allowance.rest_of(data), allowance)


def _find_ends(data: bytes, rules: Rules, allowance: Allowance) -> Iterator[Found]:
    allowance.taken.clear()
    for start, end, kind in _find_secrets(data, rules, allowance):
        end = end_of_wrapped(data, start, end) if end - start >= SHORTEST else end
        yield start, end_of_joined(data, end), kind
    rest = allowance.rest_of(data)
    yield from find_emails(rest, allowance)
    yield from find_phones(rest, rules.regions, allowance)


def _merge(found: Iterable[Found]) -> list[Found]:
    """Join what overlaps; the most telling kind names the whole."""
    merged: list[Found] = []
    for start, end, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, named = merged[-1]
            is_address = kind == "email" and end - start < _LONGEST_ADDRESS
            if is_address and named in ("password", "token"):  # the @ ends a password in an address
                continue
            merged[-1] = (first, max(end, last), min(named, kind, key=_rank))
        else:
            merged.append((start, end, kind))
    return merged


def _rank(kind: str) -> int:
    return _VAGUE.get(kind, 0)


def _in_characters(data: bytes, found: Iterable[Found]) -> Iterator[Span]:
    at = length = 0
    for start, end, kind in found:
        begin = length + _characters(data[at:start])
        length = begin + _characters(data[start:end])
        at = end
        yield Span(begin, length, kind)


def _characters(data: bytes) -> int:
    return len(data) if data.isascii() else len(data.decode("utf-8", "ignore"))


def redact_text(text: str, level: Redact, rules: Rules | None = None) -> str:
    """Return a short text with what must not be seen named instead; its line breaks stay."""
    if level is Redact.OFF:
        return text
    redact = _redacted if len(text) <= _REMEMBERED else _redacted.__wrapped__
    return redact(text, level, rules)


def redact_path(path: str, level: Redact, rules: Rules | None = None) -> str:
    """Return a path with what must not be seen named instead, folder by folder.

    As a whole it might be taken for one address: `/` may stand in front of an @.
    """
    if redact_text(path, level, rules) == path:
        return path
    parts = (redact_text(part, level, rules) for part in path.split("/"))
    return redact_text("/".join(parts), level, rules)


@lru_cache(maxsize=4096)
def _redacted(text: str, level: Redact, rules: Rules | None) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in find_spans(text, rules):
        if level is Redact.ALL or is_secret(kind):
            breaks = "\n" * text.count("\n", start, end)
            parts += (text[done:start], f"[redacted:{kind}]", breaks)
            done = end
    return "".join((*parts, text[done:]))
