"""Any endpoint that speaks OpenAI's /chat/completions: what it is told leaves this machine.

The key goes into one header and nowhere else, redirects are not followed, and nothing that the
endpoint says is repeated in an error. The time limit is for all of it, however slowly it drips.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Sequence
from email.message import Message as Headers
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError

from bookwheel.errors import BadRequest, Upstream
from bookwheel.llm.base import Check, Completion, Message, take_text
from bookwheel.llm.line import Line
from bookwheel.safety.outgoing import TooLong, make_opener, make_post, read_answer
from bookwheel.telemetry.logs import fields

log = logging.getLogger(__name__)

_TRIES = 2
_WAIT, _LONGEST_WAIT = 0.5, 5.0
_LOOK_SECONDS = 0.25
_MAX_ANSWER = 1 << 20


class Endpoint(NamedTuple):
    """Where a model is asked, and how."""

    url: str
    model: str
    key: str | None = None
    timeout: float = 30.0
    """Seconds for everything, a second try included."""


class HttpModel:
    """A model that somebody else runs."""

    def __init__(self, endpoint: Endpoint, *, check: Check = lambda: None) -> None:
        if not endpoint.model:
            raise BadRequest("The endpoint lacks its model.", hint="Set llm_model.")
        if endpoint.key and not (endpoint.key.isascii() and endpoint.key.isprintable()):
            raise BadRequest("llm_key holds characters that cannot be sent.")
        self._endpoint = endpoint
        self._check = check

    def complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        """Ask once, and again where that may help and the time allows it."""
        try:
            return self._complete(messages, max_tokens)
        except Upstream as error:
            # It says in our own words what happened, and nothing that was said.
            log.warning("no answer of a model: %s", error.message, extra=fields(event="model"))
            raise

    def _complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        deadline = time.monotonic() + self._endpoint.timeout
        asked = self._words(messages, max_tokens)
        for attempt in range(1, _TRIES + 1):
            try:
                return _completion(self._send(asked, deadline), max_tokens)
            except HTTPError as error:
                with error:
                    if attempt == _TRIES:
                        raise _refused(error.code) from None
                    asked = self._try_again(error, asked, deadline)
        raise AssertionError("unreachable: the last try returns or raises")

    def _words(self, messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
        said = [{"role": each.role, "content": each.text} for each in messages]
        words = {"model": self._endpoint.model, "messages": said}
        return words | {"max_tokens": max_tokens, "temperature": 0}

    def _try_again(
        self, error: HTTPError, asked: dict[str, Any], deadline: float
    ) -> dict[str, Any]:
        """Return what to ask next, after a wait if it was asked for; raise if there is no use."""
        if error.code == 400:  # newer models take another name for the limit, and no temperature
            others = {name: asked[name] for name in ("model", "messages")}
            return others | {"max_completion_tokens": asked["max_tokens"]}
        wait = _wait(error.headers)
        if not _may_pass(error.code) or time.monotonic() + wait >= deadline:
            raise _refused(error.code) from None
        end = time.monotonic() + wait
        while time.monotonic() < end:
            self._check()
            time.sleep(min(_LOOK_SECONDS, max(0.0, end - time.monotonic())))
        return asked

    def _send(self, asked: dict[str, Any], deadline: float) -> bytes:
        """Send in a thread of its own: nothing that an endpoint or resolver does can hold us."""
        line = Line()
        answers: list[bytes | Exception] = []
        done = threading.Event()

        def send() -> None:
            try:
                answers.append(self._post(line, asked))
            except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
                answers.append(error)
            finally:
                done.set()

        threading.Thread(target=send, name="bookwheel-model", daemon=True).start()
        try:
            while not done.wait(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic()))):
                self._check()
                if time.monotonic() >= deadline:
                    raise _too_slow(self._endpoint.timeout)
        finally:
            line.cut()
        return self._received(answers[0])

    def _post(self, line: Line, asked: dict[str, Any]) -> bytes:
        url = self._endpoint.url.rstrip("/") + "/chat/completions"
        request = make_post(url, asked, self._endpoint.key)
        opener = make_opener(url, *line.handlers())
        with opener.open(request, timeout=self._endpoint.timeout) as response:
            return read_answer(response, _MAX_ANSWER)

    def _received(self, answer: bytes | Exception) -> bytes:
        """Return what came; what did not is told in our own words."""
        if isinstance(answer, bytes):
            return answer
        if isinstance(answer, (HTTPError, Upstream)):
            raise answer
        reason = getattr(answer, "reason", None)
        if isinstance(answer, TimeoutError) or isinstance(reason, TimeoutError):
            raise _too_slow(self._endpoint.timeout)
        if isinstance(answer, TooLong):
            raise Upstream("The model's answer is too long.")
        if isinstance(answer, (URLError, HTTPException, OSError, ValueError)):
            raise Upstream(
                "The model's endpoint cannot be reached, or does not speak HTTP.",
                hint="Check llm_url, and that the service runs.",
            )
        raise answer


def _completion(answer: bytes, max_tokens: int) -> Completion:
    """Take the text out of an answer; anything odd is refused."""
    try:
        value = json.loads(answer)
        choice = value["choices"][0]
        said = choice["message"]["content"]
        is_cut = choice.get("finish_reason") == "length"
        usage = value.get("usage")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise Upstream(
            "The endpoint's answer is none of a chat model.",
            hint="Check llm_url, which ends before /chat/completions.",
        ) from None
    text, is_cut = take_text(said, max_tokens, is_cut=is_cut)
    counts = usage if isinstance(usage, dict) else {}
    return Completion(
        text, _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")), is_cut
    )


def _count(number: object) -> int | None:
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**31:
        return number
    return None


def _may_pass(status: int) -> bool:
    return status == 429 or status >= 500


def _wait(headers: Headers) -> float:
    """Return the seconds to wait; what is too long for somebody who waits is not waited for."""
    try:
        stated = float(headers.get("Retry-After", ""))
    except ValueError:
        return _WAIT
    return stated if 0 <= stated <= _LONGEST_WAIT else float("inf")


def _refused(status: int) -> Upstream:
    hints = {
        400: "Check llm_model, and that the model takes a chat.",
        401: "Check llm_key.",
        403: "Check llm_key.",
        404: "Check llm_url, which ends before /chat/completions, and llm_model.",
        429: "It is asked too often, or its quota is used up; try again later.",
    }
    moved = "It wants to be asked elsewhere, which is not followed: check llm_url."
    hint = moved if 300 <= status < 400 else hints.get(status)
    return Upstream(f"The model's endpoint answered {status}.", hint=hint)


def _too_slow(seconds: float) -> Upstream:
    return Upstream(
        f"The model did not answer within {seconds:g} s.",
        hint="Try again, or raise llm_timeout.",
    )
