"""Completing addresses: collections by name, documents by the beginning or a part of their path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.contracts.completions import complete, describe_template
from bookwheel.contracts.tool import RpcError
from bookwheel.library import Library
from tests.conftest import Shelf

ONE, SEVERAL = "docs://{+path}", "docs://{collection}/{+path}"
FILES = ("guides/setup.md", "guides/Use.md", "setup/linux.md")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    made = Shelf(tmp_path_factory.mktemp("complete"))
    for path in FILES:
        made.put(path, "zebra")
    made.put("../papers/deep.md", "quagga")
    return made


@pytest.fixture(scope="module")
def one(shelf: Shelf) -> Iterator[Library]:
    with shelf.open() as library:
        library.update()
        yield library


@pytest.fixture(scope="module")
def two(shelf: Shelf) -> Iterator[Library]:
    papers: Path = shelf.place / "papers"
    with shelf.open(shelf.folder, papers, index=str(shelf.place / "both")) as library:
        library.update()
        yield library


def test_the_template_names_the_collection_only_among_several(one: Library, two: Library) -> None:
    assert describe_template(one).uri_template == ONE
    assert describe_template(two).uri_template == SEVERAL


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("", ["guides/Use.md", "guides/setup.md", "setup/linux.md"]),
        ("SET", ["setup/linux.md", "guides/setup.md"]),
        ("use", ["guides/Use.md"]),
        ("zebra", []),
    ],
)
def test_paths_that_begin_with_it_come_before_those_that_hold_it(
    one: Library, typed: str, values: list[str]
) -> None:
    assert complete(one, ONE, "path", typed, {}) == values
    assert complete(one, SEVERAL, "path", typed, {"collection": "notes"}) == values


def test_collections_and_then_their_documents_are_completed(two: Library) -> None:
    assert complete(two, SEVERAL, "collection", "p", {}) == ["papers"]
    assert complete(two, SEVERAL, "path", "", {"collection": "papers"}) == ["deep.md"]
    assert complete(two, SEVERAL, "path", "", {"collection": "none"}) == []
    assert complete(two, ONE, "path", "deep", {}) == ["papers/deep.md"]


@pytest.mark.parametrize(
    ("template", "argument"), [("test://{x}", "path"), ("", "path"), (ONE, "word")]
)
def test_what_is_no_template_or_argument_of_ours_is_refused(
    one: Library, template: str, argument: str
) -> None:
    with pytest.raises(RpcError) as caught:
        complete(one, template, argument, "", {})
    assert caught.value.code == -32602


def test_what_cannot_be_completed_is_told_with_the_names_that_there_are(two: Library) -> None:
    with pytest.raises(RpcError, match="no argument 'pth'; it has collection and path"):
        complete(two, SEVERAL, "pth", "", {})
    with pytest.raises(RpcError, match=r"but the template docs://\{collection\}/\{\+path\}\."):
        complete(two, "docs://{x}", "path", "", {})
