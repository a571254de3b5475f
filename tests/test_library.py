"""The library as a whole: of which folders it is, what it finds, what it lists."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.errors import BadRequest, IndexUnusable, NotFound
from bookwheel.library import Library
from bookwheel.model import Collection, SafeText
from bookwheel.query import Filters, SearchMode, SearchRequest, Snippet
from bookwheel.settings import Settings, load
from tests.conftest import Shelf, find, opened_below

# ------------------------------------------------------------------- which folders are meant


def test_an_index_that_is_named_alone_knows_its_folders(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    settings = load({"index": str(shelf.place / "index")}, use_start_folder=False, environment={})

    with Library.open(settings) as library:
        assert library.collections == (Collection("notes", str(shelf.folder)),)
        assert find(library, "zebra") == ["a.md"]


def test_a_library_that_cannot_be_opened_leaves_nothing_open(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    gc.disable()  # it would close what was left, some time later
    try:
        with pytest.raises(NotFound):
            shelf.open(shelf.folder, shelf.place / "gone")
        assert opened_below(shelf.place) == []
    finally:
        gc.enable()


def test_with_no_folder_named_the_documents_root_is_meant_else_the_current_folder(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folders(settings: Settings) -> list[str]:
        with Library.open(settings) as library:
            return [each.path for each in library.collections]

    monkeypatch.chdir(shelf.place)
    assert folders(load(environment={})) == [str(shelf.place)]
    assert folders(load(environment={"DOCS_ROOT": "notes"})) == [str(shelf.folder)]


@pytest.mark.on_disk
def test_a_place_that_holds_something_else_is_refused_and_left_as_it_is(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    (shelf.place / "index").mkdir()
    foreign = shelf.place / "index" / "catalog.db"
    foreign.write_bytes(b"my diary" * 100)

    with pytest.raises(IndexUnusable, match="the file is no Bookwheel index"):
        shelf.update()
    assert foreign.read_bytes() == b"my diary" * 100


def test_before_the_first_update_there_is_nothing_to_ask(shelf: Shelf) -> None:
    with shelf.open() as library:
        assert (library.exists, library.is_indexed, library.states()) == (False, False, [])
        assert (library.ledger(), library.skipped("notes")) == ([], {})
        for ask in (
            lambda: find(library, "zebra"),
            lambda: library.document("a.md"),
            lambda: library.list_documents("notes"),
            library.check,
        ):
            with pytest.raises(NotFound, match="Nothing is indexed yet"):
                ask()
    assert not (shelf.place / "index").exists()


# ------------------------------------------------------------------- what is found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    shelf = Shelf(tmp_path_factory.mktemp("library"))
    shelf.put("bare.md", "nothing but words about a Zebra, ÄRGER and naïve ΣΊΣΥΦΟΣ")
    shelf.put("bare.txt", "\ufeffzebra in a text\r\nwith\tall \x07its\x1b lines\n  and blanks  \n")
    shelf.put("page.html", "<p>a zebra without any head</p>")
    shelf.put("1/2/3/4/5/6/7/8/9/deep.md", "# Deep\n\nzebra\n\n## Below\n\nokapi far down\n")
    shelf.put("1/2/3/deep.html", "<title>T</title>zebra")
    shelf.put("1/2/3/deep.txt", "zebra")
    shelf.put("EXT.MD", "zebra")
    shelf.put("image.png", "zebra")
    shelf.put("1-other/x.md", "zebra")
    with shelf.open() as library:
        library.update()
        yield library


ALL = [
    "1-other/x.md",
    "1/2/3/4/5/6/7/8/9/deep.md",
    "1/2/3/deep.html",
    "1/2/3/deep.txt",
    "EXT.MD",
    "bare.md",
    "bare.txt",
    "page.html",
]


@pytest.mark.requirement("F-001", "F-002", "X-002", "X-030")
def test_files_without_any_markup_are_found_and_titled_however_deep_they_lie(
    library: Library,
) -> None:
    hits = library.search(SearchRequest("zebra", limit=50)).hits

    assert sorted(hit.document for hit in hits) == ALL
    assert all(hit.title for hit in hits)
    assert all(hit.collection == "notes" for hit in hits)


@pytest.mark.requirement("P-016")
@pytest.mark.parametrize("word", ["zebra", "ZEBRA", "ärger", "Ärger", "NAÏVE", "σίσυφος"])
def test_upper_and_lower_case_are_the_same(library: Library, word: str) -> None:
    assert "bare.md" in find(library, word)
    assert find(library, word) == find(library, word.upper()) == find(library, word.lower())


@pytest.mark.requirement("F-015")
def test_the_text_of_a_text_file_is_complete_and_as_written(library: Library) -> None:
    text = library.text(library.document("bare.txt")).text

    assert text == "zebra in a text\nwith\tall its lines\n  and blanks  \n"


@pytest.mark.requirement("X-005")
def test_a_hit_shows_the_place_it_was_taken_from(library: Library) -> None:
    (hit,) = library.search(SearchRequest("okapi", fuzzy=False)).hits
    document = library.document(hit.document)

    assert hit.pointer == f"lines {hit.start_line}-{hit.end_line}"
    assert "okapi far down" in library.lines(document, hit.start_line, hit.end_line).text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "-x",
        "--",
        '"',
        "-",
        "\ud800",
        "\0",
        "😀",
        "( OR ) *:* ^2",
        "x" * 100_000,
        "a " * 50_000,
    ],
)
def test_any_text_is_a_query(library: Library, text: str) -> None:
    results = library.search(SearchRequest(text))

    assert results.query == text
    assert all(0 <= hit.score <= 1 for hit in results.hits)


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (1001, 0), (10, -1)])
def test_bounds_of_an_answer_are_checked(library: Library, limit: int, offset: int) -> None:
    with pytest.raises(BadRequest, match="The limit lies between 1 and 1000"):
        library.search(SearchRequest("zebra", limit=limit, offset=offset))


@pytest.mark.parametrize(
    "filters",
    [Filters(extensions=("\ud800",)), Filters(folders=("\ud800",)), Filters(tags=("\ud800",))],
)
def test_a_filter_that_is_no_text_is_refused(library: Library, filters: Filters) -> None:
    with pytest.raises(BadRequest, match="is not valid Unicode"):
        library.search(SearchRequest("zebra", filters=filters))


def test_a_filter_by_an_unknown_collection_names_the_nearest(library: Library) -> None:
    with pytest.raises(NotFound) as caught:
        library.search(SearchRequest("zebra", filters=Filters(collections=("note",))))

    assert caught.value.hint == 'There is "notes".'


# ------------------------------------------------------------------- what is listed


def listed(library: Library, *, folder: str = "", limit: int = 100, offset: int = 0) -> list[str]:
    page = library.list_documents("notes", folder=folder, limit=limit, offset=offset)
    return [each.path for each in page.documents]


def test_a_listing_pages_through_a_collection_in_the_order_of_paths(library: Library) -> None:
    pages = [library.list_documents("notes", limit=3, offset=offset) for offset in (0, 3, 6, 9)]

    assert [each.path for page in pages for each in page.documents] == ALL
    assert [(page.total, page.has_more) for page in pages] == [
        (8, True),
        (8, True),
        (8, False),
        (8, False),
    ]


def test_a_listing_of_a_folder_holds_what_lies_below_it_and_no_namesake(library: Library) -> None:
    below = ["1/2/3/4/5/6/7/8/9/deep.md", "1/2/3/deep.html", "1/2/3/deep.txt"]

    assert listed(library, folder="1") == listed(library, folder="/1/2/") == below
    assert listed(library, folder="none") == []


def test_bounds_of_a_listing_are_checked(library: Library) -> None:
    with pytest.raises(BadRequest, match="The limit counts from 1"):
        listed(library, limit=0)
    with pytest.raises(BadRequest, match="the offset from 0"):
        listed(library, offset=-1)
    with pytest.raises(BadRequest, match="is not valid Unicode"):
        listed(library, folder="\ud800")


@pytest.mark.requirement("X-003")
def test_a_collection_may_have_alias_description_version_and_source_label(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    config = shelf.place / "bookwheel.toml"
    config.write_text(
        "[[collections]]\npath = 'notes'\nname = 'N'\nalias = 'A'\ndescription = 'D'\n"
        "version = '1'\nsource = 'S'\n",
        encoding="utf-8",
    )
    settings = load({"index": str(shelf.place / "i")}, config=str(config), environment={})

    with Library.open(settings) as library:
        library.update()
        expected = Collection("N", str(shelf.folder), "A", "D", "1", "S")
        assert [state.collection for state in library.states()] == [expected]
        assert library.document("A/a.md").source == "S"
        assert library.list_documents("A").documents == library.list_documents("N").documents


@pytest.mark.parametrize("name", ["collections", "extensions", "folders", "tags"])
def test_a_filter_of_very_many_values_is_refused_and_mistaken_for_no_damage(
    shelf: Shelf, name: str
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    many: dict[str, Any] = {name: tuple(map(str, range(100_000)))}
    filters = Filters(**many)
    with shelf.open() as library, pytest.raises(BadRequest, match="at most 1000 values"):
        library.search(SearchRequest("zebra", filters))


@pytest.mark.parametrize("text", ["zebra stripes", "Straße zebra", "斑马 zebra"])
def test_without_snippets_the_hits_and_their_scores_are_the_same(shelf: Shelf, text: str) -> None:
    shelf.put("a.md", "# Zebra\n\nStripes on a [street](https://zebra.example/x), Straße, 斑马线.")
    shelf.put("b.md", "# Stripes\n\nNo such animal.")
    shelf.update()
    with shelf.open() as library:
        shown = library.search(SearchRequest(text)).hits
        bare = library.search(SearchRequest(text, snippet_length=0)).hits

    assert shown
    assert bare == tuple(hit._replace(snippet=Snippet(SafeText(""))) for hit in shown)


# ------------------------------------------------------------------- without a server


@pytest.mark.requirement("D-067")
def test_listing_outline_section_related_and_batch_are_calls_of_the_library(shelf: Shelf) -> None:
    shelf.put("a.md", "# Boats\n\n## Sails\n\nHoist the mainsail and trim the jib.\n")
    shelf.put("b.md", "# Yachts\n\nTrim the jib, then hoist the mainsail.\n")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        document = library.document("a.md")
        requests = [SearchRequest("yachts", mode=mode) for mode in SearchMode]

        assert [each.path for each in library.list_documents("notes").documents] == ["a.md", "b.md"]
        assert [each.text for each in library.outline(document)] == ["Boats", "Sails"]
        assert "mainsail" in library.section(document, "sails").text
        assert [hit.document for hit in library.find_related(document)] == ["b.md"]
        assert [results.hits[0].document for results in library.search_many(requests)] == [
            "b.md",
            "b.md",
            "b.md",
        ]


@pytest.mark.requirement("D-067")
def test_finding_nothing_is_an_answer_of_the_library_and_no_error(shelf: Shelf) -> None:
    shelf.put("a.txt", "Hoist the mainsail.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        document = library.document("a.txt")
        nothing = library.search_many([SearchRequest("xyzzyplugh"), SearchRequest("")])

        assert [results.hits for results in nothing] == [(), ()]
        assert list(library.search_many([])) == []
        assert library.find_related(document) == ()
        assert library.find_related(document, text="☃") == ()
        assert library.outline(document) == []
        assert library.sections(document, ["Absent"]) == [None]
        assert library.list_documents("notes", offset=5).documents == []
