"""AND, OR, NOT and NEAR in a query."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.engines.base import Condition, Every, InOrder, Some, Without
from bookwheel.query import SearchRequest
from bookwheel.search.operators import All, Any, Near, Not, Phrase, Words, leaves, parse
from bookwheel.search.require import Requirement
from tests.search.shelf import Shelf

CONTRACTS = {
    "near.md": "# A\n\nThe vendor signed many long contracts in 2021.",
    "far.md": f"# B\n\nvendor {'word ' * 20} contract 2021",
    "old.md": "# C\n\nA contract of the vendor, 2019.",
    "supplier.md": "# D\n\nsupplier contract 2021",
    "report.md": "# E\n\nThe annual report names vendors.",
}


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A shelf that no test changes."""
    shelf = Shelf(tmp_path_factory.mktemp("contracts"))
    shelf.put(CONTRACTS)
    return shelf


def is_empty(word: str) -> bool:
    return word.lower() in {"is", "the", "do"}


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        (
            "vendor NEAR/5 contract AND (2021)",
            All((Near(Words("vendor"), Words("contract"), 5), Words("2021"))),
        ),
        ("a OR b c", Any((Words("a"), All((Words("b"), Words("c")))))),
        ("a NOT b", All((Words("a"), Not(Words("b"))))),
        ("a AND -b", All((Words("a"), Not(Words("b"))))),
        ('a AND "b c"', All((Words("a"), Phrase("b c")))),
        ('(a OR "b c") AND d', All((Any((Words("a"), Phrase("b c"))), Words("d")))),
        ("a NEAR b", Near(Words("a"), Words("b"), 10)),
        (
            "a NEAR/1 b NEAR/2 c",
            All((Near(Words("a"), Words("b"), 1), Near(Words("b"), Words("c"), 2))),
        ),
        ("a NEAR/999999999 b", Near(Words("a"), Words("b"), 100)),
        ("a AND", Words("a")),
        ("OR a AND AND b", All((Words("a"), Words("b")))),
        ("-(a OR b) AND c", All((Not(Any((Words("a"), Words("b")))), Words("c")))),
        ("tabs.get() AND promise", All((Words("tabs.get()"), Words("promise")))),
    ],
)
def test_operators_in_capitals_make_an_expression(text: str, expression: object) -> None:
    assert parse(text, is_empty) == expression


@pytest.mark.parametrize(
    "text",
    [
        "terms and conditions or not",
        "TERMS AND CONDITIONS",
        "a column that IS NOT NULL",
        "404 NOT FOUND",
        "it is NOT possible",
        "(a AND b",
        "a) OR b",
        'a AND "b',
        "(((((((" * 200 + "a AND b",
        "AND",
        "NOT",
        "NEAR/5",
        "NOT found",
        "",
    ],
)
def test_what_prose_and_statements_write_and_what_is_unbalanced_is_none(text: str) -> None:
    assert parse(text, is_empty) is None


@given(
    st.lists(
        st.sampled_from(["a", "b", "AND", "OR", "NOT", "NEAR/3", "NEAR", "(", ")", '"', "-", "-c"]),
        max_size=20,
    ).map(" ".join)
)
def test_any_text_is_read_without_an_error(text: str) -> None:
    made = parse(text, is_empty)

    assert made is None or any(leaves(made))


@pytest.mark.requirement("R-059")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("vendor NEAR/5 contract AND (2021)", {"near.md"}),
        ("vendor NEAR/5 contract", {"near.md", "old.md"}),
        ("contract NEAR/5 vendor", {"near.md", "old.md"}),
        ("vendor NEAR/19 contract", {"near.md", "old.md"}),
        ("vendor NEAR/20 contract", {"near.md", "old.md", "far.md"}),
        ("vendor AND contract", {"near.md", "old.md", "far.md"}),
        ("the vendor AND contract", {"near.md", "old.md", "far.md"}),
        ("(vendor OR supplier) AND 2021", {"near.md", "far.md", "supplier.md"}),
        ("contract NOT vendor", {"supplier.md"}),
        ("contract NOT (vendor OR supplier)", set()),
        ("contract AND -supplier", {"near.md", "old.md", "far.md"}),
        ('"annual report" NEAR vendor', {"report.md"}),
        ('"report annual" NEAR vendor', set()),
        ("(annual OR signed) NEAR/2 vendor", {"report.md", "near.md"}),
        ("(annual AND signed) NEAR/2 vendor", set()),
        ("supplier OR nonsuchword", {"supplier.md"}),
        ("supplier AND nonsuchword", set()),
        ("supplier OR NOT vendor", {"supplier.md"}),
    ],
)
def test_documents_meet_what_the_operators_say(
    contracts: Shelf, query: str, found: set[str]
) -> None:
    results = contracts.ask(SearchRequest(query, fuzzy=False))

    assert {hit.document for hit in results.hits} == found
    assert results.total == len(found)


def test_operators_are_never_relaxed_and_the_answer_says_so(contracts: Shelf) -> None:
    results = contracts.ask("annual AND supplier")

    assert results.hits == ()
    assert "no document meets what AND, OR, NOT and NEAR ask for" in results.relaxed


def test_a_slip_in_an_expression_is_forgiven_and_named(contracts: Shelf) -> None:
    results = contracts.ask("suplier AND contract")

    assert [hit.document for hit in results.hits] == ["supplier.md"]
    assert "'suplier' also as 'supplier'" in results.relaxed


VERBS = [f"{first}{vowel}lk" for first in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
FORMS = ("", "s", "ed", "ing")


def near_groups(ones: int, others: int) -> str:
    """Return a query for any of some words near any of some more."""
    some, more = ["vendor", *VERBS[: ones - 1]], ["contract", *VERBS[-others + 1 :]]
    return f"({' OR '.join(some)}) NEAR/5 ({' OR '.join(more)})"


@pytest.mark.parametrize(
    ("words", "found", "note"),
    [
        (6, {"near.md", "old.md"}, []),
        (
            *(12, {"near.md", "old.md"}),
            ["of so many words beside NEAR only the commonest forms were looked for"],
        ),
        (50, {"near.md", "old.md", "far.md"}, ["so many words beside NEAR need not be near"]),
    ],
)
def test_what_many_words_beside_near_are_not_looked_for_is_said(
    contracts: Shelf, words: int, found: set[str], note: list[str]
) -> None:
    results = contracts.ask(SearchRequest(near_groups(words, words), fuzzy=False))

    assert {hit.document for hit in results.hits} == found
    assert [each for each in results.relaxed if "beside NEAR" in each] == note


@pytest.mark.parametrize(
    "query",
    [
        near_groups(20, 20),
        near_groups(50, 50),
        near_groups(3, 100),
        " AND ".join([near_groups(9, 9)] * 6),
        " NEAR ".join(VERBS),
    ],
)
def test_t13_a_bounded_number_of_pairs_is_looked_for_however_many_words_are_near(
    tmp_path: Path, query: str
) -> None:
    expression = parse(query, is_empty)
    shelf = Shelf(tmp_path)
    shelf.put({"verbs.md": " ".join(verb + form for verb in VERBS for form in FORMS)})

    assert expression is not None
    made = Requirement(shelf.engine, ("en",), lambda word, wanted: Every(())).make(expression)
    assert count_pairs(made) <= 2_000
    shelf.close()


def count_pairs(condition: Condition | None) -> int:
    """Return how many sequences of words a condition looks for."""
    match condition:
        case InOrder():
            return 1
        case Every(parts) | Some(parts):
            return sum(map(count_pairs, parts))
        case Without(part):
            return count_pairs(part)
        case _:
            return 0


def test_small_letters_are_words(contracts: Shelf) -> None:
    assert len(contracts.find("annual and supplier")) > 1


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                "vendor",
                "2021",
                "AND",
                "OR",
                "NOT",
                "NEAR/3",
                "(",
                ")",
                '"',
                "-x",
                "契約書",
                "é",
                "&",
            ]
        ),
        max_size=14,
    ).map(" ".join)
)
def test_any_expression_is_answered(contracts: Shelf, text: str) -> None:
    results = contracts.ask(text)

    assert results.total >= len(results.hits)
