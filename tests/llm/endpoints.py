"""Answers of a chat endpoint, and a listener that says what it is told, byte by byte."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.embedders.endpoints import Answer, Asked, Service, serving

__all__ = ["Answer", "Asked", "Service", "chat", "dripping", "saying", "serving"]


def chat(text: Any, *, usage: Any = None, finish: str = "stop") -> Answer:
    """Return a text as an endpoint would."""
    message = {"role": "assistant", "content": text}
    value: dict[str, Any] = {"choices": [{"message": message, "finish_reason": finish}]}
    return Answer(json.dumps(value | ({"usage": usage} if usage else {})).encode())


def saying(text: str) -> Callable[[Asked], Answer]:
    """Return a model that always says the same."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return lambda _: chat(text, usage=usage)


@contextmanager
def dripping(said: bytes, seconds: float) -> Iterator[str]:
    """Listen, and say some bytes one by one, headers too, without an end; give the address."""
    ended = threading.Event()

    def answer() -> None:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            at = 0
            while not ended.wait(seconds):
                try:
                    connection.sendall(said[at : at + 1] or b" ")
                except OSError:
                    return
                at += 1

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            ended.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
