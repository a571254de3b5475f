"""Questions become expressions with filters, by rules."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.search.rewrite import LONGEST_EXPRESSION, Rewritten, rewrite, tidy

TODAY = date(2026, 11, 16)


def expression(question: str) -> str:
    return rewrite(question, TODAY).expression


@pytest.mark.requirement("R-058")
def test_the_question_of_the_contract() -> None:
    made = rewrite("Find vendor X contracts from 2021 in ppt or docx", TODAY)

    assert made == Rewritten(
        "vendor NEAR/5 X NEAR/5 contracts AND (2021)",
        (".pptx", ".ppt", ".docx"),
        ("2021",),
        (
            "'from 2021' taken as the year 2021",
            "'in ppt or docx' taken as the type .pptx or .ppt or .docx",
            "NEAR/5 pairs 'vendor', 'X' and 'contracts'",
        ),
    )


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("budget", "budget"),
        ("vendor x 2021 ppt docx", "vendor NEAR/5 x AND 2021"),
        (
            "show me all documents about renewal terms of the Acme contract",
            "renewal NEAR/5 terms AND Acme NEAR/5 contract",
        ),
        ('-draft "net thirty" budget', '"net thirty" AND budget NOT draft'),
        ('budget -"first draft"', 'budget NOT "first draft"'),
        (
            "contracts about vendor X not from 2021",
            "contracts AND vendor NEAR/5 X NOT 2021",
        ),
        ("vendor X, except those from 2021.", "vendor NEAR/5 X NOT 2021"),
        ("what is C++ for node.js?", '"C++" AND "node.js"'),
        ("NASA FBI", "nasa NEAR/5 fbi"),
        ("the", "the"),
        ("to be or not to be", 'to AND be AND "or" AND "not" AND to AND be'),
        ("alpha beta gamma delta", "alpha AND beta AND gamma AND delta"),
        ("日本語の文書", "日本語の文書"),
        ("a1 b2 c3 d4 e5 f6 g7", "a1 OR b2 OR c3 OR d4 OR e5 OR f6 OR g7"),
        ("a1 b2 c3 d4 e5 f6 g7 -h8", "(a1 OR b2 OR c3 OR d4 OR e5 OR f6 OR g7) NOT h8"),
        ("vendor AND (contract OR deal)", "vendor AND (contract OR deal)"),
        ("vendor AND (contract OR deal", "vendor AND contract OR deal"),
        ("((( ''' ", ""),
    ],
)
def test_words_become_an_expression(question: str, made: str) -> None:
    assert expression(question) == made


@pytest.mark.parametrize(
    ("question", "made", "years"),
    [
        (
            "budget between 2020 and 2022",
            "budget AND (2020 OR 2021 OR 2022)",
            ("2020", "2021", "2022"),
        ),
        ("budget since 2025", "budget AND (2025 OR 2026)", ("2025", "2026")),
        ("budget since 2001", "budget", tuple(map(str, range(2001, 2027)))),
        ("budget before 2015", "budget", tuple(map(str, range(1915, 2015)))),
        (
            "a1 b2 c3 d4 e5 f6 g7 from 2021",
            "(a1 OR b2 OR c3 OR d4 OR e5 OR f6 OR g7) AND (2021)",
            ("2021",),
        ),
    ],
)
def test_years_are_named_one_by_one(question: str, made: str, years: tuple[str, ...]) -> None:
    found = rewrite(question, TODAY)
    assert (found.expression, found.years) == (made, years)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=80), st.text('ab -"()ANDORT/5', max_size=60)))
def test_any_text_gives_a_balanced_expression(text: str) -> None:
    made = expression(text)
    assert made.count('"') % 2 == 0
    bare = re.sub('"[^"]*"', "", made)
    assert bare.count("(") == bare.count(")")
    assert len(made) <= 3 * LONGEST_EXPRESSION
    assert made.isprintable() or not made.isascii()
    if any(letter.isalnum() for letter in text) and text.isascii():
        assert any(letter.isalnum() for letter in made)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ('vendor) AND "open', "vendor AND open"),
        (") vendor (", "vendor"),
        ('("a b" OR c)', '("a b" OR c)'),
        ('"smile :)" AND b', '"smile :)" AND b'),
        ("a\n\tb\0", "a b"),
        ("word " * 1000, ("word " * 200).strip()),
    ],
)
def test_halves_of_quotes_and_brackets_are_dropped(given: str, made: str) -> None:
    assert tidy(given) == made
