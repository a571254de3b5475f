"""Whose name a collection's is, where several machines keep theirs in one library."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.engines.base import CollectionState
from bookwheel.engines.sharing import as_known, lies_here, take_names, this_host
from bookwheel.errors import BadRequest
from bookwheel.model import Collection, Known, Status

ELSEWHERE = "another machine"


class Holding:
    """An engine that holds one collection, of some files."""

    def __init__(self, path: Path, *, host: str, name: str = "docs", **sizes: int) -> None:
        self._state = CollectionState(Collection(name, str(path)), 1, 1.0, 1, host)
        self._sizes = sizes

    def collections(self) -> list[CollectionState]:
        return [self._state]

    def known(self, collection: str, folder: str = "") -> dict[str, Known]:
        return {
            name: Known(1, size, 0, False, b"", Status.OK) for name, size in self._sizes.items()
        }


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old" / "docs"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def new(tmp_path: Path) -> Collection:
    folder = tmp_path / "new" / "docs"
    folder.mkdir(parents=True)
    for name in "abc":
        (folder / name).write_text("four")
    return Collection("docs", str(folder))


def test_another_folder_of_the_same_name_is_refused(old: Path, new: Collection) -> None:
    with pytest.raises(BadRequest, match="another folder that is called 'docs'") as raised:
        take_names(Holding(old, host=this_host()), [new], ())
    assert str(old) in raised.value.message
    assert "a `name` of its own" in raised.value.advice


def test_a_name_that_the_folder_gives_itself_is_no_reason_to_take_anothers(
    old: Path, new: Collection
) -> None:
    called = new._replace(name="handbook")
    with pytest.raises(BadRequest, match="'handbook'"):
        take_names(Holding(old, host=this_host(), name="handbook"), [called], ())


def test_a_folder_that_was_moved_keeps_its_name(old: Path, new: Collection) -> None:
    old.rmdir()
    take_names(Holding(old, host=this_host()), [new], ())


def test_a_name_that_the_operator_states_is_theirs_wherever_the_folder_lies(
    old: Path, new: Collection
) -> None:
    take_names(Holding(old, host=ELSEWHERE, d=9), [new], {"docs"})


def test_of_another_machine_a_folder_with_the_same_files_is_the_same(
    old: Path, new: Collection
) -> None:
    for path in (old, Path(new.path)):
        take_names(Holding(path, host=ELSEWHERE, a=4, b=4, d=9), [new], ())
        with pytest.raises(BadRequest, match=ELSEWHERE):
            take_names(Holding(path, host=ELSEWHERE, a=4, b=5, d=9), [new], ())


def test_folders_that_could_not_be_listed_do_not_make_a_folder_another(
    old: Path, new: Collection
) -> None:
    take_names(Holding(old, host=ELSEWHERE, shut=-1, closed=-1, a=4), [new], ())
    with pytest.raises(BadRequest, match=ELSEWHERE):
        take_names(Holding(old, host=ELSEWHERE, shut=-1, closed=-1, a=5), [new], ())


def test_a_folder_that_is_gone_is_not_another_machines(old: Path, new: Collection) -> None:
    gone = new._replace(path=f"{new.path}/gone")
    with pytest.raises(BadRequest, match=ELSEWHERE):
        take_names(Holding(old, host=ELSEWHERE, a=4), [gone], ())


def test_only_what_was_indexed_on_this_machine_and_is_still_there_lies_here(old: Path) -> None:
    (state,) = Holding(old, host=this_host()).collections()
    assert lies_here(state)
    assert not lies_here(state._replace(host=ELSEWHERE))
    old.rmdir()
    assert not lies_here(state)


def test_a_folder_that_is_only_named_stays_as_shut_as_its_operator_stated() -> None:
    bare = Collection("", "/srv/docs")
    known = Collection(
        "papers",
        "/srv/docs",
        access="preview",
        redact="all",
        exclude=("drafts/", "of its own/"),
        stated=((), ("drafts/",)),
    )
    assert as_known(bare, known, is_shared=True) == bare._replace(
        name="papers", access="preview", redact="all", exclude=("drafts/",)
    )
    assert as_known(bare, known, is_shared=False) == bare._replace(access="preview", redact="all")
    stated = bare._replace(name="papers", access="full")
    assert as_known(stated, known, is_shared=True) == stated
    assert as_known(bare, None, is_shared=True) == bare
