"""An index that does not fit is rebuilt by the next update, and one that fits is kept."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.library import Library
from bookwheel.query import SearchRequest
from bookwheel.settings import load


def open_library(index: Path, *folders: Path) -> Library:
    """Open the library of some folders with its index at a place."""
    settings = load({"index": str(index), "workers": "1"}, environment={}, use_start_folder=False)
    return Library.open(settings, [str(folder) for folder in folders])


def find(library: Library, text: str) -> list[str]:
    """Return the documents that answer a question."""
    return sorted(hit.document for hit in library.search(SearchRequest(text, fuzzy=False)).hits)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Give a folder of documents."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nwalrus {name}{name}\n", encoding="utf-8")
    return folder


def _other_readers(index: Path) -> None:
    engine = EmbeddedEngine(index / "catalog.db")
    engine.begin_writing()
    engine.set_note("readers", "of long ago")
    engine.close()


def _other_layout(index: Path) -> None:
    stamp = index / "catalog.db.words" / "made-from.json"
    identity, *versions = json.loads(stamp.read_bytes())
    stamp.write_text(json.dumps([identity, *(0 for _ in versions)]), encoding="utf-8")


def _older_format(index: Path) -> None:
    connection = sqlite3.connect(index / "catalog.db")
    connection.execute("PRAGMA user_version = 0")
    connection.close()


def _cut_short(index: Path) -> None:
    path = index / "catalog.db"
    path.write_bytes(path.read_bytes()[:5000])


def _zeroed(index: Path) -> None:
    path = index / "catalog.db"
    path.write_bytes(bytes(path.stat().st_size))


def _scribbled(index: Path) -> None:
    path = index / "catalog.db"
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 16] = b"\xff" * 16
    path.write_bytes(data)


MISFITS: dict[str, Callable[[Path], object]] = {
    "missing": shutil.rmtree,
    "without its database": lambda index: (index / "catalog.db").unlink(),
    "without its words": lambda index: shutil.rmtree(index / "catalog.db.words"),
    "cut short": _cut_short,
    "zeroed": _zeroed,
    "scribbled over": _scribbled,
    "of other readers": _other_readers,
    "of another layout": _other_layout,
    "of an older format": _older_format,
}


@pytest.mark.requirement("P-053")
@pytest.mark.parametrize("misfit", MISFITS)
def test_f21_an_index_that_does_not_fit_is_rebuilt_and_saved_without_being_asked(
    tmp_path: Path, tree: Path, misfit: str
) -> None:
    index = tmp_path / "index"
    with open_library(index, tree) as library:
        library.update()
    MISFITS[misfit](index)
    with open_library(index, tree) as library:
        library.update()
        assert find(library, "walrus") == ["a.md", "b.md", "c.md"]
    with open_library(index, tree) as library:
        assert find(library, "walrus") == ["a.md", "b.md", "c.md"]
        assert library.check() == []


@pytest.mark.requirement("P-053")
def test_an_index_made_for_other_folders_is_rebuilt_without_being_asked(
    tmp_path: Path, tree: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "z.md").write_text("walrus zz", encoding="utf-8")
    index = tmp_path / "index"
    with open_library(index, tree) as library:
        library.update()
    with open_library(index, other) as library:
        library.update()
        assert find(library, "walrus") == ["z.md"]
        assert [state.collection.path for state in library.states()] == [str(other)]
        assert library.check() == []


@pytest.mark.requirement("P-057")
def test_a_new_process_finds_the_index_of_the_last_one_and_needs_no_service(
    tmp_path: Path, tree: Path
) -> None:
    index = tmp_path / "index"
    command = [sys.executable, "-m", "bookwheel"]
    flags = ["--index", str(index), "--json"]
    alone = {"PATH": "", "HOME": str(tmp_path)}
    subprocess.run(
        [*command, "index", str(tree), *flags], env=alone, check=True, capture_output=True
    )
    shutil.rmtree(tree)
    tree.mkdir()
    with open_library(index, tree) as library:
        assert find(library, "walrus") == ["a.md", "b.md", "c.md"]
        assert library.text(library.document("a.md")).text == "# a\n\nwalrus aa\n"
    shutil.copytree(index, tmp_path / "moved")
    with open_library(tmp_path / "moved", tree) as library:
        assert find(library, "walrus") == ["a.md", "b.md", "c.md"]
