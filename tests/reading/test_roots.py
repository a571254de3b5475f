"""Absolute paths: what lies in a root is found, nothing outside ever is."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.library import Library
from bookwheel.model import Redact
from bookwheel.query import Scope, SearchRequest
from tests.conftest import Shelf

CANARY = "canary-of-the-outside"
ATTACKS = 10_000


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A root with links of every kind, between siblings whose names begin alike."""
    place = tmp_path_factory.mktemp("place")
    shelf = Shelf(place)
    shelf.put("a.md", "# Inside\n\nAll of this lies inside.")
    shelf.put("deep/er/b.md", "# Deep\n\nAlso inside.")
    shelf.put(".hidden.md", "hidden")
    shelf.put("id_rsa", "a private key")
    shelf.put("data.bin", "unsupported")
    shelf.put("mail alice@example.com.md", "# Mail\n\nNothing.")
    for sibling in ("notes-evil", "notes2", "Notes", "note", "notes "):
        (place / sibling).mkdir()
        (place / sibling / "a.md").write_text(CANARY, encoding="utf-8")
    (place / "outside.md").write_text(CANARY, encoding="utf-8")
    for name, target in LINKS.items():
        (shelf.folder / name).symlink_to(target.format(place=place))
    (place / "by-link").symlink_to(shelf.folder)
    shelf.update()
    return shelf


LINKS = {
    "to-file.md": "{place}/outside.md",
    "to-file-relative.md": "../outside.md",
    "to-folder": "{place}/notes-evil",
    "chain.md": "chain-2.md",
    "chain-2.md": "to-file.md",
    "to-parent": "..",
    "loop.md": "loop.md",
    "dangling.md": "{place}/nowhere.md",
    "to-everything": "/",
    "inner.md": "deep/er/b.md",
    "dangling-inner.md": "nowhere.md",
}


@pytest.fixture
def library(shelf: Shelf) -> Iterator[Library]:
    with shelf.open() as library:
        yield library


@pytest.mark.requirement("R-003")
@pytest.mark.parametrize(
    "path",
    [
        "{root}/a.md",
        "{root}//a.md",
        "{root}/./deep/../a.md",
        "{root}/../notes/a.md",
        "{place}/by-link/a.md",
        "{root}/to-parent/notes/a.md",
        "/proc/self/root{root}/a.md",
    ],
)
def test_a_file_is_found_however_its_path_is_written(
    shelf: Shelf, library: Library, path: str
) -> None:
    written = path.format(root=shelf.folder, place=shelf.place)

    assert library.file(written).path == "a.md"


def test_a_link_to_another_file_of_the_root_is_that_file(shelf: Shelf, library: Library) -> None:
    assert library.file(f"{shelf.folder}/inner.md").path == "deep/er/b.md"


@pytest.mark.requirement("R-003")
def test_t05_a_root_that_is_a_link_is_shown_as_written_and_named_either_way(shelf: Shelf) -> None:
    by_link = shelf.place / "by-link"
    with shelf.open(by_link) as library:
        assert [root.shown for root in library.roots()] == [str(by_link)]
        assert library.file(f"{by_link}/a.md") == library.file(f"{shelf.folder}/a.md")
        assert library.absolute_path("notes", "a.md") == f"{by_link}/a.md"


@pytest.mark.requirement("R-044")
@pytest.mark.parametrize(
    "path",
    [
        "{place}/outside.md",
        "{place}/nothing.md",
        "{place}/notes-evil/a.md",
        "{place}/notes2/a.md",
        "{place}/Notes/a.md",
        "{place}/note/a.md",
        "{place}/notes /a.md",
        "{root}-evil/a.md",
        "{root}/../outside.md",
        "{place}",
        "/",
        "//",
        "/etc/passwd",
        "{root}/a.md\0",
        "/" + "x" * 5000,
        "{root}/\udc80.md",
    ],
)
def test_t01_what_lies_outside_is_refused_in_the_same_words_whether_or_not_it_is_there(
    shelf: Shelf, library: Library, path: str
) -> None:
    with pytest.raises(Forbidden) as caught:
        library.file(path.format(root=shelf.folder, place=shelf.place))

    assert caught.value.message == "The path lies in none of the allowed roots."
    assert str(shelf.place) not in caught.value.advice


@pytest.mark.parametrize(
    "name",
    [
        *("to-file.md", "to-file-relative.md", "to-folder/a.md", "chain.md", "dangling.md"),
        *("to-everything/etc/passwd", "to-parent/outside.md", "to-folder/nothing.md"),
    ],
)
def test_t02_a_link_that_leads_out_is_refused(shelf: Shelf, library: Library, name: str) -> None:
    with pytest.raises(Forbidden) as caught:
        library.file(f"{shelf.folder}/{name}")

    assert caught.value.message == "The path lies in none of the allowed roots."


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (".hidden.md", "It is not indexed: hidden name."),
        ("id_rsa", "It is not indexed: key or credential file."),
        ("data.bin", "It is not indexed: unsupported extension: .bin."),
        ("deep", "It is a folder: search in it, or name a file."),
        ("", "It is a folder: search in it, or name a file."),
        ("loop.md", "It is not indexed: link, never followed."),
    ],
)
def test_t06_what_is_there_but_no_document_is_not_found_with_the_reason(
    shelf: Shelf, library: Library, name: str, hint: str
) -> None:
    with pytest.raises(NotFound) as caught:
        library.file(f"{shelf.folder}/{name}")

    assert caught.value.hint == hint


@pytest.mark.requirement("R-044")
@pytest.mark.parametrize("name", ["deep/er/bb.md", "dangling-inner.md"])
def test_a_missing_file_inside_is_not_found_and_near_ones_are_named(
    shelf: Shelf, library: Library, name: str
) -> None:
    with pytest.raises(NotFound) as caught:
        library.file(f"{shelf.folder}/{name}")

    assert caught.value.message.startswith("There is no file ")


def test_a_relative_path_is_a_bad_request(library: Library) -> None:
    with pytest.raises(BadRequest):
        library.file("a.md")


def test_the_innermost_of_two_roots_is_meant(shelf: Shelf, tmp_path: Path) -> None:
    inner = shelf.folder / "deep"
    flags = {"index": str(tmp_path / "index")}
    with shelf.open(shelf.folder, inner, **flags) as library:
        library.update()
        assert library.file(f"{inner}/er/b.md").collection == "deep"
        assert library.file(f"{shelf.folder}/a.md").collection == "notes"


def test_t31_who_may_see_one_folder_finds_the_rest_refused(shelf: Shelf, library: Library) -> None:
    view = library.view(Scope(within=(("notes", "deep"),)))

    assert [root.shown for root in view.roots()] == [f"{shelf.folder}/deep"]
    assert view.file(f"{shelf.folder}/deep/er/b.md").path == "deep/er/b.md"
    for name in ("a.md", "nothing.md", "", "deeper/x.md"):
        with pytest.raises(Forbidden):
            view.file(f"{shelf.folder}/{name}")


def test_t26_a_path_that_hides_something_can_be_given_back(shelf: Shelf, library: Library) -> None:
    view = library.view(Scope(redact=Redact.ALL, previews=True))
    (hit,) = view.search(SearchRequest("mail")).hits
    shown = view.absolute_path(hit.collection, hit.document)

    assert "alice" not in shown
    assert view.file(shown).title == "Mail"


def test_t26_a_root_that_hides_something_can_be_given_back(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "bob@example.com")
    shelf.put("a.md", "# Inside")
    shelf.update()
    with shelf.open() as library:
        view = library.view(Scope(redact=Redact.ALL))
        (root,) = view.roots()
        assert root.shown == f"{tmp_path}/[redacted:email]/notes"
        assert view.file(f"{root.shown}/a.md").path == "a.md"
        with pytest.raises(Forbidden):
            view.file(f"{root.shown}/../../outside.md")


NAMES = [
    *LINKS,
    *("..", ".", "", "%2e%2e", "..%2f..", "..\\..", "．．", "…", "a.md", "deep", "er", "b.md"),
    *("notes", "notes-evil", "notes2", "Notes", "outside.md", "etc", "passwd", "~", "$HOME"),
    *("proc", "self", "root", "cwd", "fd", "0", "A.MD", "a.md ", " a.md", "a.md.", "é", "é"),
    *("\0", "a.md\0.md", "x" * 300, "\ud800", "\n", "*", "[redacted:email]~1.md"),
]


def make_attack(chance: random.Random, shelf: Shelf) -> str:
    bases = [str(shelf.folder)] * 4 + [f"{shelf.folder}-evil", f"{shelf.folder}2", str(shelf.place)]
    bases += ["", "/", "//", "/proc/self/root", f"/proc/self/root{shelf.folder}", "/proc/self/cwd"]
    names = [chance.choice(NAMES) for _ in range(chance.randrange(8))]
    return "/".join([chance.choice(bases), *names]) + chance.choice(["", "", "/", "//", "/.", "?"])


@pytest.mark.timeout(180)
def test_t01_ten_thousand_attacks_bring_nothing_from_outside(
    shelf: Shelf, library: Library
) -> None:
    chance = random.Random(20_260_601)
    inside = os.path.realpath(shelf.folder)
    outcomes: Counter[str] = Counter()
    for _ in range(ATTACKS):
        path = make_attack(chance, shelf)
        code, said = attack(library, path)
        assert CANARY not in said
        is_path = path.startswith("/") and "\0" not in path and "\ud800" not in path
        if is_path and not f"{os.path.realpath(path)}/".startswith(f"{inside}/"):
            assert code == "FORBIDDEN", path
        outcomes[code] += 1

    assert set(outcomes) == {"found", "FORBIDDEN", "NOT_FOUND", "BAD_REQUEST"}
    assert min(outcomes.values()) > 10


def attack(library: Library, path: str) -> tuple[str, str]:
    """Return what came of asking for a path, and all that was said."""
    try:
        return "found", library.preview(library.file(path)).text
    except (Forbidden, NotFound, BadRequest) as error:
        return error.code, error.advice
