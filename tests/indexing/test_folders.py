"""Which folders make up a library, and the names they get."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, BookwheelError, NotFound
from bookwheel.indexing.folders import complete, from_paths
from bookwheel.model import Collection


def folder(path: Path, manifest: str = "") -> str:
    path.mkdir(parents=True)
    if manifest:
        (path / "manifest.json").write_text(manifest, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("path", ["~no-such-user/x", "a\0b", "x" * 5000 + "/\0"])
def test_a_path_that_can_be_no_folder_is_refused(path: str) -> None:
    with pytest.raises(BadRequest, match="is not a folder"):
        from_paths([path])


def test_a_link_in_a_loop_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(BookwheelError):
        complete(from_paths([str(tmp_path / "loop")]))


def test_a_folder_whose_path_is_not_utf8_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff")
    Path(path).mkdir()

    with pytest.raises(BadRequest, match="is not UTF-8") as caught:
        from_paths([path])

    assert caught.value.hint == "Rename the folder, or name a link to it."


def test_a_folder_that_never_was_is_not_found_and_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_bytes(b"")

    with pytest.raises(NotFound, match="There is no folder"):
        complete(from_paths([str(tmp_path / "none")]))
    with pytest.raises(BadRequest, match="is not a folder"):
        complete(from_paths([str(tmp_path / "file.md")]))


@pytest.mark.requirement("X-004")
def test_folders_of_one_name_get_different_names_and_the_start_says_which_is_which(
    tmp_path: Path,
) -> None:
    paths = [folder(tmp_path / each / "docs") for each in "abc"]
    paths.append(folder(tmp_path / "docs-2"))

    collections, remarks = complete(from_paths(paths))

    assert [each.name for each in collections] == ["docs", "docs-2", "docs-3", "docs-2-2"]
    assert remarks == [
        f"{paths[1]} is called 'docs-2', since 'docs' is taken.",
        f"{paths[2]} is called 'docs-3', since 'docs' is taken.",
        f"{paths[3]} is called 'docs-2-2', since 'docs-2' is taken.",
    ]


def test_t05_a_folder_given_twice_or_through_a_link_is_one_collection(tmp_path: Path) -> None:
    path = folder(tmp_path / "docs")
    (tmp_path / "link").symlink_to(path)

    assert from_paths([path, path + "/", str(tmp_path / "link")]) == [Collection("", path)]


@pytest.mark.requirement("X-004")
def test_a_folder_becomes_a_collection_of_its_own_name(tmp_path: Path) -> None:
    path = folder(tmp_path / "Meine Notizen")

    assert complete(from_paths([path])) == ([Collection("Meine Notizen", path)], [])


@pytest.mark.parametrize(
    ("stated", "name"), [("a/b\\c", "a-b-c"), ("\x07 a", "- a"), ("x" * 300, "x" * 100)]
)
def test_a_name_is_made_fit_for_an_address(tmp_path: Path, stated: str, name: str) -> None:
    given = Collection(stated, folder(tmp_path / "docs"))

    assert complete([given])[0][0].name == name


def test_what_the_operator_states_wins_over_the_manifest(tmp_path: Path) -> None:
    manifest = '{"name":"M","version":"1","description":"m","include":["*.md"],"exclude":["m/"]}'
    path = folder(tmp_path / "docs", manifest)
    given = Collection("O", path, version="2", include=("*.txt",), exclude=("o/",))

    assert complete([given])[0] == [
        Collection(
            *("O", path, None, "m", "2"),
            include=("*.txt",),
            exclude=("o/", "m/"),
            stated=(("*.txt",), ("o/",)),
        )
    ]


def test_a_folder_that_is_gone_is_taken_as_remembered_and_keeps_its_name(tmp_path: Path) -> None:
    here = folder(tmp_path / "a" / "docs")
    gone = Collection("docs", str(tmp_path / "b" / "docs"), description="remembered")

    collections, remarks = complete(
        [Collection("", here), Collection("", gone.path)], remembered=lambda: [gone]
    )

    assert collections == [Collection("docs-2", here), gone]
    assert remarks == [
        f"There is no folder '{gone.path}'. Its documents are kept as they were.",
        f"{here} is called 'docs-2', since 'docs' is taken.",
    ]


def test_an_alias_that_another_collection_goes_by_is_dropped_with_a_remark(tmp_path: Path) -> None:
    given = [
        Collection("", folder(tmp_path / "one"), alias="two"),
        Collection("", folder(tmp_path / "two"), alias="mine"),
        Collection("", folder(tmp_path / "three"), alias="mine"),
        Collection("", folder(tmp_path / "four"), alias="four"),
    ]

    done, remarks = complete(given)

    assert [each.alias for each in done] == [None, "mine", None, "four"]
    assert remarks == [
        "'one' goes without its alias 'two', which is taken.",
        "'three' goes without its alias 'mine', which is taken.",
    ]
