"""Texts from an endpoint's model: what it wrote, or an error that gives nothing away."""

from __future__ import annotations

import json
import logging
import socket
import threading
from typing import Any

import pytest

from bookwheel.contracts.work import Cancelled
from bookwheel.errors import BadRequest, Upstream
from bookwheel.llm.base import Completion, Message
from bookwheel.llm.http import Endpoint, HttpModel
from tests.llm.endpoints import Answer, Asked, chat, dripping, saying, serving

KEY = "sk-very-secret"
THEIRS = "the provider's own words"
MESSAGES = [Message("system", "Be brief."), Message("user", "Héllo “there”")]


def ask(url: str, *, timeout: float = 10.0, max_tokens: int = 50, **options: Any) -> Completion:
    model = HttpModel(Endpoint(url, "tiny", KEY, timeout), **options)
    return model.complete(MESSAGES, max_tokens)


def refusal(url: str, **options: Any) -> Upstream:
    with pytest.raises(Upstream) as caught:
        ask(url, **options)
    return caught.value


def test_messages_model_and_key_are_sent_as_the_api_has_them() -> None:
    with serving(saying("Hello.")) as service:
        assert ask(service.url) == Completion("Hello.", 11, 7)
    assert service.asked == [
        Asked(
            "/v1/chat/completions",
            f"Bearer {KEY}",
            {
                "model": "tiny",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Héllo “there”"},
                ],
                "max_tokens": 50,
                "temperature": 0,
            },
        )
    ]


def test_a_service_on_this_machine_is_asked_past_any_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(saying("Hello.")) as service:
        assert ask(service.url).text == "Hello."


def test_a_failure_is_one_line_in_the_log_without_text_or_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving(lambda _: Answer(THEIRS.encode(), 401)) as service:
        refusal(service.url)
    (line,) = [each for each in caplog.records if each.name == "bookwheel.llm.http"]
    assert line.getMessage() == "no answer of a model: The model's endpoint answered 401."
    assert all(each not in caplog.text for each in (KEY, THEIRS, "Héllo"))


def test_without_a_key_none_is_sent() -> None:
    with serving(saying("Hello.")) as service:
        HttpModel(Endpoint(f"{service.url}/", "tiny")).complete(MESSAGES, 5)
    assert (service.asked[0].path, service.asked[0].key) == ("/v1/chat/completions", None)


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": "many"}, {"prompt_tokens": -1}, {"prompt_tokens": True}]
)
def test_figures_that_are_none_are_left_out(usage: Any) -> None:
    with serving(lambda _: chat("Hello.", usage=usage)) as service:
        assert ask(service.url) == Completion("Hello.")


def test_what_a_model_thinks_aloud_is_not_its_answer() -> None:
    with serving(lambda _: chat("<think>Hm. Well.</think>\n\nHello.")) as service:
        assert ask(service.url).text == "Hello."


def test_an_endless_answer_is_cut_at_the_limit_that_the_model_did_not_keep() -> None:
    with serving(lambda _: chat("word " * 10_000)) as service:
        answer = ask(service.url, max_tokens=10)
    assert answer.is_cut
    assert len(answer.text) <= 80
    assert answer.text.endswith("word")


def test_an_answer_that_ended_for_want_of_tokens_says_so() -> None:
    with serving(lambda _: chat("Hello and", finish="length")) as service:
        assert ask(service.url).is_cut
    with serving(lambda _: chat("", finish="length")) as service:
        assert "max_tokens" in (refusal(service.url).hint or "")


def test_a_model_of_the_newer_kind_is_asked_in_its_own_way() -> None:
    """It refuses max_tokens and a temperature with 400."""

    def choosy(asked: Asked) -> Answer:
        return Answer(b"{}", 400) if "max_tokens" in asked.body else chat("Hello.")

    with serving(choosy) as service:
        assert ask(service.url).text == "Hello."
    assert {*service.asked[1].body} == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize("hiccup", [Answer(b"", 503), Answer(b"", 429, (("Retry-After", "0"),))])
def test_a_short_hiccup_is_waited_out(hiccup: Answer) -> None:
    turns = iter([hiccup])
    with serving(lambda _: next(turns, None) or chat("Hello.")) as service:
        assert ask(service.url).text == "Hello."


def test_what_takes_too_long_is_not_waited_out() -> None:
    with serving(lambda _: Answer(b"", 429, (("Retry-After", "3600"),))) as service:
        assert "429" in refusal(service.url).message
    assert len(service.asked) == 1


@pytest.mark.requirement("R-055")
@pytest.mark.parametrize(
    ("status", "asked", "hint"),
    [
        (400, 2, "llm_model"),
        (401, 1, "llm_key"),
        (403, 1, "llm_key"),
        (404, 1, "llm_url"),
        (429, 2, "later"),
        (500, 2, None),
    ],
)
def test_t27_a_refusal_shows_neither_the_providers_words_nor_the_key(
    status: int, asked: int, hint: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    body = f"{THEIRS}: bad key {KEY}".encode()
    with serving(lambda _: Answer(body, status, (("Retry-After", "0"),))) as service:
        error = refusal(service.url)
    assert f"answered {status}" in error.message
    assert hint is None or hint in (error.hint or "")
    assert len(service.asked) == asked
    for text in (error.advice, caplog.text, repr(error), repr(error.__cause__)):
        assert KEY not in text
        assert THEIRS not in text


@pytest.mark.requirement("R-055")
@pytest.mark.parametrize(
    "body",
    [
        THEIRS.encode(),
        b"",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": [1]}}]}',
        b'{"choices": [{"message": {"content": "  "}}]}',
        b'{"choices": 5}',
        b"\xff\xfe" * 50,
        b"[" * 100_000,
    ],
)
def test_nonsense_is_refused(body: bytes) -> None:
    with serving(lambda _: Answer(body)) as service:
        assert THEIRS not in refusal(service.url).advice


@pytest.mark.requirement("R-055")
def test_t27_a_huge_answer_is_not_read_to_its_end() -> None:
    with serving(lambda _: Answer(b" " * (32 << 20))) as service:
        assert "too long" in refusal(service.url).message


@pytest.mark.requirement("R-055")
@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n{", b"no HTTP at all"]
)
def test_t27_an_answer_that_drips_ends_at_the_limit(said: bytes) -> None:
    """Each byte comes well within the limit; only all of them do not."""
    with dripping(said, 0.2) as url:
        assert "within 1 s" in refusal(url, timeout=1.0).message


@pytest.mark.requirement("R-055")
def test_an_endpoint_that_says_nothing_is_given_up() -> None:
    with dripping(b"", 3600) as url:
        assert "within 1 s" in refusal(url, timeout=1.0).message


def test_a_thread_that_was_given_up_ends() -> None:
    with dripping(b"HTTP/1.1 200 OK\r\n", 3600) as url:
        refusal(url, timeout=1.0)
        for left in [each for each in threading.enumerate() if each.name == "bookwheel-model"]:
            left.join(10)
            assert not left.is_alive()


@pytest.mark.requirement("R-055")
def test_a_closed_port_and_no_address_are_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}/v1", "http://", "http://127.0.0.1:99999999/v1"):
        error = refusal(url)
        assert "cannot be reached" in error.message
        assert "llm_url" in (error.hint or "")


def test_what_speaks_no_http_is_told() -> None:
    with dripping(b"SSH-2.0-OpenSSH_9.6\r\n" * 2, 0.001) as url:
        assert "HTTP" in refusal(url).message


def test_t27_a_redirect_is_not_followed() -> None:
    with serving(saying("Hello.")) as other:
        moved = Answer(b"", 307, (("Location", f"{other.url}/chat/completions"),))
        with serving(lambda _: moved) as service:
            assert "elsewhere" in (refusal(service.url).hint or "")
    assert other.asked == []


def test_a_call_that_was_given_up_does_not_wait_for_the_model() -> None:
    def leave() -> None:
        raise Cancelled

    with dripping(b"", 3600) as url, pytest.raises(Cancelled):
        ask(url, timeout=600.0, check=leave)


def test_a_key_that_cannot_be_sent_is_refused_without_being_shown() -> None:
    with pytest.raises(BadRequest) as caught:
        HttpModel(Endpoint("http://127.0.0.1/v1", "tiny", "sk-secret\r\nX-Evil: 1"))
    assert "sk-secret" not in caught.value.advice


def test_halves_of_characters_do_not_stop_it() -> None:
    with serving(saying("Hello.")) as service:
        model = HttpModel(Endpoint(service.url, "tiny"))
        assert model.complete([Message("user", "\ud800")], 5).text == "Hello."
    assert json.dumps(service.asked[0].body).isascii()
