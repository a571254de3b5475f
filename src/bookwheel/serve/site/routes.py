"""All routes for people and their machines, in the order in which they are tried."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bookwheel.errors import NotFound
from bookwheel.serve.api import OPERATIONS, make_api_routes, tell_problem
from bookwheel.serve.guard import refuse
from bookwheel.serve.login import make_login_routes
from bookwheel.serve.openapi import describe_api, parameters_of
from bookwheel.serve.site.feeds import make_feed_routes
from bookwheel.serve.site.graph_page import show_graph_page
from bookwheel.serve.site.pages import Pages
from bookwheel.serve.site.reader import make_reader_routes, make_short_route
from bookwheel.serve.site.search_page import show_search
from bookwheel.serve.site.status_page import show_state
from bookwheel.serve.web import Web, base_of, with_etag


def make_site_routes(web: Web) -> list[Route]:
    """Return the routes of the API, the pages and the feeds; the last takes all that is left."""
    pages = Pages(web)
    return [
        *make_api_routes(web),
        Route("/api/openapi.json", _send_description),
        pages.route("/api/docs", partial(_show_api, pages)),
        Route("/api/{rest:path}", partial(_refuse_api, web)),
        *pages.static_routes(),
        *make_feed_routes(pages),
        *make_login_routes(pages),
        pages.route("/", partial(show_search, pages)),
        pages.route("/graph", partial(show_graph_page, pages)),
        pages.route("/status", partial(show_state, pages)),
        *make_reader_routes(pages),
        Route("/{path:path}", _refuse_sending, methods=["POST", "PUT", "PATCH", "DELETE"]),
        make_short_route(pages),
    ]


async def _refuse_sending(_: Request) -> Response:
    """Tell a client that was given the address of the site where to send its messages."""
    return refuse(404, "Pages are only read; MCP messages are sent to /mcp.")


async def _send_description(request: Request) -> Response:
    described = describe_api() | {"servers": [{"url": base_of(request) or "/"}]}
    return with_etag(request, JSONResponse(described))


async def _refuse_api(web: Web, request: Request) -> Response:
    name = request.url.path[:100]
    return tell_problem(web, NotFound(f"There is no {name!a}.", hint="See /api/docs."))


async def _show_api(pages: Pages, request: Request) -> Response:
    schemas = describe_api()["components"]["schemas"]
    operations = [
        {
            "operation": each,
            "parameters": parameters_of(each),
            "fields": schemas[each.answer.__name__]["properties"],
        }
        for each in OPERATIONS
    ]
    return pages.show(request, "api.html", {"operations": operations})
