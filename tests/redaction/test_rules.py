"""Every row of the tables finds what it describes, and spares its near misses."""

from __future__ import annotations

import re

import pytest

from bookwheel.safety.finding import OWN_RULES, find_spans, rules_of
from bookwheel.safety.notations import NOTATIONS
from bookwheel.safety.shapes import Part, parse_shape
from bookwheel.safety.tokens import ALPHABETS, TOKENS, Token
from tests.redaction.random_text import Dice


def make(token: Token, dice: Dice) -> str:
    """Return a token of the shape, with the first of each choice."""
    made: list[str] = []
    skipping = False
    for part in parse_shape(token.shape):
        if isinstance(part, str):
            skipping = part == "|"
        elif not skipping:
            made.append(part.fixed or _characters(part, dice))
    return "".join(made)


def _characters(part: Part, dice: Dice) -> str:
    letters = [chr(code) for code in range(33, 127)]
    alphabet = "".join(re.findall(f"[{ALPHABETS[part.alphabet]}]", "".join(letters)))
    ends = "".join(filter(str.isalnum, alphabet))
    return dice.of(alphabet, part.least - 1) + dice.of(ends, 1)


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: f"{token.kind} {token.shape[:24]}")
def test_a_token_is_found_by_its_shape_and_a_stub_of_it_is_not(token: Token) -> None:
    dice = Dice(len(token.shape))
    found = 0
    for _ in range(10):
        made = make(token, dice)
        text = f"Take {made} now."
        spans = find_spans(text)
        found += any(start <= 5 and end >= 5 + len(made) for start, end, _ in spans)
    assert found >= 9, make(token, dice)
    stub = next(
        part.fixed for part in parse_shape(token.shape) if isinstance(part, Part) and part.fixed
    )
    assert not find_spans(f"the beginning {stub} alone"), stub


EXAMPLES: dict[str, tuple[str, str]] = {
    "jwt": ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJ is how it begins"),
    "authorization": ("Authorization: Token 9f8e7d6c5b4a", "Authorization: Bearer <token>"),
    "bearer token": ("bearer 9f8e7d6c5b4a3f2e", "the bearer authentication"),
    "basic auth": ("Basic Ym9iOnNlY3JldA==", "Basic information"),
    "token": ("https://a.example/?access_token=9f8e7d6c", "https://a.example/?page=9f8e7d6c"),
    "password hash": ("$6$abcdefgh$" + "k3J9x2Q7" * 10, "it costs $6$ and $7$"),
    "password": ("curl -u bob:Sunny-44 https://a.example", "curl -u bob https://a.example"),
    "pin": ("PIN: 4821", "PIN 13 is ground"),
    "cookie": ("Cookie: sid=9f8e7d6c5b4a3f2e", "Cookie: theme=dark"),
    "session id": ("PHPSESSID=9f8e7d6c5b4a3f2e", "session: 12"),
    "api key": ("key: k3J9x2Q7", "key: user_id"),
    "aws secret key": (
        "aws: " + "wJalrXUtnFEMI/K7MDENG/bPxRfi" + "CYzzzzzzzzKE",
        "aws: 9f8e7d6c5b4a9f8e7d6c5b4a9f8e7d6c5b4a9f8e",
    ),
    "webhook": ("https://hooks.slack.com/services/T01/B02/k3J9x2Q7k3", "https://slack.com/help"),
    "telegram token": ("bot123456789:AA" + "k3J9x2Q7" * 4 + "k", "bot 123456789"),
    "seed phrase": (
        "seed phrase: " + "apple river " * 5 + "moon star",
        "seed phrase: write it down",
    ),
    "recovery key": (
        "408012-117051-306020-540815-092917-660000-250118-100001",
        "408013-117051-306020-540815-092917-660000-250118-100001",
    ),
    "recovery codes": (
        "Backup codes\n1. 4821-9932\n2. 1204-8821\n",
        "Backup codes\nbeside\nothers\n",
    ),
    "private key": ("private key: " + "9f8e7d6c" * 8, "private key: keep it safe"),
}


@pytest.mark.parametrize("kind", sorted({row.kind for row in NOTATIONS}))
def test_each_notation_has_what_it_finds_and_what_it_spares(kind: str) -> None:
    goes, stays = EXAMPLES[kind]
    assert find_spans(goes)
    assert not find_spans(stays)


def test_other_rules_have_another_version() -> None:
    assert rules_of().version == OWN_RULES.version
    assert rules_of(regions=("US",)).version != OWN_RULES.version
    assert rules_of(own=(("a", "b", "c"),)).version != OWN_RULES.version
