"""What a folder may say of itself, and how little a hostile or foreign manifest can do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.indexing.manifest import Manifest, read_manifest
from bookwheel.safety.opener import Root
from tests.conftest import Shelf


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path) as opened:
        yield opened


def read(root: Root, **files: str | bytes) -> Manifest:
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        Path(root.path, name.replace("_", ".")).write_bytes(data)
    return read_manifest(root)


BROKEN: list[tuple[str | bytes, str]] = [
    ("", "it is not valid JSON"),
    ("{", "it is not valid JSON"),
    ("[" * 30_000, "it is not valid JSON"),
    (b"\xff\xfe{}", "it is not valid JSON"),
    ('{"version": ' + "9" * 5000 + "}", "it is not valid JSON"),
    ("[]", "it is no table of keys"),
    ('"name"', "it is no table of keys"),
    ('{"manifest_version": 3, "name": "x"}', "its key 'manifest_version' shows that it was"),
    ('{"name": "App", "icons": [], "start_url": "/"}', "its key 'icons' shows that it was"),
    ('{"schemaVersion": 2, "config": {}}', "its key 'schemaVersion' shows that it was"),
    ('{"name": "x"}' + " " * 70_000, "it is larger than 65,536 bytes"),
]


@pytest.mark.requirement("D-011")
@pytest.mark.parametrize(("content", "why"), BROKEN)
def test_a_manifest_that_is_broken_foreign_or_too_large_is_reported_and_passed_over(
    root: Root, content: str | bytes, why: str
) -> None:
    found = read(root, manifest_json=content)

    assert found == Manifest(problem=found.problem)
    assert (found.problem or "").startswith(f"manifest.json is ignored: {why}")


@pytest.mark.requirement("D-011")
def test_indexing_goes_on_with_a_manifest_that_is_of_no_use(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("manifest.json", '{"name": ')

    with shelf.open() as library:
        library.update()
        assert library.settings.remarks == (
            f"{shelf.folder}: manifest.json is ignored: it is not valid JSON.",
        )
    assert shelf.find("zebra") == ["a.md"]


def test_after_a_broken_manifest_the_other_one_still_counts(root: Root) -> None:
    assert read(root, manifest_json="{", bookwheel_toml="name = 'B'") == Manifest(
        name="B", problem="manifest.json is ignored: it is not valid JSON"
    )


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_manifest_that_is_no_file_is_reported(root: Root, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "manifest.json"
    if kind == "link":
        place.symlink_to("/etc/hostname")
    elif kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)

    assert (read_manifest(root).problem or "").startswith("manifest.json is ignored: it is ")


@pytest.mark.requirement("D-011")
def test_t06_a_manifest_can_set_nothing_beyond_its_five_keys(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put(
        "manifest.json",
        json.dumps(
            {
                "name": "N",
                "path": "/etc",
                "root": "/",
                "access": "full",
                "redact": "off",
                "language": "xx",
                "alias": "a",
                "source": "s",
                "index": "/tmp/elsewhere",
                "workers": 64,
                "collections": [{"path": "/etc"}],
            }
        ),
    )

    with shelf.open() as library:
        (collection,) = library.collections
        assert (collection.name, collection.path) == ("N", str(shelf.folder))
        assert (collection.language, collection.alias, collection.source) == (None, None, None)
        assert library.database == shelf.place / "index" / "catalog.db"
        assert library.settings["workers"] == 1


@pytest.mark.requirement("D-010")
def test_a_manifest_gives_name_version_description_include_and_exclude(root: Root) -> None:
    stated = {"name": " A ", "version": 2, "description": "c\n d", "include": ["*.md"]}
    whole = Manifest("A", "2", "c d", ("*.md",), ("x/",))

    assert read(root, manifest_json="\ufeff" + json.dumps({**stated, "exclude": ["x/"]})) == whole
    Path(root.path, "manifest.json").unlink()
    toml = "name='A'\nversion=2\ndescription='c d'\ninclude=['*.md']\nexclude=['x/']"
    assert read(root, bookwheel_toml=toml) == whole


@pytest.mark.requirement("D-010")
@pytest.mark.parametrize("name", ["manifest.json", "bookwheel.toml"])
def test_a_manifest_counts_at_the_top_of_a_collection_only(shelf: Shelf, name: str) -> None:
    text = '{"name": "N"}' if name.endswith("json") else "name = 'N'"
    shelf.put(f"deep/{name}", text)
    with shelf.open() as library:
        assert [each.name for each in library.collections] == ["notes"]
    shelf.put(name, text)
    with shelf.open() as library:
        assert [each.name for each in library.collections] == ["N"]


@pytest.mark.requirement("D-012")
def test_include_and_exclude_select_the_files_and_a_change_shows_after_the_next_scan(
    shelf: Shelf,
) -> None:
    for name in ("a.md", "b.txt", "old/c.md"):
        shelf.put(name, "zebra")
    shelf.put("manifest.json", '{"include": ["*.md"], "exclude": ["old/"]}')
    shelf.update()
    assert shelf.find("zebra") == ["a.md"]

    shelf.put("manifest.json", '{"include": ["*.txt", "old/**"]}')
    shelf.update()
    assert sorted(shelf.find("zebra")) == ["b.txt", "old/c.md"]

    (shelf.folder / "manifest.json").unlink()
    shelf.update()
    assert sorted(shelf.find("zebra")) == ["a.md", "b.txt", "old/c.md"]


@pytest.mark.parametrize(
    "value", ['"*.md"', "[1]", '["\\ud800"]', '["a\\u0000b"]', json.dumps(["*.md"] * 201)]
)
def test_patterns_that_are_no_list_of_patterns_are_reported_and_the_rest_counts(
    root: Root, value: str
) -> None:
    assert read(root, manifest_json=f'{{"name": "A", "include": {value}}}') == Manifest(
        name="A",
        problem="include of manifest.json is ignored: it is no list of up to 200 patterns",
    )


def test_t21_texts_are_cleaned_of_what_acts_unseen_and_bounded(root: Root) -> None:
    found = read(
        root,
        manifest_json=json.dumps(
            {"name": "A\u202e\x1b[31m", "version": True, "description": "\ud800" + "x" * 5000}
        ),
    )

    assert found == Manifest(name="A[31m", description="?" + "x" * 999)


def test_a_manifest_with_many_hostile_patterns_does_not_stop_the_update(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    patterns = ["*a" * 40 + str(number) for number in range(200)]
    shelf.put("manifest.json", json.dumps({"exclude": patterns, "description": "\ud800"}))

    assert shelf.update()[0].indexed == 1
