"""The operator's own rules of redaction, checked before they are used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bookwheel.errors import BadRequest
from bookwheel.safety.density import Found
from bookwheel.safety.patterns import compiled, starts_and_ends

OwnRule = tuple[str, str, str]
"""Name, kind, pattern."""

_KIND = re.compile("[a-z][a-z0-9 -]{0,39}")
_SAMPLES = (b"", b"Ab 1-x", b"\n")


def check_rules(rules: Iterable[OwnRule]) -> tuple[OwnRule, ...]:
    """Return the rules; raises BadRequest for one that cannot be used."""
    checked = tuple(rules)
    for name, kind, pattern in checked:
        if not _KIND.fullmatch(kind):
            raise BadRequest(
                f"The redaction rule {name!r} has the kind {kind!r}.",
                hint="A kind is what stands in [redacted:...]: small letters, digits, spaces.",
            )
        _check_pattern(name, pattern)
    return checked


def _check_pattern(name: str, pattern: str) -> None:
    from re2 import error

    try:
        ready = compiled(pattern)
    except error as trouble:
        said = trouble.args[0]
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise BadRequest(
            f"The pattern of the redaction rule {name!r} cannot be used: {reason}.",
            hint="Patterns are RE2: no look-around, no references back, repeats up to 1000.",
        ) from None
    if ready.groups > 1:
        raise BadRequest(
            f"The pattern of the redaction rule {name!r} has more than one group.",
            hint="The one group is what goes; write (?:...) for the others.",
        )
    if any(match.end() == match.start() for text in _SAMPLES for match in ready.finditer(text)):
        raise BadRequest(
            f"The pattern of the redaction rule {name!r} matches where there is nothing.",
            hint="Let it ask for at least one character: + instead of *.",
        )


def find_own(data: bytes, rules: Iterable[OwnRule]) -> Iterator[Found]:
    """Yield what the operator's own rules find."""
    for _, kind, pattern in rules:
        group = compiled(pattern).groups
        for start, end in starts_and_ends(pattern, data, group):
            yield start, end, kind
