"""Documents and index in places that the server may read and not write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from tests.clients.assistant import LEGACY, MODERN, connected
from tests.clients.handbook import HANDBOOK, paths
from tests.clients.listener import Listener
from tests.conftest import Shelf

# Root writes where it likes unless it gives that up.
AS_READER = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.getuid() == 0 else ()


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


@pytest.mark.requirement("P-058")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_f05_documents_and_index_are_served_from_read_only_media(shelf: Shelf, era: str) -> None:
    for path, text in HANDBOOK.items():
        shelf.put(path, text)
    index, log = shelf.place / "index", shelf.place / "log"
    made = ("-m", "bookwheel", "index", str(shelf.folder), "--index", str(index))
    subprocess.run([sys.executable, *made], check=True, capture_output=True)
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
