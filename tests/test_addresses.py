"""Names of documents: which documents a text may mean, and the address we give to one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.addresses import candidates, uri
from bookwheel.model import Collection

ONE = [Collection("guides", "/srv/guides")]
TWO = [Collection("guides", "/srv/guides", alias="g"), Collection("papers", "/srv/papers")]


@pytest.mark.parametrize("text", ["a\0b", "/srv/guides/a\0b", "\ud800", "docs://\ud800", "/\udcff"])
def test_a_text_that_can_be_no_path_names_nothing(text: str) -> None:
    assert candidates(text, TWO) == []


def test_an_address_that_decodes_to_no_text_is_taken_as_it_stands() -> None:
    assert candidates("docs://a%FF.md", ONE) == [[("guides", "a%FF.md")], []]


def test_with_one_collection_a_path_is_meant_as_it_stands_before_its_head_is_a_collection() -> None:
    assert candidates("guides/a.md", ONE) == [
        [("guides", "guides/a.md")],
        [("guides", "a.md")],
    ]


def test_with_several_collections_the_name_or_alias_leads() -> None:
    plain = [("guides", "g/a.md"), ("papers", "g/a.md")]

    assert candidates("g/a.md", TWO) == [[("guides", "a.md")], plain]
    assert candidates("docs://g/a.md", TWO)[:2] == [[("guides", "a.md")], plain]


def test_an_absolute_path_is_looked_up_in_the_folders_alone() -> None:
    assert candidates("/srv/papers/x/a.md", TWO) == [[("papers", "x/a.md")]]
    assert candidates("/srv/papers-old/a.md", TWO) == [[]]


def test_an_absolute_path_through_a_link_to_the_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    folder = [Collection("real", str((tmp_path / "real").resolve()))]

    assert candidates(str(tmp_path / "link" / "a.md"), folder) == [[("real", "a.md")]]
    assert candidates(str(tmp_path / "loop" / "a.md"), folder) == [[]]


def test_an_address_is_percent_encoded_part_by_part() -> None:
    assert uri("my notes", "ä/b c%#?.md", alone=True) == "docs://%C3%A4/b%20c%25%23%3F.md"
    assert uri("my/notes", "a.md", alone=False) == "docs://my%2Fnotes/a.md"


path = st.lists(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1).filter(
        lambda part: part not in (".", "..")
    ),
    min_size=1,
).map("/".join)


@given(path)
def test_the_address_of_a_document_leads_back_to_it(path: str) -> None:
    assert candidates(uri("guides", path, alone=True), ONE)[0] == [("guides", path)]
    assert candidates(uri("papers", path, alone=False), TWO)[0] == [("papers", path)]


@given(st.text())
def test_any_text_may_be_asked_for(text: str) -> None:
    for group in candidates(text, TWO):
        assert all(name in ("guides", "papers") for name, _ in group)
