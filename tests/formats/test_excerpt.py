"""Of a text whose blocks stand for themselves, the outline is that of the whole text."""

from __future__ import annotations

import random

import pytest

from bookwheel.formats.blocks import Outline, read_outline
from bookwheel.formats.composing import Composer
from bookwheel.formats.excerpt import read_excerpt
from bookwheel.formats.manuscript import Block, Manuscript, Piece, Row, Table

_WORDS = (
    *("Words of a paragraph", "Straße & Söhne", "漢字", "a_b_c *d* `e`", "R&amp;D", "# no heading"),
    *("- an item", "2) second", "> a quote", "```", "===", "---", "| a | b |", "<b>bold</b>", "\\"),
    *("https://example.com/a_b", "www.example.org.", "[shown](https://example.com)", "[[page]]"),
    *(
        "10.1000/182",
        "10.05.2020",
        "arXiv:2001.12345",
        "10. arxiv:2001.12345",
        "http:\\//a.example",
    ),
    *(
        "import x from 'y'",
        "export",
        "{{ template }}",
        "<!-- comment",
        "trailing #",
        "a\x0bb",
        "\t",
    ),
    *("    indented", "[label]", "[^1] a note", "!!! note", "https&#58;//b.example"),
)
_DEFINITION = "[label]: https://example.com/label"


def _words(rng: random.Random) -> str:
    return rng.choice((" ", "\n", "")).join(rng.choices(_WORDS, k=rng.randint(1, 4))).strip()


def _piece(rng: random.Random, page: int) -> Piece:
    kind = rng.random()
    if kind < 0.2:
        return Block(_words(rng) or "x", level=rng.randint(1, 8), page=page)
    if kind < 0.4:
        return Block(
            _words(rng) or "x", depth=rng.randint(0, 3), number=rng.randint(0, 2), page=page
        )
    if kind < 0.5:
        cells = [[[Block(_words(rng))] for _ in range(3)] for _ in range(rng.randint(1, 4))]
        return Table([Row(row, page + at // 2) for at, row in enumerate(cells)])
    return Block(_words(rng) or "x", page=page)


def _compose(pieces: list[Piece]) -> Composer:
    manuscript = Manuscript(pieces)
    manuscript.append("Comments", ["Someone: https://example.com/comment", "another"])
    return manuscript._composer


@pytest.mark.parametrize("seed", range(300))
def test_outline_of_an_excerpt_is_that_of_the_whole(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [_piece(rng, 1 + at // 9) for at in range(rng.randint(1, 60))]
    if seed % 10 == 0:
        pieces.insert(rng.randint(0, len(pieces)), Block(_DEFINITION, page=1))
    text, _, parts = _compose(pieces).finish()
    assert read_excerpt(text, parts) == read_outline(text)


def test_only_blocks_that_matter_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def spy(text: str) -> Outline:
        read.append(text)
        return read_outline(text)

    monkeypatch.setattr("bookwheel.formats.excerpt.read_outline", spy)
    filler = [Block(f"Paragraph {number} says little.") for number in range(100)]
    linked, late = Block("See https://example.com/a."), Block("Late", level=2)
    pieces = [Block("Title", level=1), Block("First words."), *filler, linked, *filler, late]
    composer = Composer()
    for block in pieces:
        composer.add(f"{'#' * block.level} {block.text}".strip())
    text, _, parts = composer.finish()
    found = read_excerpt(text, parts)
    assert read == ["# Title\n\nFirst words.\n\nSee https://example.com/a.\n\n## Late\n"]
    assert found == read_outline(text)
    assert [section.start_line for section in found.sections] == [1, 407]
    assert [link.line for link in found.links] == [205]
