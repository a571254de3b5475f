"""Logging in with a browser: the token is pasted once and kept in a cookie that scripts cannot see.

The cookie counts for reading pages only, never for calling tools: no other site can use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bookwheel.serve.guard import COOKIE, read_body
from bookwheel.serve.limits import RateLimit
from bookwheel.serve.web import base_of

if TYPE_CHECKING:
    from bookwheel.serve.site.pages import Pages

PATH = "/login"
_TRIES, _SECONDS = 30, 60
_LONGEST_FORM = 8000
_DAYS = 30
# Under the rule of the other pages browsers would not say from which page the form came.
_HEADERS = {"Referrer-Policy": "same-origin", "Cache-Control": "no-store"}


def make_login_routes(pages: Pages) -> list[Route]:
    """Return the routes for logging in and out."""
    login = Login(pages)
    return [
        Route(PATH, login.show, methods=["GET"]),
        Route(PATH, login.enter, methods=["POST"]),
        Route("/logout", login.ask_to_leave, methods=["GET"]),
        Route("/logout", login.leave, methods=["POST"]),
    ]


class Login:
    """Takes a token and gives a cookie for it."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._rules = pages.web.rules
        self._limit = RateLimit(_TRIES, _SECONDS)

    async def show(self, request: Request) -> Response:
        """Show the form."""
        wanted = _own_path(request.query_params.get("next", ""))
        return self._show(request, wanted, "", 200)

    def _show(self, request: Request, wanted: str, problem: str, status: int) -> Response:
        values = {"next": wanted, "problem": problem}
        return self._pages.show(request, "login.html", values, status=status, headers=_HEADERS)

    async def enter(self, request: Request) -> Response:
        """Take the token; a right one leads on."""
        if _is_foreign(request):
            return self._show(request, "", "The form was not sent by this site.", 403)
        body = await read_body(request)
        if isinstance(body, Response):
            return body
        form = parse_qs(body[:_LONGEST_FORM].decode("utf-8", "replace"))
        wanted = _own_path(form.get("next", [""])[0])
        wait = self._limit.take(request.client.host if request.client else "")
        if wait:
            return self._show(request, wanted, f"Too many tries. Wait {wait} seconds.", 429)
        token = form.get("token", [""])[0].strip()
        if not self._rules.accepts(token):
            return self._show(request, wanted, "That is not the token.", 401)
        answer = RedirectResponse(f"{base_of(request)}{wanted}", 303)
        answer.set_cookie(
            COOKIE,
            quote(token, safe=""),
            max_age=_DAYS * 86400,
            path=f"{base_of(request)}/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",
        )
        return answer

    async def ask_to_leave(self, request: Request) -> Response:
        """Show the button: a link alone, which any site may hold, logs nobody out."""
        return self._pages.show(request, "logout.html", {}, headers=_HEADERS)

    async def leave(self, request: Request) -> Response:
        """Forget the token."""
        if _is_foreign(request):
            return self._show(request, "", "The form was not sent by this site.", 403)
        answer = RedirectResponse(f"{base_of(request)}{PATH}", 303)
        answer.delete_cookie(COOKIE, path=f"{base_of(request)}/")
        return answer


def _is_foreign(request: Request) -> bool:
    """Tell a form that another site's page sent; the guard has looked at the origin before."""
    return request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def _own_path(wanted: str) -> str:
    """Return where to go on after the login: a path of ours, else the first page."""
    plain = unquote(wanted)
    safe = plain.startswith("/") and not plain.startswith(("//", "/\\")) and plain.isprintable()
    return wanted if safe and wanted.startswith("/") and "\\" not in plain else "/"
