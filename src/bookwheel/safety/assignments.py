"""Secrets that are named: `password: ...`, `API_KEY=...`, "the password is ...", in any notation.

A pattern finds a word for a secret with the sign between it and its value; the value is then read
the way its notation has it, and judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bookwheel.safety.after_names import LINE, Value, find_end, read_value
from bookwheel.safety.asides import find_after_aside
from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.patterns import compiled
from bookwheel.safety.values import (
    is_key,
    is_named_in_prose,
    is_passphrase,
    is_password,
    is_phrase,
    is_random,
    is_stand_in,
    is_strong,
)
from bookwheel.safety.words import (
    ABBREVIATED,
    ENDINGS,
    KEYS,
    KINDS_OF_KEY,
    NOT_SECRET,
    OTHER_KEYS,
    PASSWORDS,
    SHORT_PASSWORDS,
    VERBS,
)
from bookwheel.safety.wrapping import end_of_list

_SIGNS = frozenset((b"=", b":", b"|", b">", b"("))
_WIDE_SIGNS = tuple(sign.encode() for sign in ("→", "＝", "：", "是", "为", "為", "は", "<-"))
_VERB = re.compile(
    b" (?:" + b"|".join(re.escape(verb.encode()) for verb in VERBS) + b") ?:? *$", re.IGNORECASE
)
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]*$")
_WORD_ENDS = re.compile(r"[_.\-]|(?<=[a-z])(?=[A-Z])")
_TAGS = re.compile(rb"</?[a-z][a-z1-6]{0,5}(?: [^<>\n]{0,60})?>\s*")
_CODES = re.compile(rb"(?:recovery|backup) codes?", re.IGNORECASE)
_WORD_AND_NUMBER = re.compile(r"[A-Z][a-z]{2,15}[-_]\d{2,4}")
_BEFORE = 48
_AFTER = 240
"""Bytes before and after a name that are looked at."""


def _any(words: Iterable[str]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word).replace("\\ ", "[ _.-]?").replace("\\-", "-") for word in ordered
    )


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, str], ...]:
    """Return for each sort of word the pattern of it and the sign after it."""
    quote = "(?:[\"'`\\])}*_~]|&quot;|\\\\[\"']){0,4}"
    closed = r"(?:</(?:b|strong|em|i|u|td|th|dt|key|label|span|code|p|div|h[1-6]|li)>\s{0,9}){0,2}"
    opened = r"(?:<(?:b|strong|em|i|u|td|dd|span|code|p|div|kbd|tt|samp)>\s{0,9}){0,2}"
    typed = (  # token: string = "x", char password[] = "x"
        r"(?:(?::[ ]{0,2}|[ ])(?:&?(?:'static )?str|[Ss]tring|SecretStr|Optional\[str\]|"
        r"str \| None)\??|[ ]As[ ]String|\[[0-9]{0,4}\])[ ]{0,2}="
    )
    mark = rf"(?:{typed}|[=-]{{1,3}}>|:=|={{1,3}}|!={{1,2}}|::?|→|＝|：|\||<-|–|—|是|为|為|は)"
    of_what = (
        r"[ ](?:for|of|to|on|für|von|zum|de|du|pour|del|da|van|para|do|от|для|к|на)[ ]"
        r"[^\n:=|]{1,40}?"
    )
    said = f"(?:{_any(VERBS)})[ ]?:?[ ]"
    value = "[\"']?[ \\t]{0,4}[,{]?\\s{0,12}[\"']?(?:value|default)[\"']?[ \\t]{0,3}[:=]"
    within = (  # <setting name="password" a="b"><value>x
        r"(?:\s[\w:]{1,24}=\"[^\"<>]{0,60}\"){0,2}[ ]?>\s{0,12}<(?:value|string)>"
    )
    below = r"<(?:(?:td|dd|p|div|pre)(?: [^<>\n]{0,60})?|string)>"
    after = (
        f"(?:[_-]?(?:{_any(ENDINGS)})\\b|[_-]?[0-9]{{1,2}}\\b)?(?:{value}|{quote}{closed}(?:"
        f"{of_what}(?:[ \\t]{{0,12}}{mark}|[ ]{{1,3}}{said})|(?:[ ]?\\([^()\\n]{{1,40}}\\))?(?:"
        f"[ \\t]{{0,12}}{mark}|[ ]{{1,3}}{said}|{within}|[>(]|[ \\t]|{below})))"
        f"{closed}[*_]{{0,3}}[ \\t]{{0,12}}{opened}"
    )
    abbreviated = f"(?:{_any(ABBREVIATED)})"
    keys = f"(?:{_any(KINDS_OF_KEY)})[ _.-]?(?:access[ _.-]?)?(?:key|schlüssel)|{_any(KEYS)}"
    return (
        (
            "password",
            f"(?i)(?:{_any(PASSWORDS)}|(?:\\b|_|db|user|admin|\\bs|\\bstr){abbreviated}){after}",
        ),
        ("short", f"(?i)(?:\\b|_)(?:{_any(SHORT_PASSWORDS)}){after}"),
        ("key", f"(?i)(?:{keys}){after}"),
        (
            "other",
            f"(?:[A-Za-z0-9](?:[_-]key|_KEY|-Key)|\\BKey){quote}[ \\t]{{0,4}}[=:][ \\t]{{0,4}}",
        ),
    )


def find_named(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield the values of named secrets."""
    done = 0
    dense = Stretches(allowance)
    for match in places(_any_name(), data, dense):
        start, at = match.span()
        if start < done:
            continue
        first = max(0, start - _BEFORE)
        found = _judged(data[first : at + _AFTER], start - first, at - first)
        if found is not None:
            begin, end, kind = found
            done = first + end
            if end - (at - first) >= _AFTER - 2:
                done = find_end(data, done)
            if _CODES.match(data, start):
                done = end_of_list(data, first + begin, done)
            yield first + begin, done, kind
    yield from dense.let_go()


@lru_cache(maxsize=1)
def _any_name() -> str:
    return "|".join(f"(?:{pattern})" for _, pattern in _patterns())


@lru_cache(maxsize=4096)
def _sort_of(before: bytes, name: bytes) -> str:
    """Say which sort of word a name is; the letter before it counts too."""
    data = before + name
    start = len(before)
    matching = (sort for sort, pattern in _patterns() if compiled(pattern).match(data, start))
    return next(matching, "password")


@lru_cache(maxsize=8192)
def _judged(data: bytes, start: int, at: int) -> tuple[int, int, str] | None:
    """Return the value after a name that ends, with its sign, at `at`; None if it is no secret.

    Sees a stretch of the text only, so that its answer can be remembered.
    """
    prefix = ""
    if start and data[start - 1] in _NAME_BYTES:
        prefix = _NAME_BEFORE.search(data, 0, start)[0].decode()  # type: ignore[index]
    if start > len(prefix) and data[start - len(prefix) - 1] in b"?&":
        return None  # in the query of an address, which has its own rule
    if prefix and _last_word(prefix) in NOT_SECRET:
        return None
    sign = _sign_before(data, start, at)
    value = read_value(data, start, at, sign)
    name = data[start:at]
    sort = _sort_of(data[start - 1 : start] if start else b"", name)
    if sign in (":", "=") and name[:10].lower() == b"passphrase":
        phrase = LINE.match(data, at)[0].rstrip()  # type: ignore[index]  # matches always
        if is_phrase(phrase.decode("utf-8", "replace")):
            return at, at + len(phrase), "password"
    if value is not None and not is_stand_in(value.text):
        is_short = sort == "short"
        is_one = (
            _is_short(name, sign, prefix, value)
            if is_short
            else _is_secret(sort, sign, prefix, value)
        )
        if is_one:
            return value.start, value.end, "api key" if sort in ("key", "other") else "password"
    if sign or sort in ("key", "other"):
        return None
    said_later = find_after_aside(data, at)
    return (*said_later, "password") if said_later else None


def _sign_before(data: bytes, start: int, at: int) -> str:
    seen = data[max(start, at - 48) : at]
    plain = _TAGS.sub(b"", seen)
    tail = plain.rstrip(b" \t\r\n*_~")
    if len(plain) < len(seen) and tail[-1:] not in _SIGNS:
        return "|"  # a cell of a table, or a term and what it means
    last = tail[-1:]
    if last in _SIGNS:
        return "->" if tail[-2:] in (b"=>", b"->") else last.decode()
    for sign in _WIDE_SIGNS:
        if tail.endswith(sign):
            return ":"
    return "is" if _VERB.search(data, start, at) else ""


def _last_word(name: str) -> str:
    return _WORD_ENDS.split(name.rstrip("_.-"))[-1].lower()


def _is_secret(sort: str, sign: str, prefix: str, value: Value) -> bool:
    is_flag = prefix.startswith("-") and not sign
    is_set = prefix.startswith("--") and sign == "=" and not value.text.isupper()
    marked = value.quoted or value.fills_line or is_flag or is_set
    if sort == "other":
        denied = _last_word(prefix) in OTHER_KEYS
        return is_random(value.text, 20) and not denied and not is_stand_in(value.text)
    if sort == "key":
        if sign == "is" and not value.quoted:
            return is_random(value.text, 10)
        if not sign and not is_flag:
            return is_random(value.text, 16)
        return is_random(value.text, 12) if sign == "|" else is_key(value.text, marked=marked)
    if sign == "|" or (not sign and not is_flag and not value.quoted):
        return is_named_in_prose(value.text) or (sign == "|" and value.fills_line)
    if value.quoted and " " in value.text:
        return is_passphrase(value.text)
    if sign == "is" and _WORD_AND_NUMBER.fullmatch(value.text):
        return True
    return is_password(value.text, marked=marked)


def _is_short(name: bytes, sign: str, prefix: str, value: Value) -> bool:
    """Tell what stands after a short word for a password; `pw` hardly means anything else."""
    is_flag = prefix.startswith("-") and not sign
    is_pw = name[:2].lower() == b"pw"
    is_command = name == b"PASS " and is_strong(value.text)
    if (sign or is_flag or is_pw or is_command) and is_named_in_prose(value.text):
        return True
    alone = value.text.isalpha() and (
        sign == "=" or (is_pw and sign == ":" and len(value.text) > 5)
    )
    named = value.quoted or is_flag or value.fills_line
    return bool(
        named and (prefix or (value.fills_line and alone)) and is_password(value.text, marked=True)
    )
