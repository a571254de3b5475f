"""For machines that read sites: /llms.txt, /llms-full.txt and /sitemap.xml."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.model import Document
from bookwheel.reading.categories import TOP
from bookwheel.serve.site.navigation import OWN
from bookwheel.serve.site.pages import Pages
from bookwheel.serve.web import address, base_of, document_path, with_etag
from bookwheel.view import View

CURATED = "llms.txt"
"""A file of this name at the top of the only collection is sent as it is."""
MOST_LINKS = 2000
LONGEST_FEED = 1_000_000
"""Characters of documents in one page of /llms-full.txt."""
_MOST_PAGES = 50_000
"""What a sitemap may hold."""
_BATCH = 1000


class _Feed(NamedTuple):
    """A text and where the next page of it begins."""

    text: str
    next_page: int | None = None


def make_feed_routes(pages: Pages) -> list[Route]:
    """Return the routes of the feeds."""
    feeds = Feeds(pages)
    return [
        Route("/llms.txt", pages.guarded(feeds.send_index)),
        Route("/llms-full.txt", pages.guarded(feeds.send_texts)),
        Route("/sitemap.xml", pages.guarded(feeds.send_sitemap)),
    ]


class Feeds:
    """Answers for the feeds."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._web = pages.web

    async def send_index(self, request: Request) -> Response:
        """Send the list of documents after the convention, page by page if it is long."""
        number, site, title = _page(request), _site(request), self._pages.title
        feed = await self._web.ask(request, lambda library: _index(library, title, site, number))
        return _send(request, feed)

    async def send_texts(self, request: Request) -> Response:
        """Send the texts of all documents, page by page."""
        number, site, title = _page(request), _site(request), self._pages.title
        feed = await self._web.ask(request, lambda library: _texts(library, title, site, number))
        return _send(request, feed)

    async def send_sitemap(self, request: Request) -> Response:
        """Send the addresses of all pages."""
        site = _site(request)
        text = await self._web.ask(request, lambda library: _sitemap(library, site))
        return with_etag(request, Response(text, media_type="application/xml"))


def _page(request: Request) -> int:
    value = request.query_params.get("page", "1")
    if not (value.isascii() and value.isdigit() and 0 < len(value) < 7 and int(value)):
        raise BadRequest("page must be a whole number from 1.")
    return int(value)


def _site(request: Request) -> str:
    """Return the address of the site; the guard has seen to it that the name is ours."""
    return f"{request.url.scheme}://{request.url.netloc}{base_of(request)}"


def _send(request: Request, feed: _Feed) -> Response:
    response = Response(feed.text, media_type="text/plain")
    if feed.next_page:
        place = f"{_site(request)}{request.url.path.removeprefix(base_of(request))}"
        response.headers["Link"] = f'<{place}?page={feed.next_page}>; rel="next"'
    return with_etag(request, response)


# In threads


def _index(library: View, title: str, site: str, number: int) -> _Feed:
    curated = _curated(library)
    if curated is not None and number == 1:
        return _Feed(curated)
    first = (number - 1) * MOST_LINKS
    lines = _head(library, title, site) if number == 1 else [f"# {title}, page {number}"]
    count = 0
    for collection, category, paths in _categories(library):
        begin, count = count, count + len(paths)
        shown = paths[max(0, first - begin) : max(0, first + MOST_LINKS - begin)]
        if shown:
            lines += ["", f"## {category}", ""]
            lines += _entries(library, collection, shown, site)
    if first and first >= count:
        raise NotFound("There is no such page of the list.")
    following = number + 1 if count > first + MOST_LINKS else None
    if following:
        lines += ["", "## Optional", "", f"- [More documents]({site}/llms.txt?page={following})"]
    return _Feed("\n".join(lines) + "\n", following)


def _curated(library: View) -> str | None:
    """Return the collection's own list, where there is one collection and it has one."""
    states = library.states()
    if len(states) != 1:
        return None
    try:
        found = library.document(CURATED, states[0].collection.name)
        return library.text(found).text if found.path == CURATED else None
    except (NotFound, Forbidden):
        return None


def _head(library: View, title: str, site: str) -> list[str]:
    described = [each.collection.description for each in library.states()]
    documents = sum(len(paths) for _, _, paths in _categories(library))
    counted = f"{documents:,} document{'' if documents == 1 else 's'}"
    summary = " ".join(_one_line(each).rstrip(".") + "." for each in described if each)
    return [
        f"# {title}",
        "",
        f"> {summary or f'{title}: {counted}.'}",
        "",
        f"{counted}, each as Markdown at the addresses below; all texts in one: "
        f"{site}/llms-full.txt. Search as JSON: {site}/api/search?q=WORDS.",
    ]


def _categories(library: View) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the collection, heading and paths of each section of the list."""
    states = library.states()
    for state in states:
        name = state.collection.name
        for category, paths in library.categories(name).items():
            shown = [path for path in paths if path not in OWN]
            heading = "Documents" if category == TOP else category
            yield name, heading if len(states) == 1 else f"{name}: {heading}", shown


def _entries(library: View, collection: str, paths: list[str], site: str) -> Iterator[str]:
    for path in paths:
        try:
            document = library.document(path, collection)
        except NotFound:  # gone meanwhile
            continue
        place = address(site, document_path(collection, path, kind="raw"))
        about = f": {_one_line(document.description)}" if document.description else ""
        label = _one_line(document.title).replace("[", "(").replace("]", ")")
        yield f"- [{label}]({place}){about}"


def _texts(library: View, title: str, site: str, number: int) -> _Feed:
    """Return the documents of one page; how many fit is known from their lengths."""
    parts = [f"# {title}" if number == 1 else f"# {title}, page {number}"]
    page, size, found = 1, 0, number == 1
    for document in _all(library):
        if size and size + document.characters > LONGEST_FEED:
            page, size = page + 1, 0
        size += document.characters
        if page > number:
            parts.append(f"[Page {number} ends here; more: {site}/llms-full.txt?page={page}]")
            return _Feed("\n\n".join(parts) + "\n", page)
        if page == number:
            found = True
            parts.append(_text_of(library, document, site))
    if not found:
        raise NotFound("There is no such page of the texts.")
    return _Feed("\n\n".join(parts) + "\n")


def _text_of(library: View, document: Document, site: str) -> str:
    place = address(site, document_path(document.collection, document.path, kind="raw"))
    try:
        part = library.text(document, length=LONGEST_FEED)
    except Forbidden:
        return f"---\n\nSource: {place}\n\n[Only previews of this document may be read.]"
    more = f"\n\n[Cut here; the whole text: {place}]" if part.next_offset else ""
    return f"---\n\nSource: {place}\n\n{part.text.strip()}{more}"


def _sitemap(library: View, site: str) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ]
    for number, document in enumerate(_all(library)):
        if number == _MOST_PAGES:
            break
        place = address(site, document_path(document.collection, document.path))
        day = datetime.fromtimestamp(document.modified_ns / 1e9, UTC).strftime("%Y-%m-%d")
        lines.append(f"<url><loc>{escape(place)}</loc><lastmod>{day}</lastmod></url>")
    return "\n".join([*lines, "</urlset>", ""])


def _all(library: View) -> Iterator[Document]:
    for state in library.states():
        for offset in range(0, state.documents, _BATCH):
            page = library.list_documents(state.collection.name, limit=_BATCH, offset=offset)
            yield from (each for each in page.documents if each.path not in OWN)


def _one_line(text: str) -> str:
    return " ".join(text.split())
