"""Documents as `docs://` resources: listed once each, read whole, and nothing from outside."""

from __future__ import annotations

import base64
import string
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AnyUrl

from bookwheel.library import Library
from tests.clients.assistant import LEGACY, MODERN, Assistant, assisting
from tests.clients.handbook import FILLER, HANDBOOK, addresses, asking, fill, fill_two, refusal
from tests.conftest import Shelf

ERAS = pytest.mark.parametrize("era", [LEGACY, MODERN])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """One collection, `notes`."""
    with fill(Shelf(tmp_path_factory.mktemp("one")), HANDBOOK) as made:
        yield made


@pytest.fixture(scope="module")
def handbook(library: Library) -> Iterator[Assistant]:
    with assisting(library, "folder") as assistant:
        yield assistant


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """Two collections, `alpha` and `beta`."""
    with asking(fill_two(Shelf(tmp_path_factory.mktemp("two"))), "folder") as assistant:
        yield assistant


@pytest.mark.requirement("F-018")
@ERAS
def test_resources_and_tools_are_announced(library: Library, era: str) -> None:
    with assisting(library, "folder", era) as assistant:
        said = assistant.client.server_capabilities.model_dump(by_alias=True, exclude_none=True)

    assert said == {
        "resources": {"subscribe": False, "listChanged": True},
        "tools": {},
        "completions": {},
    }


# ------------------------------------------------------------------------------- listing


@pytest.mark.requirement("F-019", "F-023", "F-024")
@ERAS
def test_each_document_is_listed_once_with_all_that_tells_it_apart(
    library: Library, era: str
) -> None:
    with assisting(library, "folder", era) as assistant:
        entries = {entry["uri"]: entry for entry in assistant.resources()}
        assert len(assistant.resources()) == len(entries) == len(HANDBOOK)

    assert entries["docs://README.md"] == {
        "uri": "docs://README.md",
        "name": "README.md",
        "title": "Project Overview",
        "description": "This project turns pages.",
        "mimeType": "text/markdown",
    }
    assert entries["docs://guides/setup.md"] == {
        "uri": "docs://guides/setup.md",
        "name": "setup.md",
        "title": "Setup Guide",
        "description": "How to install it.",
        "mimeType": "text/markdown",
    }
    assert entries["docs://api/reference.html"] == {
        "uri": "docs://api/reference.html",
        "name": "reference.html",
        "title": "API Reference",
        "description": "Call the turnPage endpoint.",
        "mimeType": "text/html",
    }
    assert entries["docs://notes/memo.txt"] == {
        "uri": "docs://notes/memo.txt",
        "name": "memo.txt",
        "title": "Memo on ravens",
        "description": "The raven is a clever bird.",
        "mimeType": "text/plain",
    }
    strange = entries["docs://guides/strange%20name%20%231%3F100%25.md"]
    assert strange["name"] == "strange name #1?100%.md"


@pytest.mark.requirement("F-026")
@ERAS
def test_going_along_the_cursors_meets_each_document_of_a_large_folder_once(
    shelf: Shelf, era: str
) -> None:
    names = [f"{n:03}.txt" for n in range(205)]
    with asking(fill(shelf, dict.fromkeys(names, "zebra")), "folder", era) as assistant:
        first = assistant.ask("list_resources")
        everything = assistant.resources()

    assert 0 < len(first.resources) < len(names)
    assert first.next_cursor
    assert [entry["name"] for entry in everything] == names


@pytest.mark.requirement("F-026")
def test_a_cursor_that_was_never_given_is_refused(shelf: Shelf, handbook: Assistant) -> None:
    names = [f"{n:03}.txt" for n in range(101)]
    with asking(fill(shelf, dict.fromkeys(names, "zebra")), "folder") as assistant:
        given = assistant.ask("list_resources").next_cursor
        assert refusal(handbook.ask, "list_resources", cursor=given)[0] == -32602
        forged = base64.urlsafe_b64encode(b'12345678["notes",1,""]').decode()
        for cursor in ("", "1", "ä", "x" * 100_000, forged, given[:-4], given + "AAAA"):
            code, message, data = refusal(assistant.ask, "list_resources", cursor=cursor)
            assert code == -32602
            assert message == "The cursor is not one that this server gave; start again without it."
            assert data == {"cursor": cursor[:1000]}


# ------------------------------------------------------------------------------ addresses


def odd_names() -> list[str]:
    """Return names of files that have each printable ASCII character first, inside and alone."""
    marks = [mark for mark in string.printable if mark not in "/\0"]
    names = [f"{mark}x.md" for mark in marks if mark != "."]
    names += [f"a{mark}b.md" for mark in marks]
    names += [f"folder{mark}/{mark}{mark}z.md" for mark in "#?%:@[] &+ä日\u0301\U0001f98a"]
    return [*names, "100%.md", "a%20b.md", "%2e%2e%2fx.md", "Übung/ÄÖ 日本.md", "Big/CASE.md"]


def check_addresses(assistant: Assistant, names: set[str]) -> None:
    """Check that the listed addresses are sound and lead each to its own document."""
    listed = assistant.resources()
    assert {unquote(entry["uri"].removeprefix("docs://")) for entry in listed} == names
    for entry in listed:
        address = entry["uri"]
        name = unquote(address.removeprefix("docs://"))
        parts = urlsplit(address)
        assert (parts.scheme, parts.query, parts.fragment, parts.port) == ("docs", "", "", None)
        assert parts.username is None
        assert unquote(parts.netloc + parts.path) == name
        assert str(AnyUrl(address)) == address
        assert not set(address.removeprefix("docs://")) - set(
            string.ascii_letters + string.digits + "-._~%/"
        )
        for spelling in (address, f"docs://notes/{address.removeprefix('docs://')}"):
            read = assistant.read(spelling)
            assert (read["uri"], read["text"]) == (spelling, f"zebra {name!a}")


@pytest.mark.requirement("F-020")
def test_every_odd_character_is_encoded_and_reads_its_own_document(shelf: Shelf) -> None:
    names = odd_names()
    files = {name: f"zebra {name!a}" for name in names}
    with asking(fill(shelf, files), "folder") as assistant:
        check_addresses(assistant, set(names))
        for name in names:
            if "%" not in name:
                assert assistant.read(f"docs://{name}")["text"] == f"zebra {name!a}"
        assert assistant.read("docs://100%.md")["text"] == "zebra '100%.md'"


# Names that no rule passes over: not hidden, and not what editors leave behind.
part = (
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)
    .filter(lambda text: text[0] not in ".~")
    .map(lambda text: f"{text}n")
)


@pytest.mark.requirement("F-020")
@settings(max_examples=8)
@given(st.sets(st.lists(part, min_size=1, max_size=3).map("/".join), min_size=8, max_size=8))
def test_whatever_a_file_is_called_its_address_reads_it(stems: set[str]) -> None:
    names = {f"{stem}.txt" for stem in stems}
    with tempfile.TemporaryDirectory() as place:
        shelf = Shelf(Path(place))
        with asking(fill(shelf, {name: f"zebra {name!a}" for name in names}), "folder") as made:
            check_addresses(made, names)


def test_an_encoded_spelling_goes_before_a_plain_one(shelf: Shelf) -> None:
    with asking(fill(shelf, {"a b.md": "blank", "a%20b.md": "percent"}), "folder") as assistant:
        assert assistant.read("docs://a%20b.md")["text"] == "blank"
        assert assistant.read("docs://a b.md")["text"] == "blank"
        assert assistant.read("docs://a%2520b.md")["text"] == "percent"


@pytest.mark.requirement("F-020", "F-021")
def test_collections_of_odd_names_lead_addresses_that_read_their_documents(shelf: Shelf) -> None:
    folders = [shelf.place / name for name in ("My notes #1", "a:b@c", "Übung", "x/My notes #1")]
    for n, folder in enumerate(folders):
        shelf.put(f"{folder}/Sub dir/a?.md", f"zebra {n}")
    library = shelf.open(*folders)
    library.update()
    with asking(library, "folder") as assistant:
        listed = [entry["uri"] for entry in assistant.resources()]
        texts = sorted(assistant.read(address)["text"] for address in listed)
        found = assistant.call("search_documents", query="zebra").text

    assert texts == [f"zebra {n}" for n in range(4)]
    assert {address.partition("//")[2].partition("/")[2] for address in listed} == {
        "Sub%20dir/a%3F.md"
    }
    assert len({urlsplit(address).netloc for address in listed}) == 4
    assert all(str(AnyUrl(address)) == address for address in listed)
    assert sorted(addresses(found)) == sorted(listed)


@pytest.mark.requirement("F-021")
def test_one_collection_is_not_named_and_several_are_and_reading_takes_both(
    handbook: Assistant, two: Assistant
) -> None:
    assert {entry["uri"].count("docs://notes/") for entry in handbook.resources()} == {0, 1}
    assert [entry["uri"] for entry in two.resources()] == [
        "docs://alpha/only/here.md",
        "docs://alpha/same.md",
        "docs://beta/same.md",
    ]
    for assistant, plain, named in (
        (handbook, "docs://README.md", "docs://notes/README.md"),
        (two, "docs://only/here.md", "docs://alpha/only/here.md"),
    ):
        assert assistant.read(plain)["text"] == assistant.read(named)["text"]


@pytest.mark.requirement("F-021")
def test_a_folder_of_the_collections_own_name_goes_before_the_collection(shelf: Shelf) -> None:
    files = {"a.md": "outer", "notes/a.md": "inner", "notes/notes/a.md": "innermost"}
    with asking(fill(shelf, files), "folder") as assistant:
        assert [entry["uri"] for entry in assistant.resources()] == [
            "docs://a.md",
            "docs://notes/a.md",
            "docs://notes/notes/a.md",
        ]
        assert assistant.read("docs://notes/a.md")["text"] == "inner"
        assert assistant.read("docs://notes/notes/a.md")["text"] == "innermost"


@pytest.mark.requirement("F-022")
@ERAS
def test_an_address_that_two_collections_have_is_refused_with_each(shelf: Shelf, era: str) -> None:
    with asking(fill_two(shelf), "folder", era) as assistant:
        assert refusal(assistant.read, "docs://same.md") == (
            -32602,
            '"docs://same.md" names several documents: "alpha/same.md", "beta/same.md".',
            {"uri": "docs://same.md"},
        )
        assert assistant.read("docs://beta/same.md")["text"] == "# Same\n\nThe beta wombat.\n"


# -------------------------------------------------------------------------------- reading


@pytest.mark.requirement("F-027", "F-028")
@ERAS
def test_a_markdown_file_is_read_whole_under_the_address_asked_for(
    library: Library, era: str
) -> None:
    with assisting(library, "folder", era) as assistant:
        for address in ("docs://guides/setup.md", "docs://notes/guides/setup.md"):
            assert assistant.read(address) == {
                "uri": address,
                "mimeType": "text/markdown",
                "text": HANDBOOK["guides/setup.md"],
            }


def test_a_page_of_html_is_read_as_markdown_and_a_text_as_it_is(handbook: Assistant) -> None:
    assert handbook.read("docs://api/reference.html") == {
        "uri": "docs://api/reference.html",
        "mimeType": "text/markdown",
        "text": "# Reference\n\nCall the **turnPage** endpoint.",
    }
    assert handbook.read("docs://notes/memo.txt") == {
        "uri": "docs://notes/memo.txt",
        "mimeType": "text/plain",
        "text": HANDBOOK["notes/memo.txt"],
    }


@pytest.mark.requirement("F-030")
@ERAS
def test_no_length_shortens_what_is_read(shelf: Shelf, era: str) -> None:
    text = "# Long\n\n" + FILLER * 8000
    with asking(fill(shelf, {"long.md": text}), "folder", era) as assistant:
        assert assistant.read("docs://long.md")["text"] == text


@pytest.mark.requirement("F-031")
@pytest.mark.parametrize(("era", "expected"), [(LEGACY, -32002), (MODERN, -32602)])
def test_an_unknown_address_is_refused_with_the_revisions_code_and_what_is_near(
    library: Library, era: str, expected: int
) -> None:
    with assisting(library, "folder", era) as assistant:
        code, message, data = refusal(assistant.read, "docs://guide/setup.md")

    assert (code, data) == (expected, {"uri": "docs://guide/setup.md"})
    assert message.startswith('Document "docs://guide/setup.md" not found. Near are "guides/setup')


OUTSIDE = "the words of the outside"


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Assistant, Path]]:
    """A folder with links that lead out of it, and the file outside that they lead to."""
    shelf = Shelf(tmp_path_factory.mktemp("walled"))
    secret = shelf.put("../outside/secret.md", OUTSIDE)
    shelf.folder.joinpath("link.md").symlink_to(secret)
    shelf.folder.joinpath("relative.md").symlink_to("../outside/secret.md")
    shelf.folder.joinpath("linked").symlink_to(secret.parent)
    with asking(fill(shelf, {"a.md": "zebra", "in/b.md": "zebra"}), "folder") as assistant:
        yield assistant, secret


@pytest.mark.requirement("F-032")
@pytest.mark.parametrize(
    "way",
    [
        "../outside/secret.md",
        "in/../../outside/secret.md",
        "%2e%2e/outside/secret.md",
        "%2e%2e%2foutside%2fsecret.md",
        "..%2Foutside%2Fsecret.md",
        "%252e%252e%252foutside/secret.md",
        "..\\outside\\secret.md",
        "..%5coutside%5csecret.md",
        "notes/../../outside/secret.md",
        "./../outside/secret.md",
        "a.md/../../outside/secret.md",
        "../outside/secret.md%00.md",
        "%c0%ae%c0%ae/outside/secret.md",
        "link.md",
        "relative.md",
        "linked/secret.md",
        "linked%2Fsecret.md",
        "{secret}",
        "/{secret}",
        "%2F{secret}",
        "file://{secret}",
        "~/secret.md",
        "",
    ],
)
def test_no_address_leads_out_of_the_folder(walled: tuple[Assistant, Path], way: str) -> None:
    assistant, secret = walled
    address = "docs://" + way.replace("{secret}", str(secret))

    code, message, data = refusal(assistant.read, address)

    assert (code, data) == (-32602, {"uri": address})
    assert OUTSIDE not in message


@pytest.mark.requirement("F-032")
def test_nothing_outside_is_listed_or_found(walled: tuple[Assistant, Path]) -> None:
    assistant, _ = walled

    assert [entry["uri"] for entry in assistant.resources()] == ["docs://a.md", "docs://in/b.md"]
    found = assistant.call("search_documents", query="words of the outside").text
    assert found.startswith("Search results: 0 matches")


@pytest.mark.parametrize("address", ["guides/setup.md", "file:///etc/passwd", "http://x/y", ""])
def test_only_addresses_of_documents_are_read(handbook: Assistant, address: Any) -> None:
    code, message, _ = refusal(handbook.read, address)

    assert code == -32602
    assert "docs://" in message


@pytest.mark.requirement("F-025", "F-029")
def test_other_formats_are_listed_by_their_own_type_and_read_as_markdown(shelf: Shelf) -> None:
    shelf.put("stock.csv", "item,count\nzebra,3\n")
    shelf.put("letter.eml", "Subject: Otters\n\nThey swim.\n")
    shelf.update()
    with shelf.open() as library, assisting(library, "folder") as assistant:
        types = {each["name"]: each["mimeType"] for each in assistant.resources()}
        stock = assistant.read("docs://stock.csv")

    assert set(types.values()) == {"text/csv", "message/rfc822"}
    assert stock["mimeType"] == "text/markdown"
    assert stock["text"] == "| item | count |\n| --- | --- |\n| zebra | 3 |\n"
