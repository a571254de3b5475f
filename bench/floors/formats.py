"""The floor of reading Office files and PDF: the bare library or extraction loop.

It is asked for the same words from the same bytes, and of Word for headings and pages; not for
titles, lists, tables, links, places or Markdown. `second` reads the same files by other
libraries, where they are installed, to tell which words a reader misses.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, time
from importlib.util import find_spec
from io import BytesIO
from shutil import which
from zipfile import ZipFile

from lxml import etree

Read = Callable[[bytes], str]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_BESIDE = re.compile(r"/notesSlide|/charts/chart|/diagrams/data")
_WORD_PARTS = re.compile(r"word/(?:document|footnotes|endnotes|comments|(?:head|foot)er\d*)\.xml")
_WORD_TAGS = tuple(f"{_W}{name}" for name in ("t", "p", "pStyle", "br", "lastRenderedPageBreak"))
_HEADING = re.compile(r"Heading([1-9])")
_BESIDE_CELLS = re.compile(
    r"xl/(?:comments|threadedComments/|drawings/drawing|charts/chart|diagrams/data)[^/]*\.xml"
)
_WORDS = ("{*}t", "{*}text", "{*}v")
_HYPHENATED = re.compile(r"(?<=\w)-\n(?=\w)")


def read_pdf(data: bytes) -> str:
    """Return the text of each page."""
    import pypdfium2

    with pypdfium2.PdfDocument(data) as document:
        return "\f".join(page.get_textpage().get_text_range() for page in document)


def read_docx(data: bytes) -> str:
    """Return the text of the document, its notes, comments, headers and footers.

    Headings are told by the id of their style, pages by the breaks that are stored.
    """
    with ZipFile(BytesIO(data)) as package:
        parts = [name for name in package.namelist() if _WORD_PARTS.fullmatch(name)]
        return "".join(piece for part in parts for piece in _paragraphs(package, part))


def _paragraphs(package: ZipFile, part: str) -> Iterator[str]:
    with package.open(part) as file:
        for _, element in etree.iterparse(file, tag=_WORD_TAGS, huge_tree=True):
            tag = element.tag
            if tag == f"{_W}t":
                yield element.text or ""
            elif tag == f"{_W}p":
                yield "\n"
                element.clear()
            elif tag == f"{_W}pStyle":
                level = _HEADING.match(element.get(f"{_W}val", ""))
                yield f"{'#' * int(level[1])} " if level else ""
            else:
                is_page = tag != f"{_W}br" or element.get(f"{_W}type") == "page"
                yield "\f" if is_page else "\n"


def read_docx_runs(data: bytes) -> str:
    """Return the runs of text in the main part alone."""
    pieces: list[str] = []
    with ZipFile(BytesIO(data)) as package, package.open("word/document.xml") as part:
        for _, element in etree.iterparse(part, tag=(f"{_W}t", f"{_W}p"), huge_tree=True):
            pieces.append(element.text or "" if element.tag == f"{_W}t" else "\n")
            if element.tag == f"{_W}p":
                element.clear()
    return "".join(pieces)


def read_pptx(data: bytes) -> str:
    """Return the text of the slides in order, each with its notes, charts and diagrams."""
    with ZipFile(BytesIO(data)) as package:
        names = set(package.namelist())
        main = "ppt/presentation.xml"
        targets = _targets(package, main, names)
        parts: list[str] = []
        for entry in etree.fromstring(package.read(main)).iter(f"{_P}sldId"):
            slide = targets[entry.get(f"{_R}id", "")]
            related = _targets(package, slide, names).values()
            parts += [slide, *(part for part in related if _BESIDE.search(part) and part in names)]
        return "\n".join(_runs(package.read(part)) for part in parts)


def _targets(package: ZipFile, part: str, names: set[str]) -> dict[str, str]:
    folder, name = posixpath.split(part)
    member = f"{folder}/_rels/{name}.rels"
    if member not in names:
        return {}
    return {
        element.get("Id", ""): posixpath.normpath(posixpath.join(folder, element.get("Target", "")))
        for element in etree.fromstring(package.read(member))
    }


def _runs(xml: bytes) -> str:
    root = etree.fromstring(xml)
    lines = [
        "".join(run.text or "" for run in paragraph.iter(f"{_A}t"))
        for paragraph in root.iter(f"{_A}p")
    ]
    if root.tag == f"{_C}chartSpace":
        lines += [value.text or "" for value in root.iter(f"{_C}v")]
    return "\n".join(lines)


def read_xlsx(data: bytes) -> str:
    """Return the rows of all sheets, and the words of comments, text boxes and charts."""
    with ZipFile(BytesIO(data)) as package:
        parts = [name for name in package.namelist() if _BESIDE_CELLS.match(name)]
        beside = [_words(package.read(part)) for part in parts]
    return "\n".join([read_xlsx_cells(data), *beside])


def _words(xml: bytes) -> str:
    return "\n".join(element.text or "" for element in etree.fromstring(xml).iter(*_WORDS))


def read_xlsx_cells(data: bytes) -> str:
    """Return the rows of all sheets alone, cells between tabs as Python writes them."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(BytesIO(data))
    return "\n".join(
        "\t".join(map(str, row)) for name in book.sheet_names for row in _sheet(book, name)
    )


def _sheet(book: object, name: str) -> list[list[object]]:
    return book.get_sheet_by_name(name).to_python()  # type: ignore[attr-defined, no-any-return] # no stubs


FLOORS: dict[str, Read] = {
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
}
NARROW: dict[str, tuple[str, Read]] = {
    ".docx": ("the main part's runs alone", read_docx_runs),
    ".xlsx": ("the cells alone", read_xlsx_cells),
}
"""Of formats with words in many parts: what reads only those of the first, to compare with."""


def second_pdf(data: bytes) -> str:
    """Read by poppler; words that it parts at the end of a line are put together."""
    command = ["pdftotext", "-q", "-enc", "UTF-8", "-", "-"]
    done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=60)
    return _HYPHENATED.sub("", done.stdout.decode("utf-8", "replace"))


def second_docx(data: bytes) -> str:
    """Read by python-docx: paragraphs, tables, headers and footers stay apart from each other."""
    import docx

    document = docx.Document(BytesIO(data))
    rows = (row.cells for table in document.tables for row in table.rows)
    cells = {id(cell._tc): cell.text for row in rows for cell in row}  # a merged one comes often
    return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells.values()])


def second_pptx(data: bytes) -> str:
    """Read by python-pptx: text, tables and groups of each slide, and its notes."""
    import pptx

    return "\n".join(
        text
        for slide in pptx.Presentation(BytesIO(data)).slides
        for text in (*_shapes(slide.shapes), _notes(slide))
    )


def _notes(slide: object) -> str:
    if not slide.has_notes_slide:  # type: ignore[attr-defined] # no stubs
        return ""
    frame = slide.notes_slide.notes_text_frame  # type: ignore[attr-defined] # no stubs
    return frame.text if frame is not None else ""


def _shapes(shapes: object) -> Iterator[str]:
    for shape in shapes:  # type: ignore[attr-defined] # no stubs
        if shape.has_text_frame:
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield from (cell.text for row in shape.table.rows for cell in row.cells)
        elif hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)


def second_xlsx(data: bytes) -> str:
    """Read by openpyxl; numbers and days as people write them."""
    import openpyxl

    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
    return "\n".join(
        "\t".join(_shown(value) for value in row)
        for sheet in book.worksheets
        for row in sheet.iter_rows(values_only=True)
    )


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return str(value)


_SECOND: dict[str, tuple[str, Read]] = {
    ".pdf": ("pdftotext", second_pdf),
    ".docx": ("docx", second_docx),
    ".pptx": ("pptx", second_pptx),
    ".xlsx": ("openpyxl", second_xlsx),
}


def second_name(extension: str) -> str:
    """Return what the second reader of a format is called."""
    return _SECOND[extension][0]


def find_second(extension: str) -> Read | None:
    """Return the second reader of a format, if it is installed."""
    name, read = _SECOND[extension]
    there = which(name) if extension == ".pdf" else find_spec(name)
    return read if there else None
