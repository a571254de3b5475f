"""Secrets that are named: `password: ...`, `API_KEY=...`, "the password is ...", in any notation.

A pattern finds a word for a secret with the sign between it and its value; the value is then read
the way its notation has it, and judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from bookwheel.safety.patterns import compiled
from bookwheel.safety.values import (
    is_key,
    is_named_in_prose,
    is_passphrase,
    is_password,
    is_random,
)
from bookwheel.safety.words import (
    ENDINGS,
    KEYS,
    KINDS_OF_KEY,
    NOT_SECRET,
    PASSWORDS,
    SHORT_PASSWORDS,
)

Found = tuple[int, int, str]

_QUOTE_PAIRS = {
    **{mark: mark for mark in ('\\"', "\\'", "&quot;", "&#39;", '"', "'", "`")},
    "“": "”",
    "„": "“",
    "«": "»",
    "‘": "’",
    "‹": "›",
    "「": "」",
    "『": "』",
}
_QUOTES = {opening.encode(): closing.encode() for opening, closing in _QUOTE_PAIRS.items()}
_OPENING = re.compile(b"(?:[rbuf@$]|rb)?(" + b"|".join(map(re.escape, _QUOTES)) + b")")
_VERBS = (
    *("is", "ist", "lautet", "war", "was", "est", "es", "è", "é", "är", "er", "equals", "это"),
    *(
        "является",
        "to",
        "jest",
        "je",
        "是",
        "は",
        "为",
        "is set to",
        "is now",
        "was set to",
        "set to",
    ),
    *("changed to", "will be", "reads", "has been set to", "is still", "should be", "must be"),
    *("est maintenant", "es ahora", "ist jetzt", "on", "=", "olarak"),
)
_SIGN = re.compile(
    rb"(=>|:=|={1,3}|!==?|::?|->|\xe2\x86\x92|\xef\xbc\x9d|\xef\xbc\x9a|\||<-|>|\()[*_]{0,3}\s*$"
)
_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]*$")
_LINE_BEFORE = re.compile(
    rb"[ \t]*(?:export |set |ENV |ARG |env |\$env:|- |\* |\$|@|//|# ?|--)?(?:[\w.\-:/]*[\"']?)?$"
)
_RUN = re.compile(rb"(?:[\w!@#$%^&*.-][\"'`](?=[\w])|[^\s\"'`<>\\]|\\[^nrt\"'\s])+")
_TO_SPACE = re.compile(rb"[^\s]+")
_LONGEST = 4096
_TRAILING = b".,;:)]}|*_>/"


class Value(NamedTuple):
    """What stands after a name, and how it stands there."""

    start: int
    end: int
    text: str
    quoted: bool
    fills_line: bool
    """It is all that follows its name, as in a file of settings."""


def _any(words: Iterable[str]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word).replace("\\ ", "[ _.-]?").replace("\\-", "-") for word in ordered
    )


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, str], ...]:
    """Return for each sort of word the pattern of it and the sign after it."""
    quote = "(?:[\"'`\\])}*_]|&quot;|\\\\[\"']){0,4}"
    mark = r"(?:=>|:=|={1,3}|!={1,2}|::?|->|→|＝|：|\||<-)"
    aside = (
        r"(?:[ ]?\([^()\n]{1,40}\)|"
        r"[ ](?:for|of|to|on|für|von|zum|de|du|pour|del|da|van|para|do)[ ][^\n:=|]{1,40})?"
    )
    value = "[\"']?[ \\t]{0,4},?\\s{0,12}[\"']?(?:value|default)[\"']?[ \\t]{0,3}[:=]"
    after = (
        f"(?:[_-]?(?:{_any(ENDINGS)})\\b|[_-]?[0-9]{{1,2}}\\b)?(?:{value}|{quote}{aside}(?:"
        f"[ \\t]{{0,12}}{mark}|[ ]{{1,3}}(?:{_any(_VERBS)})[ ]?:?[ ]|[>(,]|[ \\t]))"
        f"[*_]{{0,3}}[ \\t]{{0,12}}"
    )
    keys = f"{_any(KEYS)}|(?:{_any(KINDS_OF_KEY)})[ _.-]?(?:access[ _.-]?)?(?:key|schlüssel)"
    return (
        ("password", f"(?i)(?:{_any(PASSWORDS)}){after}"),
        ("short", f"(?i)(?:\\b|_)(?:{_any(SHORT_PASSWORDS)}){after}"),
        ("key", f"(?i)(?:{keys}){after}"),
    )


def find_named(data: bytes) -> Iterator[Found]:
    """Yield the values of named secrets."""
    for sort, pattern in _patterns():
        covered = 0
        for match in compiled(pattern).finditer(data):
            if match.start() < covered:
                continue
            value = _judged(data, sort, match.start(), match.end())
            if value is not None:
                covered = value.end
                yield value.start, value.end, "api key" if sort == "key" else "password"


def _judged(data: bytes, sort: str, start: int, at: int) -> Value | None:
    """Return the value after a name if it is a secret."""
    before = _NAME_BEFORE.search(data, max(0, start - 40), start)
    prefix = before.group().decode("ascii", "replace") if before else ""
    if _denies(prefix):
        return None
    found = _SIGN.search(data, max(start, at - 24), at)
    sign = found[1].decode() if found else ""
    if sort == "short" and not sign and not prefix.startswith("-"):
        return None
    value = _read_value(data, start, at, sign)
    if value is None:
        return None
    return value if _is_secret(sort, sign, prefix, value) else None


def _denies(prefix: str) -> bool:
    words = re.split(r"[_.\-]|(?<=[a-z])(?=[A-Z])", prefix.rstrip("_.-"))
    return bool(words) and words[-1].lower() in NOT_SECRET


def _is_secret(sort: str, sign: str, prefix: str, value: Value) -> bool:
    is_flag = prefix.startswith("-") and not sign
    marked = value.quoted or value.fills_line or is_flag
    if sort == "key":
        if not sign and not is_flag:
            return is_random(value.text, 16)
        return is_random(value.text, 12) if sign == "|" else is_key(value.text, marked=marked)
    if sort == "short":
        return is_named_in_prose(value.text) or (
            marked and bool(prefix) and is_password(value.text, marked=True)
        )
    if sign == "|" or (not sign and not is_flag and not value.quoted):
        return is_named_in_prose(value.text)
    if value.quoted and " " in value.text:
        return is_passphrase(value.text)
    return is_password(value.text, marked=marked)


def _read_value(data: bytes, start: int, at: int, sign: str) -> Value | None:
    """Read what stands after a sign: in quotes, or up to the next space."""
    at = _over_line_break(data, at, sign)
    opening = _OPENING.match(data, at)
    if opening is not None:
        return _read_quoted(data, opening.end(), opening[1])
    if sign == "(":
        return None
    line = data.rfind(b"\n", max(0, start - 200), start) + 1
    in_settings = _LINE_BEFORE.match(data, line, start) is not None and sign in ("=", ":", ":=")
    run = (_TO_SPACE if in_settings else _RUN).match(data, at, at + _LONGEST)
    if run is None:
        return None
    end = run.end()
    rest = data[
        end : data.find(b"\n", end, end + 100) if b"\n" in data[end : end + 100] else end + 100
    ]
    alone = in_settings and (not rest.strip() or rest.lstrip().startswith((b"#", b";", b"//")))
    text = data[at:end]
    closed = sign == ">" and data.startswith(b"</", end)
    if not alone:
        end = _RUN.match(data, at, end).end() if _RUN.match(data, at, end) else end  # type: ignore[union-attr]
        text = data[at:end]
        kept = text.rstrip(_TRAILING)
        end = at + len(kept)
        text = kept
    return Value(at, end, text.decode("utf-8", "replace"), False, alone or closed) if text else None


def _over_line_break(data: bytes, at: int, sign: str) -> int:
    """Step to the next line where a name and a colon fill this one."""
    if sign in (":", "=") and data[at : at + 1] in (b"\n", b"\r"):
        following = at + 1 + (data[at : at + 2] == b"\r\n")
        return (
            following
            + len(data[following : following + 12])
            - len(data[following : following + 12].lstrip(b" \t"))
        )
    return at


def _read_quoted(data: bytes, at: int, opening: bytes) -> Value | None:
    closing = _QUOTES[opening]
    limit = data.find(b"\n", at, at + _LONGEST)
    limit = limit if limit >= 0 else min(len(data), at + _LONGEST)
    end = data.find(closing, at, limit)
    while end > 0 and len(closing) == 1 and data[end - 1] == 92 and data[end - 2] != 92:
        end = data.find(closing, end + 1, limit)
    if end < 0:  # cut off before its end
        run = _RUN.match(data, at, limit)
        if run is None:
            return None
        end = run.end()
    return Value(at, end, data[at:end].decode("utf-8", "replace"), True, False)
