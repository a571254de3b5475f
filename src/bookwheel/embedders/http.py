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
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError, URLError

import numpy as np

from bookwheel.embedders.base import unit_rows
from bookwheel.errors import BadRequest, Upstream
from bookwheel.model import Redact
from bookwheel.safety.outgoing import TooLong, make_opener, make_post, read_answer
from bookwheel.safety.redact import make_safe

if TYPE_CHECKING:
    from bookwheel.embedders.base import Vectors

_PREPARATION = "1"
_TRIES, _TRIES_FOR_A_QUERY = 5, 2
_LONGEST_WAIT = 30.0
QUERY_SECONDS = 5.0
"""So long somebody who searches waits for a vector at most; then words alone must do."""
_REST_SECONDS = 30.0
"""So long an endpoint that failed is not asked for another query's vector."""
_ABOUT_TEXTS = frozenset({400, 413, 422})
"""What an endpoint answers where it is well, but does not like the text."""
_LEAST_SECONDS = 0.1
_MAX_CHARACTERS = 16_000
_MAX_ANSWER = 256 << 20
_MAX_REFUSAL, _MOST_QUOTED = 1 << 14, 200


class Endpoint(NamedTuple):
    """Where vectors are asked for, and how."""

    url: str
    model: str
    key: str | None = None
    dimensions: int | None = None
    """What to ask for; else whatever the model gives."""
    batch: int = 64
    timeout: float = 60.0
    first_timeout: float | None = None
    """For the answer that tells the dimensions, if it is not to take as long as others."""


class _Declined(Upstream):
    """The endpoint is well, but did not like what it was sent."""


class HttpEmbedder:
    """Vectors of a model that somebody else runs."""

    name = "http"
    weight = 0.4
    unrelated = 0.3

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not endpoint.url or not endpoint.model:
            raise BadRequest(
                "The http embedder lacks its address or its model.",
                hint="Set embedding_url, as http://localhost:11434/v1, and embedding_model.",
            )
        if endpoint.key and not (endpoint.key.isascii() and endpoint.key.isprintable()):
            raise BadRequest("embedding_key holds characters that cannot be sent.")
        self._endpoint = endpoint
        self._sleep, self._clock = sleep, clock
        self._trouble: tuple[float, Upstream | None] = (0.0, None)
        self.on_replaced: Callable[[], None] = lambda: None
        self._opener = make_opener(endpoint.url)
        self.dimensions = endpoint.dimensions or self._count_dimensions()
        place = sha256(endpoint.url.rstrip("/").encode()).hexdigest()[:12]
        self.fingerprint = f"http-{place}-{endpoint.model}-{self.dimensions}-{_PREPARATION}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; blank ones are not sent."""
        return self._rows(texts, tries=_TRIES)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries; somebody waits, so it is not tried for long.

        Nor is an endpoint asked that has just failed: those who search next need not wait too.
        """
        until, trouble = self._trouble
        if trouble is not None and self._clock() < until:
            raise trouble.with_traceback(None)
        try:
            return self._rows(texts, tries=_TRIES_FOR_A_QUERY, seconds=QUERY_SECONDS)
        except _Declined:
            raise
        except Upstream as error:
            # What it said may repeat the query, which is not for those who search next.
            self._trouble = (self._clock() + _REST_SECONDS, Upstream(error.message))
            raise

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def _count_dimensions(self) -> int:
        seconds = self._endpoint.first_timeout
        return len(self._ask(["dimensions"], tries=_TRIES_FOR_A_QUERY, seconds=seconds)[0])

    def _rows(self, texts: Sequence[str], *, tries: int, seconds: float | None = None) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        places = [at for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(places), self._endpoint.batch):
            batch = places[start : start + self._endpoint.batch]
            some = [_sendable(texts[at]) for at in batch]
            rows[batch] = self._ask(some, tries=tries, seconds=seconds)
        return unit_rows(rows)

    def _ask(self, texts: list[str], *, tries: int, seconds: float | None = None) -> Vectors:
        """Ask once for some texts, and again when told to come back, in so many seconds in all."""
        end = inf if seconds is None else time.monotonic() + seconds
        for attempt in range(1, tries + 1):
            left = max(_LEAST_SECONDS, end - time.monotonic())
            try:
                return self._vectors(self._send(texts, left), len(texts))
            except HTTPError as error:
                with error:
                    wait = _wait(error.headers, attempt)
                    is_late = time.monotonic() + wait > end
                    if attempt == tries or is_late or not _may_pass(error.code):
                        raise _refused(error.code, self._quote(error)) from None
                    self._sleep(wait)
        raise AssertionError("unreachable: the last try returns or raises")

    def _quote(self, error: HTTPError) -> str:
        """Return what the endpoint says of its refusal: a short line, without key or secrets."""
        from bookwheel.safety.finding import redact_text

        try:
            said = _own_words(error.read1(_MAX_REFUSAL))
        except (OSError, HTTPException, ValueError):
            return ""
        if self._endpoint.key:
            said = said.replace(self._endpoint.key, "[key]")
        said = redact_text(" ".join(make_safe(said).split()), Redact.ALL)
        return said if len(said) <= _MOST_QUOTED else f"{said[:_MOST_QUOTED].rstrip()}…"

    def _send(self, texts: list[str], seconds: float) -> bytes:
        asked: dict[str, Any] = {"model": self._endpoint.model, "input": texts}
        if self._endpoint.dimensions:
            asked["dimensions"] = self._endpoint.dimensions
        url = self._endpoint.url.rstrip("/") + "/embeddings"
        request = make_post(url, asked, self._endpoint.key)
        timeout = min(seconds, self._endpoint.timeout)
        deadline = time.monotonic() + timeout
        try:
            with self._opener.open(request, timeout=timeout) as response:
                return read_answer(response, _MAX_ANSWER, deadline)
        except HTTPError:
            raise
        except TooLong:
            raise Upstream("The embedding endpoint's answer is too long.") from None
        except TimeoutError:
            raise self._too_slow(timeout) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise self._too_slow(timeout) from None
            raise Upstream(
                "The embedding endpoint cannot be reached.",
                hint="Check embedding_url, and that the service runs.",
            ) from None

    def _too_slow(self, seconds: float) -> Upstream:
        hint = "Raise embedding_timeout or lower embedding_batch."
        if seconds < self._endpoint.timeout:
            hint = "Check that the service runs, and has its model loaded."
        return Upstream(
            f"The embedding endpoint did not answer within {round(seconds, 1):g} s.", hint=hint
        )

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
            raise self._other_dimensions(rows.shape[1], expected)
        return rows

    def _other_dimensions(self, given: int, expected: int) -> Upstream:
        """Tell of another model, unless it was asked for these dimensions and does not heed it."""
        hint = "Check embedding_model and embedding_dimensions."
        if not self._endpoint.dimensions:
            self.on_replaced()
            hint = "It has another model: `bookwheel index` makes all vectors anew, as servers do."
        return Upstream(
            f"The embedding endpoint gave {given} dimensions, not {expected}.", hint=hint
        )


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
        stated = nan
    return min(max(0.25 * 2**attempt if isnan(stated) else stated, 0.0), _LONGEST_WAIT)


def _own_words(answer: bytes) -> str:
    """Return the sentence in a refusal: as OpenAI and others write it, or plain; never a page."""
    text = answer.decode("utf-8", "replace").strip()
    if not text.startswith(("{", "[")):
        return "" if text.startswith("<") else text
    said = json.loads(text)
    for name in ("error", "message", "detail"):
        said = said.get(name, said) if isinstance(said, dict) else said
    return said if isinstance(said, str) else ""


def _refused(status: int, said: str) -> Upstream:
    hints = {
        401: "Check embedding_key.",
        403: "Check embedding_key.",
        404: "Check embedding_url, which ends before /embeddings, and embedding_model.",
        429: "It is asked too often; try again later.",
    }
    kind = _Declined if status in _ABOUT_TEXTS else Upstream
    quoted = f'It says: "{said}"' if said else None
    hint = " ".join(filter(None, (hints.get(status), quoted)))
    return kind(f"The embedding endpoint answered {status}.", hint=hint or None)
