"""Texts made to keep the finder busy do not, and lose nothing for it."""

from __future__ import annotations

import random
import re
import sys
import time
from itertools import islice
from types import FrameType

import pytest
from bench.hostile import examples, repeated, seeds

from bookwheel.model import Redact
from bookwheel.safety import density, phones
from bookwheel.safety.finding import find_spans, redact_text
from bookwheel.safety.notation import Notation
from bookwheel.safety.notations import NOTATIONS
from bookwheel.safety.patterns import compiled, spans_of
from tests.redaction.random_text import Dice

SIZE = 20_000
CALLS_A_BYTE = 4.0
"""Calls of functions for each byte; some .1 microseconds each."""


def calls_in(text: str) -> int:
    """Return how many functions are called to find the spans of a text."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        find_spans(text)
    finally:
        sys.setprofile(before)
    return calls


def some_seeds(number: int) -> list[str]:
    every = list(dict.fromkeys(seeds()))
    dice = random.Random(3)
    pairs = [dice.choice(every) + dice.choice(every) for _ in range(number // 4)]
    return [*every[:60], *dice.sample(every, number), *pairs]


def test_no_beginning_of_a_rule_repeated_costs_more_than_a_few_steps_a_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(density, "_FREE", 20)
    find_spans("The patterns are made ready: password: x, sid=1, mysql -p, bob@example.org")
    steps = {seed: calls_in(repeated(seed)[:SIZE]) / SIZE for seed in some_seeds(120)}
    slow = {seed: each for seed, each in steps.items() if each > CALLS_A_BYTE}
    assert not slow


def test_a_text_four_times_as_long_takes_about_four_times_as_long() -> None:
    for row in NOTATIONS:
        hint = next(examples(row.hint))
        text = repeated(hint)
        short = min(_cpu(text[:50_000]) for _ in range(2))
        # What else the machine does adds to a time: one that is too long is taken once more.
        assert any(_cpu(text[:200_000]) <= 12 * short + 0.02 for _ in range(2)), hint


def _cpu(text: str) -> float:
    start = time.process_time()
    find_spans(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    "line",
    [
        "password: {}\n",
        "?token={}",
        "sid={} ",
        "curl -u bob:{} x\n",
        "ghp_{}a1b2c3d4e5f6a7b8c9d0e1f2 ",
        "{}@example.org ",
    ],
)
def test_where_there_are_too_many_to_read_them_all_none_is_shown(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(density, "_FREE", 20)
    dice = Dice(9)
    values = [f"{dice.w(6)}{dice.d(3)}#{dice.w(3)}".replace("#", "x") for _ in range(3000)]
    text = "".join(line.format(value) for value in values)
    covered = bytearray(len(text))
    for start, end, _ in find_spans(text):
        covered[start:end] = b"\1" * (end - start)
    at = 0
    for value in values:
        at = text.index(value, at)
        assert all(covered[at : at + len(value)]), value
        at += len(value)


def test_where_secrets_of_all_sorts_are_too_many_none_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(density, "_FREE_IN_ALL", 50)
    dice = Dice(4)
    lines = (
        "password: {}\n",
        "?token={}",
        "sid={} ",
        "{}@example.org ",
    )
    values = [f"{dice.w(8)}{dice.d(7)}" for _ in range(4000)]
    text = "".join(lines[number % len(lines)].format(value) for number, value in enumerate(values))
    spans = iter(find_spans(text))
    start, end, _ = next(spans)
    at = 0
    for value in values:
        at = text.index(value, at)
        while end <= at:
            start, end, _ = next(spans)
        assert start <= at, value
        assert at + len(value) <= end, value
        at += len(value)


def test_what_reaches_over_the_end_of_a_stretch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(density, "_FREE_IN_ALL", 20)
    dice = Dice(6)
    key = dice.pem()
    text = "".join(f"ghp_{dice.w(36)} " for _ in range(400)) + f"key\n{key}\n" + "word " * 2000
    shown = redact_text(text, Redact.SECRETS)
    assert not any(line in shown for line in key.splitlines())
    assert shown.endswith("word word ")


@pytest.mark.parametrize("lines", [3000, 5000, 9000])
@pytest.mark.parametrize(
    "line",
    [
        "password is {}.\n",
        "password: {}\n",
        'api_key = "{}"\n',
        "Das Passwort lautet {}\n",
        "the password for the vpn is {}, ",
        "password:\n  {}\n",
    ],
)
def test_no_stretch_ends_between_a_name_and_its_value(line: str, lines: int) -> None:
    dice = Dice(7)
    text = "".join(line.format(f"Xk{dice.d(6)}qz") for _ in range(lines))
    assert "Xk" not in redact_text(text, Redact.ALL)


def test_every_cell_of_a_long_table_goes() -> None:
    dice = Dice(8)
    rows = [(f"{dice.w(7)}1", f"{dice.d(3)}-{dice.d(7)}") for _ in range(6000)]
    text = "name,password,phone\n" + "".join(f"bob,{one},{other}\n" for one, other in rows)
    shown = redact_text(text, Redact.ALL)
    assert not any(one in shown or other in shown for one, other in rows[-1000:])
    assert shown.count("bob,") == 6000


def test_a_number_counts_though_many_others_were_asked_about() -> None:
    dice = Dice(2)
    others = ", ".join(f"{dice.d(2)}-{dice.d(3)} {dice.d(4)}" for _ in range(1000))
    text = f"{others}, 020 7946 0018, x"
    assert "0018" not in redact_text(text, Redact.ALL)


@pytest.mark.parametrize(
    ("pattern", "twin"),
    [
        (phones._CANDIDATE, phones._CANDIDATE_TWIN),
        (phones._PLAIN.decode(), phones._PLAIN_TWIN),
    ],
)
def test_both_readers_of_long_lists_find_the_same(pattern: str, twin: re.Pattern[bytes]) -> None:
    dice = Dice(3)
    texts = [
        dice.of(alphabet, 20_000) for alphabet in ("0123456789 -./()+", "01 -(+/,\u00a0\u2011＋")
    ]
    texts += ["089 / 6364, " * 2000, "212-555-0187 " * 2000, "+1 212 555 0187\n" * 2000]
    for text in texts:
        data = text.encode()
        found = [span for spans in spans_of(pattern, twin, data) for span in spans]
        assert found == [match.span() for match in compiled(pattern).finditer(data)]


def test_a_document_with_many_secrets_is_still_read_word_by_word() -> None:
    dice = Dice(5)
    text = "".join(
        f"Entry {number}: this account is described at length.\npassword: {dice.w(9)}1\n"
        for number in range(3000)
    )
    spans = find_spans(text)
    assert len(spans) == 3000
    assert max(end - start for start, end, _ in spans) < 20


@pytest.mark.parametrize("row", NOTATIONS, ids=lambda row: f"{row.kind} {row.hint[:20]}")
def test_a_notation_names_every_word_it_can_begin_with(row: Notation) -> None:
    words = tuple(row.first.split())
    assert words
    for example in islice(examples(row.hint), 60):
        assert example.lower().startswith(words)


def test_every_number_of_a_long_list_is_found() -> None:
    numbers = [f"020 7946 0{last:03}" for last in range(1000)] * 2
    text = ", ".join(numbers)
    assert [text[span.start : span.end] for span in find_spans(text)] == numbers


def test_many_other_numbers_do_not_hide_one_of_a_phone() -> None:
    found = find_spans(f"{', '.join(['2021-03-04-555'] * 2000)}, 212-555-0123")
    assert [span.kind for span in found] == ["phone"]
