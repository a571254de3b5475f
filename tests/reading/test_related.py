"""Documents that are like another one, or like a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.query import SearchHit
from bookwheel.reading.documents import find_document
from bookwheel.reading.related import MOST_TERMS, find_related
from tests.conftest import Shelf as Folders
from tests.search.shelf import Shelf

FILLER = "Nothing of note is told in this long and winding paragraph of plain words. " * 30


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """An empty shelf."""
    made = Shelf(tmp_path)
    yield made
    made.close()


def hits(shelf: Shelf, path: str, **asked: Any) -> tuple[SearchHit, ...]:
    return find_related(shelf.engine, find_document(shelf.engine, path, "shelf"), **asked)


def like(shelf: Shelf, path: str, **asked: Any) -> list[str]:
    return [hit.document for hit in hits(shelf, path, **asked)]


def test_the_more_two_documents_share_the_higher_they_stand_and_score(shelf: Shelf) -> None:
    shelf.put(
        {
            "source.md": "# Sailing\n\nHoist the mainsail, trim the jib, tack into the wind.",
            "near.md": "# Boats\n\nTrim the jib and hoist the mainsail when you tack.",
            "far.md": "# Kites\n\nA kite needs wind.",
            "other.md": "# Tax\n\nInvoices and deductions.",
        }
    )

    found = hits(shelf, "source.md")

    assert [hit.document for hit in found] == ["near.md", "far.md"]
    assert 1 >= found[0].score > found[1].score > 0


def test_the_source_is_found_only_when_asked_for(shelf: Shelf) -> None:
    shelf.put({"a.md": "jib and mainsail", "b.md": "jib and mainsail on a boat"})

    assert like(shelf, "a.md") == ["b.md"]
    assert like(shelf, "a.md", same_document=True) == ["a.md", "b.md"]


def test_the_source_among_them_changes_no_other_score(shelf: Shelf) -> None:
    shelf.put(
        {
            "a.md": "jib, mainsail and spinnaker, the boom and the tiller",
            "b.md": "jib and mainsail on a boat",
            "c.md": "a jib",
        }
    )

    alone = hits(shelf, "a.md")
    assert [hit.document for hit in alone] == ["b.md", "c.md"]
    assert hits(shelf, "a.md", same_document=True)[1:] == alone


def test_a_document_alone_of_its_kind_has_nothing_related_but_itself(shelf: Shelf) -> None:
    shelf.put({"a.md": "jib and mainsail", "b.md": "invoices and taxes"})

    assert like(shelf, "a.md") == []
    assert like(shelf, "a.md", same_document=True) == ["a.md"]


@pytest.mark.parametrize("text", ["", "?!", "7 12 2024", "the and of", "a b c", "\ud800"])
def test_what_says_nothing_relates_to_nothing(shelf: Shelf, text: str) -> None:
    shelf.put({"a.md": "jib", "b.md": "The jib of 2024 and 7 and 12, a b c, the end of the line."})

    assert like(shelf, "a.md", text=text) == []


def test_a_given_text_counts_instead_of_the_document(shelf: Shelf) -> None:
    shelf.put({"a.md": "jib", "b.md": "the jib", "c.md": "a lone narwhal", "d.md": "invoices"})

    assert like(shelf, "a.md", text="Narwhals!") == ["c.md"]
    assert like(shelf, "a.md", text="jib") == ["b.md"]


def test_everything_related_is_of_the_same_collection(shelf: Shelf) -> None:
    shelf.put({"a.md": "# A\n\njib and mainsail", "b.md": "# B\n\na jib"})
    shelf.put({"a2.md": "# A\n\njib and mainsail"}, collection="elsewhere")

    assert like(shelf, "a.md") == ["b.md"]


def test_words_that_only_another_collection_shares_do_not_hide_what_is_similar(
    shelf: Shelf,
) -> None:
    rare = " ".join(f"rare{'abcdefghijklmnopqrstuvwxyz'[n % 26]}{n}word" for n in range(60))
    shelf.put({"a.md": f"{rare} about a boat"} | {f"{n}.md": f"boat {n}" for n in range(9)})
    shelf.put({"b.md": rare}, collection="elsewhere")

    assert len(rare.split()) > 2 * MOST_TERMS
    assert len(like(shelf, "a.md", limit=20)) == 9


def test_words_count_in_every_form_of_the_documents_language(shelf: Shelf) -> None:
    german = (
        "Das ist nicht für die Katze und auch nicht für den Hund, der mit ihr auf dem Dach ist."
    )
    shelf.put(
        {
            "a.md": f"{german} Die Segelboote.",
            "b.md": f"{german} Ein Segelboot.",
            "c.md": "Das ist ein Haus und nicht mehr.",
        }
    )

    assert like(shelf, "a.md", text="Segelboote")[0] == "b.md"
    assert "c.md" not in like(shelf, "a.md", text="des Segelboots")


def test_scripts_without_spaces_are_related_too(shelf: Shelf) -> None:
    shelf.put(
        {
            "a.md": "黑豹队的防守在联赛中排名第六。",
            "b.md": "联赛排名：黑豹队的防守很好。",
            "c.md": "税务申报和发票。",
        }
    )

    assert like(shelf, "a.md")[0] == "b.md"


def test_the_passage_shown_is_the_one_that_is_like_the_source(shelf: Shelf) -> None:
    long = f"# Long\n\n{FILLER}\n\n## Rigging\n\nThe jib, the mainsail.\n\n## End\n\n{FILLER}"
    shelf.put({"a.md": "jib and mainsail", "long.md": long})

    (hit,) = hits(shelf, "a.md")

    assert (hit.document, hit.heading) == ("long.md", "Rigging")
    assert "The jib, the mainsail." in hit.passage
    assert hit.chunk > 1


def test_of_a_huge_document_the_beginning_tells_what_it_is_about(shelf: Shelf) -> None:
    shelf.put(
        {
            "huge.txt": "jib and mainsail\n" + FILLER * 50 + "\ninvoices",
            "b.md": "the mainsail",
            "c.md": "invoices",
        }
    )

    assert like(shelf, "huge.txt") == ["b.md"]


def test_no_more_than_the_limit_are_given(shelf: Shelf) -> None:
    shelf.put({f"{n:03}.md": f"jib {n}" for n in range(120)})

    assert [len(like(shelf, "000.md", limit=limit)) for limit in (1, 5, 100)] == [1, 5, 100]


def test_scores_never_grow_however_the_matches_lie(shelf: Shelf) -> None:
    words = ["jib", "mainsail", "tack", "wind", "boat", "rudder", "keel", "anchor"]
    shelf.put(
        {"source.md": " ".join(words)}
        | {f"{n}.md": " ".join(words[n:] + words[:1]) + FILLER * (n % 3) for n in range(8)}
    )

    scores = [hit.score for hit in hits(shelf, "source.md", limit=20)]

    assert len(scores) == 8
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_of_documents_alike_those_that_a_link_ties_come_first(tmp_path: Path) -> None:
    shelf = Folders(tmp_path)
    text = "The heron stands in the reeds and waits for fish."
    for name in ("a", "b", "c", "d"):
        shelf.put(f"{name}.md", f"# Page {name}\n\n{text}\n")
    shelf.put("d.md", f"# Page d\n\n{text} See [the first](a.md).\n")
    shelf.put("e.md", f"# Page e\n\n{text} See [the third](c.md).\n")
    shelf.put("unlike.md", "# Other\n\nNothing of the kind: [a](a.md)\n")
    with shelf.open() as library:
        library.update()
        near = {
            name: [hit.document for hit in library.find_related(library.document(name))]
            for name in ("a.md", "c.md", "e.md")
        }
    assert [near[name][0] for name in near] == ["d.md", "e.md", "c.md"]
    assert near["a.md"][-1] != "d.md"
