"""What crosses from the worker to the parent arrives as it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.indexing.pieces import InPieces
from bookwheel.indexing.wire import pack, unpack
from bookwheel.indexing.worker_child import HEADER, decode, encode
from bookwheel.model import (
    Chunk,
    Draft,
    FileState,
    Link,
    PageTerms,
    Parsed,
    PassageTerms,
    Place,
    Section,
    Span,
    Status,
)


def rows(kind: type) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.from_type(kind)).map(tuple)


PARSED = st.builds(Parsed, sections=rows(Section), links=rows(Link), places=rows(Place))
TERMS = st.builds(PageTerms, passages=rows(PassageTerms))
DRAFTS = st.builds(
    Draft,
    parsed=st.none() | PARSED,
    terms=st.none() | TERMS,
    chunks=rows(Chunk),
    spans=rows(Span),
    long=st.none(),
)


def is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(is_plain(item) for item in value)
    return value is None or type(value) in (str, int, bool, bytes)


@given(st.one_of(DRAFTS, st.from_type(FileState)))
def test_a_result_comes_back_as_it_went(result: Draft | FileState) -> None:
    assert unpack(pack(result)) == result


@given(DRAFTS)
def test_only_plain_values_cross(draft: Draft) -> None:
    assert is_plain(pack(draft))


def long_draft() -> Draft:
    text = "".join(f"wörd{number} " for number in range(200_000))
    passages = tuple(PassageTerms(f"h{n} ", "b ", "e ", "", "") for n in range(1_200))
    chunks = tuple(Chunk(n, n, n + 1, 1, 1, ("A",), "") for n in range(1_200))
    links = tuple(Link("wiki", f"t{n}", "", "", n, (n, n)) for n in range(1_700))
    sections, places = (Section(1, "A", 0, 9, 1, 1),), (Place(0, "page 1"), Place(5, "page 2"))
    parsed = Parsed("Title", "", text, sections=sections, links=links, places=places)
    draft = Draft("c", "a.md", ".md", "", FileState(1, 2, b"d"), Status.OK, parsed=parsed)
    terms = PageTerms("title ", "title ", "", "", passages, text=PassageTerms("", "b", "e", ""))
    return draft._replace(chunks=chunks, terms=terms, spans=(Span(0, 4, "EMAIL"),))


def pieces_of(draft: Draft) -> list[Any]:
    sent = pack(draft)
    assert isinstance(sent, InPieces)
    return list(sent.part(0))


def listed(value: Any) -> Any:
    """Return a value with all that is in it as lists, whatever it is read from."""
    is_many = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return [listed(each) for each in value] if is_many else value


def test_a_long_draft_crosses_in_pieces_and_is_the_same() -> None:
    draft = long_draft()
    pieces = pieces_of(draft)
    got = unpack(InPieces(pieces))
    assert isinstance(got, Draft)
    assert got.parsed is not None
    assert (got.parsed.text, got.characters) == ("", draft.characters)
    assert listed(got.gather()) == listed(draft)
    assert (len(got.chunks), got.chunks[700]) == (1_200, draft.chunks[700])
    assert all(is_plain(piece) and len(encode(piece)) < 2_000_000 for piece in pieces)
    assert len(encode(pieces[0])) < 1_000  # however much there is of anything


@pytest.mark.parametrize(
    "spoil",
    [
        lambda pieces: pieces[:-1],
        lambda pieces: [*pieces, pieces[-1]],
        lambda pieces: [*pieces[:-1], ((1, 2, 3, 4, 5),)],
        lambda pieces: [*pieces[:-1], 7],
        lambda pieces: [pieces[0], pieces[1][:-1], *pieces[2:]],
        lambda pieces: [pieces[0], b"\xff" + pieces[1][1:], *pieces[2:]],
        lambda pieces: [((1, 2, b"", False),), *pieces[1:]],
        lambda pieces: [(*pieces[0][:2], pieces[0][2][:-1]), *pieces[1:]],
        lambda pieces: [*pieces[:4], pieces[4][:-1], *pieces[5:]],
        lambda pieces: [*pieces[:4], (("wiki", "too few"),), *pieces[5:]],
    ],
)
def test_a_long_draft_that_is_not_as_it_says_is_refused_before_it_is_written(spoil: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        unpack(InPieces(spoil(pieces_of(long_draft()))))


@pytest.mark.parametrize("status", Status)
def test_every_status_crosses(status: Status) -> None:
    draft = Draft("c", "a.md", ".md", "text/markdown", FileState(1, 2, b"d", True), status, "why")
    message = bytes(encode(pack(draft)))

    assert unpack(tuple(decode(BytesIO(message[HEADER.size :])))) == draft


def test_a_status_that_there_is_not_is_refused() -> None:
    sent = pack(Draft("c", "a.md", ".md", "", FileState(1, 2, b""), Status.OK))

    assert isinstance(sent, tuple)
    with pytest.raises(ValueError, match="fine"):
        unpack((sent[0], sent[1], ("fine", ""), *sent[3:]))
