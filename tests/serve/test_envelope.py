"""Reading messages: sound ones pass, others get their code, and their id where readable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.serve.envelope import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    METHODS,
    PARSE_ERROR,
    Message,
    Refusal,
    find_misnamed,
    read_message,
)

SOUND = [
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', 1),
    (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}', "a"),
    (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', None),
    (b'{"jsonrpc":"2.0","id":1,"result":{}}', None),
    (b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', None),
]
BROKEN = [
    (b"", PARSE_ERROR, None),
    (b"{", PARSE_ERROR, None),
    (b"\xff", PARSE_ERROR, None),
    (b"[" * 100_000, PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":NaN}', PARSE_ERROR, None),
    (b"9" * 5000, PARSE_ERROR, None),
    (b"[]", INVALID_REQUEST, None),
    (b"1", INVALID_REQUEST, None),
    (b"{}", INVALID_REQUEST, None),
    (b'{"id":7,"method":"ping"}', INVALID_REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":7}', INVALID_REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":1}', INVALID_REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', INVALID_REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":7,"result":{},"error":{}}', INVALID_REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping","error":{}}', INVALID_REQUEST, None),
]


@pytest.mark.parametrize(("raw", "number"), SOUND)
def test_a_sound_message_passes_with_the_id_that_wants_an_answer(
    raw: bytes, number: str | int | None
) -> None:
    read = read_message(raw)

    assert isinstance(read, Message)
    assert read.id == number


@pytest.mark.parametrize("half", ["\\ud800", "\\uDC00\\uD800", "a\\udfff"])
def test_half_a_character_is_replaced_by_the_sign_that_says_so(half: str) -> None:
    raw = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"%s"}}' % half.encode()
    read = read_message(raw)

    assert isinstance(read, Message)
    assert read.mended is not None
    assert read.body["params"]["a"].strip("a") in ("\ufffd", "\ufffd\ufffd")
    assert json.loads(read.mended) == read.body


def test_whole_characters_are_left_as_they_are() -> None:
    raw = rb'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud83e\udd86 \\ud800"}}'
    assert read_message(raw) == Message(json.loads(raw))


@pytest.mark.parametrize(("raw", "code", "number"), BROKEN)
def test_what_is_no_message_is_refused_with_its_code_and_id(
    raw: bytes, code: int, number: int | None
) -> None:
    read = read_message(raw)

    assert isinstance(read, Refusal)
    assert (read.code, read.id) == (code, number)
    assert read.as_json()["id"] == number


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("tools/lst", "Method not found. Did you mean 'tools/list'?"),
        ("resource/read", "Method not found. Did you mean 'resources/read'?"),
        ("x" * 100_000, "Method not found"),
    ],
)
def test_an_unknown_method_is_answered_with_the_nearest_one_and_not_at_length(
    method: str, said: str
) -> None:
    refusal = find_misnamed(Message({"jsonrpc": "2.0", "id": 7, "method": method}))

    assert refusal is not None
    assert (refusal.code, refusal.message, refusal.id) == (METHOD_NOT_FOUND, said, 7)
    assert refusal.data == {"method": method[:100]}


@pytest.mark.parametrize(
    "body",
    [
        *({"id": 1, "method": method} for method in METHODS),
        {"id": 1, "method": "nobody/knows"},
        {"method": "notifications/cancelled"},
        {"id": 1, "result": {}},
    ],
)
def test_what_is_known_or_like_nothing_known_is_left_to_the_protocol(body: dict[str, Any]) -> None:
    assert find_misnamed(Message(body)) is None


@given(st.binary(max_size=200))
def test_t10_any_bytes_get_an_answer(raw: bytes) -> None:
    assert isinstance(read_message(raw), Message | Refusal)
