"""Why a file is or is not indexed, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import BookwheelError, NotFound
from bookwheel.library import Library
from tests.conftest import Shelf
from tests.formats.making_office import sheet, xlsx


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("why").resolve())
    for name in ("a.md", ".hidden.md", "drafts/idea.md", "old/b.md", "id_rsa.txt", "c.png"):
        shelf.put(name, "zebra")
    shelf.put("image.md", b"\x89PNG\r\n\x1a\n")
    shelf.put("half.xlsx", xlsx({"Good": sheet("1: A1=zebra"), "Bad": ""}))
    shelf.put(".gitignore", "drafts/\n")
    shelf.put("manifest.json", '{"exclude": ["old/*.md"]}')
    (shelf.folder / "link.md").symlink_to("a.md")
    (shelf.folder / "loop").symlink_to("loop")
    (shelf.place / "papers").mkdir()
    (shelf.place / "papers" / "p.md").write_text("paper", encoding="utf-8")
    return shelf


@pytest.fixture(scope="module")
def library(shelf: Shelf) -> Iterator[Library]:
    with shelf.open(shelf.folder, shelf.place / "papers") as library:
        library.update()
        shelf.put("later.md", "zebra")
        yield library


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("a.md", "a.md is indexed in 'notes' as 'a'."),
        ("p.md", "p.md is indexed in 'papers' as 'p'."),
        (
            "half.xlsx",
            "half.xlsx is indexed in 'notes' as 'half', but not all of it: 1 sheet left out.",
        ),
        ("later.md", "later.md would be indexed, but has not been yet: run `bookwheel index`."),
        ("image.md", "image.md could not be read: binary (a PNG image named .md)."),
        (".hidden.md", ".hidden.md is not indexed: hidden name."),
        ("drafts/idea.md", "drafts/idea.md is not indexed: ignored by .gitignore: `drafts/`."),
        ("old/b.md", "old/b.md is not indexed: excluded by the collection: `old/*.md`."),
        ("old", "old is a folder that is looked into."),
        ("id_rsa.txt", "id_rsa.txt is not indexed: key or credential file."),
        ("c.png", "c.png is not indexed: unsupported extension: .png."),
        ("link.md", "link.md is not indexed: link, never followed."),
        ("loop/x.md", "loop/x.md is not indexed: link, never followed."),
        ("none.md", "none.md is not indexed: it does not exist."),
        ("manifest.json", "manifest.json is not indexed: file of Bookwheel itself."),
        (
            "../papers/p.md",
            "../papers/p.md is not indexed: its path does not lie in the collection.",
        ),
    ],
)
def test_each_reason_has_its_sentence(library: Library, path: str, sentence: str) -> None:
    assert library.why(path) == sentence


def test_an_absolute_path_is_explained_in_the_folder_it_lies_in(
    library: Library, shelf: Shelf
) -> None:
    assert (
        library.why(str(shelf.place / "papers" / "p.md")) == "p.md is indexed in 'papers' as 'p'."
    )
    assert library.why(str(shelf.folder)) == f"{shelf.folder} is the folder of 'notes' itself."


def test_a_path_from_the_working_folder_is_understood(
    library: Library, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shelf.folder / "old")

    assert library.why("b.md").startswith("old/b.md is not indexed")
    assert library.why("../a.md") == "a.md is indexed in 'notes' as 'a'."


def test_a_path_outside_all_folders_is_not_found(library: Library, shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="lies in none of the folders") as caught:
        library.why("/etc/hostname")

    assert str(shelf.folder) in (caught.value.hint or "")


def test_without_an_index_it_says_what_would_become_of_a_file(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("a.md", "zebra")

    with shelf.open() as library:
        assert library.why("a.md").startswith("a.md would be indexed")
    assert not (tmp_path / "index").exists()


@given(path=st.text())
def test_any_text_may_be_asked_about(library: Library, path: str) -> None:
    with suppress(BookwheelError):
        assert library.why(path)


def test_a_home_nobody_has_is_no_trouble(library: Library) -> None:
    assert "is not indexed" in library.why("~no-such-user/a.md")
