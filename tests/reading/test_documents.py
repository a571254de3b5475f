"""Finding a document by what it is called, and reading all or some of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import BadRequest, BookwheelError, NotFound
from bookwheel.library import Library
from bookwheel.model import Collection
from bookwheel.reading.documents import TextPart, find_collection, nearest_paths
from tests.conftest import Shelf

TEXT = "one\ntwo — zwei\n\nfour\n"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("reading").resolve())
    shelf.put("text.txt", TEXT)
    shelf.put("both.md", "first")
    shelf.put("papers/x.md", "a folder named like the other collection")
    shelf.put("guides/my setup.md", "spaces")
    shelf.put(
        "hostile.md", '---\ntitle: "T\\x1b[31m"\ndescription: "D\\u202e"\ntags: ["g\\x07"]\n---\nx'
    )
    shelf.put("image.md", b"\x89PNG\r\n\x1a\n")
    for name in ("both.md", "x.md", "papers/x.md"):
        file = shelf.place / "papers" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("second", encoding="utf-8")
    return shelf


@pytest.fixture(scope="module")
def library(shelf: Shelf) -> Iterator[Library]:
    with shelf.open(shelf.folder, shelf.place / "papers") as library:
        library.update()
        yield library


def test_a_path_in_two_collections_is_ambiguous_and_each_is_listed_by_a_name_that_works(
    library: Library,
) -> None:
    with pytest.raises(BadRequest) as caught:
        library.document("both.md")

    assert caught.value.message == (
        '"both.md" names several documents: "notes/both.md", "papers/both.md".'
    )
    for name in ("notes/both.md", "papers/both.md"):
        document = library.document(name)
        assert f"{document.collection}/{document.path}" == name


@pytest.mark.parametrize(
    ("text", "collection", "found"),
    [
        ("papers/x.md", None, ("papers", "x.md")),
        ("papers/x.md", "papers", ("papers", "papers/x.md")),
        ("papers/x.md", "notes", ("notes", "papers/x.md")),
        ("papers/papers/x.md", None, ("papers", "papers/x.md")),
        ("notes/papers/x.md", None, ("notes", "papers/x.md")),
        ("both.md", "papers", ("papers", "both.md")),
        ("text.txt", None, ("notes", "text.txt")),
        ("/text.txt/", None, None),
        ("docs://notes/guides/my%20setup.md", None, ("notes", "guides/my setup.md")),
        ("docs://guides/my%20setup.md", None, ("notes", "guides/my setup.md")),
        ("docs://guides/my setup.md", None, ("notes", "guides/my setup.md")),
        ("guides/my setup.md", None, ("notes", "guides/my setup.md")),
    ],
)
def test_a_document_is_found_by_path_collection_and_path_or_address(
    library: Library, text: str, collection: str | None, found: tuple[str, str] | None
) -> None:
    if found is None:
        with pytest.raises(NotFound):
            library.document(text, collection)
        return
    document = library.document(text, collection)
    assert (document.collection, document.path) == found


def test_a_document_is_found_by_its_absolute_path(library: Library, shelf: Shelf) -> None:
    document = library.document(str(shelf.place / "papers" / "x.md"))

    assert (document.collection, document.path) == ("papers", "x.md")


def test_a_name_that_is_nearly_right_gets_the_nearest_ones(library: Library) -> None:
    with pytest.raises(NotFound) as caught:
        library.document("guides/my setpu.md", "notes")

    assert caught.value.message == 'Document "guides/my setpu.md" not found in collection "notes".'
    assert (caught.value.hint or "").startswith('Near are "guides/my setup.md"')


def test_a_collection_that_is_nearly_right_gets_the_nearest_one(library: Library) -> None:
    with pytest.raises(NotFound) as caught:
        library.document("x.md", "paper")

    assert caught.value.message == 'Collection "paper" not found.'
    assert caught.value.hint == 'There is "papers".'


def test_a_huge_name_is_answered_briefly(library: Library) -> None:
    with pytest.raises(NotFound) as caught:
        library.document("x" * 100_000)

    assert len(caught.value.message) < 300


def test_a_file_that_gave_no_document_says_why(library: Library) -> None:
    with pytest.raises(NotFound) as caught:
        library.document("image.md")

    assert caught.value.message == (
        '"image.md" has no text to show: binary (a PNG image named .md).'
    )


def test_what_a_document_says_of_itself_cannot_steer_its_reader(library: Library) -> None:
    document = library.document("hostile.md")
    (listed,) = (d for d in library.list_documents("notes").documents if d.path == "hostile.md")

    assert (document.title, document.description, document.tags) == ("T[31m", "D", ("g",))
    assert listed == document


@given(text=st.text(), collection=st.none() | st.sampled_from(["notes", "papers"]) | st.text())
def test_any_text_may_be_asked_for(library: Library, text: str, collection: str | None) -> None:
    with suppress(BookwheelError):
        library.document(text, collection)


@pytest.mark.parametrize(
    ("offset", "length", "part", "following"),
    [
        (0, None, TEXT, None),
        (4, 8, "two — zw", 12),
        (17, 100, "our\n", None),
        (20, 5, "\n", None),
        (21, 5, "", None),
        (1000, None, "", None),
    ],
)
def test_a_stretch_of_text_is_counted_in_characters(
    library: Library, offset: int, length: int | None, part: str, following: int | None
) -> None:
    found = library.text(library.document("text.txt"), offset=offset, length=length)

    assert (found.text, found.total, found.next_offset) == (part, 21, following)


@pytest.mark.parametrize(("offset", "length"), [(-1, None), (0, 0), (0, -5)])
def test_a_stretch_that_cannot_be_is_refused(
    library: Library, offset: int, length: int | None
) -> None:
    with pytest.raises(BadRequest, match="The offset counts from 0 and the length from 1"):
        library.text(library.document("text.txt"), offset=offset, length=length)


def test_stretches_put_together_are_the_whole(library: Library) -> None:
    document = library.document("text.txt")
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = library.text(document, offset=offset, length=4)
        parts.append(part.text)
        offset = part.next_offset

    assert "".join(parts) == TEXT


def test_lines_count_from_1_and_both_ends_belong_to_them(library: Library) -> None:
    document = library.document("text.txt")

    assert library.lines(document, 1, 1) == TextPart(text="one", offset=0, total=21)  # type: ignore[arg-type] # compared only
    assert library.lines(document, 2, 4).text == "two — zwei\n\nfour"
    assert library.lines(document, 4, 99).text == "four"


@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 2), (-1, -1), (5, 6)])
def test_lines_that_cannot_be_are_refused(library: Library, first: int, last: int) -> None:
    with pytest.raises(BadRequest, match=r"Lines count from 1|The document has 4 lines"):
        library.lines(library.document("text.txt"), first, last)


def test_of_very_many_collections_some_are_named_and_the_rest_counted() -> None:
    many = [Collection(f"{number:02}", "/x") for number in range(60)]

    with pytest.raises(NotFound) as caught:
        find_collection(many, "zzz")

    assert caught.value.message == 'Collection "zzz" not found.'
    assert (caught.value.hint or "").startswith('There is "00", "01", ')
    assert (caught.value.hint or "").endswith('"48", "49" and 10 more.')


def test_a_collection_is_near_by_its_name_as_well_as_by_its_alias() -> None:
    known = [Collection("company-handbook", "/x", alias="hb"), Collection("plain", "/y")]

    hints = {}
    for wrong in ("company-handbok", "HB", "hhb", ""):
        with pytest.raises(NotFound) as caught:
            find_collection(known, wrong)
        hints[wrong] = caught.value.hint

    assert hints == {
        "company-handbok": 'There is "company-handbook".',
        "HB": 'There is "hb".',
        "hhb": 'There is "hb".',
        "": 'There is "hb", "plain".',
    }


def test_an_empty_name_is_no_collection(library: Library) -> None:
    with pytest.raises(NotFound, match='Collection "" not found'):
        library.document("text.txt", "")


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("guides/instalation.md", ["guides/setup/installation.md"]),
        ("sub/x%20y/u.md", ["sub/x y/ü?#%.md"]),
        ("installation", ["guides/setup/installation.md"]),
        ("Guides", ["guides/setup/installation.md", "guides/tutorial.md"]),
        ("tutorial.html", ["guides/tutorial.md"]),
        ("aa.md", ["a.md"]),
        ("web/three/index.md", ["web/tree/index.md"]),
        ("the tutorial", ["guides/tutorial.md"]),
        ("", []),
        ("qqqqqqqq", []),
    ],
)
def test_the_nearest_paths_are_like_the_name_and_not_like_its_extension(
    wrong: str, near: list[str]
) -> None:
    paths = ["a.md", "b.md", "readme.md", "x/y.md", "guides/setup/installation.md"]
    paths += ["guides/tutorial.md", "zz.md", "sub/x y/ü?#%.md"]
    paths += [f"web/{name}/index.md" for name in ("a", "b", "c", "d", "e", "f", "tree")]

    assert nearest_paths(wrong, paths)[: len(near) or None] == near
