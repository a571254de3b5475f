"""The model of the connected client, which writes for us if its user lets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bookwheel.llm.base import Completion, Message, take_text

Sample = Callable[[Sequence[Message], int], object]
"""Asks a client for at most so many tokens; returns the text, or whatever else came."""


class ClientModel:
    """Speaks to the model behind the client; it never says how many tokens it took."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        """Ask the client; raises Upstream where it refuses or gives no text."""
        text, is_cut = take_text(self._sample(messages, max_tokens), max_tokens)
        return Completion(text, is_cut=is_cut)
