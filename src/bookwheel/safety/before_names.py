"""Passwords that stand before the word for them: `x is the password`, `"x" (password)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.judges import is_below_its_name
from bookwheel.safety.values import is_named_in_prose

_WORDS = r"(?:pass(?:word|wort|code|phrase)|kennwort|mot de passe|contraseña)"
_PARTS = (b"assw", b"ASSW", b"assc", b"ASSC", b"assp", b"ASSP", b"ennw", b"de passe", b"trase")
"""One of them stands in each of the above; looking for them is quicker."""
_NAMED_LATER = (
    r"(?i)[ ](?:(?:is|was|ist|war|est|es|è) (?:the|your|my|our|his|her|their|das|dein|mein|ihr|"
    rf"unser|le|ton|votre|notre|la|il|su|tu) (?:[\pL-]{{2,14}} ){{0,2}}{_WORDS}|\({_WORDS}\))"
    r"(?:[.,;!)\n\r]| (?:for|of|to|on|at|in|until|since|für|von|zum|pour|de|du|para|del|and|und)\b|"
    r"[ ]?$)"
)
_VALUE = re.compile(rb"(?:^|[\s\"'`(*_])([^\s\"'`(*_][^\s\"'`]{4,63})$")
_VERSIONED = re.compile(r"[A-Za-z]+v\d{1,2}|[A-Z]{2,8}-?\d{1,5}")
"""Names of protocols and standards."""
_BEFORE = 70


def find_before_names(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield the words that are said to be a password."""
    if not any(part in data for part in _PARTS):
        return
    dense = Stretches(allowance)
    for match in places(_NAMED_LATER, data, dense):
        first = max(0, match.start() - _BEFORE)
        value = _VALUE.search(data[first : match.start()].rstrip(b"\"'`*_"))
        if value is not None and _is_one(value[1].decode("utf-8", "replace")):
            yield first + value.start(1), first + value.end(1), "password"
    yield from dense.let_go()


def _is_one(value: str) -> bool:
    """Tell whether a word is one: three sorts of signs, or letters and several digits."""
    if _VERSIONED.fullmatch(value):
        return False
    several = sum(map(str.isdigit, value)) >= 2 and len(value) >= 8
    return is_below_its_name(value) or (several and is_named_in_prose(value))
