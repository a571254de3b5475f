"""Tests that every benchmark runs on a small tree and gives its rows; no times are judged."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.__main__ import FIGURES, LONG, main, measure
from bench.chart import short
from bench.corpus import Corpus
from bench.figures import Figure, as_markdown, as_text
from bench.known_items import Page, eligible, one_edit, swap_middle

from bench import hostile, scale

WORDS = (
    *("anchor", "basket", "candle", "dragon", "eleven", "forest", "garden", "hammer", "island"),
    *("jungle", "kettle", "ladder", "magnet", "needle", "orange", "pencil", "quarry", "ribbon"),
    *("saddle", "temple", "umbrella", "valley", "window", "yellow", "zipper"),
)
ROWS = {
    "indexing": 3,
    "rescan": 2,
    "cold": 3,
    "search_speed": 2,
    "quality": 6,
    "freshness": 1,
    "handshake": 2,
    "throughput": 5,
    "crowd": 2,
    "formats": 2,
    "embedding": 2,
    "meaning": 8,
    "links": 3,
    "redaction": 4,
    "site": 2,
    "soak": 6,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Return a tree of thirty pages, each with a title of its own."""
    folder = tmp_path_factory.mktemp("docs")
    rng = random.Random(1)
    for number in range(30):
        title = f"{WORDS[number % 25]} {rng.choice(WORDS)} number{'abcdefghij'[number % 10]}"
        text = " ".join(rng.choice(WORDS) for _ in range(120))
        page = f"# {title}\n\n{text}\n\n## More\n\n{text[::2]}\n"
        (folder / f"page-{number}.md").write_text(page, encoding="utf-8")
    work = tmp_path_factory.mktemp("work")
    made = Corpus([str(folder)], work, queries=4, rounds=1, repeats=1, clients=2, crowd=4)
    made.slice_seconds, made.crowd_seconds, made.many_chunks = 0.2, 1.0, 0
    made.soak_minutes = 0.05
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hostile, "MEGABYTE", 20_000)
        yield made
    made.close()


@pytest.mark.timeout(180)  # some start a dozen servers and clients
@pytest.mark.parametrize("name", ROWS)
def test_a_module_gives_its_rows(corpus: Corpus, name: str) -> None:
    assert {*FIGURES, *LONG} == {*ROWS, "pages_table", "cluster", "scale"}
    rows = measure(corpus, name)
    assert len(rows) == ROWS[name]
    assert all(row.name and row.shown and row.how for row in rows)
    answers = [row for row in rows if "errors and wrong answers" in row.name]
    assert len(answers) == (name in ("crowd", "soak"))
    assert all(row.met for row in answers), as_text(answers)


@pytest.mark.parametrize(
    ("size", "shown"),
    [(999, "999"), (9_742, "9.7k"), (96_223, "96k"), (964_874, "965k"), (999_500, "1M")],
)
def test_a_drawing_names_the_sizes_that_were_measured(size: int, shown: str) -> None:
    assert short(size) == shown


@pytest.mark.timeout(180)
def test_how_cost_grows_is_measured_and_drawn(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "_EDITIONS", 1)
    monkeypatch.setattr(scale, "_COLD", 1)
    corpus.sizes, corpus.kept, corpus.drawing = (100, 2000), tmp_path, tmp_path / "scale.svg"
    rows = measure(corpus, "scale")
    assert len(rows) == 13
    assert all(row.name and row.shown.count("·") == 1 for row in rows)
    drawn = ElementTree.fromstring(corpus.drawing.read_text())
    assert len(drawn.findall("{*}g")) == 6
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/measured.json")}
    assert measure(corpus, "scale") == rows
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.fixture(scope="module")
def table(corpus: Corpus) -> dict[str, Figure]:
    """Return the rows of the table of the `pages` toolset by their names."""
    rows = {row.name: row for row in measure(corpus, "pages_table")}
    assert len(rows) == 9
    return rows


@pytest.mark.requirement("P-062")
def test_building_the_index_of_100_documents_is_measured(table: dict[str, Figure]) -> None:
    assert table["100 documents: build"].target == "< 500 ms"


@pytest.mark.requirement("P-063")
def test_opening_a_cached_index_is_measured(table: dict[str, Figure]) -> None:
    assert table["100 documents: open a cached index"].target == "< 10 ms"


@pytest.mark.requirement("P-064")
def test_searching_100_and_500_documents_is_measured(table: dict[str, Figure]) -> None:
    for count in (100, 500):
        assert table[f"{count} documents: search"].target == "< 100 ms"
        assert table[f"{count} documents: search, worst"].target == "< 500 ms"


@pytest.mark.requirement("P-065")
def test_reading_a_page_is_measured(table: dict[str, Figure]) -> None:
    assert table["100 documents: read a page"].target == "< 10 ms"


@pytest.mark.requirement("P-066")
def test_the_index_adds_little_memory_to_an_empty_server(table: dict[str, Figure]) -> None:
    row = table["100 documents: memory of the index"]
    assert (row.target, row.met) == ("< 5 MB", True)


def test_the_command_line_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.md").write_text("# A page of words\n\nSome text here.\n", encoding="utf-8")
    assert main([str(tmp_path), "--only", "rescan", "--json"]) == 0
    assert [row["met"] is None for row in json.loads(capsys.readouterr().out)] == [False, False]


def test_a_table_names_what_missed() -> None:
    rows = [Figure("speed", 2.0, "2 x", "<= 1 x", False, "against a floor")]
    assert as_markdown(rows).splitlines()[-1] == (
        "| speed | 2 x | <= 1 x | MISS | against a floor |"
    )
    assert "MISS" in as_text(rows)


def test_every_edit_changes_the_word() -> None:
    rng = random.Random(3)
    assert all(one_edit("aab", rng) != "aab" for _ in range(200))


def test_letters_that_are_alike_are_not_swapped() -> None:
    assert [swap_middle(word) for word in ("letter", "aab", "aaaa")] == ["lteter", "aba", "aaaa"]


def test_pages_of_one_title_do_not_count() -> None:
    pages = [Page("a", "Same Title", ""), Page("b", "same title", ""), Page("c", "Other page", "")]
    assert [page.document for page in eligible(pages)] == ["c"]
