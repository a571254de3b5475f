"""Vectors from an endpoint: the right ones in the right order, or an error that says what to do."""

from __future__ import annotations

import json
import socket
from typing import Any

import numpy as np
import pytest

from bookwheel.embedders.http import Endpoint, HttpEmbedder
from bookwheel.errors import BadRequest, Upstream
from tests.embedders.endpoints import Answer, Asked, serving, vectors

KEY = "sk-very-secret"


def letters(asked: Asked) -> Answer:
    """Answer with how many of a, b and c each text holds, the last text first."""
    rows = [[float(text.count(letter)) for letter in "abc"] for text in asked.body["input"]]
    return vectors(rows, backwards=True)


def embedder(url: str, waits: list[float] | None = None, **options: Any) -> HttpEmbedder:
    given: dict[str, Any] = {"key": KEY, "dimensions": 3, "timeout": 5.0}
    waited: list[float] = [] if waits is None else waits
    return HttpEmbedder(Endpoint(url, "tiny", **given | options), sleep=waited.append)


def test_rows_come_in_the_order_of_the_texts() -> None:
    """In batches, by the answer's index, at unit length; blank texts are not sent."""
    with serving(letters) as service:
        model = embedder(service.url, batch=2)
        rows = model.embed(["aa", "  ", "b", "cccc"])
        query = model.embed_query("bc")
    np.testing.assert_allclose(rows, [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(query, np.array([0, 1, 1]) / np.sqrt(2), rtol=1e-6)
    assert [each.body["input"] for each in service.asked] == [["aa", "b"], ["cccc"], ["bc"]]
    assert service.asked[0] == Asked(
        "/v1/embeddings",
        f"Bearer {KEY}",
        {"model": "tiny", "input": ["aa", "b"], "dimensions": 3},
    )


def test_dimensions_are_asked_for_where_nobody_set_them() -> None:
    """One short text at the start tells them; without a key none is sent."""
    with serving(letters) as service:
        model = embedder(service.url, dimensions=None, key=None)
        assert model.embed([]).shape == (0, 3)
    assert model.dimensions == 3
    assert model.fingerprint.endswith("-tiny-3-1")
    assert service.asked == [
        Asked("/v1/embeddings", None, {"model": "tiny", "input": ["dimensions"]})
    ]


def test_an_endpoint_that_asks_for_patience_is_asked_again() -> None:
    """It says itself how long to wait, else the waits grow."""
    says = ("7", "nan")
    turns = iter([*(Answer(b"", 429, (("Retry-After", each),)) for each in says), Answer(b"", 503)])
    waits: list[float] = []
    with serving(lambda asked: next(turns, None) or letters(asked)) as service:
        rows = embedder(service.url, waits).embed(["a"])
    np.testing.assert_array_equal(rows, [[1, 0, 0]])
    assert waits == [7, 1, 2]


@pytest.mark.parametrize(
    ("status", "asked", "hint"),
    [(429, 2, "later"), (500, 2, None), (401, 1, "embedding_key"), (404, 1, "embedding_url")],
)
def test_a_refusal_is_told_without_the_key(status: int, asked: int, hint: str | None) -> None:
    """A query is tried twice where that may help; the key is taken out of the answer's words."""
    with (
        serving(lambda _: Answer(f"bad key {KEY}".encode(), status)) as service,
        pytest.raises(Upstream, match=f"answered {status}") as refusal,
    ):
        embedder(service.url).embed_query("a")
    assert len(service.asked) == asked
    assert (hint or "") in refusal.value.advice
    assert KEY not in refusal.value.advice


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "model \\"x\\"\\n not found", "code": 1}}', 'model "x" not found'),
        (b'{"error": "no such model"}', "no such model"),
        (b'{"detail": "too long"}', "too long"),
        (f"bad key {KEY},\x1b[31m ask mary@example.org".encode(), "bad key [key],"),
        (b"a" * 999, "a" * 200 + "…"),
        (b"<html>Bad gateway</html>", None),
        (b'{"error": ', None),
        (b'{"error": {"code": 7}}', None),
        (b"[[]]", None),
        (b"", None),
    ],
)
def test_what_the_endpoint_says_of_its_refusal_is_told(body: bytes, said: str | None) -> None:
    """In one short line without secrets; pages and what cannot be read are left out."""
    with (
        serving(lambda _: Answer(body, 400)) as service,
        pytest.raises(Upstream, match=r"answered 400\.$") as refusal,
    ):
        embedder(service.url).embed(["a"])
    hint = refusal.value.hint
    assert (hint is None) if said is None else hint is not None and f'It says: "{said}' in hint
    hidden = (KEY, "mary@example.org", "\x1b")
    assert [each for each in hidden if each in refusal.value.advice] == []


def test_what_the_endpoint_says_of_a_query_is_for_its_asker_alone() -> None:
    """Whoever searches next is told that it failed."""
    echo = Answer(b"cannot read: my own question", 500)
    with serving(lambda _: echo) as service:
        model = embedder(service.url)
        with pytest.raises(Upstream) as first:
            model.embed_query("my own question")
        with pytest.raises(Upstream) as second:
            model.embed_query("another")
    assert "my own question" in first.value.advice
    assert second.value.advice == "The embedding endpoint answered 500."


def test_a_redirect_is_not_followed() -> None:
    """The key must not go where the operator did not send it."""
    with serving(letters) as other:
        moved = Answer(b"", 307, (("Location", f"{other.url}/embeddings"),))
        with serving(lambda _: moved) as service, pytest.raises(Upstream, match="answered 307"):
            embedder(service.url).embed(["a"])
    assert other.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        b"[]",
        b'{"data": 7}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [1, 0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 0, 0]}, {"index": 1, "embedding": [NaN, 0, 0]}]}',
    ],
)
def test_an_answer_without_the_vectors_asked_for_is_refused(body: bytes) -> None:
    """No text, no count, no number that is missing or wrong goes into an index."""
    with serving(lambda _: Answer(body)) as service, pytest.raises(Upstream, match="vectors"):
        embedder(service.url).embed(["a", "b"])


def test_more_vectors_than_texts_are_refused() -> None:
    """An answer to another question is none."""
    with (
        serving(lambda _: vectors([[1, 0, 0], [0, 1, 0]])) as service,
        pytest.raises(Upstream, match="other vectors"),
    ):
        embedder(service.url).embed(["a"])


def test_f20_other_dimensions_are_refused() -> None:
    """Vectors of another model never mix with those in the index."""
    with (
        serving(lambda _: vectors([[1, 0]])) as service,
        pytest.raises(Upstream, match="gave 2 dimensions, not 3"),
    ):
        embedder(service.url).embed(["a"])


@pytest.mark.parametrize(("asked_for", "told"), [(None, 1), (3, 0)])
def test_f20_other_dimensions_are_another_model_unless_some_were_asked_for(
    asked_for: int | None, told: int
) -> None:
    """An endpoint that does not heed what it is asked for has no other model because of that."""
    calls: list[bool] = []
    row = [1.0, 0.0, 0.0]
    with serving(lambda _: vectors([row])) as service:
        model = embedder(service.url, dimensions=asked_for)
        model.on_replaced = lambda: calls.append(True)
        row.pop()
        with pytest.raises(Upstream, match="gave 2 dimensions, not 3"):
            model.embed_query("a")
    assert len(calls) == told


def test_f20_a_slow_endpoint_is_given_up() -> None:
    """Also one that sends a byte now and then."""
    body = json.dumps({"data": []}).encode() * 100
    with (
        serving(lambda _: Answer(body, trickle=0.05)) as service,
        pytest.raises(Upstream, match=r"within 0\.3 s"),
    ):
        embedder(service.url, timeout=0.3).embed(["a"])


def test_f20_a_silent_endpoint_is_given_up() -> None:
    """It takes the connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(Upstream, match=r"within 0\.2 s"):
            embedder(f"http://127.0.0.1:{port}/v1", timeout=0.2).embed(["a"])


def test_an_endpoint_that_failed_is_not_asked_for_queries_for_a_while() -> None:
    """Texts are sent still, since nobody waits for those, and later queries again."""
    now, works = [100.0], [False]
    with serving(lambda asked: letters(asked) if works[0] else Answer(b"", 503)) as service:
        endpoint = Endpoint(service.url, "tiny", dimensions=3)
        model = HttpEmbedder(endpoint, sleep=lambda _: None, clock=lambda: now[0])
        for _ in range(3):
            with pytest.raises(Upstream, match="answered 503"):
                model.embed_query("a")
        assert len(service.asked) == 2
        works[0] = True
        assert model.embed(["a"]).any()
        now[0] += 31
        assert model.embed_query("a").any()


def test_a_query_that_an_endpoint_does_not_like_keeps_it_from_no_other() -> None:
    """Else whoever sends nonsense takes meaning from all."""
    refuses = Answer(b"", 400)
    with serving(lambda asked: refuses if "b" in asked.body["input"] else letters(asked)) as it:
        model = embedder(it.url)
        with pytest.raises(Upstream, match="answered 400"):
            model.embed_query("b")
        assert model.embed_query("a").any()


def test_a_query_does_not_wait_as_long_as_the_endpoint_asks_for() -> None:
    """Somebody wants an answer; texts have the time."""
    waits: list[float] = []
    busy = Answer(b"", 429, (("Retry-After", "20"),))
    with serving(lambda _: busy) as service, pytest.raises(Upstream, match="answered 429"):
        embedder(service.url, waits).embed_query("a")
    assert (waits, len(service.asked)) == ([], 1)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://a b/v1", "http://.../v1"])
def test_an_endpoint_that_is_not_there_is_said(url: str) -> None:
    """Nothing listens, or the address is none."""
    with pytest.raises(Upstream, match="cannot be reached"):
        embedder(url).embed(["a"])


def test_what_is_not_set_is_said() -> None:
    """Neither address nor model can be guessed, and a key must be one line."""
    with pytest.raises(BadRequest, match="lacks its address or its model"):
        embedder("")
    with pytest.raises(BadRequest, match="cannot be sent") as refusal:
        embedder("http://127.0.0.1:1", key=f"{KEY}\n")
    assert KEY not in refusal.value.advice
