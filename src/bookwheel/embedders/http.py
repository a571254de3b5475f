"""Any endpoint that speaks OpenAI's /embeddings: texts leave this machine for where it lies.

The key goes into one header and nowhere else; redirects are not followed, as it would go along.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from email.message import Message
from hashlib import sha256
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError, URLError

import numpy as np

from bookwheel.embedders.base import unit_rows
from bookwheel.errors import BadRequest, Upstream
from bookwheel.safety.outgoing import TooLong, make_opener, make_post, read_answer

if TYPE_CHECKING:
    from bookwheel.embedders.base import Vectors

_PREPARATION = "1"
_TRIES, _TRIES_FOR_A_QUERY = 5, 2
_LONGEST_WAIT = 30.0
_MAX_CHARACTERS = 16_000
_MAX_ANSWER = 256 << 20


class Endpoint(NamedTuple):
    """Where vectors are asked for, and how."""

    url: str
    model: str
    key: str | None = None
    dimensions: int | None = None
    """What to ask for; else whatever the model gives."""
    batch: int = 64
    timeout: float = 60.0


class HttpEmbedder:
    """Vectors of a model that somebody else runs."""

    name = "http"
    weight = 0.4
    unrelated = 0.3

    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        if not endpoint.url or not endpoint.model:
            raise BadRequest(
                "The http embedder lacks its address or its model.",
                hint="Set embedding_url, as http://localhost:11434/v1, and embedding_model.",
            )
        if endpoint.key and not (endpoint.key.isascii() and endpoint.key.isprintable()):
            raise BadRequest("embedding_key holds characters that cannot be sent.")
        self._endpoint = endpoint
        self._sleep = sleep
        self._opener = make_opener(endpoint.url)
        self.dimensions = endpoint.dimensions or len(self._ask(["dimensions"], tries=2)[0])
        place = sha256(endpoint.url.rstrip("/").encode()).hexdigest()[:12]
        self.fingerprint = f"http-{place}-{endpoint.model}-{self.dimensions}-{_PREPARATION}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; blank ones are not sent."""
        return self._rows(texts, tries=_TRIES)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries; somebody waits, so it is not tried for long."""
        return self._rows(texts, tries=_TRIES_FOR_A_QUERY)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def _rows(self, texts: Sequence[str], *, tries: int) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        places = [at for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(places), self._endpoint.batch):
            batch = places[start : start + self._endpoint.batch]
            rows[batch] = self._ask([_sendable(texts[at]) for at in batch], tries=tries)
        return unit_rows(rows)

    def _ask(self, texts: list[str], *, tries: int) -> Vectors:
        """Ask once for some texts, and again when told to come back."""
        for attempt in range(1, tries + 1):
            try:
                return self._vectors(self._send(texts), len(texts))
            except HTTPError as error:
                with error:
                    if attempt == tries or not _may_pass(error.code):
                        raise _refused(error.code) from None
                    self._sleep(_wait(error.headers, attempt))
        raise AssertionError("unreachable: the last try returns or raises")

    def _send(self, texts: list[str]) -> bytes:
        asked: dict[str, Any] = {"model": self._endpoint.model, "input": texts}
        if self._endpoint.dimensions:
            asked["dimensions"] = self._endpoint.dimensions
        url = self._endpoint.url.rstrip("/") + "/embeddings"
        request = make_post(url, asked, self._endpoint.key)
        deadline = time.monotonic() + self._endpoint.timeout
        try:
            with self._opener.open(request, timeout=self._endpoint.timeout) as response:
                return read_answer(response, _MAX_ANSWER, deadline)
        except HTTPError:
            raise
        except TooLong:
            raise Upstream("The embedding endpoint's answer is too long.") from None
        except TimeoutError:
            raise _too_slow(self._endpoint.timeout) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise _too_slow(self._endpoint.timeout) from None
            raise Upstream(
                "The embedding endpoint cannot be reached.",
                hint="Check embedding_url, and that the service runs.",
            ) from None

    def _vectors(self, answer: bytes, count: int) -> Vectors:
        """Put the answer's vectors in the order of the texts; anything odd is refused."""
        expected = self._endpoint.dimensions or getattr(self, "dimensions", None)
        try:
            found = {item["index"]: item["embedding"] for item in json.loads(answer)["data"]}
            rows = np.array([found[at] for at in range(count)], np.float32)
        except (ValueError, TypeError, KeyError):
            raise Upstream("The embedding endpoint's answer holds no vectors.") from None
        if len(found) != count or rows.ndim != 2 or not np.isfinite(rows).all():
            raise Upstream("The embedding endpoint's answer holds other vectors than asked for.")
        if expected and rows.shape[1] != expected:
            raise Upstream(
                f"The embedding endpoint gave {rows.shape[1]} dimensions, not {expected}.",
                hint="Check embedding_model and embedding_dimensions.",
            )
        return rows


def _sendable(text: str) -> str:
    """Cut what no model would read, and mend halves of signs, which endpoints refuse."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()


def _may_pass(status: int) -> bool:
    return status == 429 or status >= 500


def _wait(headers: Message, attempt: int) -> float:
    """Return the seconds to wait: what the endpoint says, else twice as long each time."""
    try:
        stated = float(headers.get("Retry-After", ""))
    except ValueError:
        stated = 0.25 * 2**attempt
    return min(max(stated, 0.0), _LONGEST_WAIT)


def _refused(status: int) -> Upstream:
    hints = {
        401: "Check embedding_key.",
        403: "Check embedding_key.",
        404: "Check embedding_url, which ends before /embeddings, and embedding_model.",
        429: "It is asked too often; try again later.",
    }
    return Upstream(f"The embedding endpoint answered {status}.", hint=hints.get(status))


def _too_slow(seconds: float) -> Upstream:
    return Upstream(
        f"The embedding endpoint did not answer within {seconds:g} s.",
        hint="Raise embedding_timeout or lower embedding_batch.",
    )
