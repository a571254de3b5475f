"""Labelled lines as templates: `«»` around what must go, `{w20}` for twenty random characters."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from tests.redaction.random_text import Dice
from tests.redaction.secrets import Labelled

_PART = re.compile(r"\{(w|h|u|low|s|b|d|pw|uuid|jwt|q|cred)(\d*)\}")


def filled(template: str, dice: Dice) -> str:
    """Return the template with its random parts drawn."""

    def draw(part: re.Match[str]) -> str:
        name, length = part.groups()
        if name == "pw":
            return dice.password()
        if name == "cred":
            return base64.b64encode(f"bob:{dice.password()}".encode()).decode()
        if name in ("uuid", "jwt"):
            return str(getattr(dice, name)())
        if name == "q":
            return dice.base64(int(length))
        return str(getattr(dice, name)(int(length)))

    return _PART.sub(draw, template)


def labelled(templates: tuple[str, ...], seed: int) -> Iterator[Labelled]:
    """Return each template drawn, with the part between its marks as what must go."""
    dice = Dice(seed)
    for template in templates:
        before, rest = filled(template, dice).split("«", 1)
        secret, after = rest.split("»", 1)
        yield Labelled(before + secret + after, secret)
