"""What the pages and the JSON API share: asking the library, addresses, errors, caching."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from bookwheel.contracts.dispatch import explain_unusable
from bookwheel.errors import (
    BadRequest,
    BookwheelError,
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    TimedOut,
    Upstream,
)
from bookwheel.serve.callers import shown_state
from bookwheel.serve.calls import Calls, Starting
from bookwheel.serve.guard import Rules
from bookwheel.telemetry.calls import API, PAGE
from bookwheel.view import View

log = logging.getLogger(__name__)

STATUS: Mapping[type[BookwheelError], int] = {
    BadRequest: 400,
    Forbidden: 403,
    NotFound: 404,
    RateLimited: 429,
    Upstream: 502,
    Conflict: 503,
    Starting: 503,
    TimedOut: 503,
}
"""The HTTP status of each error; any other is a defect: 500."""

_PASSING = (429, 503)
_SOON = 2
"""In so many seconds what was refused for a passing reason may work."""

_Answer = TypeVar("_Answer")


class Problem(NamedTuple):
    """An error as it is told over HTTP."""

    status: int
    code: str
    message: str
    hint: str | None = None
    headers: Mapping[str, str] = {}
    """Sent with it: when to ask again."""


class Web:
    """The library as it is read over HTTP, and what is known of the server around it."""

    def __init__(
        self,
        calls: Calls,
        *,
        state: Callable[[], dict[str, Any]],
        toolsets: Mapping[str, tuple[str, ...]],
        rules: Rules,
    ) -> None:
        self.calls = calls
        self._state = state
        self.toolsets = toolsets
        """The tools of each toolset that is served at /mcp, none where MCP is turned off."""
        self.rules = rules

    @property
    def settings(self) -> Any:
        """The operator's settings."""
        return self.calls.library.settings

    async def ask(self, request: Request, function: Callable[[View], _Answer]) -> _Answer:
        """Let a function read as much of the library as whoever sent a request may see."""
        path = request.url.path.removeprefix(base_of(request))
        what = API if path.startswith("/api/") else PAGE
        asked = {"path": path, "query": request.url.query}
        return await self.calls.ask(what, asked, function)

    def state(self) -> dict[str, Any]:
        """Return the state of the server as far as the present caller may know it."""
        return shown_state(self._state())

    def explain(self, error: Exception) -> Problem:
        """Return what is told of an error; of a defect only a number that the log has too."""
        unusable = explain_unusable(error)
        if unusable is not None:
            log.warning("answering failed: %s", error)  # callers need not know where it is
            return Problem(503, BookwheelError.code, *unusable, _wait(_SOON))
        if isinstance(error, BookwheelError):
            for kind, status in STATUS.items():
                if isinstance(error, kind):
                    wait = _wait(getattr(error, "retry_after", _SOON))
                    headers = wait if status in _PASSING else {}
                    return Problem(status, error.code, error.message, error.hint, headers)
        number = secrets.token_hex(4)
        log.error("answering failed (%s)", number, exc_info=error)
        details = f"{type(error).__name__}: {error}" if self.settings["debug"] else None
        return Problem(
            500, BookwheelError.code, f"Something went wrong here; the log has {number}.", details
        )


def _wait(seconds: int) -> dict[str, str]:
    return {"Retry-After": str(seconds)}


def base_of(request: Request) -> str:
    """Return the path that a proxy puts before all addresses of ours, without a slash behind."""
    path: str = request.scope.get("root_path", "")
    return path.rstrip("/")


def address(base: str, path: str, **query: Any) -> str:
    """Return an address of ours: a path that is not quoted yet, and what is asked there."""
    stated = {name: value for name, value in query.items() if value not in (None, "", ())}
    asked = f"?{urlencode(stated, doseq=True)}" if stated else ""
    return f"{base}{quote(path, safe='/~')}{asked}"


def document_path(collection: str, path: str, *, kind: str = "docs") -> str:
    """Return where a document is read, not quoted: `docs` as a page, `raw` as Markdown."""
    return f"/{kind}/{collection}/{path}"


def with_etag(request: Request, response: Response) -> Response:
    """Return an answer that is sent once for as long as it stays the same."""
    tag = f'W/"{hashlib.blake2b(bytes(response.body), digest_size=12).hexdigest()}"'
    response.headers["ETag"] = tag
    response.headers.setdefault("Cache-Control", "private, no-cache")
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if tag not in known and "*" not in known:
        return response
    kept = ("etag", "cache-control", "content-security-policy", "vary")
    headers = {name: value for name, value in response.headers.items() if name in kept}
    return Response(status_code=304, headers=headers)
