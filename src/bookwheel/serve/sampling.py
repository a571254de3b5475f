"""The client's own model, in both eras of the protocol: asked in between, or by a second call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent import futures
from functools import partial

import anyio

from bookwheel.contracts.work import Asked, Work
from bookwheel.errors import Upstream
from bookwheel.llm.base import Message
from bookwheel.llm.sampling import Sample

MODEL = "model"
"""What our request is called among those that a client answers by calling again."""
_LOOK_SECONDS = 0.25

Ask = Callable[[Sequence[Message], int], Awaitable[object]]
"""Asks a client for at most so many tokens; gives the text, or whatever else came."""


def ask_in_between(ask: Ask, timeout: float) -> Callable[[Work], Sample]:
    """Return how a call in a thread asks a client that answers while the call is under way."""
    loop = asyncio.get_running_loop()

    def sample(work: Work, messages: Sequence[Message], max_tokens: int) -> object:
        asking = _ask_in_time(ask, messages, max_tokens, timeout)
        waiting = asyncio.run_coroutine_threadsafe(asking, loop)
        try:
            while not futures.wait([waiting], _LOOK_SECONDS).done:
                work.go_on()
            return waiting.result()
        finally:
            waiting.cancel()

    return lambda work: partial(sample, work)


async def _ask_in_time(
    ask: Ask, messages: Sequence[Message], max_tokens: int, timeout: float
) -> object:
    try:
        with anyio.fail_after(timeout):
            return await ask(messages, max_tokens)
    except TimeoutError:
        raise Upstream(
            f"The client's model did not answer within {timeout:g} s.",
            hint="Its user may have to agree first. llm_timeout says how long that may take.",
        ) from None


def refused() -> Upstream:
    """Return the error for a client that answered with one: nothing that it says gets further."""
    return Upstream(
        "The client did not let its model answer.",
        hint="Its user may have refused. llm_url names a model that needs no consent.",
    )


def take_answers(answers: Mapping[str, object]) -> Callable[[Work], Sample]:
    """Return how a call takes what its client brought, or asks to be called again with it."""

    def sample(messages: Sequence[Message], max_tokens: int) -> object:
        if MODEL not in answers:
            raise Asked(messages, max_tokens)
        return answers[MODEL]

    return lambda _: sample
