"""Documents as resources: the listing meets each once, and an address reads one whole."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import pytest

from bookwheel.contracts.resources import (
    Entry,
    ResourceText,
    list_resources,
    read_resource,
)
from bookwheel.contracts.tool import RpcError
from bookwheel.library import Library
from bookwheel.model import SafeText
from tests.conftest import Shelf
from tests.contracts.conftest import HANDBOOK, fill


def walk(library: Library, size: int) -> list[list[str]]:
    """Return the addresses of each page of the listing."""
    page = list_resources(library, size=size)
    pages = [[entry.uri for entry in page.entries]]
    while page.next_cursor is not None:
        page = list_resources(library, page.next_cursor, size=size)
        pages.append([entry.uri for entry in page.entries])
    return pages


def refusal(library: Library, address: str) -> tuple[int, str]:
    """Return code and message of what is said to an address; its data must be the address."""
    with pytest.raises(RpcError) as caught:
        read_resource(library, address)
    assert caught.value.data == {"uri": address}
    return caught.value.code, caught.value.message


# ------------------------------------------------------------------------------- listing


@pytest.mark.parametrize("size", [1, 2, 3, 8, 100])
def test_going_along_the_cursors_meets_each_document_once(handbook: Library, size: int) -> None:
    met = [uri for page in walk(handbook, size) for uri in page]

    assert len(met) == len(set(met)) == len(HANDBOOK)


def test_a_listing_of_two_collections_goes_from_one_to_the_next(two: Library) -> None:
    first, second = "docs://alpha/only/here.md", "docs://alpha/same.md"

    assert walk(two, 1) == [[first], [second], ["docs://beta/same.md"]]
    assert walk(two, 2) == [[first, second], ["docs://beta/same.md"]]


def test_documents_that_come_or_go_between_two_pages_neither_repeat_nor_hide_others(
    shelf: Shelf,
) -> None:
    names = [f"{n}.md" for n in range(10, 20)]
    with fill(shelf, dict.fromkeys(names, "zebra")) as library:
        page = list_resources(library, size=4)
        (shelf.folder / "10.md").unlink()
        (shelf.folder / "13.md").unlink()
        shelf.put("05.md", "zebra")
        shelf.put("125.md", "zebra")
        shelf.put("165.md", "zebra")
        library.update()
        rest = list_resources(library, page.next_cursor, size=40)

    assert [entry.name for entry in page.entries] == names[:4]
    assert [entry.name for entry in rest.entries] == [
        *("14.md", "15.md", "16.md", "165.md", "17.md", "18.md", "19.md")
    ]
    assert rest.next_cursor is None


def test_a_cursor_that_was_never_given_is_refused(handbook: Library, two: Library) -> None:
    foreign = list_resources(two, size=1).next_cursor
    ours = list_resources(handbook, size=1).next_cursor
    assert foreign
    assert ours
    forged = base64.urlsafe_b64encode(b'12345678["notes",1,""]').decode()

    for cursor in (
        "",
        "1",
        "ä",
        "\ud800",
        "x" * 100_000,
        foreign,
        forged,
        ours[:-4],
        ours + "AAAA",
    ):
        with pytest.raises(RpcError) as caught:
            list_resources(handbook, cursor)
        assert caught.value.code == -32602
        assert "cursor" in (caught.value.data or {})


def test_an_entry_tells_address_file_name_title_description_and_the_files_own_type(
    handbook: Library,
) -> None:
    entries = {entry.uri: entry for entry in list_resources(handbook).entries}

    assert entries["docs://guides/setup.md"] == Entry(
        "docs://guides/setup.md", "setup.md", "Setup Guide", "How to install it.", "text/markdown"
    )
    assert entries["docs://api/reference.html"] == Entry(
        "docs://api/reference.html",
        "reference.html",
        "API Reference",
        "Call the turnPage endpoint.",
        "text/html",
    )
    assert entries["docs://notes/memo.txt"] == Entry(
        "docs://notes/memo.txt",
        "memo.txt",
        "Memo on ravens",
        "The raven is a clever bird.",
        "text/plain",
    )


def test_a_library_without_documents_or_index_lists_nothing(shelf: Shelf) -> None:
    with shelf.open() as library:
        assert list_resources(library).entries == []
        library.update()
        assert list_resources(library) == ([], None)


# ------------------------------------------------------------------------------- reading


HARD_NAMES = [
    "a b.md",
    "100%.md",
    "a%20b.md",
    "what?.md",
    "no #1.md",
    "user@host:80.md",
    "[x] y.md",
    "Übung/ÄÖ 日本.md",
    "Big/CASE.md",
    "a+b&c=d.md",
]


def test_every_listed_address_survives_a_url_parser_and_reads_its_own_document(
    shelf: Shelf,
) -> None:
    with fill(shelf, {name: f"# {n}\n\nzebra\n" for n, name in enumerate(HARD_NAMES)}) as library:
        for entry in list_resources(library).entries:
            parts = urlsplit(entry.uri)
            assert (parts.query, parts.fragment, parts.port) == ("", "", None)
            text = read_resource(library, parts.geturl()).text
            assert text == f"# {entry.title}\n\nzebra\n"


@pytest.mark.parametrize(
    "address",
    [
        "docs://guides/strange%20name%20%231%3F100%25.md",
        "docs://guides/strange name #1?100%.md",
        "docs://notes/guides/strange%20name%20%231%3F100%25.md",
    ],
)
def test_an_address_may_be_written_plainly_and_with_the_collections_name(
    handbook: Library, address: str
) -> None:
    assert read_resource(handbook, address) == ResourceText(
        address, "text/markdown", SafeText("# Strange\n\nA quokka hides here.\n")
    )


def test_a_markdown_file_is_read_whole_with_its_front_matter(handbook: Library) -> None:
    address = "docs://guides/setup.md"

    assert read_resource(handbook, address) == ResourceText(
        address, "text/markdown", SafeText(HANDBOOK["guides/setup.md"])
    )


def test_a_page_of_html_is_read_as_markdown_and_a_text_as_it_is(handbook: Library) -> None:
    assert read_resource(handbook, "docs://api/reference.html")[1:] == (
        "text/markdown",
        "# Reference\n\nCall the **turnPage** endpoint.",
    )
    assert read_resource(handbook, "docs://notes/memo.txt")[1:] == (
        "text/plain",
        HANDBOOK["notes/memo.txt"],
    )


def test_no_length_shortens_what_is_read(shelf: Shelf) -> None:
    text = "# Long\n\n" + "All work and no play. " * 60_000
    with fill(shelf, {"long.md": text}) as library:
        assert read_resource(library, "docs://long.md").text == text


def test_with_two_collections_the_name_may_be_left_out_where_it_is_clear(two: Library) -> None:
    assert read_resource(two, "docs://beta/same.md").text == "# Same\n\nThe beta wombat.\n"
    assert read_resource(two, "docs://only/here.md").text == "# Here\n\nThe lone numbat.\n"
    assert refusal(two, "docs://same.md") == (
        -32602,
        '"docs://same.md" names several documents: "alpha/same.md", "beta/same.md".',
    )


def test_an_unknown_address_is_refused_with_what_is_near(handbook: Library) -> None:
    code, message = refusal(handbook, "docs://guide/setup.md")

    assert code == -32602
    assert message.startswith('Document "docs://guide/setup.md" not found. Near are "guides/setup')


def test_no_address_leads_out_of_the_folder(shelf: Shelf) -> None:
    secret = shelf.put("../secret.md", "the outside")
    shelf.folder.joinpath("link.md").symlink_to(secret)
    ways = ["../secret.md", "%2e%2e/secret.md", "..%2Fsecret.md", "notes/../../secret.md"]
    ways += [str(secret), "/" + str(secret), "link.md", "a.md\0", "..\\secret.md", "", "\ud800"]
    with fill(shelf, {"a.md": "zebra"}) as library:
        for way in ways:
            with pytest.raises(RpcError) as caught:
                read_resource(library, "docs://" + way)
            assert caught.value.code == -32602
            assert "the outside" not in caught.value.message


@pytest.mark.parametrize("address", ["guides/setup.md", "file:///etc/passwd", "http://x/y", ""])
def test_only_addresses_of_documents_are_read(handbook: Library, address: str) -> None:
    code, message = refusal(handbook, address)

    assert code == -32602
    assert "docs://" in message
