"""Reading a place of a document by its pointer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BadRequest, NotFound
from bookwheel.formats.composing import About, Composer, parsed
from bookwheel.indexing.prepare import draft
from bookwheel.model import Collection, Document, FileState
from bookwheel.reading.pointers import PlaceText, read_place
from bookwheel.safety.opener import FileBytes

OWNER = Collection(name="shelf", path="/nowhere")


def compose(labels: list[tuple[str, int]], texts: list[str]) -> Composer:
    made = Composer()
    for (label, row), text in zip(labels, texts, strict=True):
        made.begin(label, row)
        made.add(text)
    return made


def lines() -> Composer:
    made = Composer()
    made.add("one\ntwo\nthree")
    return made


DOCUMENTS = {
    "slides.pptx": compose([("slide 1", 0), ("slide 2", 0)], ["Größe\u202e\nzwei", "drei"]),
    "book.pdf": compose([(f"page {n}", 0) for n in range(1, 31)], ["text"] * 30),
    "scan.pdf": compose([("page 1", 0), ("page 4", 0)], ["text"] * 2),
    "long.docx": compose([(f"page {n}", 0) for n in (2, 3, 7)], ["text"] * 3),
    "book.ipynb": compose([("cell 1", 0), ("cell 3", 0)], ["text"] * 2),
    "data.csv": compose([("", 1)], ["| a |\n| b |\n| c |"]),
    "notes.txt": lines(),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path_factory.mktemp("places") / "catalog.db")
    state, file = FileState(1, 1, b"digest"), FileBytes(b"x", 1, 1)
    engine.begin_writing()
    engine.declare([OWNER])
    engine.write(
        [
            draft(OWNER, path, file, state, parsed(composer, path, About()))
            for path, composer in DOCUMENTS.items()
        ]
    )
    engine.commit()
    engine.end_writing()
    yield engine
    engine.close()


def find(engine: EmbeddedEngine, path: str) -> Document:
    document = engine.document("shelf", path)
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("path", "pointer", "expected"),
    [
        ("slides.pptx", "slide 1", ("Größe\nzwei", 1, 2)),
        ("slides.pptx", "Slide 2", ("drei", 4, 4)),
        ("slides.pptx", "slides 1-2", ("Größe\nzwei\n\ndrei", 1, 4)),
        ("slides.pptx", "lines 2-4", ("zwei\n\ndrei", 2, 4)),
        ("slides.pptx", "lines 2-99", ("zwei\n\ndrei", 2, 4)),
        ("data.csv", "rows 2-3", ("| b |\n| c |", 2, 3)),
        ("notes.txt", "line 2", ("two", 2, 2)),
    ],
)
def test_a_place_is_read_with_its_lines(
    engine: EmbeddedEngine, path: str, pointer: str, expected: tuple[str, int, int]
) -> None:
    assert read_place(engine, find(engine, path), pointer) == PlaceText(*expected)  # type: ignore[arg-type] # text that is known to be safe


@pytest.mark.parametrize(
    ("path", "pointer", "hint"),
    [
        ("slides.pptx", "slide 3", "It has slide 1, slide 2."),
        ("book.pdf", "page 31", "It has 30 places, from page 1 to page 30."),
        ("data.csv", "sheet 'Q1'", "It has rows 1-3."),
        ("notes.txt", "page 1", "It has lines 1-3."),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_those_that_are(
    engine: EmbeddedEngine, path: str, pointer: str, hint: str
) -> None:
    with pytest.raises(NotFound) as refused:
        read_place(engine, find(engine, path), pointer)
    assert refused.value.message == f'"{path}" has no "{pointer}".'
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("path", "pointer", "is_known", "hint"),
    [
        ("scan.pdf", "page 2", True, "It has page 1, page 4."),
        ("scan.pdf", "page 5", False, "It has page 1, page 4."),
        ("book.ipynb", "cell 2", True, "It has cell 1, cell 3."),
    ],
)
def test_a_page_between_others_that_has_no_text_is_told_so(
    engine: EmbeddedEngine, path: str, pointer: str, is_known: bool, hint: str
) -> None:
    with pytest.raises(NotFound) as refused:
        read_place(engine, find(engine, path), pointer)
    assert ("has no text on" in refused.value.message) == is_known
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("pointer", "told"),
    [
        ("page 1", 'has no text on "page 1", which may be a picture or blank.'),
        (
            "pages 5-6",
            'has no text that begins on "pages 5-6": what stands there begins on "page 3", '
            "or it is a picture or blank.",
        ),
    ],
)
def test_a_page_within_a_paragraph_is_told_where_that_begins(
    engine: EmbeddedEngine, pointer: str, told: str
) -> None:
    with pytest.raises(NotFound) as refused:
        read_place(engine, find(engine, "long.docx"), pointer)
    assert refused.value.message == f'"long.docx" {told}'


def test_lines_beyond_the_end_are_refused_with_their_number(engine: EmbeddedEngine) -> None:
    with pytest.raises(BadRequest, match="The document has 3 lines"):
        read_place(engine, find(engine, "notes.txt"), "lines 4-5")
