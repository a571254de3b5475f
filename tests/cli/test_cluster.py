"""The command line on a cluster: an index is moved there, looked at, and used from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bookwheel.engines import sharing
from bookwheel.engines.opensearch.address import read_address
from bookwheel.engines.opensearch.cluster import Cluster
from bookwheel.errors import IndexUnreachable
from bookwheel.library import Library
from bookwheel.serve.background import Indexing
from bookwheel.settings import describe, load
from tests.cli.conftest import Call
from tests.cluster.library import address
from tests.conftest import Shelf, find
from tests.serve.conftest import PATIENCE
from tests.serve.test_background import until_told
from tests.waiting import wait_until

pytestmark = pytest.mark.cluster
VARIABLE = describe("engine").variable
LINKED = "# Walrus\n\nA walrus swims under ice. See [bears](bear.md).\n"


@pytest.fixture
def there(tmp_path: Path) -> str:
    """Give the address of an empty library in the cluster."""
    return address(tmp_path)


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    """Give an index in a file, with vectors and a file that is no document."""
    shelf.put("walrus.md", LINKED)
    shelf.put("north/bear.md", "# Bear\n\nBears walk on ice.\n")
    shelf.put("broken.pdf", b"%PDF-1.4 nothing")
    with shelf.open() as library:
        library.update()
        library.embed()
    return shelf


def test_an_index_is_moved_whole_and_no_file_is_read_again(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ("--index", filled.place / "index")
    before = call("search", "swims", filled.folder, *index, "--json").value
    moved = call("index", filled.folder, *index, "--to", there, "--json")

    assert (moved.code, moved.value["moved"], moved.value["index"]) == (0, 3, there)
    monkeypatch.setenv(VARIABLE, there)
    for file in filled.folder.rglob("*.*"):
        file.unlink()
    filled.folder.joinpath("north").rmdir()
    filled.folder.rmdir()
    after = call("search", "swims", "--json").value
    assert [hit["document"] for hit in after["results"]] == [
        hit["document"] for hit in before["results"]
    ]
    assert after["results"][0]["snippet"] == before["results"][0]["snippet"]
    status = call("status", "--json").value
    (notes,) = status["collections"]
    assert (status["index"], notes["documents"]) == (there, 2)
    assert [row["document"] for row in notes["unreadable"]] == ["broken.pdf"]
    doctor = call("doctor", "--json")
    assert (doctor.code, doctor.value["problems"]) == (0, [])


def test_an_unchanged_folder_is_not_indexed_again_after_the_move(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ("--index", filled.place / "index")
    assert call("index", filled.folder, *index, "--to", there).code == 0
    monkeypatch.setenv(VARIABLE, there)
    (report,) = call("index", filled.folder, *index, "--json").value
    assert (report["indexed"], report["unchanged"], report["removed"]) == (0, 3, 0)
    semantic = call("search", "frozen water", "--mode", "semantic", "--json").value
    assert {hit["document"] for hit in semantic["results"]} == {"walrus.md", "north/bear.md"}


def test_what_is_in_a_cluster_already_is_not_moved(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    assert call("index", filled.folder).code == 0
    refused = call("index", filled.folder, "--to", there)
    assert refused.code == 2
    assert "lies in a cluster already" in refused.err


def test_the_doctor_shows_the_cluster_and_no_password(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = there.replace("://", "://ada:S3CRET@")
    monkeypatch.setenv(VARIABLE, login)
    assert call("index", filled.folder).code == 0
    doctor = call("doctor", filled.folder)
    for words in ("version", "health", "shards", "0 changes that a copy has not", there, "sound."):
        assert words in doctor.out
    assert ", opensearch-py " in doctor.out
    for answer in (doctor, call("status"), call("doctor", "--json"), call("status", "--json")):
        assert "S3CRET" not in answer.out + answer.err


def test_an_indexer_that_a_block_has_stopped_goes_on_when_it_is_gone(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    assert call("index", filled.folder).code == 0
    cluster = Cluster(read_address(there))
    path = f"/{cluster.address.prefix}-pages/_settings"
    cluster.ask("PUT", path, {"index.blocks.read_only_allow_delete": True})
    try:
        filled.put("c.md", "walrus")
        stopped = call("index", filled.folder)
        assert (stopped.code, "takes no changes just now" in stopped.err) == (6, True)
        doctor = call("doctor", filled.folder)
        assert (doctor.code, "--full" in doctor.out) == (6, False)
        assert "read-only-allow-delete block (1)" in doctor.out
    finally:
        cluster.ask("PUT", path, {"index.blocks.read_only_allow_delete": None})
        cluster.close()
    doctor = call("doctor", filled.folder)
    assert (doctor.code, "--full" in doctor.out) == (6, False)
    assert "`bookwheel index FOLDER`, where the folder lies, finishes it." in doctor.out
    assert call("index", filled.folder).code == 0
    assert "The index is sound." in call("doctor", filled.folder).out


def test_a_cluster_that_does_not_answer_ends_a_command_with_the_reason(
    call: Call, filled: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "opensearch+http://ada:S3CRET@127.0.0.1:9/x")
    answer = call("search", "walrus", filled.folder)
    assert answer.code == 6
    assert "does not answer" in answer.err
    assert "S3CRET" not in answer.err


def test_a_server_without_the_folders_leaves_them_to_their_indexer(
    filled: Shelf, there: str
) -> None:
    flags = {"engine": there, "workers": 1}
    with filled.open(**flags) as indexer:
        indexer.update()
        for file in filled.folder.rglob("*.*"):
            file.unlink()
        filled.folder.joinpath("north").rmdir()
        filled.folder.rmdir()
        settings = load(flags, use_start_folder=False, environment={})
        with indexer.writing(), Library.open(settings) as server:
            assert server.update() == []
            assert server.embed() == 0
            assert server.run_job() is None
            assert [state.documents for state in server.states()] == [2]
            assert find(server, "walrus") == ["walrus.md"]


@pytest.fixture
def other(filled: Shelf) -> Shelf:
    """Give another folder that has the same last part."""
    shelf = Shelf(filled.place / "other")
    shelf.put("walrus.md", "# Seal\n\nA seal and a walrus swim.\n")
    return shelf


def test_a_folder_never_takes_the_place_of_another_that_is_called_the_same(
    call: Call, filled: Shelf, other: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    assert call("index", filled.folder).code == 0
    assert call("search", "walrus", other.folder).code == 4
    refused = call("index", other.folder)
    assert refused.code == 2
    assert f"{filled.folder} on " in refused.err
    assert "seal" not in call("search", "walrus").out

    config = other.place / "bookwheel.toml"
    config.write_text(f'[[collections]]\nname = "seals"\npath = "{other.folder}"\n')
    assert call("index", "--config", config).code == 0
    assert call("search", "walrus").out.count("walrus.md") == 2


def test_an_index_is_not_moved_over_a_folder_that_is_called_the_same(
    call: Call, filled: Shelf, other: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.update()
    index = other.place / "index"
    monkeypatch.setenv(VARIABLE, there)
    assert call("index", filled.folder).code == 0
    monkeypatch.delenv(VARIABLE)
    refused = call("index", other.folder, "--index", index, "--to", there)
    assert refused.code == 2
    assert "another folder" in refused.err


def test_a_search_in_a_folder_finds_nothing_of_the_others_in_the_library(
    call: Call, filled: Shelf, other: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    seals = other.folder.rename(other.place / "seals")
    assert call("index", filled.folder, seals).code == 0
    found = call("search", "walrus", seals, "--json").value
    assert [(hit["collection"], hit["title"]) for hit in found["results"]] == [("seals", "Seal")]
    assert len(call("search", "walrus", "--json").value["results"]) == 2
    assert [
        each["collection"] for each in call("status", seals, "--json").value["collections"]
    ] == ["seals"]


def test_a_command_without_a_folder_sends_none_to_a_cluster(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    monkeypatch.chdir(filled.folder)
    searched = call("search", "walrus")
    assert (searched.code, "Nothing is indexed yet" in searched.err) == (4, True)
    indexed = call("index")
    assert (indexed.code, "Name the folders" in indexed.err) == (4, True)
    assert call("status", "--json").value["collections"] == []


def test_a_server_follows_no_folder_that_another_machine_has_indexed(
    filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = {"engine": there, "workers": 1}
    with filled.open(**flags) as indexer:
        indexer.update()
    settings = load(flags, use_start_folder=False, environment={})
    with Library.open(settings) as server:
        filled.put("new.md", "# Narwhal\n")
        monkeypatch.setattr(sharing, "this_host", lambda: "another machine")
        assert server.update() == []
        assert find(server, "narwhal") == []
        monkeypatch.undo()
        (report,) = server.update()
        assert report.indexed == 1


def test_a_server_without_folders_shows_what_indexers_add_later(
    filled: Shelf, other: Shelf, there: str
) -> None:
    flags = {"engine": there, "workers": 1}
    with Library.open(load(flags, use_start_folder=False, environment={})) as server:
        assert not server.collections
        with filled.open(**flags) as indexer:
            indexer.update()
        wait_until(lambda: bool(server.collections), 30)
        assert [each.name for each in server.collections] == [filled.folder.name]
        assert find(server, "walrus") == ["walrus.md"]


def test_a_server_without_folders_is_ready_once_others_have_indexed(
    filled: Shelf, there: str
) -> None:
    flags: dict[str, Any] = {"engine": there, "workers": 1}
    settings = load(flags, use_start_folder=False, environment={})
    with Library.open(settings) as library:
        assert not library.is_indexed
    server = Indexing(lambda: Library.open(settings))
    server.start()
    try:
        assert server.ready.wait(PATIENCE)
        until_told(server, "ok", ready=False)
        filled.update(**flags)
        until_told(server, "ok", ready=True)
    finally:
        server.stop()


def test_what_only_reads_never_changes_a_shared_library(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    unknown = call("search", "walrus", filled.folder)
    assert (unknown.code, f"bookwheel index {filled.folder}" in unknown.err) == (4, True)
    assert call("index", filled.folder).code == 0
    filled.put("new.md", "# Narwhal\n")
    assert "Nothing found" in call("search", "narwhal", filled.folder).err
    assert call("list", filled.folder).out.count("new.md") == 0


def test_a_folder_named_without_its_configuration_stays_as_shut_as_it_was(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    config = filled.place / "shut.toml"
    config.write_text(
        f'[[collections]]\nname = "shut"\npath = "{filled.folder}"\naccess = "preview"\n'
        'exclude = ["north/"]\n'
    )
    assert call("index", "--config", config).code == 0
    assert call("index", filled.folder).code == 0
    assert call("show", "walrus.md").code == 3
    assert call("list").out == "walrus.md\tWalrus\n"
    (collection,) = call("status", "--json").value["collections"]
    assert collection["collection"] == "shut"


def test_a_collection_is_taken_out_of_the_library(
    call: Call, filled: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, there)
    assert call("index", filled.folder).code == 0
    unknown = call("index", "--forget", "nothing")
    assert (unknown.code, '"notes"' in unknown.err) == (4, True)
    assert call("index", "--forget", "notes").out == "notes: 2 documents taken out of the index\n"
    assert call("search", "walrus").code == 0
    assert call("status", "--json").value["collections"] == []


def test_each_indexer_reads_its_own_folders_anew_after_an_upgrade(
    filled: Shelf, other: Shelf, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: dict[str, Any] = {"engine": there, "workers": 1}
    seals = other.folder.rename(other.place / "seals")
    filled.update(**flags)
    filled.update(seals, **flags)
    monkeypatch.setattr("bookwheel.indexing.indexer.READERS_VERSION", "another")
    assert [report.indexed for report in filled.update(**flags)] == [2]
    assert [report.indexed for report in filled.update(seals, **flags)] == [1]
    assert [report.indexed for report in filled.update(seals, **flags)] == [0]


def test_a_library_opens_while_its_cluster_is_away(filled: Shelf) -> None:
    away = "opensearch+http://127.0.0.1:9/x"
    with Library.open(load({"engine": away}, use_start_folder=False, environment={})) as server:
        assert server.collections == ()
        with pytest.raises(IndexUnreachable):
            server.states()
    with filled.open(engine=away) as server:
        assert [each.name for each in server.collections] == ["notes"]
