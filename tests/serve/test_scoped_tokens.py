"""Two tokens with disjoint roots: nothing of the one's documents reaches the other, by any way."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client
from mcp.shared._httpx_utils import create_mcp_http_client
from starlette.routing import BaseRoute

from bookwheel.library import Library
from bookwheel.safety.token_file import TokenFile
from bookwheel.serve.callers import CURRENT, Caller, places_of
from bookwheel.serve.calls import Calls
from bookwheel.serve.guard import COOKIE, Rules
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.readers import Readers
from bookwheel.serve.run import warn_of_roots
from bookwheel.serve.site.routes import make_site_routes
from bookwheel.serve.toolsets import choose, load_contracts
from bookwheel.serve.web import Web
from tests.conftest import Shelf
from tests.serve.conftest import Site, serving, within
from tests.serve.test_streams import note_opening

ONE = ("Alphaberg", "alphonium", "Aldebaran")
TWO = ("Betatal", "betonite", "Bellatrix")
"""Words that only the documents of one collection have."""
SHARED = "The quarterly report of the council on water, bridges and schools."


class World(NamedTuple):
    """Two collections, a server of both, and a token for each and for a folder of one."""

    site: Site
    shelf: Shelf
    library: Library
    tokens: dict[str, str]

    def post(self, token: str, method: str, params: dict[str, Any], path: str = "/mcp/all") -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.site.post(
            message,
            path,
            Authorization=f"Bearer {self.tokens[token]}",
            Accept="application/json",
        )
        assert answer.status == 200
        return answer.value

    def call(self, token: str, tool: str, arguments: dict[str, Any]) -> str:
        return json.dumps(self.post(token, "tools/call", {"name": tool, "arguments": arguments}))


def stock(shelf: Shelf) -> None:
    for folder, words in (("one", ONE), ("two", TWO)):
        for number in range(6):
            name = f"../{folder}/{words[0].lower()}-{number}/{words[1]}.md"
            other = f"../{words[0].lower()}-{(number + 1) % 6}/{words[1]}.md"
            shelf.put(
                name,
                f"---\ntags: [{words[2]}]\n---\n# {words[2]} {number}\n\n{SHARED}\n\n"
                f"## {words[0]} {number}\n\nHere {words[1]} is dug, see [it]({other}).\n",
            )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    shelf = Shelf(tmp_path_factory.mktemp("scoped"))
    stock(shelf)
    folders = (shelf.place / "one", shelf.place / "two")
    shelf.update(*folders)
    file = TokenFile(shelf.place / "tokens.json")
    tokens = {
        "one": file.add("one", ["one"], "", ""),
        "two": file.add("two", [str(shelf.place / "two")], "", ""),
        "part": file.add("part", ["one/alphaberg-3"], "", ""),
        "none": file.add("none", ["gone"], "", ""),
        "all": file.add("all", [], "", ""),
    }
    with shelf.open(*folders) as library:
        library.embed()
        known = load_contracts()
        calls = Calls(library)
        servers = {
            path: DocumentServer(calls, choose(known, choice))
            for path, choice in (("/mcp", None), ("/mcp/all", "all"))
        }

        def pages(rules: Rules) -> Sequence[BaseRoute]:
            state = {"ready": True, "indexing": {"done": 7, "total": 4711}}
            return [*make_site_routes(Web(calls, state=lambda: state, toolsets={}, rules=rules))]

        with serving(servers, tokens=file, site=pages) as site:
            yield World(site, shelf, library, tokens)
        calls.close()


def assert_clean(text: str, foreign: tuple[str, ...]) -> None:
    lowered = text.lower()
    assert not [word for word in foreign if word.lower() in lowered], text


def queries(seed: int) -> list[str]:
    """Return questions that aim at either collection: exact, misspelt, quoted, excluded, vague."""
    pick = random.Random(seed)
    made = []
    for word in (*ONE, *TWO):
        at = pick.randrange(1, len(word) - 1)
        made += [
            word,
            word[:at] + word[at + 1 :],
            f'"{word} {pick.randrange(6)}"',
            f"council -{word}",
            f"{word} council report",
            word[: at + 2],
        ]
    return [*made, "council", "water bridges", "xyzzy", ""]


SEARCHES: dict[str, Callable[[str], dict[str, Any]]] = {
    "documents_search": lambda query: {"query": query},
    "documents_search_batch": lambda query: {"queries": [{"query": query}, {"query": "council"}]},
    "search_documents": lambda query: {"query": query},
    "search_docs": lambda query: {"query": query},
    "searchFiles": lambda query: {"query": query},
    "rewriteQuery": lambda query: {"query": query},
    "searchLocalArchives": lambda query: {"query": query, "includeCitations": True},
}
OTHERS = ("documents_list_collections", "list_doc_pages", "listRoots")


def known_tools() -> list[str]:
    return [tool.name for each in load_contracts().values() for tool in each.tools]


@pytest.mark.requirement("R-013")
@pytest.mark.parametrize(("token", "foreign"), [("one", TWO), ("two", ONE)])
@pytest.mark.parametrize("tool", [name for name in SEARCHES if name in known_tools()])
def test_t31_no_search_crosses(
    world: World, token: str, foreign: tuple[str, ...], tool: str
) -> None:
    own = TWO if foreign is ONE else ONE
    found = 0
    for query in queries(31):
        echoes = [word for word in foreign if word.lower() in query.lower()]
        text = world.call(token, tool, SEARCHES[tool](query))
        # What was asked may be said again; anything more than that may not.
        for other in foreign:
            if other not in echoes and not any(other.lower().startswith(e.lower()) for e in echoes):
                assert other.lower() not in text.lower().replace(query.lower(), ""), (query, text)
        found += own[1] in text
    assert found or tool == "rewriteQuery"


@pytest.mark.requirement("R-013")
@pytest.mark.parametrize(("token", "foreign"), [("one", TWO), ("two", ONE)])
@pytest.mark.parametrize("tool", [name for name in OTHERS if name in known_tools()])
def test_t31_no_listing_crosses(
    world: World, token: str, foreign: tuple[str, ...], tool: str
) -> None:
    text = world.call(token, tool, {})

    assert_clean(text, foreign)
    mine, other = ("one", "two") if token == "one" else ("two", "one")
    assert f'"{other}"' not in text.replace("\\", "")
    assert mine in text or (ONE if mine == "one" else TWO)[1] in text
    assert f"{world.shelf.place}/{other}" not in text


def paths_of(name: str, words: tuple[str, ...]) -> list[str]:
    path = f"{words[0].lower()}-2/{words[1]}.md"
    return [path, f"{name}/{path}", f"docs://{name}/{path}"]


READS: dict[str, Callable[[str], dict[str, Any]]] = {
    "documents_get_document": lambda path: {"collection": "two", "document": path},
    "documents_get_outline": lambda path: {"collection": "two", "document": path},
    "documents_get_section": lambda path: {
        "collection": "two",
        "document": path,
        "section": "Betatal 2",
    },
    "documents_list_documents": lambda path: {"collection": "two"},
    "documents_find_related": lambda path: {"collection": "two", "document": path},
    "get_doc_page": lambda path: {"path": path},
    "openFile": lambda path: {"path": path},
    "indexFolder": lambda path: {"root": path.rpartition("/")[0]},
}


@pytest.mark.requirement("R-013")
@pytest.mark.parametrize("tool", [name for name in READS if name in known_tools()])
def test_t31_what_may_not_be_seen_looks_as_if_it_were_not_there(world: World, tool: str) -> None:
    real = [*paths_of("two", TWO), str(world.shelf.place / "two" / "betatal-2" / "betonite.md")]
    is_readable = False
    for path in real:
        missing = path.replace("betatal-2", "nowhere").replace("betonite", "nothing")
        asked = READS[tool](path)
        refused = world.call("one", tool, asked)
        absent = world.call("one", tool, READS[tool](missing))
        assert "dug" not in refused
        assert "council" not in refused
        assert _without(refused, asked) == _without(absent, READS[tool](missing))
        if tool != "indexFolder":  # nobody works off its queue here
            is_readable |= '"isError": false' in world.call("two", tool, asked)
    assert is_readable or tool == "indexFolder"  # by whom it is for


def _without(text: str, asked: dict[str, Any]) -> str:
    """Return an answer without what was asked."""
    for value in sorted(map(str, asked.values()), key=len, reverse=True):
        text = text.replace(value, "X")
    return text


def test_t31_a_token_of_a_folder_sees_that_folder(world: World) -> None:
    listed = world.post("part", "resources/list", {})["result"]["resources"]
    found = world.call("part", "documents_search", {"query": "council"})

    assert [each["uri"] for each in listed] == ["docs://alphaberg-3/alphonium.md"]
    assert "alphaberg-3" in found
    assert not [n for n in range(6) if n != 3 and f'alphaberg-{n}/alphonium.md\\"' in found]
    collections = world.call("part", "documents_list_collections", {})
    assert '\\"documentCount\\":1' in collections


def test_t31_a_token_whose_roots_are_gone_sees_nothing(world: World) -> None:
    assert world.post("none", "resources/list", {})["result"]["resources"] == []
    assert_clean(world.call("none", "documents_search", {"query": "council"}), (*ONE, *TWO))
    assert_clean(world.call("none", "documents_list_collections", {}), ("one", "two"))


@pytest.mark.parametrize(("token", "foreign"), [("one", TWO), ("two", ONE)])
def test_t31_resources_completions_and_instructions_do_not_cross(
    world: World, token: str, foreign: tuple[str, ...]
) -> None:
    other = "two" if token == "one" else "one"
    shake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    template = world.post(token, "resources/templates/list", {})["result"]["resourceTemplates"][0]
    ref = {"type": "ref/resource", "uri": template["uriTemplate"]}
    texts = [
        world.post(token, "initialize", shake),
        world.post(token, "resources/list", {}),
        world.post(token, "tools/list", {}),
        world.post(
            token, "completion/complete", {"ref": ref, "argument": {"name": "path", "value": ""}}
        ),
    ]

    assert_clean(json.dumps(texts), foreign)
    assert f'\\"{other}\\"' not in texts[0]["result"]["instructions"]
    assert f'"{other}"' not in texts[0]["result"]["instructions"]
    for path in paths_of(other, foreign):
        refused = world.post(token, "resources/read", {"uri": f"docs://{path}"})["error"]
        assert_clean(json.dumps(refused).replace(path, ""), foreign)


WEB = (
    "/",
    "/?q=council",
    "/?q=council+{other}",
    "/status",
    "/graph",
    "/llms.txt",
    "/llms-full.txt",
    "/sitemap.xml",
    "/browse",
    "/api/status",
    "/api/search?q=council",
    "/api/facets?q=council",
    "/api/documents?collection={mine}",
    "/api/documents?collection={other}",
    "/api/document?collection={other}&document={path}",
    "/api/related?collection={other}&document={path}",
    "/api/graph",
    "/api/collections",
    "/docs/{other}/{path}",
    "/docs/{other}/",
    "/docs/{mine}/",
    "/raw/{other}/{path}",
    "/nowhere",
)


@pytest.mark.parametrize("by", ["bearer", "cookie"])
@pytest.mark.parametrize(("token", "foreign"), [("one", TWO), ("two", ONE)])
def test_t31_no_page_and_no_answer_of_the_api_crosses(
    world: World, token: str, foreign: tuple[str, ...], by: str
) -> None:
    other = "two" if token == "one" else "one"
    path = f"{foreign[0].lower()}-2/{foreign[1]}.md"
    secret = world.tokens[token]
    headers = {"Authorization": f"Bearer {secret}"}
    if by == "cookie":
        headers = {"Cookie": f"{COOKIE}={secret}"}
    found = 0
    for pattern in WEB:
        asked = pattern.format(other=other, mine=token, path=path)
        answer = world.site.ask("GET", asked, None, **headers)
        text = answer.body.decode()
        assert answer.status != 401
        assert answer.status < 500, (asked, text)
        assert "4711" not in text
        # What was asked for may be said again, its path and the words of it.
        assert_clean(text, tuple(word for word in foreign if word.lower() not in asked))
        assert "dug" not in text or path not in asked
        found += (ONE if token == "one" else TWO)[1] in text
    assert found > 5


def test_t08_pages_ask_for_the_token_too(world: World) -> None:
    for pattern in WEB:
        asked = pattern.format(other="two", mine="one", path="x")
        assert world.site.ask("GET", asked).status == 401
        led = world.site.ask("GET", asked, None, Accept="text/html")
        assert led.status in (303, 401)
    login = world.site.ask("GET", "/login", None, Accept="text/html")
    assert login.status == 200
    assert_clean(login.body.decode(), (*ONE, *TWO, "4711"))


def test_t31_all_is_seen_with_a_token_of_no_roots(world: World) -> None:
    text = world.call("all", "documents_search", {"query": "council", "limit": 20})

    assert ONE[1] in text
    assert TWO[1] in text


def test_t09_a_session_is_of_no_use_to_another_token(world: World) -> None:
    shake = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    both = "application/json, text/event-stream"

    def post(token: str, message: Any, **headers: str) -> Any:
        bearer = f"Bearer {world.tokens[token]}"
        return world.site.post(message, "/mcp", Authorization=bearer, Accept=both, **headers)

    session = post("one", shake).headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}
    post("one", {"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session)

    assert post("two", listing, Mcp_Session_Id=session).status == 404
    assert post("all", listing, Mcp_Session_Id=session).status == 404
    mine = post("one", listing, Mcp_Session_Id=session)
    assert mine.status == 200
    assert_clean(mine.body.decode(), TWO)
    stream = world.site.ask(
        "DELETE",
        "/mcp",
        None,
        Authorization=f"Bearer {world.tokens['two']}",
        Mcp_Session_Id=session,
    )
    assert stream.status == 404


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_t31_a_change_is_told_to_those_alone_who_may_see_it(tmp_path: Path, era: str) -> None:
    shelf = Shelf(tmp_path)
    stock(shelf)
    folders = (shelf.place / "one", shelf.place / "two")
    shelf.update(*folders)
    file = TokenFile(shelf.place / "tokens.json")
    secrets = {name: file.add(name, [name], "", "") for name in ("one", "two")}
    heard: dict[str, list[str]] = {"one": [], "two": []}

    with shelf.open(*folders) as library:
        calls = Calls(library)
        server = DocumentServer(calls, choose(load_contracts(), "folder"))
        with serving({"/mcp": server}, tokens=file) as site:

            async def listen(name: str, told: anyio.Event, ready: anyio.Event) -> None:
                async def hear(message: Any) -> None:
                    if era == "legacy" and "list_changed" in str(getattr(message, "method", "")):
                        heard[name].append("changed")
                        told.set()

                http = create_mcp_http_client(headers={"Authorization": f"Bearer {secrets[name]}"})
                note_opening(http, ready)
                async with http, client_of(site, http, era, hear) as client:
                    if era == "legacy":
                        await anyio.sleep_forever()
                    async with client.listen(resources_list_changed=True) as subscription:
                        ready.set()
                        async for _ in subscription:
                            heard[name].append("changed")
                            told.set()

            async def main() -> None:
                told = {name: anyio.Event() for name in heard}
                ready = {name: anyio.Event() for name in heard}
                async with anyio.create_task_group() as tasks:
                    for name in heard:
                        tasks.start_soon(listen, name, told[name], ready[name])
                    for event in ready.values():
                        await event.wait()
                    shelf.put("../two/new.md", "# New\n\nBetatal")
                    await anyio.to_thread.run_sync(lambda: shelf.update(*folders))
                    site.bell.ring()
                    await told["two"].wait()
                    shelf.put("../one/new.md", "# New\n\nAlphaberg")
                    await anyio.to_thread.run_sync(lambda: shelf.update(*folders))
                    site.bell.ring()
                    await told["one"].wait()
                    await anyio.sleep(0.2)
                    tasks.cancel_scope.cancel()

            within(main, 40)
        calls.close()

    assert heard == {"one": ["changed"], "two": ["changed"]}


def client_of(site: Site, http: Any, era: str, hear: Any) -> Client:
    from mcp.client.streamable_http import streamable_http_client

    target = streamable_http_client(f"{site.url}/mcp", http_client=http)
    return Client(target, mode=era, message_handler=hear)


def test_t31_processes_that_answer_keep_to_the_roots_too(shelf: Shelf) -> None:
    stock(shelf)
    folders = [str(shelf.place / "one"), str(shelf.place / "two")]
    shelf.update(*map(Path, folders))

    async def main() -> None:
        with shelf.open(*map(Path, folders)) as library:
            readers = Readers(library.settings, folders, 1)
            calls = Calls(library, readers=readers)
            readers.start()
            while not readers.are_ready:
                await anyio.sleep(0.01)
            CURRENT.set(Caller("one", ("one",), has_token=True))
            offered = choose(load_contracts(), "all")
            reply = await calls.call_tool(
                offered, "documents_search", {"query": "council Betatal", "limit": 20}
            )
            calls.close()
            assert ONE[1] in reply.text
            assert_clean(reply.text.replace("council Betatal", ""), TWO)

    within(main, 40)


@pytest.mark.parametrize(
    ("root", "place"),
    [
        ("one", ("one", "")),
        ("one/", ("one", "")),
        ("first", ("one", "")),
        ("one/a/b", ("one", "a/b")),
        ("/srv/one", ("one", "")),
        ("/srv/one/a", ("one", "a")),
        ("/srv/one-evil", None),
        ("/srv", None),
        ("/", None),
        ("one/../two", None),
        ("/srv/one/../two", None),
        ("three", None),
        ("", None),
        ("team/docs", ("team/docs", "")),
        ("team/docs/a", ("team/docs", "a")),
    ],
)
def test_t01_a_root_names_one_place_or_none(root: str, place: tuple[str, str] | None) -> None:
    from bookwheel.model import Collection

    collections = [
        Collection("one", "/srv/one", alias="first"),
        Collection("two", "/srv/two"),
        Collection("team/docs", "/srv/team"),
    ]

    assert places_of([root], collections) == ((place,) if place else ())


def test_roots_that_open_nothing_are_told_when_the_server_starts(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    file = TokenFile(shelf.place / "tokens.json")
    file.add("ann", ["notes", "notse", "notes/it"], "", "")
    with shelf.open() as library:
        warn_of_roots(file.load(), library.collections)

    assert caplog.messages == ["the token ann opens nothing at 'notse': no such collection"]
