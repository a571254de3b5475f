"""What crosses from the worker to the parent arrives as it was sent."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.indexing.wire import pack, unpack
from bookwheel.indexing.worker_child import HEADER, decode, encode
from bookwheel.model import Draft, FileState, Status

DRAFTS = st.from_type(Draft)


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


@pytest.mark.parametrize("status", Status)
def test_every_status_crosses(status: Status) -> None:
    draft = Draft("c", "a.md", ".md", "text/markdown", FileState(1, 2, b"d", True), status, "why")
    message = bytes(encode(pack(draft)))

    assert unpack(tuple(decode(BytesIO(message[HEADER.size :])))) == draft


def test_a_status_that_there_is_not_is_refused() -> None:
    sent = pack(Draft("c", "a.md", ".md", "", FileState(1, 2, b""), Status.OK))

    with pytest.raises(ValueError, match="fine"):
        unpack((sent[0], sent[1], ("fine", ""), *sent[3:]))
