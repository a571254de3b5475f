"""What one caller may see: nothing outside their scope, no secret, no whole text of a preview."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.sight import LONGEST_PREVIEW
from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.library import Library
from bookwheel.model import Redact
from bookwheel.query import Filters, Scope, SearchMode, SearchRequest, SearchResults
from bookwheel.settings import load
from bookwheel.view import View
from tests.conftest import Shelf

MAIL = "jane.penguin@example.com"
SECRET = "tusk" + "Wlrs77qz"
ALL = Scope(redact=Redact.ALL)
SECRETS = Scope(redact=Redact.SECRETS)


def ask(view: View, words: str, **named: Any) -> SearchResults:
    return view.search(SearchRequest(words, **named))


def found(view: View, words: str, **named: Any) -> list[str]:
    return [f"{hit.collection}/{hit.document}" for hit in ask(view, words, **named).hits]


def configured(shelf: Shelf, text: str) -> Library:
    config = shelf.place / "bookwheel.toml"
    config.write_text(text)
    flags = {"index": str(shelf.place / "index"), "workers": 1}
    settings = load(flags, config=str(config), use_start_folder=False, environment={})
    return Library.open(settings)


# Redaction


def test_t26_whole_texts_lines_and_sections_come_without_what_must_not_be_seen(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", f"# Über\n\nAsk {MAIL} twice.\n\n## Käse\n\nÄ password: {SECRET}\n\n## End\n")
    shelf.update()
    with shelf.open() as library:
        view = library.view(ALL)
        document = view.document("a.md")
        expected = (
            "# Über\n\nAsk [redacted:email] twice.\n\n## Käse\n\n"
            "Ä password: [redacted:password]\n\n## End\n"
        )
        assert view.text(document).text == expected
        assert view.lines(document, 7, 7).text == "Ä password: [redacted:password]"
        section = view.section(document, "Käse")
        assert section.text == "## Käse\n\nÄ password: [redacted:password]\n"
        assert (section.start_line, section.end_line) == (5, 8)
        assert view.section(document, "End").text == "## End"
        assert view.place(document, "lines 3-3").text == "Ask [redacted:email] twice."


def test_at_the_level_of_secrets_addresses_of_people_stay(shelf: Shelf) -> None:
    shelf.put("a.md", f"Ask {MAIL}. password: {SECRET}\n")
    shelf.update()
    with shelf.open() as library:
        view = library.view(SECRETS)
        text = view.text(view.document("a.md")).text
        assert text == f"Ask {MAIL}. password: [redacted:password]\n"


def test_the_library_itself_shows_texts_as_they_are_unless_the_operator_says_otherwise(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", f"Ask {MAIL}.")
    shelf.update()
    with shelf.open() as library:
        assert MAIL in library.text(library.document("a.md")).text
    with shelf.open(redact="all") as library:
        assert MAIL not in library.text(library.document("a.md")).text
        assert MAIL not in str(ask(library, "ask"))


def test_a_collection_may_be_redacted_alone_and_the_index_remembers_it(shelf: Shelf) -> None:
    shelf.put("a.md", f"Ask {MAIL}.")
    (shelf.place / "open").mkdir()
    (shelf.place / "open" / "b.md").write_text(f"Ask {MAIL}.")
    text = '[[collections]]\npath = "notes"\nredact = "all"\n[[collections]]\npath = "open"\n'
    with configured(shelf, text) as library:
        library.update()
        assert MAIL not in library.text(library.document("a.md")).text
        assert MAIL in library.text(library.document("b.md")).text
    settings = load({"index": str(shelf.place / "index")}, use_start_folder=False, environment={})
    with Library.open(settings) as library:
        assert MAIL not in library.text(library.document("a.md")).text
        assert MAIL in library.text(library.document("b.md")).text


@pytest.mark.parametrize("length", [0, 40, 60, 80, 2000])
def test_t26_a_snippet_is_cut_after_the_redaction_so_that_no_half_of_a_secret_shows(
    shelf: Shelf, length: int
) -> None:
    filler = "walrus ice " * 3
    shelf.put("a.md", f"{filler}password: {SECRET} {filler}{MAIL} {filler}")
    shelf.update()
    with shelf.open() as library:
        view = library.view(ALL)
        for words in ("walrus ice", "password", SECRET, MAIL, "jane penguin", "example"):
            told = str(ask(view, words, snippet_length=length).hits)
            for part in (SECRET[:6], SECRET[-6:], "jane", "penguin@"):
                assert part not in told


def test_t26_titles_headings_paths_tags_and_links_are_redacted_too(shelf: Shelf) -> None:
    shelf.put(
        f"{MAIL}/of {MAIL}.md",
        f"---\ntitle: Of {MAIL}\ntags: [{MAIL}]\nauthor: {MAIL}\ndescription: By {MAIL}\n---\n"
        f"# To {MAIL}\n\nA walrus [{MAIL}](mailto:{MAIL}) swims.\n",
    )
    shelf.update()
    with shelf.open() as library:
        view = library.view(ALL)
        hits = ask(view, "walrus").hits
        document = view.document(hits[0].document)
        told = [
            *(hits, document, view.outline(document), view.links(document), view.text(document)),
            *(view.list_documents("notes"), view.paths("notes"), view.places()),
            *(view.headings(hits), view.headings_above(hits), view.find_related(document)),
            view.categories("notes"),
        ]
        assert "jane" not in str(told)
        assert document.path == f"[redacted:email]/of [redacted:email]~{document.key}.md"
        assert view.outline(document)[0].text == "To [redacted:email]"
        assert view.headings_above(hits) == ["To [redacted:email]"]


def test_t26_what_cannot_be_found_quotes_no_name_that_is_hidden(shelf: Shelf) -> None:
    shelf.put(f"{MAIL}.md", "walrus")
    shelf.update()
    with shelf.open() as library, pytest.raises(NotFound) as refusal:
        library.view(ALL).document("jane.penguin@example.org.md")
    assert "example.com" not in refusal.value.advice


def test_t26_a_word_of_a_secret_is_neither_proposed_nor_taken_for_a_slip(shelf: Shelf) -> None:
    shelf.put("a.md", f"The password: {SECRET} of the walrus. A zebra.")
    shelf.update()
    slip = SECRET[:4] + SECRET[5] + SECRET[4] + SECRET[6:]
    with shelf.open() as library:
        assert SECRET.lower() in str(ask(library, slip))
        assert SECRET.lower() not in str(ask(library.view(ALL), slip)).lower()
        assert found(library.view(ALL), "zebar") == ["notes/a.md"]


@pytest.mark.on_disk
def test_t26_texts_indexed_under_other_rules_are_redacted_by_those_in_force(shelf: Shelf) -> None:
    shelf.put("a.md", f"Ask {MAIL}.")
    shelf.update()
    with shelf.open() as library:
        with library.writing() as engine:
            assert isinstance(engine, EmbeddedEngine)
            engine._writer.execute("UPDATE documents SET rules = 'old'")  # type: ignore[union-attr]
            engine._writer.execute("DELETE FROM spans")  # type: ignore[union-attr]
        assert MAIL not in str(ask(library.view(ALL), "ask"))
        assert MAIL not in library.view(ALL).text(library.document("a.md")).text


@pytest.mark.parametrize("level", ["all", "off"])
def test_t27_a_model_elsewhere_reads_redacted_texts_only(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    shelf.put("a.md", f"Ask {MAIL}.")
    shelf.update()
    with shelf.open(redact=level) as library:
        read: list[str] = []
        embedder = library.embedder
        assert embedder is not None
        embed = embedder.embed

        def listen(texts: list[str]) -> Any:
            read.extend(texts)
            return embed(texts)

        monkeypatch.setattr(embedder, "embed", listen)
        library.embed()
    assert read
    assert MAIL not in str(read)


# Previews


@pytest.mark.requirement("X-009")
@pytest.mark.parametrize("how", ["collection", "setting", "toolset", "scope"])
def test_t26_of_a_preview_only_collection_no_whole_text_is_read(shelf: Shelf, how: str) -> None:
    shelf.put("a.md", f"# Walrus\n\nIt swims. {MAIL}\n\n" + "ice " * 2000)
    text = '[[collections]]\npath = "notes"\n'
    text += 'access = "preview"\n' if how == "collection" else ""
    text = {"setting": 'access = "preview"\n', "toolset": 'toolsets = "files"\n'}.get(
        how, ""
    ) + text
    with configured(shelf, text) as library:
        library.update()
        view = library.view(Scope(previews=True, redact=Redact.ALL)) if how == "scope" else library
        document = view.document("a.md")
        for read in (
            lambda: view.text(document),
            lambda: view.text(document, length=10),
            lambda: view.lines(document, 1, 1),
            lambda: view.place(document, "lines 1-1"),
            lambda: view.section(document, "Walrus"),
            lambda: view.sections(document, ["Walrus"]),
        ):
            with pytest.raises(Forbidden, match="may only be previewed"):
                read()
        (hit,) = ask(view, "walrus").hits
        assert MAIL not in str(hit)
        assert len(hit.passage.encode()) <= LONGEST_PREVIEW
        assert [heading.text for heading in view.outline(document)] == ["Walrus"]


def test_an_operator_can_serve_whole_files_to_clients_of_the_files_toolset(shelf: Shelf) -> None:
    shelf.put("a.md", "Walrus")
    text = 'toolsets = "files"\n[[collections]]\npath = "notes"\naccess = "full"\n'
    with configured(shelf, text) as library:
        library.update()
        assert library.text(library.document("a.md")).text == "Walrus"


@pytest.mark.parametrize("key", ["access", "redact"])
def test_a_collection_with_an_unknown_level_is_refused_at_the_start(shelf: Shelf, key: str) -> None:
    with pytest.raises(BadRequest, match=f"{key} is 'some'.*must be one of"):
        configured(shelf, f'[[collections]]\npath = "notes"\n{key} = "some"\n')


@pytest.mark.requirement("X-042")
@pytest.mark.parametrize("key", ['access = "full"', 'redact = "off"', 'path = "/etc"'])
def test_t06_no_file_of_a_collection_can_open_what_the_operator_shut(
    shelf: Shelf, key: str
) -> None:
    shelf.put("bookwheel.toml", f'name = "mine"\n{key}\n')
    shelf.put("a.md", f"Ask {MAIL}.")
    with configured(shelf, 'access = "preview"\n[[collections]]\npath = "notes"\n') as library:
        library.update()
        with pytest.raises(Forbidden):
            library.text(library.document("a.md"))
        assert MAIL not in str(ask(library, "ask"))
        assert [each.path for each in library.collections] == [str(shelf.folder)]


# Other roots


@pytest.fixture
def two(shelf: Shelf) -> Library:
    """Return a library of two collections; one has two folders."""
    shelf.put("open/a.md", "# Walrus\n\nA walrus on the ice.")
    shelf.put("shut/b.md", "# Quagga\n\nA quagga, a walrus and a secretaryzebra.")
    other = shelf.place / "other"
    other.mkdir()
    (other / "c.md").write_text("# Quagga\n\nEin Walross und ein quagga. Das ist nicht alles.")
    (other / "d.pdf").write_bytes(b"no pdf")
    library = shelf.open(shelf.folder, other)
    library.update()
    library.embed()
    return library


OPEN = Scope(within=(("notes", "open"),))


def test_t31_a_caller_finds_nothing_outside_the_places_open_to_them(two: Library) -> None:
    with two:
        view = two.view(OPEN)
        assert found(view, "walrus") == ["notes/open/a.md"]
        for words in ("quagga", "quaga", "secretaryzebra", '"a quagga"', "walrus -quagga"):
            assert set(found(view, words)) <= {"notes/open/a.md"}
        assert ask(view, "walrus").total == 1
        assert (ask(view, "walrus").files, ask(view, "walrus").unreadable) == (1, 0)


def test_t31_words_of_other_places_are_as_unknown_as_words_that_nobody_has(two: Library) -> None:
    with two:
        view = two.view(OPEN)
        for known, unknown in (("quagga", "qqagga"), ("secretaryzebra", "secretaryzzbra")):
            told, same = (
                str(ask(view, f"walrus {word}", mode=SearchMode.LEXICAL)).replace(word, "X")
                for word in (known, unknown)
            )
            assert told == same
        assert ask(view, "quagg").suggestions == ()


def test_t31_listings_counts_and_kinds_are_of_the_open_places_only(two: Library) -> None:
    with two:
        view = two.view(OPEN)
        assert [(s.collection.name, s.documents) for s in view.states()] == [("notes", 1)]
        assert [each.name for each in view.collections] == ["notes"]
        assert [each.path for each in view.list_documents("notes").documents] == ["open/a.md"]
        assert view.list_documents("notes", folder="shut").total == 0
        assert view.paths("notes") == ["open/a.md"]
        assert view.places() == (("notes", ""), ("notes", "open"))
        assert view.kinds("notes") == {".md": 1}
        assert view.ledger() == []
        assert view.skipped("notes") == {}
        assert two.view(Scope(within=(("other", ""),))).ledger()
        for name in ("shut/b.md", "other/c.md", "docs://notes/shut/b.md"):
            with pytest.raises(NotFound):
                view.document(name)
        with pytest.raises(NotFound):
            view.list_documents("other")


def test_t31_related_documents_are_of_the_open_places_only(two: Library) -> None:
    with two:
        view = two.view(OPEN)
        document = view.document("open/a.md")
        assert view.find_related(document) == ()
        assert two.find_related(two.document("open/a.md"))[0].document == "shut/b.md"


def test_t31_a_filter_opens_no_place_and_a_second_scope_only_narrows(two: Library) -> None:
    with two:
        view = two.view(OPEN)
        for within in ((("notes", ""),), (("other", ""), ("notes", "shut"))):
            assert set(found(view, "walrus", filters=Filters(within=within))) <= {"notes/open/a.md"}
        assert found(view.view(Scope(within=(("other", ""),))), "quagga") == []
        assert found(view.view(ALL), "walrus") == ["notes/open/a.md"]
        assert found(two.view(Scope(within=())), "walrus") == []


def test_places_can_be_asked_for_by_collection_and_folder(two: Library) -> None:
    with two:
        within = (("notes", "shut"), ("other", ""))
        hits = found(two, "quagga", filters=Filters(within=within))
        assert sorted(hits) == ["notes/shut/b.md", "other/c.md"]
        assert found(two, "walrus", filters=Filters(within=(("notes", "sh"),))) == []
        assert ask(two, "quagga", filters=Filters(within=(("other", ""),))).files == 2
        assert "in notes/open" in str(
            ask(two, "quagga", filters=Filters(within=(("notes", "open"),))).relaxed
        )


def test_the_places_of_a_scope_hold_in_every_mode(two: Library) -> None:
    with two:
        view = two.view(OPEN)
        for mode in SearchMode:
            request = SearchRequest("animals such as a quagga", mode=mode)
            assert {hit.document for hit in view.search(request).hits} <= {"open/a.md"}


def tell(results: SearchResults) -> tuple[Any, ...]:
    """Return what a caller is told, with the order of hits and the passages that are shown."""
    hits = [(hit.document, hit.pointer, hit.score, hit.snippet) for hit in results.hits]
    return (hits, results.total, results.relaxed, results.suggestions)


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.HYBRID])
def test_t31_nothing_tells_which_words_other_places_have(tmp_path: Path, mode: SearchMode) -> None:
    seen = []
    for name, other in (("one", "walrus"), ("two", "quagga")):
        shelf = Shelf(tmp_path / name)
        shelf.put("open/a.md", "# Long walks\n\nThe walrus went home.")
        shelf.put("open/b.md", "# Long rides\n\nThe quagga went home.")
        shelf.put(
            "open/c.md", "# Both\n\n## East\n\nThe walrus slept.\n\n## West\n\nThe quagga slept."
        )
        shelf.put("open/d.md", "# Changes\n\nThere was one amendment and a modification.")
        for each in range(20):
            shelf.put(f"shut/{each}.md", f"# Long talks\n\nThe {other} talks, {other}s do.")
        shelf.put(
            "shut/slip.md", "# Long modifications" if name == "one" else "# Long quaggas run on"
        )
        shelf.update()
        with shelf.open() as library:
            library.embed()
            view = library.view(OPEN)
            asked = ("walrus quagga", "quagga OR walrus", "moidfications", "quaga walrs", "long")
            seen.append([tell(ask(view, words, mode=mode)) for words in asked])

    assert seen[0] == seen[1]
