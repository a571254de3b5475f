"""What a query's text asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.search.interpret import LONGEST_QUERY, MOST_WORDS, interpret


def words_of(text: str) -> list[str]:
    return [word.exact for surface in interpret(text, ("en",)).words for word in surface.words]


@pytest.mark.parametrize(
    ("text", "words", "phrases", "excluded"),
    [
        ('"exit code" -windows linux', ["linux"], [("exit", "code")], ["windows"]),
        ("“curly quotes” work", ["work"], [("curly", "quotes")], []),
        ('an "unclosed quote', ["an", "unclosed", "quote"], [], []),
        ('""', [], [], []),
        ("a - b", ["a", "b"], [], []),
        ("--dry-run", ["dry", "run"], [], []),
        ("well-known", ["well", "known"], [], []),
        ("-only", [], [], ["only"]),
        ("NOT only", [], [], ["only"]),
        ("NOT FOUND", ["not", "found"], [], []),
        ("x -", ["x"], [], []),
        ("C++ [x] OR NOT (y", ["c", "x", "or", "not", "y"], [], []),
    ],
)
def test_a_query_is_taken_apart(
    text: str, words: list[str], phrases: list[tuple[str, ...]], excluded: list[str]
) -> None:
    question = interpret(text, ("en",))
    assert words_of(text) == words
    assert list(question.phrases) == phrases
    assert [word.exact for surface in question.excluded for word in surface.words] == excluded


def test_an_excluded_phrase_is_a_phrase() -> None:
    assert interpret('-"exit code"', ("en",)).excluded_phrases == (("exit", "code"),)


AROUND = "how can it be that the program says so again and again when I"


def test_a_phrase_that_must_be_absent_may_be_all_that_is_asked() -> None:
    question = interpret('NOT "exit code"', ("en",))

    assert (question.words, question.excluded_phrases) == ((), (("exit", "code"),))


def test_quotes_in_a_long_question_are_its_writers_own() -> None:
    question = interpret(f'{AROUND} get "exit code" -"on windows" there', ("en",))
    assert question.loosened
    assert question.phrases == ()
    assert question.excluded_phrases == (("on", "windows"),)
    assert {"exit", "code"} <= {word.exact for each in question.words for word in each.words}


@pytest.mark.parametrize(
    "text",
    [
        'Which of the many systems show "what you see" at once?',
        'Articles on systems that show "what you see", and more of that kind.',
        'He asked me again and again for "the exit code."',
        "图表 “气温重建”所依托的论文是于何年发表的？",
    ],
)
def test_quotes_in_a_sentence_are_its_writers_own(text: str) -> None:
    question = interpret(text, ("en",))
    assert (question.loosened, question.phrases) == (True, ())


@pytest.mark.parametrize(
    ("text", "excluded", "plain"),
    [
        (
            "How does COVID -19 spread in resource -limited settings?",
            [],
            "How does COVID -19 spread in resource -limited settings?",
        ),
        ("How does one start the server -windows -mac?", ["windows", "mac"], None),
        ("flow -dash papers .", ["dash"], "flow papers ."),
        ("start the server -windows on every node at once", ["windows"], None),
    ],
)
def test_a_dash_within_a_sentence_excludes_nothing(
    text: str, excluded: list[str], plain: str | None
) -> None:
    question = interpret(text, ("en",))
    assert [word.exact for each in question.excluded for word in each.words] == excluded
    assert plain is None or question.plain == plain


@pytest.mark.parametrize(
    "text",
    [
        'get "exit code" there',
        'Where is "exit code" set?',
        f'"{AROUND}"',
        f"{AROUND} ask",
        f'{AROUND} -"exit code"',
    ],
)
def test_other_quotes_are_conditions(text: str) -> None:
    assert not interpret(text, ("en",)).loosened


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("rotate the key", "rotate the key"),
        ('rotate "the key" -windows -"at night"', "rotate the key"),
        ("  “curly”  words ", "curly words"),
        ("-only", ""),
        ('an "unclosed quote', "an unclosed quote"),
        (f'{AROUND} get "exit code"', f"{AROUND} get exit code"),
    ],
)
def test_a_model_reads_the_question_without_marks_and_exclusions(text: str, plain: str) -> None:
    assert interpret(text, ("en",)).plain == plain


def test_a_long_query_is_shortened_and_says_so() -> None:
    question = interpret("word " * 1000, ("en",))
    assert len(question.words) <= MOST_WORDS
    assert question.shortened
    assert interpret("x" * (LONGEST_QUERY + 1), ("en",)).shortened


@pytest.mark.parametrize("text", ["", "   ", "\0", "!!! ???", "\ud800", '"', "-", "- -"])
def test_a_query_without_words_asks_nothing(text: str) -> None:
    assert interpret(text, ("en",)).asks_nothing


@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_can_be_interpreted(text: str) -> None:
    question = interpret(text, ("en", "de"))
    assert len(question.words) <= MOST_WORDS
