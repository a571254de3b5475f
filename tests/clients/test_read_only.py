"""Documents and index of somebody else, in places that the server may read and not write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from tests.clients.assistant import LEGACY, MODERN, PATIENCE, connected, http_server
from tests.clients.handbook import HANDBOOK, paths
from tests.clients.listener import Listener
from tests.clients.posting import Poster, posting, request
from tests.conftest import Shelf
from tests.rights import AS_READER, give_away
from tests.waiting import wait_until


def reader(log: Path, *arguments: object) -> StdioServerParameters:
    """Return how to start `bookwheel` without leave to write what is marked as read-only."""
    words = [*AS_READER, sys.executable, "-m", "bookwheel", *map(str, arguments)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    return StdioServerParameters(
        command="sh", args=["-c", 'exec "$@" 2>"$0"', str(log), *words], env=kept
    )


@contextmanager
def read_only(*places: Path) -> Iterator[None]:
    """Take away the leave to write below places, and make sure that it is gone."""
    every = [path for place in places for path in (place, *place.rglob("*"))]
    modes = {path: path.stat().st_mode for path in every}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        for place in places:
            tried = subprocess.run(
                [*AS_READER, "touch", place / "x"], capture_output=True, check=False
            )
            assert tried.returncode != 0
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def look(place: Path) -> dict[str, tuple[int, int]]:
    """Return what lies below a place, with sizes and times."""
    found = {str(path): path.stat() for path in place.rglob("*")}
    return {path: (each.st_size, each.st_mtime_ns) for path, each in found.items()}


PAGES = ("/api/search?q=zebra", "/?q=zebra")
TOOLS = (
    "documents_search",
    "search_documents",
    "search_docs",
    "searchFiles",
    "searchLocalArchives",
)


def ask_everywhere(poster: Poster) -> list[bytes]:
    """Search by a tool of each toolset, by the JSON API and on the site."""
    asked = {"query": "zebra"}
    calls = [request("tools/call", {"name": tool, "arguments": asked}) for tool in TOOLS]
    answers = [poster.post(call, "/mcp/all", Accept="application/json") for call in calls]
    return [each.body for each in (*answers, *(poster.send("GET", path) for path in PAGES))]


def state_of(poster: Poster) -> tuple[int, str]:
    """Return what probes are told."""
    answer = poster.send("GET", "/readyz")
    return answer.status, answer.json["status"]


def search_as_reader(folder: Path, index: Path) -> subprocess.CompletedProcess[str]:
    """Run a search as somebody without rights of their own."""
    search = (sys.executable, "-m", "bookwheel", "search", "zebra", folder, "--index", index)
    return subprocess.run([*AS_READER, *search], capture_output=True, text=True, check=False)


@pytest.mark.requirement("P-058")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_f05_documents_and_index_are_served_from_read_only_media(shelf: Shelf, era: str) -> None:
    for path, text in HANDBOOK.items():
        shelf.put(path, text)
    index, log = shelf.place / "index", shelf.place / "log"
    made = ("-m", "bookwheel", "index", str(shelf.folder), "--index", str(index))
    subprocess.run([sys.executable, *made], check=True, capture_output=True)
    give_away(shelf.folder)
    give_away(index)
    before = look(shelf.place)
    serve = ("serve", shelf.folder, "--index", index, "--toolsets", "pages,folder")

    with (
        read_only(shelf.folder, index),
        connected(reader(log, *serve), era) as assistant,
    ):
        found = paths(assistant.call("search_docs", query="kestrel").text)
        page = assistant.call("get_doc_page", path="guides/setup.md").text
        listed = assistant.resources()
        resource = assistant.read("docs://notes/memo.txt")["text"]

    assert found == ["birds/title.md", "birds/heading.md", "birds/text.md"]
    assert page == HANDBOOK["guides/setup.md"]
    assert len(listed) == len(HANDBOOK)
    assert resource == HANDBOOK["notes/memo.txt"]
    said = log.read_text(encoding="utf-8")
    log.unlink()
    assert "Traceback" not in said
    assert look(shelf.place) == before


@pytest.mark.requirement("P-055")
def test_a_folder_that_cannot_be_written_is_followed_all_the_same(shelf: Shelf) -> None:
    file = shelf.put("a.md", "# A\n\nThe zebra.")
    log = shelf.place / "log"
    serve = ("serve", shelf.folder, "--index", shelf.place / "index", "--toolsets", "folder")

    with read_only(shelf.folder), connected(reader(log, *serve), LEGACY) as assistant:
        assert "docs://a.md" in assistant.call("search_documents", query="zebra").text
        file.chmod(0o644)
        file.write_text("# A2\n\nThe zebra.", encoding="utf-8")
        file.chmod(0o444)
        Listener(assistant, assistant.heard).see({"docs://a.md": ("A2", "The zebra.")})

    said = log.read_text(encoding="utf-8")
    assert [line for line in said.splitlines() if "error" in line or "cannot" in line] == []
    assert "Traceback" not in said


@pytest.mark.requirement("P-058")
def test_an_index_of_another_user_is_searched_by_whoever_may_read_it(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\nThe zebra.")
    index = shelf.place / "index"
    shelf.update()
    give_away(index)

    searched = search_as_reader(shelf.folder, index)
    assert searched.returncode == 0, searched.stderr
    assert "a.md" in searched.stdout


def test_a_command_names_the_file_of_the_index_that_may_not_be_read(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\nThe zebra.")
    index = shelf.place / "index"
    shelf.update()
    give_away(index)
    closed = index / "catalog.db.words" / "passages" / "meta.json"
    with read_only(index):
        closed.chmod(0)
        searched = search_as_reader(shelf.folder, index)

    assert (searched.returncode, searched.stdout) == (6, "")
    assert f"cannot be used: the file {closed} may not be read by this user.\n" in searched.stderr
    assert f"chmod -R a+rX {index}/catalog.db {index}/catalog.db.words" in searched.stderr


@pytest.mark.parametrize("name", ["catalog.db.words/pages/meta.json", "catalog.db", "."])
def test_an_index_that_may_not_be_read_is_told_plainly_to_all_until_it_may(
    shelf: Shelf, name: str
) -> None:
    shelf.put("a.md", "# A\n\nThe zebra.")
    index = shelf.place / "index"
    shelf.update()
    give_away(index)
    closed = index / name
    with read_only(index):
        mode = closed.stat().st_mode
        closed.chmod(0)
        served = http_server(shelf.folder, "--index", index, by=AS_READER)
        with served as url, posting(url) as poster:
            told = ask_everywhere(poster)
            shown = [poster.send("GET", path).status for path in (*PAGES, "/healthz")]
            wait_until(lambda: state_of(poster) == (503, "unusable"), PATIENCE)
            closed.chmod(mode)
            wait_until(lambda: state_of(poster) == (200, "behind"), PATIENCE)
            answered = ask_everywhere(poster)

    assert [b"The index cannot be used just now." in each for each in told] == [True] * 7
    assert not any(b"catalog.db" in each or b"(reference" in each for each in told)
    assert shown == [503, 503, 200]
    assert [b"a.md" in each for each in answered] == [True] * 7
