"""What holds for every address: headers, names of the server, status, and life without MCP."""

from __future__ import annotations

import pytest

from bookwheel.errors import Conflict, IndexDamaged, IndexUnreachable, IndexUnusable
from bookwheel.library import Library
from bookwheel.serve.headers import SECURE
from tests.serve.conftest import Site
from tests.site.conftest import site_of, text_of

ROUTES = (
    "/",
    "/?q=walrus",
    "/docs",
    "/docs/notes/",
    "/docs/notes/guides/setup.md",
    "/raw/notes/guides/setup.md",
    "/guides/setup.html",
    "/guides/setup.md",
    "/status",
    "/llms.txt",
    "/llms-full.txt",
    "/sitemap.xml",
    "/robots.txt",
    "/favicon.ico",
    "/login",
    "/api/docs",
    "/api/openapi.json",
    "/api/search?q=walrus",
    "/api/facets?q=walrus",
    "/api/documents?collection=notes",
    "/api/document?document=api.md",
    "/api/outline?document=api.md",
    "/api/section?document=api.md&heading=API",
    "/api/related?document=api.md",
    "/api/status",
    "/api/graph",
    "/graph",
    "/graph?document=api.md",
    "/graph?q=walrus",
)


@pytest.mark.parametrize("path", ROUTES)
def test_t23_every_answer_tells_the_browser_to_run_and_load_nothing_foreign(
    site: Site, path: str
) -> None:
    answer = site.ask("GET", path)

    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for name in SECURE:
        if name != "Referrer-Policy":
            assert answer.headers[name.lower()] == SECURE[name]
    assert answer.headers["referrer-policy"] in ("no-referrer", "same-origin")
    if "text/html" in answer.headers["content-type"]:
        assert " style=" not in answer.body.decode().partition("<article")[0]
        assert "<script>" not in answer.body.decode()


@pytest.mark.requirement("X-036")
@pytest.mark.parametrize("path", [*ROUTES, "/nothing", "/mcp", "/static/x/site.css"])
def test_t07_foreign_names_and_origins_are_refused_on_every_route(site: Site, path: str) -> None:
    assert site.ask("GET", path, Host="evil.example").status == 421
    assert site.ask("GET", path, Origin="http://evil.example").status == 403
    assert site.ask("GET", path, Origin="null").status == 403
    assert site.ask("GET", path, Host="docs.example", Origin="https://docs.example").status < 500
    assert site.ask("GET", path, Host="docs.example").status != 421


@pytest.mark.requirement("X-036")
def test_probes_get_through_by_any_address(site: Site) -> None:
    assert site.ask("GET", "/healthz", Host="10.1.2.3:9999").status == 200


@pytest.mark.requirement("P-040")
def test_without_mcp_the_pages_go_on(documentation: Library) -> None:
    with site_of(documentation, toolsets={}) as site:
        assert site.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 404
        assert site.ask("GET", "/mcp/pages").status == 404
        for path in ("/", "/docs/notes/api.md", "/llms.txt", "/api/search?q=a", "/healthz"):
            assert site.ask("GET", path).status == 200
        assert "turned off here" in text_of(site.ask("GET", "/status").body)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_pages_are_only_read(site: Site, method: str) -> None:
    for path in ("/", "/docs/notes/api.md", "/api/search?q=a", "/llms.txt"):
        assert site.ask(method, path).status == 404
    assert b"sent to /mcp" in site.ask(method, "/").body


@pytest.mark.parametrize("path", ["/", "/docs/notes/guides/setup.md", "/llms.txt", "/status"])
def test_pages_that_did_not_change_are_sent_once(site: Site, path: str) -> None:
    tag = site.ask("GET", path).headers["etag"]

    assert site.ask("GET", path, If_None_Match=tag).status == 304
    assert site.ask("GET", path, If_None_Match='"other"').status == 200


def test_styles_and_scripts_are_kept_for_good(site: Site) -> None:
    page = site.ask("GET", "/").body.decode()
    place = page.partition('<script src="')[2].partition('"')[0]

    assert "immutable" in site.ask("GET", place).headers["cache-control"]
    assert site.ask("GET", "/static/older/theme.js").headers["cache-control"] == "no-cache"
    assert site.ask("GET", "/static/x/nothing.js").status == 404


def test_t24_many_ranges_do_no_harm(site: Site) -> None:
    many = "bytes=" + ",".join(f"{n}-{n}" for n in range(0, 4000, 2))

    for path in ("/", "/llms-full.txt", "/static/x/site.css"):
        assert site.ask("GET", path, Range=many).status == 200


def test_the_state_of_the_index_is_shown(site: Site) -> None:
    page = site.ask("GET", "/status").body.decode()
    text = text_of(page.encode())

    assert "7 documents" in text
    assert "broken.pdf unreadable" in text
    assert f"claude mcp add --transport http bookwheel {site.url}/mcp" in text
    assert "documents_search" in text
    assert ".md 5" in text


def test_indexing_is_shown_while_it_goes_on(documentation: Library) -> None:
    state = {"ready": True, "indexing": {"done": 3, "total": 12}}
    with site_of(documentation, state=lambda: state) as site:
        page = site.ask("GET", "/status").body.decode()
        told = site.ask("GET", "/api/status").value["indexing"]

    assert "Indexing: 3 of 12 files" in page
    assert '<progress aria-label="Indexing" max="12" value="3">' in page
    assert told == {"done": 3, "total": 12}
    assert "Every file that could be a document was read." not in page


def test_an_index_that_is_behind_is_not_called_whole(documentation: Library) -> None:
    state = {"status": "behind", "ready": True, "indexing": None}
    with site_of(documentation, state=lambda: state) as site:
        page = site.ask("GET", "/status").body.decode()
        told = site.ask("GET", "/api/status").value["behind"]

    assert told is True
    assert "What changed lately cannot be indexed just now" in page
    assert "Everything is indexed." not in page


def test_a_path_before_all_addresses_is_kept(documentation: Library) -> None:
    from starlette.requests import Request

    from bookwheel.serve.web import address, base_of

    request = Request({"type": "http", "root_path": "/docs-site/", "headers": []})
    assert address(base_of(request), "/docs/a b/ü.md", q="x y", none=None) == (
        "/docs-site/docs/a%20b/%C3%BC.md?q=x+y"
    )


def test_t29_a_defect_is_told_by_a_number_only(
    documentation: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("bookwheel.view.View.states", fail)
    with site_of(documentation) as site:
        answers = [site.ask("GET", path) for path in ("/status", "/api/status", "/docs")]

    assert [answer.status for answer in answers] == [500, 500, 500]
    assert not any(b"secret" in answer.body for answer in answers)
    assert "a secret of the inside" in caplog.text


def test_an_index_that_is_being_made_is_told_as_passing(
    documentation: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Conflict("The index is being made and cannot be searched yet.")

    monkeypatch.setattr("bookwheel.view.View.states", fail)
    with site_of(documentation) as site:
        answers = [site.ask("GET", path) for path in ("/status", "/api/status", "/docs")]

    assert [answer.status for answer in answers] == [503, 503, 503]
    assert all("retry-after" in answer.headers for answer in answers)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (IndexUnreachable("The cluster at inside.example is away."), b"out of reach just now"),
        (IndexDamaged("The index inside.example/catalog.db is broken."), b"index is damaged"),
        (IndexUnusable("The file inside.example/meta.json is closed."), b"be used just now"),
    ],
)
def test_an_index_that_cannot_be_used_is_told_as_passing_and_not_by_its_place(
    documentation: Library,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    said: bytes,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("bookwheel.view.View.states", fail)
    with site_of(documentation) as site:
        answers = [site.ask("GET", path) for path in ("/status", "/api/status", "/docs")]

    assert [answer.status for answer in answers] == [503, 503, 503]
    assert all("retry-after" in answer.headers for answer in answers)
    assert all(said in answer.body for answer in answers)
    assert not any(b"inside.example" in answer.body for answer in answers)
    assert "inside.example" in caplog.text
    assert "Traceback" not in caplog.text
