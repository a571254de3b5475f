"""What stands before every HTTP route: who may call, under which name, and how much may be sent."""

from __future__ import annotations

import hmac
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bookwheel.errors import BadRequest
from bookwheel.serve.envelope import INVALID_REQUEST, Refusal

LARGEST_BODY = 1024 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_OPEN_PATHS = ("/healthz", "/readyz")
_LOGIN_PATHS = ("/login", "/logout", "/static/", "/favicon.ico", "/custom.css", "/robots.txt")
"""What a browser needs to log in."""
COOKIE = "bookwheel_token"
"""Holds the token of a browser that logged in."""


class Rules(NamedTuple):
    """Under which names the server may be called, and the token it asks for."""

    hosts: frozenset[str]
    token: str | None = None

    def accepts(self, given: str) -> bool:
        """Tell whether a token is the right one; any is where none is asked for."""
        return not self.token or hmac.compare_digest(given.encode(), self.token.encode())

    @property
    def origins(self) -> frozenset[str]:
        schemes = ("http", "https")
        return frozenset(f"{scheme}://{host}" for scheme in schemes for host in self.hosts)


def make_rules(host: str, port: int, *, others: str | None, token: str | None) -> Rules:
    """Return the rules of a server at an address that may go by other names too."""
    names = {*_LOOPBACK, f"[{host}]" if ":" in host else host.lower()}
    stated = {name.strip().lower() for name in (others or "").split(",") if name.strip()}
    hosts = stated | {f"{name}:{port}" for name in names | stated}
    return Rules(frozenset(hosts | (names if port == 80 else set())), token)


def require_safe_address(host: str, *, token: str | None, public: bool) -> None:
    """Refuse to let other machines in unless there is a token or the operator insists."""
    if not (token or public or is_loopback(host)):
        raise BadRequest(
            f"Other machines could read the documents at {host}.",
            hint="Set BOOKWHEEL_TOKEN to a secret that clients send, or add --public.",
        )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Lets a request through to the routes, or answers it."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules
        self._origins = rules.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._check(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    def _check(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        # Probes ask for the health by whatever address the machine has just then.
        host = headers.get("host", "").lower()
        own = _own_address(scope)
        if scope["path"] not in _OPEN_PATHS and host not in self._rules.hosts and host != own:
            return refuse(
                421,
                "Misdirected request: the server does not go by this name. "
                "Its operator may add it to BOOKWHEEL_HOSTS.",
            )
        origin = headers.get("origin", f"http://{own}").lower()
        if origin not in self._origins and origin != f"http://{own}":
            return refuse(403, "Pages of this origin may not call the server.")
        if not self._has_token(scope, headers):
            return _ask_for_token(scope, headers)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            return refuse(413, TOO_LARGE)
        return None

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        if not self._rules.token or scope["path"] in _OPEN_PATHS:
            return True
        if scope["path"].startswith(_LOGIN_PATHS):
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._rules.accepts(given.strip())
        # Other sites can make a browser send its cookie, so it counts for reading only.
        cookie = Request(scope).cookies.get(COOKIE) if scope["method"] in _READING else None
        return cookie is not None and self._rules.accepts(unquote(cookie))


_READING = ("GET", "HEAD")


def _ask_for_token(scope: Scope, headers: Headers) -> Response:
    """Lead a person to the login, and tell a program what to send."""
    is_page = scope["method"] in _READING and not scope["path"].startswith(("/mcp", "/api/"))
    if is_page and "text/html" in headers.get("accept", ""):
        query = scope.get("query_string", b"").decode("latin-1")
        wanted = quote(scope["path"], safe="/") + (f"?{query}" if query else "")
        base = scope.get("root_path", "").rstrip("/")
        return RedirectResponse(f"{base}/login?next={quote(wanted, safe='/')}", 303)
    answer = refuse(401, "Send the token as `Authorization: Bearer TOKEN`.")
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _own_address(scope: Scope) -> str:
    """Return the address of ours that a client connected to: no foreign name can stand for it."""
    host, port = scope.get("server") or ("", None)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


TOO_LARGE = f"A request may hold {LARGEST_BODY} bytes."


def refuse(status: int, message: str) -> JSONResponse:
    """Return an answer that says why there is no other."""
    return JSONResponse(Refusal(INVALID_REQUEST, message).as_json(), status)
