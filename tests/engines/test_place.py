"""Where the index lies: where the settings say, else in a place of its folders' own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.library import Library
from bookwheel.settings import load
from tests.conftest import Shelf


def place_of(shelf: Shelf, **environment: str) -> Path:
    settings = load(environment=environment, use_start_folder=False)
    with Library.open(settings, [str(shelf.folder)]) as library:
        return library.database


@pytest.mark.requirement("A-040")
def test_index_wins_over_search_db_path_and_that_over_cache_root(shelf: Shelf) -> None:
    environment = {"CACHE_ROOT": "/c", "SEARCH_DB_PATH": "/s/x.db"}
    flagged = load({"index": "/i"}, environment=environment, use_start_folder=False)

    with Library.open(flagged, [str(shelf.folder)]) as library:
        assert library.database == Path("/i/catalog.db")
    assert place_of(shelf, BOOKWHEEL_INDEX="/i", **environment) == Path("/i/catalog.db")
    assert place_of(shelf, **environment) == Path("/s/x.db")
    assert place_of(shelf, CACHE_ROOT="/c").parent.parent == Path("/c")


@pytest.mark.requirement("A-038")
def test_search_db_path_is_the_index_file_and_derived_data_lies_beside_it(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    database = shelf.place / "new" / "er" / "my index.sqlite"

    shelf.update(index=None, search_db_path=str(database))

    assert shelf.find("zebra", index=None, search_db_path=str(database)) == ["a.md"]
    assert database.is_file()
    assert all(each.name.startswith(database.name) for each in database.parent.iterdir())


@pytest.mark.requirement("P-051")
def test_cache_root_is_the_folder_on_disk_in_which_the_index_is_kept(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    cache = shelf.place / "cache"

    shelf.update(index=None, cache_root=str(cache))

    assert shelf.find("zebra", index=None, cache_root=str(cache)) == ["a.md"]
    (index,) = cache.iterdir()
    assert (index / "catalog.db").is_file()


@pytest.mark.requirement("A-039")
def test_where_nothing_names_a_place_the_index_is_in_the_users_cache_folder(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shelf.place / "xdg"))

    assert place_of(shelf).parent.parent == shelf.place / "xdg" / "bookwheel"


def test_each_set_of_folders_has_an_index_of_its_own_whatever_their_order_or_names(
    shelf: Shelf,
) -> None:
    other = shelf.place / "other"
    other.mkdir()

    def place(*folders: Path) -> Path:
        with shelf.open(*folders, index=None, cache_root=str(shelf.place / "c")) as library:
            return library.database

    before = place(shelf.folder)
    assert len({before, place(other), place(shelf.folder, other)}) == 3
    assert place(shelf.folder, other) == place(other, shelf.folder)
    shelf.put("manifest.json", '{"name": "Renamed"}')
    assert place(shelf.folder) == before
