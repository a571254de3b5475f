"""Reading a document or looking through a folder, as pages and as Markdown."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from bookwheel.addresses import uri
from bookwheel.contracts.resources import is_alone
from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.formats.modules import without_modules
from bookwheel.model import Document
from bookwheel.reading.categories import bare_path
from bookwheel.reading.citations import Citations
from bookwheel.serve.api_answers import show_hit
from bookwheel.serve.site.links import MOST_LINKS, Links
from bookwheel.serve.site.markdown import Rendered, render, render_plain
from bookwheel.serve.site.navigation import OWN, navigate
from bookwheel.serve.site.paged import render_paged
from bookwheel.serve.site.pages import Pages
from bookwheel.serve.site.parts import choose_part
from bookwheel.serve.web import address, base_of, document_path, with_etag
from bookwheel.view import View

_LISTED = 200
_RELATED = 6
_CITED = 30
_DEEPEST_IN_TOC = 3
_MARKDOWN = "text/markdown"
_PLAIN = ("text/plain", "text/x-")
_CONVERTED = ("text/x-rst",)
_MAIL = ("message/rfc822", "application/vnd.ms-outlook")
_PAGED = ("application/pdf",)
"""What has headings of which its text says nothing."""


class Wanted(NamedTuple):
    """Which place of a document is to be shown."""

    line: int | None = None
    pointer: str = ""
    part: int | None = None


def make_reader_routes(pages: Pages) -> list[Route]:
    """Return the routes for reading."""
    reader = Reader(pages)
    return [
        pages.route("/docs", reader.show_collections),
        pages.route("/docs/{collection}/{path:path}", reader.show),
        pages.route("/docs/{collection}", reader.show),
        pages.route("/raw/{collection}/{path:path}", reader.send_markdown),
    ]


def make_short_route(pages: Pages) -> Route:
    """Return the route of the short addresses of a single collection; it must be the last."""
    return pages.route("/{path:path}", Reader(pages).find_short)


class Reader:
    """Answers for documents and folders."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._web = pages.web

    async def show_collections(self, request: Request) -> Response:
        """Show what there is to read."""
        states = await self._web.ask(request, lambda library: library.states())
        return self._pages.show(request, "collections.html", {"states": states})

    async def show(self, request: Request) -> Response:
        """Show a document, or a folder when the path ends with a slash."""
        collection = request.path_params["collection"]
        path = request.path_params.get("path", "")
        base = base_of(request)
        if not path or path.endswith("/"):
            offset = _whole(request, "offset") or 0
            values = await self._web.ask(
                request, lambda library: _read_folder(library, collection, path, base, offset)
            )
            return self._pages.show(request, "folder.html", values)
        wanted = _read_wanted(request)
        marked = request.query_params.getlist("mark")[:20]

        def read(library: View) -> dict[str, Any] | str:
            return _read_document(library, collection, path, base, wanted)

        found = await self._web.ask(request, read)
        if isinstance(found, str):
            return RedirectResponse(found, 302)
        return self._pages.show(request, "reader.html", {**found, "marked": marked})

    async def send_markdown(self, request: Request) -> Response:
        """Send the text of a document as it is."""
        params = request.path_params
        return await self._send(request, params["collection"], params["path"])

    async def _send(self, request: Request, collection: str | None, path: str) -> Response:
        def read(library: View) -> str:
            return library.text(_exact(library, collection, path)).text

        text = await self._web.ask(request, read)
        response = PlainTextResponse(text, media_type=_MARKDOWN)
        return with_etag(request, response)

    async def find_short(self, request: Request) -> Response:
        """Answer `/guides/setup.html` and `/guides/setup.md` where there is one collection."""
        path = request.path_params["path"]
        base = base_of(request)
        found = await self._web.ask(request, lambda library: _find_short(library, path))
        if found is None:
            raise NotFound(
                f"There is no page {request.url.path[:200]!r}.",
                hint="The search or the list of documents may lead to it.",
            )
        collection, document, raw = found
        if raw:
            return await self._send(request, collection, document)
        place = address(base, document_path(collection, document))
        query = f"?{request.url.query}" if request.url.query else ""
        if document.endswith("/"):
            return RedirectResponse(place + query, 302)
        request.path_params.update(collection=collection, path=document)
        return await self.show(request)


def _whole(request: Request, name: str) -> int | None:
    value = request.query_params.get(name, "")
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise BadRequest(f"{name} must be a whole number.")
    return int(value)


def _read_wanted(request: Request) -> Wanted:
    pointer = request.query_params.get("pointer", "")[:200]
    return Wanted(_whole(request, "line"), pointer, _whole(request, "part"))


def _exact(library: View, collection: str | None, path: str) -> Document:
    """Return the document of just this path: pages have one address each."""
    found = library.document(path, collection)
    if found.path != path:
        raise NotFound(f"There is no document {path[:200]!r}.")
    return found


def _find_short(library: View, path: str) -> tuple[str, str, bool] | None:
    """Return the collection and path of a short address, and whether its Markdown is meant."""
    states = library.states()
    if len(states) != 1:
        return None
    collection = states[0].collection.name
    paths = library.paths(collection)
    stem, dot, extension = path.rpartition(".")
    if path in paths:
        return collection, path, extension in ("md", "markdown")
    folder = path.rstrip("/") + "/"
    if any(each.startswith(folder) for each in paths) and not path.endswith(".html"):
        return collection, folder, False
    if dot and extension in ("html", "md"):
        same = sorted(each for each in paths if bare_path(each) == bare_path(stem + ".md"))
        if same:
            return collection, same[0], extension == "md"
    return None


# In threads


def _read_folder(
    library: View, collection: str, path: str, base: str, offset: int
) -> dict[str, Any]:
    page = library.list_documents(collection, folder=path, limit=_LISTED, offset=offset)
    if not page.total and path:
        raise NotFound(f"There is no folder {path[:200]!r} in {collection[:200]!r}.")
    states = [each for each in library.states() if collection in _names(each.collection)]
    name = states[0].collection.name
    shown = [each for each in page.documents if each.path not in OWN]
    own = set() if path else set(OWN).intersection(library.paths(name))
    page = page._replace(documents=shown, total=page.total - len(own))
    return {
        "collection": states[0].collection,
        "path": path,
        "trail": make_trail(base, name, path.rstrip("/")),
        "page": page,
        "listed": _LISTED,
        "navigation": navigate(library, name, path, base),
    }


def _names(collection: Any) -> tuple[str, str | None]:
    return collection.name, collection.alias


def _read_document(
    library: View, collection: str, path: str, base: str, wanted: Wanted
) -> dict[str, Any] | str:
    """Return what the page of a document shows, or where it is to be read."""
    try:
        document = _exact(library, collection, path)
    except NotFound:
        if library.list_documents(collection, folder=path, limit=1).total:
            return address(base, document_path(collection, path + "/"))
        raise
    name, alone = document.collection, is_alone(library)
    (citations,) = library.citations([document], most=MOST_LINKS)
    by_source = {
        each.source.key: each
        for each in reversed(citations.cited)
        if each.source.key != document.key and each.source.path not in OWN
    }
    values: dict[str, Any] = {
        "document": document,
        "trail": make_trail(base, name, path),
        "address": uri(name, path, alone=alone),
        "raw": address(base, document_path(name, path, kind="raw")),
        "navigation": navigate(library, name, path, base),
        "related": [
            show_hit(hit, base=base, alone=alone)
            for hit in library.find_related(document, limit=_RELATED + len(OWN))
            if hit.document not in OWN
        ][:_RELATED],
        "cited": list(reversed(by_source.values()))[:_CITED],
        "cites": any(each.target for each in citations.citing),
        "is_withheld": False,
    }
    try:
        return values | _read_text(library, document, base, wanted, citations)
    except Forbidden:
        return values | {"is_withheld": True, "html": "", "toc": (), "part": None}


def _read_text(
    library: View, document: Document, base: str, wanted: Wanted, citations: Citations
) -> dict[str, Any]:
    text = library.text(document).text
    line = wanted.line
    if wanted.pointer:
        line = library.place(document, wanted.pointer).start_line
    part = choose_part(library, document, text, number=wanted.part or 1, line=line)
    inside = line - part.first_line + 1 if line else None
    links = Links(
        base,
        document,
        citations.citing,
        read_paths=lambda: library.paths(document.collection),
    )
    if is_plain(document):
        shown = render_plain(part.text, line=inside)
    elif document.mime in _PAGED:
        pages = library.outline(document)
        shown = render_paged(
            part.text, links.resolve, pages, first_line=part.first_line, line=inside
        )
    else:
        shown = render(without_modules(part.text)[0], links.resolve, line=inside)
    toc = [each for each in shown.anchors if each.level <= _DEEPEST_IN_TOC]
    return {
        "html": shown.html,
        "toc": toc,
        "has_own_title": _has_own_title(document, shown),
        "keeps_lines": document.mime in _MAIL,
        "part": part,
    }


def is_plain(document: Document) -> bool:
    """Tell a text that is no Markdown: its line breaks are its own."""
    return document.mime.startswith(_PLAIN) and document.mime not in _CONVERTED


def _has_own_title(document: Document, shown: Rendered) -> bool:
    tops = [each.text for each in shown.anchors if each.level == 1]
    return document.title in tops or (bool(tops) and shown.html.lstrip().startswith("<h1"))


def make_trail(base: str, collection: str, path: str) -> list[tuple[str, str]]:
    """Return the names and addresses of the collection and the folders above a path."""
    folders = path.split("/")[:-1]
    trail = [(collection, address(base, document_path(collection, "")))]
    for end in range(1, len(folders) + 1):
        place = "/".join(folders[:end]) + "/"
        trail.append((folders[end - 1], address(base, document_path(collection, place))))
    return trail
