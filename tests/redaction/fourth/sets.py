"""The fourth set, drawn."""

from __future__ import annotations

from collections.abc import Iterator

from tests.redaction.fourth.lookalikes import LOOKALIKES
from tests.redaction.fourth.persons import EMAILS, PHONES
from tests.redaction.fourth.secrets import SECRETS
from tests.redaction.random_text import Dice
from tests.redaction.second.templates import filled, labelled
from tests.redaction.secrets import Labelled


def fourth_secrets(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled secrets."""
    return labelled(SECRETS, seed)


def fourth_emails(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled addresses."""
    return labelled(EMAILS, seed)


def fourth_phones(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled numbers."""
    return labelled(PHONES, seed)


def fourth_lookalikes(seed: int = 3) -> Iterator[str]:
    """Return lines that must stay whole."""
    dice = Dice(seed)
    return (filled(line, dice) for line in LOOKALIKES)
