"""What stands before every HTTP route: who may call, under which name, and how much may be sent."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bookwheel.errors import BadRequest, Forbidden
from bookwheel.safety.token_file import TokenFile
from bookwheel.serve.callers import CALLER, CURRENT, NOBODY, Caller, caller_of, peer_of
from bookwheel.serve.envelope import INVALID_REQUEST, Refusal
from bookwheel.serve.streams import answer_while

log = logging.getLogger(__name__)

LARGEST_BODY = 1024 * 1024
_TOO_LARGE = f"A request may hold {LARGEST_BODY} bytes."
_BODY_SECONDS = 30.0
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN_PATHS = ("/healthz", "/readyz")
_LOGIN_PATHS = ("/login", "/logout", "/static/", "/favicon.ico", "/custom.css", "/robots.txt")
"""What a browser needs to log in."""
_WRONG_TOKEN = "The token is not known, or it is no good any more."
COOKIE = "bookwheel_token"
"""Holds the token of a browser that logged in."""
_READING = ("GET", "HEAD")
_OPERATORS_PATHS = ("/metrics",)
"""What tells of all documents, and so is not for whoever may see some."""

Count = Callable[[str], None]
"""Takes the reason for which a request was refused."""


class Rules(NamedTuple):
    """Under which names the server may be called, and the token it asks for."""

    hosts: frozenset[str]
    token: str | None = None
    tokens: TokenFile | None = None
    """The named tokens besides; once there was one, nobody is let in without."""

    @property
    def asks(self) -> bool:
        """Whether a token is asked for."""
        return bool(self.token) or (self.tokens is not None and self.tokens.was_used)

    def accepts(self, given: str) -> bool:
        """Tell whether a token is a right one; any is where none is asked for."""
        return not self.asks or self.find(given, "") is not None

    def find(self, given: str, peer: str) -> Caller | None:
        """Return whom a token lets in: whoever has the one token goes by his address."""
        if self.token and hmac.compare_digest(given.encode(errors="replace"), self.token.encode()):
            return Caller(peer)
        try:
            found = self.tokens.find(given) if self.tokens else None
        except BadRequest as error:  # none is good while they cannot be read
            log.error("%s", error.advice)
            return None
        if found is None:
            return None
        return Caller(found.name, found.roots, found.allowance, has_token=True)

    @property
    def origins(self) -> frozenset[str]:
        schemes = ("http", "https")
        return frozenset(f"{scheme}://{host}" for scheme in schemes for host in self.hosts)


def make_rules(
    host: str,
    port: int,
    *,
    others: str | None,
    token: str | None,
    tokens: TokenFile | None = None,
) -> Rules:
    """Return the rules of a server at an address that may go by other names too."""
    names = {*_LOOPBACK, f"[{host}]" if ":" in host else host.lower()}
    stated = {name.strip().lower() for name in (others or "").split(",") if name.strip()}
    hosts = stated | {f"{name}:{port}" for name in names | stated}
    return Rules(frozenset(hosts | (names if port == 80 else set())), token, tokens)


def require_safe_address(host: str, *, has_token: bool, public: bool) -> None:
    """Refuse to let other machines in unless there is a token or the operator insists."""
    if not (has_token or public or is_loopback(host)):
        raise BadRequest(
            f"Other machines could read the documents at {host}.",
            hint="Make a token with `bookwheel token new NAME`, set BOOKWHEEL_TOKEN to a secret "
            "that clients send, or add --public.",
        )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Lets a request through to the routes, with who sent it, or answers it."""

    def __init__(self, app: ASGIApp, rules: Rules, count: Count = lambda reason: None) -> None:
        self._app = app
        self._rules = rules
        self._origins = rules.origins
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._check(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return
        await answer_while(partial(self._still_finds, scope), self._app, scope, receive, send)

    def _still_finds(self, scope: Scope) -> bool:
        """Tell whether who sent a request would be let in now as he was then."""
        return caller_of(scope) == (self._find_caller(scope, Headers(scope=scope)) or NOBODY)

    def _check(self, scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), _path_of(scope)
        refused = self._check_names(scope, headers)
        if refused is not None:
            return refused
        caller = self._find_caller(scope, headers)
        if caller is None and path not in OPEN_PATHS and not path.startswith(_LOGIN_PATHS):
            self._count("token")
            return _ask_for_token(scope, headers)
        scope[CALLER] = caller or NOBODY
        CURRENT.set(caller or NOBODY)
        if path in _OPERATORS_PATHS and not CURRENT.get().sees_all:
            return refuse(403, "This token does not open this.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            return refuse(413, _TOO_LARGE)
        return None

    def _check_names(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """Refuse a request under a foreign name, or of a foreign page."""
        # Probes ask for the health by whatever address the machine has just then.
        host = headers.get("host", "").lower()
        own = _own_address(scope)
        if _path_of(scope) not in OPEN_PATHS and host not in self._rules.hosts and host != own:
            self._count("host")
            return refuse(
                421,
                "Misdirected request: the server does not go by this name. "
                "Its operator may add it to BOOKWHEEL_HOSTS.",
            )
        origin = headers.get("origin", f"http://{own}").lower()
        if origin not in self._origins and origin != f"http://{own}":
            self._count("origin")
            return refuse(403, "Pages of this origin may not call the server.")
        return None

    def _find_caller(self, scope: Scope, headers: Headers) -> Caller | None:
        """Return who sends a request; None if a token is asked for that he has not."""
        given = _given_token(scope, headers)
        found = self._rules.find(given, peer_of(scope)) if given else None
        return found or (None if self._rules.asks else Caller(peer_of(scope)))


def _given_token(scope: Scope, headers: Headers) -> str | None:
    """Return the token that a program sends, or that a browser keeps in its cookie."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    # Other sites can make a browser send its cookie, so it counts for reading only.
    cookie = Request(scope).cookies.get(COOKIE) if scope["method"] in _READING else None
    return unquote(cookie) if cookie else None


def _path_of(scope: Scope) -> str:
    """Return the path of a request without the one below which everything is served."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _ask_for_token(scope: Scope, headers: Headers) -> Response:
    """Lead a person to the login, and tell a program what to send."""
    path = _path_of(scope)
    is_page = scope["method"] in _READING and not path.startswith(("/mcp", "/api/"))
    if is_page and "text/html" in headers.get("accept", ""):
        query = scope.get("query_string", b"").decode("latin-1")
        wanted = quote(path, safe="/") + (f"?{query}" if query else "")
        base = scope.get("root_path", "").rstrip("/")
        return RedirectResponse(f"{base}/login?next={quote(wanted, safe='/')}", 303)
    is_wrong = bool(_given_token(scope, headers))
    message = _WRONG_TOKEN if is_wrong else "Send the token as `Authorization: Bearer TOKEN`."
    answer = refuse(401, message)
    if path.startswith("/api/"):
        told = {"code": Forbidden.code, "message": message, "hint": None}
        answer = JSONResponse({"error": told}, 401)
    answer.headers["WWW-Authenticate"] = 'Bearer error="invalid_token"' if is_wrong else "Bearer"
    return answer


def _own_address(scope: Scope) -> str:
    """Return the address of ours that a client connected to: no foreign name can stand for it."""
    host, port = scope.get("server") or ("", None)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def read_body(request: Request) -> bytes | Response:
    """Return what a request holds, whether or not it named its length, or what refuses it."""
    body = bytearray()
    try:
        with anyio.fail_after(_BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:
                    return refuse(413, _TOO_LARGE)
    except TimeoutError:
        return refuse(408, "The request did not arrive in time.")
    except ClientDisconnect:
        return Response(status_code=400)
    return bytes(body)


def refuse(status: int, message: str) -> JSONResponse:
    """Return an answer that says why there is no other."""
    return JSONResponse(Refusal(INVALID_REQUEST, message).as_json(), status)
