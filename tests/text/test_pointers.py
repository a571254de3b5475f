"""Tests of pointers: what chunks are called, and what a pointer finds again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.composing import Composer
from bookwheel.model import Parsed, Place
from bookwheel.text.chunking import chunk
from bookwheel.text.pointers import Stretch, find_stretch


def document(composer: Composer) -> Parsed:
    text, places, _ = composer.finish()
    return Parsed(title="t", description="", text=text, places=places)


def pointers(composer: Composer) -> list[str]:
    return [part.pointer for part in chunk(document(composer))]


def words(count: int) -> str:
    return " ".join(["wörd"] * count)


def found(composer: Composer, pointer: str) -> str | None:
    """Return the text at a pointer, or None where there is none."""
    text, places, _ = composer.finish()
    data = text.encode()
    stretch = find_stretch(data, list(places), pointer)
    return None if stretch is None else data[stretch.start : stretch.end].decode()


def book() -> Composer:
    """A text before the first page, three pages, one of them empty, and a chapter."""
    made = Composer()
    made.add("Foreword")
    for number, text in enumerate(("eins", "", "drei")):
        made.begin(f"page {number + 1}")
        made.add(text)
    made.begin("chapter 1")
    made.add("kapitel")
    return made


def sheets() -> Composer:
    """Two sheets of rows; the second has a gap, and a remark below its rows."""
    made = Composer()
    made.begin("sheet 'Q1'")
    made.add("## Q1")
    made.begin("sheet 'Q1'", row=1)
    made.add_lines("| a | b |")
    made.begin("sheet 'Q1'")
    made.add_lines("| --- | --- |")
    made.begin("sheet 'Q1'", row=2)
    made.add("| 2 | zwei |\n| 3 | drei |")
    made.begin("sheet 'Größe'")
    made.add("## Größe")
    made.begin("sheet 'Größe'", row=5)
    made.add_lines("| fünf |\n| sechs |")
    made.begin("sheet 'Größe'", row=90)
    made.add("| neunzig |")
    made.begin("sheet 'Größe'")
    made.add("(3 rows were left out.\nSo they were.)")
    return made


def test_a_chunk_is_called_by_its_place() -> None:
    assert pointers(book()) == ["line 1", "page 1", "page 3", "chapter 1"]


def test_comments_below_rows_are_called_by_their_sheet_and_leave_the_rows_theirs() -> None:
    made = Composer()
    made.begin("sheet 'Q1'", row=1)
    made.add_lines("| a | b |")
    made.begin("sheet 'Q1'")
    made.add_lines("| --- | --- |")
    made.begin("sheet 'Q1'", row=2)
    made.add("| 2 | zwei |")
    made.begin("sheet 'Q1'")
    made.add("(7 more rows left out.)")
    assert pointers(made) == ["sheet 'Q1' rows 1-2"]
    made.begin("sheet 'Q1'")
    made.add("Comments:\n\n- A1: Ann: a remark")
    assert pointers(made) == ["sheet 'Q1' rows 1-2", "sheet 'Q1'"]


def test_a_long_place_gives_its_name_to_each_of_its_chunks() -> None:
    made = Composer()
    made.begin("slide 7")
    made.add("\n\n".join([words(110)] * 3))
    assert pointers(made) == ["slide 7"] * 3


def test_rows_are_counted_over_gaps_and_never_beyond_the_table() -> None:
    assert pointers(sheets()) == ["sheet 'Q1' rows 1-3", "sheet 'Größe' rows 5-90"]


def test_each_part_of_a_long_table_has_its_own_rows() -> None:
    made = Composer()
    made.begin("sheet 'X'", row=10)
    made.add("\n".join(f"| {words(60)} |" for _ in range(4)))
    assert pointers(made) == ["sheet 'X' rows 10-11", "sheet 'X' rows 12-13"]


def test_rows_without_a_label_stand_alone() -> None:
    made = Composer()
    made.begin("", row=1)
    made.add_lines("| name |")
    made.begin("")
    made.add_lines("| --- |")
    made.begin("", row=2)
    made.add("| one |\n| two |")
    assert pointers(made) == ["rows 1-3"]


def test_a_single_row_and_a_single_line_are_named_in_the_singular() -> None:
    made = Composer()
    made.begin("sheet 'X'", row=4)
    made.add("| only |")
    assert pointers(made) == ["sheet 'X' row 4"]
    assert [part.pointer for part in chunk(Parsed("t", "", "one line"))] == ["line 1"]


def test_a_text_without_places_is_pointed_into_by_lines() -> None:
    made = Composer()
    made.add("one\ntwo\nthree")
    assert pointers(made) == ["lines 1-3"]


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("page 1", "eins\n\n"),
        ("Page  1", "eins\n\n"),
        ("page 3", "drei\n\n"),
        ("pages 1-3", "eins\n\ndrei\n\n"),
        ("pages 2 – 9", "drei\n\n"),
        ("chapter 1", "kapitel\n"),
        ('"chapter 1"', "kapitel\n"),
    ],
)
def test_pages_and_chapters_are_found(pointer: str, text: str) -> None:
    assert found(book(), pointer) == text


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("sheet 'Q1' row 1", "| a | b |\n"),
        ("SHEET q1 rows 2-3", "| 2 | zwei |\n| 3 | drei |\n"),
        ("sheet ‘Q1’ row 3", "| 3 | drei |\n"),
        ("sheet 'größe' rows 6-89", "| sechs |\n"),
        ("sheet 'Größe' rows 6-90", "| sechs |\n| neunzig |\n"),
        ("sheet 'Größe' rows 90-200", "| neunzig |\n"),
    ],
)
def test_rows_of_a_sheet_are_found(pointer: str, text: str) -> None:
    assert found(sheets(), pointer) == text


def test_a_whole_sheet_is_found_with_its_heading() -> None:
    whole = found(sheets(), "sheet 'Größe'")
    assert whole is not None
    assert whole.startswith("## Größe\n")
    assert whole.endswith("So they were.)\n")


@pytest.mark.parametrize("label", ["slide 2", "cell 2", "message", "attachment 'a b.xlsx'"])
def test_every_kind_of_place_is_found(label: str) -> None:
    made = Composer()
    for each in ("slide 1", label, "slide 3"):
        made.begin(each)
        made.add(f"at {each}")
    assert found(made, label) == f"at {label}\n\n"


@pytest.mark.parametrize(
    ("pointer", "lines"), [("line 7", (7, 7)), ("lines 3-5", (3, 5)), ("Lines 3–5", (3, 5))]
)
def test_lines_are_given_as_numbers(pointer: str, lines: tuple[int, int]) -> None:
    assert find_stretch(b"", [], pointer) == Stretch(0, 0, lines)


@pytest.mark.parametrize(
    "pointer",
    [
        *("", "page", "page 0", "page 4", "pages 9-2", "pages 4-20000", "slide 1", "chapter 2"),
        *("rows 1-2", "sheet 'Q1'", "line", "line 0", "line 1234567890", "page 1 rows 1-2", "\0"),
    ],
)
def test_what_a_document_does_not_have_is_not_found(pointer: str) -> None:
    assert found(book(), pointer) is None


@pytest.mark.parametrize(
    "pointer", ["sheet 'Q2' row 1", "sheet 'Q1' row 4", "rows 1-2", "sheet 'Größe' rows 7-89"]
)
def test_rows_that_a_sheet_does_not_have_are_not_found(pointer: str) -> None:
    assert found(sheets(), pointer) is None


def test_a_range_over_thousands_of_pages_is_found_in_one_pass() -> None:
    places = [Place(number, f"page {number + 1}") for number in range(20_000)]
    assert find_stretch(b"x" * 20_000, places, "pages 2-9999") == Stretch(1, 9_999)


cells = st.text(alphabet="aé漢 ", min_size=1, max_size=120).map(lambda text: f"|{text}|")
labels = st.sampled_from(["", "page 1", "page 2", "sheet 'Q 2'", "sheet 'x rows 3'", "slide 12"])


@st.composite
def documents(draw: st.DrawFn) -> Composer:
    """Compose texts and tables under labels; as in files, no label comes back after another."""
    made = Composer()
    for label in draw(st.lists(labels, unique=True, max_size=4)):
        row = 0
        for is_table in draw(st.lists(st.booleans(), min_size=1, max_size=4)):
            if is_table:
                row += draw(st.integers(1, 50))
                lines = draw(st.lists(cells, min_size=1, max_size=9))
                made.begin(label, row=row)
                draw(st.sampled_from([made.add, made.add_lines]))("\n".join(lines))
                row += len(lines)
            else:
                made.begin(label)
                made.add(words(draw(st.integers(1, 200))))
    return made


@settings(max_examples=200)
@given(documents())
def test_every_pointer_of_a_chunk_leads_back_to_its_text(made: Composer) -> None:
    parsed = document(made)
    data = parsed.text.encode()
    for part in chunk(parsed):
        stretch = find_stretch(data, list(parsed.places), part.pointer)
        assert stretch is not None
        if stretch.lines is not None:
            assert stretch.lines == (part.start_line, part.end_line)
        elif " row" in part.pointer or part.pointer.startswith("row"):
            assert covers_rows(parsed, stretch, part.start, part.end)
        else:
            assert stretch.start <= part.start
            assert part.end <= stretch.end


def covers_rows(parsed: Parsed, stretch: Stretch, start: int, end: int) -> bool:
    """Tell whether all of a chunk that lies in rows lies in the stretch too."""
    data = parsed.text.encode()
    ends = [place.start for place in parsed.places[1:]] + [len(data)]
    spans = [
        (place.start, place.start + len(data[place.start : stop].rstrip(b"\n")))
        for place, stop in zip(parsed.places, ends, strict=True)
        if place.row
    ]
    return all(
        stretch.start <= max(start, first) and min(end, last) <= stretch.end
        for first, last in spans
        if first < end and start < last
    )
