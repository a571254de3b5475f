"""What lies outside a folder, or must not be looked at in it, comes out by no way there is."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import MCPError

from bookwheel.library import Library
from bookwheel.query import SearchRequest
from tests.clients.assistant import Assistant, assisting
from tests.conftest import Shelf
from tests.serve.conftest import Site
from tests.site.conftest import site_of

CANARY = "quaggaoutside"
LINKS = {
    "file.md": "{place}/outside/secret.md",
    "relative.md": "../outside/secret.md",
    "chain.md": "chain-2.md",
    "chain-2.md": "file.md",
    "loop.md": "loop.md",
    "dangling.md": "{place}/nowhere.md",
    "folder": "{place}/outside",
    "parent": "..",
    "everything": "/",
    "self": ".",
    "proc.md": "/proc/self/environ",
}
BEHIND = (
    *(name for name in LINKS if name.endswith(".md")),
    *("folder/secret.md", "parent/outside/secret.md", "self/file.md", "everything/etc/hostname"),
    *("../outside/secret.md", "folder/../../outside/secret.md", "good.md/../../outside/secret.md"),
)
SECRETS = (
    *("id_rsa", "id_rsa.txt", "id_ed25519", "id_ecdsa.md", "server.pem", "server.pem.txt", "x.key"),
    *("x.key.md", "a.p12", "a.pfx", "vault.kdbx", "a.jks", "a.keystore", ".env", ".env.local"),
    *("prod.env", ".netrc", "_netrc", "credentials", "credentials.json", "credentials.txt"),
    *("Credentials.md", "secrets.md", "secrets.yaml", "vpn.ovpn", ".htpasswd", "htpasswd.txt"),
    *(".pgpass", ".npmrc", ".pypirc", ".git-credentials", "putty.ppk", "a.p8", "backup.gpg"),
    *("client_secret_1.json", "a.tfstate", "wallet.dat", ".hidden.md", ".git/config.md"),
    *(".ssh/notes.md", "node_modules/a.md", "deep/down/.aws/credentials.md", "ignored/a.md"),
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("walled"))
    outside = shelf.place / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(f"# Secret\n\n{CANARY}")
    shelf.put("good.md", "# Good\n\nwalrus")
    for name, target in LINKS.items():
        (shelf.folder / name).symlink_to(target.format(place=shelf.place))
    for name in SECRETS:
        shelf.put(name, f"# Key\n\n{CANARY} walrus")
    shelf.put(".gitignore", "ignored/\n")
    os.mkfifo(shelf.folder / "fifo.md")
    with socket.socket(socket.AF_UNIX) as listener:
        working = Path.cwd()
        os.chdir(shelf.folder)  # the address of a socket is short
        listener.bind("socket.md")
        os.chdir(working)
    with shelf.open() as library:
        library.update()
        library.embed()
    return shelf


@pytest.fixture(scope="module")
def library(shelf: Shelf) -> Iterator[Library]:
    with shelf.open() as library:
        yield library


@pytest.fixture(scope="module")
def assistant(library: Library) -> Iterator[Assistant]:
    with assisting(library, "all") as assistant:
        yield assistant


@pytest.fixture(scope="module")
def site(library: Library) -> Iterator[Site]:
    with site_of(library) as site:
        yield site


def told(assistant: Assistant, name: str, *arguments: Any, **named: Any) -> tuple[bool, str]:
    """Return whether a call was refused, and all that it said."""
    try:
        answer = assistant.call(name, **named) if not arguments else assistant.read(*arguments)
    except MCPError as error:
        return True, f"{error.error.message} {error.error.data}"
    return getattr(answer, "is_error", False), str(answer)


def ask_everywhere(
    assistant: Assistant, site: Site, shelf: Shelf, path: str
) -> Iterator[tuple[str, bool, str]]:
    """Ask for a file by every way to one; give the way, whether it is refused, and what is said."""
    of = {"collection": "notes", "document": path}
    yield "openFile", *told(assistant, "openFile", path=f"{shelf.folder}/{path}")
    yield "get_doc_page", *told(assistant, "get_doc_page", path=path)
    for tool in ("documents_get_document", "documents_get_outline", "documents_find_related"):
        yield tool, *told(assistant, tool, **of)
    for address in (f"docs://{path}", f"docs://{quote(path, safe='')}", f"docs://notes/{path}"):
        yield address, *told(assistant, "read", address)
    for route in ("/docs/notes/", "/raw/notes/", "/", "/api/document?document="):
        for spelt in (path, quote(path, safe="")):
            answer = site.ask("GET", route + spelt)
            yield route + spelt, answer.status >= 300, f"{answer.headers} {answer.body.decode()}"


@pytest.mark.parametrize("path", BEHIND)
def test_t02_no_link_leads_out_by_any_tool_resource_or_page(
    assistant: Assistant, site: Site, shelf: Shelf, path: str
) -> None:
    for way, refused, said in ask_everywhere(assistant, site, shelf, path):
        assert refused, way
        assert CANARY not in said, way


def test_t02_links_are_not_indexed_and_are_counted_as_passed_over(library: Library) -> None:
    assert library.paths("notes") == ["good.md"]
    reasons = {reason for reason, _ in library.skipped("notes")}
    assert "link, never followed" in reasons


def test_t04_a_fifo_and_a_socket_are_passed_over_and_refused(
    library: Library, assistant: Assistant, site: Site, shelf: Shelf
) -> None:
    special = [n for (why, _), n in library.skipped("notes").items() if why == "not a regular file"]
    assert sum(special) == 2
    for path in ("fifo.md", "socket.md"):
        for way, refused, _ in ask_everywhere(assistant, site, shelf, path):
            assert refused, way


def test_t06_of_forty_secret_files_nothing_is_indexed_listed_or_found(
    library: Library, assistant: Assistant, site: Site
) -> None:
    assert len(SECRETS) >= 40
    assert library.paths("notes") == ["good.md"]
    assert library.ledger() == []
    for words in (CANARY, "walrus", "key", "credentials", "quaggaoutsdie"):
        hits = library.search(SearchRequest(words, limit=100)).hits
        assert {hit.document for hit in hits} <= {"good.md"}
    said = [
        *(assistant.call("searchFiles", query=CANARY), assistant.resources()),
        *(assistant.call("documents_list_documents", collection="notes"), assistant.tools()),
        *(assistant.call("list_doc_pages"), assistant.call("search_docs", query=CANARY)),
        *(
            site.ask("GET", path).body
            for path in ("/docs/notes/", "/llms-full.txt", "/sitemap.xml")
        ),
    ]
    names = [Path(name).name for name in SECRETS if len(Path(name).name) > 8]
    assert [name for name in names if name in str(said)] == []
    assert f"{CANARY} walrus" not in str(said)


@pytest.mark.parametrize("path", SECRETS)
def test_t06_a_secret_file_is_refused_by_any_tool_resource_or_page(
    assistant: Assistant, site: Site, shelf: Shelf, path: str
) -> None:
    for way, refused, said in ask_everywhere(assistant, site, shelf, path):
        assert refused, way
        assert CANARY not in said, way
