"""What is asked of a language model, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from bookwheel.errors import Upstream

_LONGEST_PER_TOKEN = 8
"""Characters that a token of any model may have, about: past it a limit was not kept."""
_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.S | re.I)


class Message(NamedTuple):
    """One part of what a model is told."""

    role: Literal["system", "user"]
    text: str


class Completion(NamedTuple):
    """What a model wrote, and how many tokens that took, where it says so."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    is_cut: bool = False
    """It ended for want of tokens."""


class Model(Protocol):
    """Something that goes on where messages end."""

    def complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        """Return what the model writes; raises Upstream where it does not."""
        ...


Check = Callable[[], None]
"""Raises if nobody waits any more."""


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is: some four bytes make one, in any script."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def take_text(text: object, max_tokens: int, *, is_cut: bool = False) -> tuple[str, bool]:
    """Return a model's text without what it thought aloud, and whether it is cut."""
    if not isinstance(text, str):
        raise Upstream("The model's answer holds no text.")
    said = _THOUGHTS.sub("", text).strip()
    if not said:
        hint = "It used all its tokens before it; ask with a larger max_tokens." if is_cut else None
        raise Upstream("The model's answer is empty.", hint=hint)
    longest = max_tokens * _LONGEST_PER_TOKEN
    if len(said) <= longest:
        return said, is_cut
    end = max(said.rfind(" ", 0, longest), said.rfind("\n", 0, longest))
    return said[: end if end > 0 else longest].rstrip(), True
