"""Texts made to keep the finder busy: what any rule begins with or asks for, again and again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from bookwheel.safety.notations import NOTATIONS
from bookwheel.safety.shapes import Part, parse_shape
from bookwheel.safety.tokens import ALPHABETS, TOKENS
from bookwheel.safety.words import ABBREVIATED, KEYS, KINDS_OF_KEY, PASSWORDS, SHORT_PASSWORDS

MEGABYTE = 1_000_000
_parser: Any = import_module("re._parser")
"""Reads patterns."""
_SIGNS = ("=", ": ", " ", " is ", "|")
_AFTER = ("", "x", "Xk9#mQ2z")
_ALTERNATIVES = 12
"""Examples that are taken of one pattern."""
_OTHERS = (
    *("user  password\nann   x9!Abcd8\n", "│ password │\n├──┤\n│ x9!Abcd8 │\n"),
    *("sid=", "PIN: ", "PIN: 1234 ", "PIN=1234", 'auth=("bob", "', "kind: Secret\n", "?token="),
    *("a**b", "a**b\n", "a<!--b-->", "a<b>c ", "a](b)c", "a&#95;", "415-**555**-2671 "),
    *("mysql ", "basic abcdef ", "basic YTpi ", "authorization: ", "bearer ", "password= ", "a@"),
    *(
        "a@b.c ",
        "a@bc.de ",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "eyJ",
        "a",
        " ",
        "\n",
        "key" + " " * 97,
    ),
    *(
        "212-555-0187 ",
        "+12125550187\n",
        "212 555 ",
        "1",
        "1 ",
        "1.2.3.4 ",
        "| key |\n|---|\n|x|\n",
    ),
    *(
        "a,key\nb,c\n",
        "key,a\n",
        "key,",
        "|key|\n|-",
        "://",
        "a://b:c@d ",
        "a:b@",
        "://a:@",
        '"',
        "'",
    ),
    *(
        "<td>password</td>",
        "tel 1234567 ",
        "a at b dot cc ",
        "a [at] b.cc ",
        "MIIEIBA",
        "\u200b",
        "é@",
    ),
    *(
        "kind: Secret\ndata:\n  a: bcde\n",
        "Private-Lines: 1\nAAAAAAAAAAAAAAAA\n",
        "aws ",
        "aws \n",
        "key=",
    ),
    *("a_key=", "Key: ", "?t=", "&s=", ";k=", "$1$", "{sha}", "QUtJQTEy+3RlbXBsYXRl/", "x@2x.png "),
)


def examples(pattern: str) -> Iterator[str]:
    """Yield short texts that a pattern finds, one for each of its alternatives at most."""
    parsed = _parser.parse(pattern.replace(r"\pL", "a"))
    return _texts(list(parsed))


def _texts(parts: list[Any]) -> Iterator[str]:
    if not parts:
        yield ""
        return
    first, rest = parts[0], parts[1:]
    for head in islice(_of(*first), 40):
        for tail in islice(_texts(rest), 4):
            yield head + tail


def _of(operation: Any, value: Any) -> Iterator[str]:
    name = str(operation)
    if name == "LITERAL":
        yield chr(value)
    elif name == "NOT_LITERAL":
        yield "~"
    elif name == "ANY":
        yield "."
    elif name == "IN":
        yield _one_of(value)
    elif name == "BRANCH":
        for branch in value[1]:
            yield from islice(_texts(list(branch)), 6)
    elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, inner = value
        for text in islice(_texts(list(inner)), 6):
            yield text * least
    elif name == "SUBPATTERN":
        yield from _texts(list(value[-1]))
    else:
        yield ""


def _one_of(choices: list[Any]) -> str:
    (name, value), *_ = choices
    if str(name) == "NEGATE":
        return "x"
    if str(name) == "RANGE":
        return chr(value[0])
    if str(name) == "CATEGORY":
        return {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " "}.get(str(value), "w")
    return chr(value)


def seeds() -> Iterator[str]:
    """Yield the short texts that hostile ones are made of."""
    yield from _OTHERS
    for row in NOTATIONS:
        for hint in islice(examples(row.hint), _ALTERNATIVES):
            yield hint
            yield hint + " "
            yield from (hint + rest for rest in islice(examples(row.rest), 2))
    for token in TOKENS:
        yield "".join(_least(part) for part in parse_shape(token.shape))
    for words in (PASSWORDS, ABBREVIATED, SHORT_PASSWORDS, KEYS, KINDS_OF_KEY):
        for word in words:
            for sign in _SIGNS:
                yield from (f"{word}{sign}{value} " for value in _AFTER)


def _least(part: Part | str) -> str:
    if isinstance(part, str):
        return ""
    if part.fixed:
        return part.fixed
    alphabet = "".join(re.findall(f"[{ALPHABETS[part.alphabet]}]", "a1Bc2De3Fg4Hj5Kk"))
    return (alphabet * part.least)[: part.least]


def hostile_texts(most: int = 10_000, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield names and texts of one megabyte: seeds repeated, pairs of them, noise, and all mixed.

    `most`: so many seeds are drawn of those that rules give; half as many pairs.
    """
    every = list(dict.fromkeys(seed for seed in seeds() if seed))
    dice = random.Random(seed)
    drawn = every if most >= len(every) else dice.sample(every, most)
    for each in dict.fromkeys((*_OTHERS, *drawn)):
        yield repr(each), repeated(each)
    for _ in range(min(most, len(every)) // 2):
        one, other = dice.choice(every), dice.choice(every)
        yield repr(one + other), repeated(one + other)
    for name, text in _noise(dice).items():
        yield name, text[:MEGABYTE]
    yield "all mixed", _until_full(lambda: dice.choice(every))


def repeated(text: str) -> str:
    """Return a text repeated up to one megabyte."""
    size = MEGABYTE // len(text.encode()) + 1
    return (text * size)[:MEGABYTE]


def _noise(dice: random.Random) -> dict[str, str]:
    digits = "0123456789"
    letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ" + digits

    def some(alphabet: str, length: int) -> str:
        return "".join(dice.choices(alphabet, k=length))

    return {
        "digits": some(digits, MEGABYTE),
        "digits and gaps": some(digits + " -./()+", MEGABYTE),
        "rows of digits": _until_full(
            lambda: f"{some(digits, 3)} {some(digits, 3)} {some(digits, 4)}\n"
        ),
        "phone numbers": _until_full(lambda: f"212-{some(digits, 3)}-{some(digits, 4)}\n"),
        "real tokens": _until_full(lambda: f"ghp_{some(letters, 36)}\n"),
        "real passwords": _until_full(lambda: f"password: {some(letters, 9)}\n"),
        "real addresses": _until_full(lambda: f"{some(letters, 6)}@{some(letters, 6)}.org "),
        "real queries": _until_full(lambda: f"?token={some(letters, 8)}"),
        "real sessions": _until_full(lambda: f"sid={some(letters, 10)} "),
        "numbers of many shapes": _until_full(
            lambda: (
                f"{dice.choice(('0', '+4', '(0', '00', ''))}{some(digits, 2)}"
                f"{dice.choice(' -/')}{some(digits, 3)}{dice.choice(' -.')}{some(digits, 4)} x "
            )
        ),
        "secrets of all sorts, split": _until_full(
            lambda: dice.choice(
                (
                    f"+1 {some(digits, 3)}**-{some(digits, 3)}**-{some(digits, 4)} ",
                    f"password={some(letters, 4)}**{some(letters, 6)}\n",
                    f"{some(letters, 5)}@**{some(letters, 5)}.com ",
                    f"ghp_{some(letters, 18)}**{some(letters, 20)}\n",
                    f"https://a:{some(letters, 5)}**{some(letters, 3)}@h/ ",
                    f"sid={some(letters, 6)}**{some(letters, 6)} ",
                )
            )
        ),
        "a table": "name,password,phone\n"
        + _until_full(lambda: f"bob,{some(letters, 8)},415-{some(digits, 3)}-{some(digits, 4)}\n"),
        "a table in HTML": "<table><tr><th>User</th><th>Password</th><th>Phone</th></tr>"
        + _until_full(
            lambda: (
                f"<tr><td>bob</td><td>{some(letters, 9)}</td><td>030 {some(digits, 7)}</td></tr>\n"
            )
        ),
        "numbers half in bold": _until_full(
            lambda: f"415-**{some(digits, 3)}**-{some(digits, 4)} "
        ),
        "one line of all sorts": _until_full(
            lambda: dice.choice(
                (
                    f"password={some(letters, 9)},",
                    f"{some(letters, 5)}@{some(letters, 5)}.org,",
                    f"+4930{some(digits, 7)},",
                    f"ghp_{some(letters, 36)},",
                )
            )
        ),
        "base64": some(letters + "+/", MEGABYTE),
        "any characters": some("".join(map(chr, range(32, 127))), MEGABYTE),
    }


def _until_full(make: Callable[[], str]) -> str:
    parts: list[str] = []
    size = 0
    while size < MEGABYTE:
        parts.append(make())
        size += len(parts[-1])
    return "".join(parts)
