"""The fifth set, drawn."""

from __future__ import annotations

from collections.abc import Iterator

from tests.redaction.fifth.lookalikes import LOOKALIKES
from tests.redaction.fifth.persons import EMAILS, PHONES
from tests.redaction.fifth.secrets import SECRETS
from tests.redaction.random_text import Dice
from tests.redaction.second.templates import filled, labelled
from tests.redaction.secrets import Labelled


def fifth_secrets(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled secrets."""
    return labelled(SECRETS, seed)


def fifth_emails(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled addresses."""
    return labelled(EMAILS, seed)


def fifth_phones(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled numbers."""
    return labelled(PHONES, seed)


def fifth_lookalikes(seed: int = 3) -> Iterator[str]:
    """Return lines that must stay whole."""
    dice = Dice(seed)
    return (filled(line, dice) for line in LOOKALIKES)
