"""Pages of the listing of resources: of any size, and while documents come and go."""

from __future__ import annotations

from bookwheel.contracts.resources import list_resources
from bookwheel.library import Library
from tests.clients.handbook import HANDBOOK, fill, fill_two
from tests.conftest import Shelf


def walk(library: Library, size: int) -> list[list[str]]:
    """Return the addresses of each page of the listing."""
    page = list_resources(library, size=size)
    pages = [[entry.uri for entry in page.entries]]
    while page.next_cursor is not None:
        page = list_resources(library, page.next_cursor, size=size)
        pages.append([entry.uri for entry in page.entries])
    return pages


def test_pages_of_any_size_meet_each_document_once(shelf: Shelf) -> None:
    with fill(shelf, HANDBOOK) as library:
        for size in (1, 2, 3, 8, 100):
            met = [uri for page in walk(library, size) for uri in page]
            assert len(met) == len(set(met)) == len(HANDBOOK)


def test_a_listing_of_two_collections_goes_from_one_to_the_next(shelf: Shelf) -> None:
    first, second = "docs://alpha/only/here.md", "docs://alpha/same.md"

    with fill_two(shelf) as library:
        assert walk(library, 1) == [[first], [second], ["docs://beta/same.md"]]
        assert walk(library, 2) == [[first, second], ["docs://beta/same.md"]]


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


def test_a_library_without_documents_or_index_lists_nothing(shelf: Shelf) -> None:
    with shelf.open() as library:
        assert list_resources(library).entries == []
        library.update()
        assert list_resources(library) == ([], None)
