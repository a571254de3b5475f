"""What text refers to without a link, and what a document is called by others."""

from __future__ import annotations

import pytest

from bookwheel.formats.links import find_references
from bookwheel.formats.registry import read


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See 10.1000/182.", [("doi", "10.1000/182")]),
        ("(doi:10.1000/a(1)b)", [("doi", "10.1000/a(1)b")]),
        ("arXiv:1706.03762v5 is it", [("arxiv", "1706.03762v5")]),
        ("arxiv: hep-th/9901001", [("arxiv", "hep-th/9901001")]),
        ("https://doi.org/10.1000/182", [("bare", "https://doi.org/10.1000/182")]),
        ("version 10.2 of 10.15/11 and 192.10.1000/24", []),
        ("the arXiv: a preprint server", []),
    ],
)
def test_references_are_told_from_numbers(text: str, found: list[tuple[str, str]]) -> None:
    assert [(kind, target) for _, kind, target in find_references(text)] == found


def test_markdown_refers_in_the_order_of_the_text_but_not_in_code() -> None:
    text = b"# T\n\nSee 10.1000/182, [[Note]] and arXiv:1706.03762. `10.1000/183`\n"
    links = read(text, "a.md").links
    assert [(each.kind, each.target, each.line) for each in links] == [
        ("doi", "10.1000/182", 3),
        ("wikilink", "Note", 3),
        ("arxiv", "1706.03762", 3),
    ]


def test_plain_text_and_tables_refer_with_their_sentence_and_line() -> None:
    text = b"Title\n\nOne thing. Then see\n10.1000/182 for more. Last.\n\nhttps://x.example/\n"
    links = read(text, "a.txt").links
    assert [(each.target, each.context, each.line) for each in links] == [
        ("10.1000/182", "Then see 10.1000/182 for more.", 4),
        ("https://x.example/", "https://x.example/", 6),
    ]
    (row,) = read(b"name,doi\nA paper,10.1000/182\n", "a.csv").links
    assert (row.kind, row.target) == ("doi", "10.1000/182")


def test_a_document_says_what_else_it_is_called() -> None:
    text = b"---\naliases: [One, Two]\nslug: a/b\ndoi: 10.1000/182\narxiv: 1706.03762\n---\n# T\n"
    assert read(text, "a.md").aliases == (
        "One",
        "Two",
        "a/b",
        "doi:10.1000/182",
        "arxiv:1706.03762",
    )
    page = (
        b'<html><head><meta name="citation_doi" content="10.1000/182">'
        b'<meta property="og:url" content="https://x.example/a"></head><body>x</body></html>'
    )
    parsed = read(page, "a.html")
    assert (parsed.url, parsed.aliases) == ("https://x.example/a", ("doi:10.1000/182",))
