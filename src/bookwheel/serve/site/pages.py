"""The pages: how they are put together, sent and refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bookwheel import __version__
from bookwheel.serve.web import Problem, Web, address, base_of, document_path, with_etag

_HERE = Path(__file__).parent
_FOREVER = "public, max-age=31536000, immutable"
_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

_PLACES = frozenset({"line", "pointer", "part"})
"""What names a place in a document."""

Make = Callable[[Request], Awaitable[Response]]


class Pages:
    """Makes pages out of templates."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["number"] = lambda value: f"{value:,}"
        self._static = {
            file.name: file.read_bytes() for file in sorted((_HERE / "static").iterdir())
        }
        self._digest = blake2b(b"".join(self._static.values()), digest_size=6).hexdigest()

    @property
    def title(self) -> str:
        """The name of the site: as the operator has it, else of the only collection, else ours."""
        stated: str | None = self.web.settings["site_title"]
        collections = self.web.calls.view().collections
        alone = collections[0].name if len(collections) == 1 else ""
        return stated or alone or "Bookwheel"

    @cached_property
    def _custom_css(self) -> Path | None:
        stated = self.web.settings["custom_css"]
        return Path(stated) if stated else None

    def show(
        self,
        request: Request,
        template: str,
        values: Mapping[str, Any],
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return a page."""
        base = base_of(request)
        html = self._templates.get_template(template).render(
            **values,
            site_title=self.title,
            version=__version__,
            base=base,
            url=partial(address, base),
            document_path=document_path,
            static=f"{base}/static/{self._digest}",
            custom_css=self._custom_css is not None,
            can_log_out=self.web.rules.asks,
        )
        response = HTMLResponse(html, status, dict(headers or {}))
        return with_etag(request, response) if status == 200 else response

    def refuse(self, request: Request, problem: Problem) -> Response:
        """Return a page that says why there is no other."""
        path = request.url.path.removeprefix(base_of(request))
        has_place = not _PLACES.isdisjoint(request.query_params)
        wanted = request.query_params.get("document")
        values = {"problem": problem, "path": path, "wanted": wanted, "has_place": has_place}
        return self.show(
            request, "error.html", values, status=problem.status, headers=problem.headers
        )

    def guarded(self, make: Make) -> Make:
        """Return what makes a page, or the page that says why it cannot be made."""

        async def answer(request: Request) -> Response:
            try:
                return await make(request)
            except Exception as error:  # noqa: BLE001 - whatever it is, a person is told
                return self.refuse(request, self.web.explain(error))

        return answer

    def route(self, path: str, make: Make) -> Route:
        """Return the route of a page."""
        return Route(path, self.guarded(make), methods=["GET"])

    def static_routes(self) -> list[Route]:
        """Return the routes of styles, scripts and the sign of the site."""
        return [
            Route("/static/{digest}/{name}", self._send_static),
            Route("/custom.css", self._send_custom_css),
            Route("/favicon.ico", partial(self._send_named, name="sign.svg")),
            Route("/robots.txt", _send_robots),
        ]

    async def _send_static(self, request: Request) -> Response:
        cache = _FOREVER if request.path_params["digest"] == self._digest else "no-cache"
        return self._send(request.path_params["name"], cache)

    async def _send_named(self, _: Request, name: str) -> Response:
        return self._send(name, "public, max-age=86400")

    def _send(self, name: str, cache: str) -> Response:
        body = self._static.get(name)
        if body is None:
            return Response(status_code=404)
        kind = _STATIC_TYPES[Path(name).suffix]
        return Response(body, media_type=kind, headers={"Cache-Control": cache})

    async def _send_custom_css(self, request: Request) -> Response:
        try:
            text = self._custom_css.read_text(encoding="utf-8") if self._custom_css else None
        except (OSError, UnicodeDecodeError):
            text = None
        if text is None:
            return Response(status_code=404)
        return with_etag(request, Response(text, media_type="text/css"))


async def _send_robots(request: Request) -> Response:
    parts = urlsplit(str(request.base_url))
    site = f"{parts.scheme}://{parts.netloc}{base_of(request)}"
    text = f"User-agent: *\nDisallow: /api/\nDisallow: /graph\nSitemap: {site}/sitemap.xml\n"
    return Response(text, media_type="text/plain")
