"""The sixth set, drawn."""

from __future__ import annotations

from collections.abc import Iterator

from tests.redaction.random_text import Dice
from tests.redaction.second.templates import filled, labelled
from tests.redaction.secrets import Labelled
from tests.redaction.sixth.lookalikes import LOOKALIKES
from tests.redaction.sixth.persons import EMAILS, PHONES
from tests.redaction.sixth.secrets import SECRETS


def sixth_secrets(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled secrets."""
    return labelled(SECRETS, seed)


def sixth_emails(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled addresses."""
    return labelled(EMAILS, seed)


def sixth_phones(seed: int = 3) -> Iterator[Labelled]:
    """Return the labelled numbers."""
    return labelled(PHONES, seed)


def sixth_lookalikes(seed: int = 3) -> Iterator[str]:
    """Return lines that must stay whole."""
    dice = Dice(seed)
    return (filled(line, dice) for line in LOOKALIKES)
