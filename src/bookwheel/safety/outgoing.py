"""Requests that leave this process: how they are made, where they may go, and how much they bring.

A key goes into one header and nowhere else. Redirects are not followed, as it would go along, and
a request to this machine goes through no proxy, whatever is set.
"""

from __future__ import annotations

import json
import time
from http.client import HTTPResponse
from ipaddress import ip_address
from math import inf
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import (
    BaseHandler,
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

_BLOCK = 1 << 18


class TooLong(Exception):
    """An answer that is longer than anybody waits for."""


def make_post(url: str, words: dict[str, Any], key: str | None) -> Request:
    """Return a request that says something in JSON."""
    data = json.dumps(words, ensure_ascii=False).encode("utf-8", "replace")
    request = Request(url, data, {"Content-Type": "application/json"}, method="POST")
    if key:
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    return request


def make_opener(url: str, *handlers: BaseHandler) -> OpenerDirector:
    """Return what opens requests to an address."""
    around = (ProxyHandler({}),) if is_on_this_machine(url) else ()
    return build_opener(_NoRedirects, *around, *handlers)


def read_answer(response: HTTPResponse, most: int, deadline: float = inf) -> bytes:
    """Read an answer that may trickle, until it is too long or too late."""
    blocks: list[bytes] = []
    size = 0
    while block := response.read1(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > most:
            raise TooLong
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(blocks)


def is_on_this_machine(url: str) -> bool:
    """Tell an address that no other machine answers at."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:  # a name, or no address at all
        return False


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> None:
        """Follow nothing: the caller gets the status."""
