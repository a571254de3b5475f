"""The second set, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from tests.redaction.random_text import Dice
from tests.redaction.second.lookalikes import LOOKALIKES
from tests.redaction.second.persons import EMAILS, NATIONAL, PHONE_LINES, PHONES
from tests.redaction.second.secrets import SECRETS
from tests.redaction.second.templates import filled, labelled
from tests.redaction.secrets import Labelled


def second_secrets(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled secrets."""
    return labelled(SECRETS, seed)


def second_emails(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled addresses."""
    return labelled(EMAILS, seed)


def second_phones(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled numbers, those with a country code in lines by turns."""
    lines = (line.replace("{}", n) for n, line in zip(PHONES, cycle(PHONE_LINES), strict=False))
    return labelled((*lines, *NATIONAL), seed)


def second_lookalikes(seed: int = 3) -> Iterator[str]:
    """Return lines that must stay whole."""
    dice = Dice(seed)
    return (filled(line, dice) for line in LOOKALIKES)
