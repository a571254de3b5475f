"""Whose name a collection's is, where several machines keep theirs in one library."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.engines.base import CollectionState
from bookwheel.engines.sharing import lies_here, take_names, this_host
from bookwheel.errors import BadRequest
from bookwheel.model import Collection

ELSEWHERE = "another machine"


def state(path: Path, *, host: str, name: str = "docs") -> CollectionState:
    return CollectionState(Collection(name, str(path)), 1, 1.0, 1, host)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old" / "docs"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def new(tmp_path: Path) -> Collection:
    return Collection("docs", str(tmp_path / "new" / "docs"))


def test_another_folder_of_the_same_name_is_refused(old: Path, new: Collection) -> None:
    with pytest.raises(BadRequest, match="another folder that is called 'docs'") as raised:
        take_names([state(old, host=this_host())], [new], ())
    assert str(old) in raised.value.message
    assert "a `name` of its own" in raised.value.advice


def test_a_folder_that_was_moved_keeps_its_name(old: Path, new: Collection) -> None:
    old.rmdir()
    assert take_names([state(old, host=this_host())], [new], ()) == []


def test_that_a_folder_of_another_machine_was_moved_cannot_be_known(
    old: Path, new: Collection
) -> None:
    old.rmdir()
    with pytest.raises(BadRequest, match=ELSEWHERE):
        take_names([state(old, host=ELSEWHERE)], [new], ())


def test_a_name_that_the_operator_states_is_theirs_wherever_the_folder_lies(
    old: Path, new: Collection
) -> None:
    assert take_names([state(old, host=ELSEWHERE)], [new], {"docs"}) == []
    called = new._replace(name="handbook")  # by the manifest that the folder brings along
    assert take_names([state(old, host=ELSEWHERE, name="handbook")], [called], ()) == []


def test_the_same_path_on_another_machine_is_taken_over_and_said(old: Path) -> None:
    same = Collection("docs", str(old))
    (remark,) = take_names([state(old, host=ELSEWHERE)], [same], ())
    assert ELSEWHERE in remark
    assert take_names([state(old, host=this_host())], [same], ()) == []


def test_only_what_was_indexed_on_this_machine_and_is_still_there_lies_here(old: Path) -> None:
    assert lies_here(state(old, host=this_host()))
    assert not lies_here(state(old, host=ELSEWHERE))
    old.rmdir()
    assert not lies_here(state(old, host=this_host()))
