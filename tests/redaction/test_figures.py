"""Recall and restraint on the labelled set."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bookwheel.safety.finding import find_spans
from tests.redaction.fifth.sets import fifth_emails, fifth_lookalikes, fifth_phones, fifth_secrets
from tests.redaction.fourth.sets import (
    fourth_emails,
    fourth_lookalikes,
    fourth_phones,
    fourth_secrets,
)
from tests.redaction.lookalikes import lookalikes
from tests.redaction.persons import labelled_emails, labelled_phones
from tests.redaction.second.sets import (
    second_emails,
    second_lookalikes,
    second_phones,
    second_secrets,
)
from tests.redaction.secrets import Labelled, labelled_secrets
from tests.redaction.sixth.sets import sixth_emails, sixth_lookalikes, sixth_phones, sixth_secrets
from tests.redaction.third.sets import (
    third_emails,
    third_lookalikes,
    third_phones,
    third_secrets,
)


def seen(label: Labelled) -> str:
    """Return the characters of a secret that no span covers."""
    at = label.text.index(label.secret)
    spans = find_spans(label.text)
    return "".join(
        character
        for position, character in enumerate(label.secret, at)
        if not any(start <= position < end for start, end, _ in spans)
    )


def missed(labels: Iterable[Labelled]) -> list[Labelled]:
    """Return those of which anything can still be seen."""
    return [label for label in labels if seen(label)]


def assert_recall(labels: list[Labelled], least: float) -> None:
    """Fail, naming what was missed, if fewer than this share are covered."""
    lost = missed(labels)
    recall = 1 - len(lost) / len(labels)
    assert recall >= least, f"{recall:.3f} of {len(labels)}: " + "\n".join(x.text for x in lost)


@pytest.mark.requirement("R-061")
@pytest.mark.parametrize("seed", [7, 70, 700])
def test_secrets_are_covered_from_their_first_to_their_last_character(seed: int) -> None:
    assert_recall(list(labelled_secrets(seed)), 0.98)


@pytest.mark.requirement("R-061")
def test_email_addresses_are_covered() -> None:
    assert_recall(list(labelled_emails()), 0.97)


@pytest.mark.requirement("R-061")
def test_phone_numbers_are_covered() -> None:
    assert_recall(list(labelled_phones()), 0.95)


@pytest.mark.requirement("R-063")
@pytest.mark.parametrize("seed", [10, 100, 1000])
def test_what_only_looks_like_a_secret_stays(seed: int) -> None:
    lines = list(lookalikes(seed))
    touched = [line for line in lines if find_spans(line)]
    assert len(touched) <= 0.01 * len(lines), f"of {len(lines)}:\n" + "\n".join(touched)


SECOND = [3, 30, 300]


@pytest.mark.requirement("R-061")
@pytest.mark.parametrize("seed", SECOND)
def test_a_set_that_was_written_without_a_look_at_the_rules_is_covered(seed: int) -> None:
    assert_recall(list(second_secrets(seed)), 0.98)
    assert_recall(list(second_emails(seed)), 0.97)
    assert_recall(list(second_phones(seed)), 0.95)


@pytest.mark.requirement("R-063")
@pytest.mark.parametrize("seed", SECOND)
def test_what_only_looks_like_a_secret_in_that_set_stays(seed: int) -> None:
    lines = list(second_lookalikes(seed))
    touched = [line for line in lines if find_spans(line)]
    assert len(touched) <= 0.01 * len(lines), f"of {len(lines)}:\n" + "\n".join(touched)


@pytest.mark.requirement("R-061")
@pytest.mark.parametrize("seed", SECOND)
def test_a_set_of_notes_mails_and_histories_is_covered(seed: int) -> None:
    assert_recall(list(third_secrets(seed)), 0.98)
    assert_recall(list(third_emails(seed)), 0.97)
    assert_recall(list(third_phones(seed)), 0.95)
    assert_recall(list(fourth_secrets(seed)), 0.98)
    assert_recall(list(fourth_emails(seed)), 0.97)
    assert_recall(list(fourth_phones(seed)), 0.95)


@pytest.mark.requirement("R-063")
@pytest.mark.parametrize("seed", SECOND)
def test_what_only_looks_like_a_secret_in_notes_stays(seed: int) -> None:
    lines = [*third_lookalikes(seed), *fourth_lookalikes(seed)]
    touched = [line for line in lines if find_spans(line)]
    assert len(touched) <= 0.01 * len(lines), f"of {len(lines)}:\n" + "\n".join(touched)


@pytest.mark.requirement("R-061")
@pytest.mark.parametrize("seed", SECOND)
def test_a_set_of_tokens_settings_code_and_tables_is_covered(seed: int) -> None:
    assert_recall(list(fifth_secrets(seed)), 0.98)
    assert_recall(list(fifth_emails(seed)), 0.97)
    assert_recall(list(fifth_phones(seed)), 0.95)
    assert_recall(list(sixth_secrets(seed)), 0.98)
    assert_recall(list(sixth_emails(seed)), 0.97)
    assert_recall(list(sixth_phones(seed)), 0.95)


@pytest.mark.requirement("R-063")
@pytest.mark.parametrize("seed", SECOND)
def test_what_only_looks_like_those_stays(seed: int) -> None:
    lines = [*fifth_lookalikes(seed), *sixth_lookalikes(seed)]
    touched = [line for line in lines if find_spans(line)]
    assert len(touched) <= 0.01 * len(lines), f"of {len(lines)}:\n" + "\n".join(touched)


def test_the_labelled_set_is_as_large_as_it_claims() -> None:
    assert len(list(labelled_secrets())) + len(list(labelled_emails())) >= 400
    assert len(list(labelled_phones())) >= 100
    assert len(list(lookalikes())) >= 400
    assert len(list(second_secrets())) >= 150
    assert len(list(second_lookalikes())) >= 300
    assert len(list(third_secrets())) >= 250
    assert len(list(third_lookalikes())) >= 250
