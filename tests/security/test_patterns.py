"""No text makes a pattern slow, in the process that answers."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

import bookwheel
from bookwheel.safety.finding import find_spans
from bookwheel.search.wishes import filters_in_words
from tests.security.attacks import Pattern, attacks

ELSEWHERE = ("bookwheel.formats", "bookwheel.cli", "bookwheel.evaluation", "bookwheel.__main__")
"""Readers of files run in processes that have a time limit; the rest sees its operator's words."""

LONGEST = 12_000
BOUNDED = {
    "bookwheel.llm.answers._IMAGE": 4_000,
    "bookwheel.llm.answers._LINK": 4_000,
    "bookwheel.llm.answers._TAG": 4_000,
    "bookwheel.safety.assignments._NAME_BEFORE": 500,
    **{
        f"bookwheel.search.{module}.{name}": 500
        for module in ("wish_words", "wishes")
        for name in ("LAST_RUN", "LAST_TYPE", "TYPES")
    },
    "bookwheel.text.plain._MARKED": 4_000,
    "bookwheel.text.plain._UNSEEN": 4_000,
    "bookwheel.text.targets._DOI": 2_000,
}
"""Patterns that take longer than in proportion, and how many characters at most they see."""

MOST_SECONDS = 0.5
"""CPU time; what grows with the square of LONGEST takes several times as much."""

ANYWHERE = frozenset({"search", "sub", "subn", "finditer", "findall", "split"})
AT_ONE_PLACE = frozenset({"match", "fullmatch"})


def flatten(value: Any, depth: int = 0) -> Iterator[Pattern]:
    """Yield the patterns that a value of a module holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from flatten(each, depth + 1)


def find_patterns() -> dict[str, dict[Pattern, set[str]]]:
    """Return every pattern by its name, with the ways in which it is used."""
    found: dict[str, dict[Pattern, set[str]]] = {}
    uses: dict[Pattern, set[str]] = defaultdict(set)
    for info in pkgutil.walk_packages(bookwheel.__path__, "bookwheel."):
        if info.name.startswith(ELSEWHERE):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            for pattern in flatten(value):
                found.setdefault(f"{info.name}.{name}", {})[pattern] = uses[pattern]
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                for pattern in flatten(vars(module).get(node.value.id), depth=3):
                    uses[pattern].add(node.attr)
    return found


PATTERNS = find_patterns()


def seconds(pattern: Pattern, text: Any, how: str) -> float:
    began = time.process_time()
    if how == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, how)(text)
    return time.process_time() - began


def slowest(pattern: Pattern, uses: set[str], length: int) -> float:
    """Return the CPU time that the hardest text of a length costs, in the ways it is used."""
    ways = uses & AT_ONE_PLACE | ({"finditer"} if uses & ANYWHERE or not uses else set())
    return max(
        (seconds(pattern, text, how) for how in ways for text in attacks(pattern, length)),
        default=0.0,
    )


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_t15_no_text_of_the_length_it_may_see_makes_a_pattern_slow(name: str) -> None:
    length = BOUNDED.get(name, LONGEST)
    for pattern, uses in PATTERNS[name].items():
        assert slowest(pattern, uses, length) < MOST_SECONDS


def test_the_attacks_find_what_is_slow() -> None:
    for slow in (r"(?:[-_ ]?[a-z]+)*$", r"(a|aa)+$", r"(\w+\s?)*:"):
        made = re.compile(slow)
        assert slowest(made, {"match"}, 22) > 4 * slowest(made, {"match"}, 16)
    made = re.compile(r"\s+x")
    assert slowest(made, {"search"}, 4_000) > 4 * slowest(made, {"search"}, 1_000)


def test_what_is_said_to_see_short_texts_only_is_there() -> None:
    assert BOUNDED.keys() <= PATTERNS.keys()


HARD = {
    "a placeholder": "password: example" + "a" * 5_000 + "1",
    "a block": "kind: Secret\ndata:" + " " * 500_000 + "x",
    "names": "a" * 500_000 + ".password: hunter2hunter2",
    "words": "password " * 60_000,
    "digits": "0123 456-789 " * 40_000,
    "at signs": "a@" * 250_000,
    "keys": "-----BEGIN PRIVATE KEY-----\n" * 18_000,
    "blanks": "key" + " " * 500_000,
}


@pytest.mark.parametrize("name", HARD)
def test_t15_half_a_megabyte_made_to_be_hard_is_looked_through_for_secrets(name: str) -> None:
    began = time.process_time()
    find_spans(HARD[name])
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "piece", ["ipynb / ", ".pdfs ", " ", "find ", "docs, and ", "in a/b ", "20", "mail."]
)
def test_t15_a_question_made_to_be_hard_is_understood_or_not_at_once(piece: str) -> None:
    began = time.process_time()
    for question in (piece * 100, (piece * 100)[:499] + "!", "a" * 400 + piece * 20):
        filters_in_words(question[:500], date(2026, 1, 1), [("c", ""), ("c", "a/b")])
    assert time.process_time() - began < MOST_SECONDS
