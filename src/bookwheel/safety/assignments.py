"""Secrets that are named: `password: ...`, `API_KEY=...`, "the password is ...", in any notation.

A pattern finds a word for a secret with the sign between it and its value; the value is then read
the way its notation has it, and judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from bookwheel.safety.asides import find_after_aside
from bookwheel.safety.density import Allowance, Stretches, places
from bookwheel.safety.patterns import compiled
from bookwheel.safety.values import (
    has_digits_and_letters,
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
)
from bookwheel.safety.wrapping import JOINT, end_of_joined, end_of_list
from bookwheel.safety.yaml_values import skip_properties

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
_LONG_QUOTES = {b'"""': b'"""', b"'''": b"'''", b"<![CDATA[": b"]]>"}
"""Those within which lines may end."""
_OPENING = re.compile(
    rb"(?:[rbuf@$]|rb)?(?:(%b)\s*|(%b))"
    % tuple(b"|".join(map(re.escape, each)) for each in (_LONG_QUOTES, _QUOTES))
)
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
    *("est maintenant", "es ahora", "c'est", "ist jetzt", "on", "=", "olarak"),
)
_SIGNS = frozenset((b"=", b":", b"|", b">", b"("))
_WIDE_SIGNS = tuple(sign.encode() for sign in ("→", "＝", "：", "是", "为", "為", "は", "<-"))
_VERB = re.compile(
    b" (?:" + b"|".join(re.escape(verb.encode()) for verb in _VERBS) + b") ?:? *$", re.IGNORECASE
)
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]*$")
_WORD_ENDS = re.compile(r"[_.\-]|(?<=[a-z])(?=[A-Z])")
_LINE_BEFORE = re.compile(
    rb"[ \t]*(?:> ?)*(?:\*\*?|__?|~~)?(?:export |set |ENV |ARG |env |\$env:|- |\* |\$|@|//|# ?|--)?"
    rb"[\w.\-:/]*[\"']?"
)
_EMPHASIS = re.compile(rb"(?:\*\*|__|~~|\*)$")
_REST = re.compile(rb"([^\s]+)(?:[ \t]+(?:[#;]|//)[^\n]*|[ \t]*)\r?(?:\n|$)")
_TAGS = re.compile(rb"</?[a-z][a-z1-6]{0,5}(?: [^<>\n]{0,60})?>\s*")
_NEXT_LINE = re.compile(rb"\r?\n?(?:[ \t]*\r?\n)?[ \t]*")
_LINE = re.compile(rb"[^\r\n]*")
_BLANKS = re.compile(rb"\s{0,40}")
_NEXT_PAIR = re.compile(rb"[;&][\w .\-]{1,40}=")
_RUN = re.compile(rb"(?:[\w!@#$%^&*.-][\"'`](?=[\w])|[^\s\"'`<>\\]|\\[^nrt\"'\s])+")
_CODES = re.compile(rb"(?:recovery|backup) codes?", re.IGNORECASE)
_WORD_AND_NUMBER = re.compile(r"[A-Z][a-z]{2,15}[-_]\d{2,4}")
_BEFORE = 48
_AFTER = 240
"""Bytes before and after a name that are looked at."""
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
    said = f"(?:{_any(_VERBS)})[ ]?:?[ ]"
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
                done = _to_its_end(data, done)
            if _CODES.match(data, start):
                done = end_of_list(data, first + begin, done)
            yield first + begin, done, kind
    allowance.taken += dense
    for start, at in dense:
        yield start, at, "secret"


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


def _to_its_end(data: bytes, end: int) -> int:
    """Return where a value ends that is longer than what was looked at."""
    run = _RUN.match(data, end)
    return run.end() if run else end


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
    value = _read_value(data, start, at, sign)
    name = data[start:at]
    sort = _sort_of(data[start - 1 : start] if start else b"", name)
    if sign in (":", "=") and name[:10].lower() == b"passphrase":
        phrase = _LINE.match(data, at)[0].rstrip()  # type: ignore[index]  # matches always
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


def _read_value(data: bytes, start: int, at: int, sign: str) -> Value | None:
    """Read what stands after a sign: in quotes, or up to the next space."""
    if data[at : at + 1] in (b"\n", b"\r"):
        at = _NEXT_LINE.match(data, at).end()  # type: ignore[union-attr]  # matches always
        if sign not in (":", "=", "|", ">") or not _REST.match(data, at):
            return None
    at, in_block = skip_properties(data, at) if sign == ":" else (at, False)
    if in_block:
        return _read_line(data, at)
    if sign == "=" and data.startswith(b"(", at):
        at = _BLANKS.match(data, at + 1).end()  # type: ignore[union-attr]  # matches always
    opening = _OPENING.match(data, at)
    if opening is not None:
        if opening[1]:
            return _read_long(data, opening.end(), _LONG_QUOTES[opening[1]])
        return _read_quoted(data, opening.end(), opening[2])
    run = None if sign == "(" else _RUN.match(data, at)
    if run is None:
        return None
    if sign in ("=", ":") and _LINE_BEFORE.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start):
        line = _read_line(data, at)
        if line is not None:
            return line
    return _read_word(data, start, run, sign)


def _read_word(data: bytes, start: int, run: re.Match[bytes], sign: str) -> Value | None:
    """Read a value that ends before the next space, or sooner."""
    at, value = run.start(), run[0]
    pair = _NEXT_PAIR.search(value) if sign == "=" else None
    if pair is not None:
        value = value[: pair.start()]
    in_element = data.startswith(b"</", run.end())
    if sign == "|" and not in_element:
        value = value.partition(b"|")[0]
    is_variable = data[at - 1] == 61 and data[start : at - 1].isupper()  # NAME=value command
    closed = pair is not None or is_variable or (sign == ">" and in_element)
    value = value.rstrip(_TRAILING)
    is_element = in_element and data[at - 1] == 62  # <b>x</b>
    closed = closed or (is_element and has_digits_and_letters(value.decode("utf-8", "replace")))
    if value[:1] == b"(":  # (base64)
        at, value = at + 1, value[1:]
    if not value:
        return None
    return Value(at, at + len(value), value.decode("utf-8", "replace"), False, closed)


def _read_line(data: bytes, at: int) -> Value | None:
    """Read a value that is all that its line holds, but for a comment."""
    line = _REST.match(data, at)
    if line is None:
        return None
    value = _EMPHASIS.sub(b"", line[1].rstrip(b",;"))
    return Value(at, line.end(1), value.decode("utf-8", "replace"), False, True)


def _read_long(data: bytes, at: int, closing: bytes) -> Value | None:
    """Read a value in quotes within which lines may end: it is one line of them at most."""
    line = _LINE.match(data, at)[0]  # type: ignore[index]  # matches always
    text, closed, _ = line.partition(closing)
    text = text.rstrip()
    if not text or (not closed and len(text.split()) > 1):  # several lines of prose or code
        return None
    return Value(at, at + len(text), text.decode("utf-8", "replace"), bool(closed), False)


def _read_quoted(data: bytes, at: int, opening: bytes) -> Value | None:
    closing = _QUOTES[opening]
    line = data.find(b"\n", at)
    limit = line if line >= 0 else len(data)
    end = data.find(closing, at, limit)
    while end > 0 and len(closing) == 1 and data[end - 1] == 92 and data[end - 2] != 92:
        end = data.find(closing, end + 1, limit)
    if end < 0:  # cut off before its end
        run = _RUN.match(data, at, limit)
        if run is None:
            return None
        end = run.end()
    last = end_of_joined(data, end)
    text = JOINT.sub(b"", data[at:last]) if last > end else data[at:end]
    return Value(at, last, text.decode("utf-8", "replace"), True, False)
