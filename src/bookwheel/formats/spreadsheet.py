"""Spreadsheets of Excel and OpenDocument: each sheet is a table whose lines are its rows.

A formula without a stored value is nothing. Cells that lie too far from the others to be built in
memory are counted and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple, Protocol, TypeVar

from olefile import OleFileIO
from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    PasswordError,
    SheetMetadata,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from bookwheel.formats import odf_meta, ole_properties, ooxml
from bookwheel.formats.base import Unreadable
from bookwheel.formats.cell_values import join_rows, write_values
from bookwheel.formats.composing import About, Composer, link, plain
from bookwheel.formats.grid import MAX_TEXT, Extras, Grid, finish_tables, name_columns
from bookwheel.formats.ods_parts import OpenWorkbook
from bookwheel.formats.ole import read_stream
from bookwheel.formats.package import Package
from bookwheel.formats.xls_records import OldWorkbook
from bookwheel.formats.xlsx_far import Near
from bookwheel.formats.xlsx_parts import MAX_AREA, Workbook
from bookwheel.model import Parsed, Status

_OLE = b"\xd0\xcf\x11\xe0"
_SECTOR = 512
_T = TypeVar("_T")


class _Beside(Protocol):
    """What gives the words beside the cells of a sheet, by its index and name."""

    def read_sheet(self, index: int, name: str) -> Extras: ...

    def read_blocks(self, index: int, name: str) -> Iterable[str]: ...


class _Source(NamedTuple):
    """The bytes to read cells from, the properties, and what is beside the cells."""

    data: bytes
    about: About
    beside: _Beside | None = None
    read_near: Callable[[], Near] | None = None
    """Give the sheets that lie too far apart without their far cells."""


def read(data: bytes, path: str) -> Parsed:
    """Read a spreadsheet of any kind."""
    source = _read_ole(data) if data.startswith(_OLE) else _read_package(data)
    cells = _guarded(lambda: CalamineWorkbook.from_filelike(BytesIO(source.data)))
    composer = Composer()
    reading = _Reading(cells, source, composer)
    for index, sheet in enumerate(cells.sheets_metadata):
        reading.add(index, sheet)
    if reading.damage and len(reading.headings) == reading.damaged:
        raise reading.damage
    if not reading.headings:
        raise Unreadable(Status.NO_TEXT, _why_empty(source.beside))
    about = source.about
    about = about._replace(description=about.description or name_columns(reading.head))
    return finish_tables(composer, path, about, headings=reading.headings, left=reading.left)


def _why_empty(beside: _Beside | None) -> str:
    if isinstance(beside, Workbook) and beside.has_formulas():
        return "its formulas have no stored values: open and save it in Excel or the like"
    return "its sheets are empty"


def _read_ole(data: bytes) -> _Source:
    # The lengths of three tables: memory is set aside for them before they are looked at.
    for at in (44, 64, 72):
        if int.from_bytes(data[at : at + 4], "little") > len(data) // _SECTOR + 1:
            raise Unreadable(Status.UNREADABLE, "a damaged OLE file")
    with OleFileIO(BytesIO(data)) as ole:
        name = next((name for name in ("Workbook", "Book") if ole.exists(name)), "")
        workbook = OldWorkbook(read_stream(ole, name) if name else b"")
        changed = workbook.without_strays()
        about = ole_properties.read_about(ole)
    return _Source(_replace(data, name, changed) if changed else data, about, workbook)


def _replace(data: bytes, name: str, stream: bytes) -> bytes:
    """Return an OLE file with another stream in the place of one of the same length."""
    file = BytesIO(data)
    with OleFileIO(file, write_mode=True) as ole:
        try:
            ole.write_stream(name, stream)
        except (OSError, ValueError, NotImplementedError):
            return data
        return file.getvalue()


def _read_package(data: bytes) -> _Source:
    package = Package(data)
    if package.has("content.xml"):
        odf_meta.refuse_encrypted(package)
        return _Source(data, odf_meta.read_about(package), OpenWorkbook(package))
    relations = ooxml.read_outer_relations(package, "xl/workbook.xml")
    workbook = Workbook(package, ooxml.find_main_part(package, relations))
    about = ooxml.read_about(package, relations)
    if workbook.is_binary:
        return _Source(data, about)
    return _Source(workbook.without_merges(), about, workbook, workbook.read_near)


def _guarded(work: Callable[[], _T]) -> _T:
    """Do what the library may refuse; its panics are no Exception, yet mean no more than one."""
    try:
        return work()
    except PasswordError:
        raise Unreadable(Status.ENCRYPTED, "it is protected by a password") from None
    except (CalamineError, ValueError, OSError) as error:
        raise _damaged(error) from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise _damaged(error) from None
        raise


def _damaged(error: BaseException) -> Unreadable:
    return Unreadable(Status.UNREADABLE, f"a damaged spreadsheet ({str(error)[:80]})")


class _Reading:
    """One file as its sheets are read."""

    def __init__(self, cells: CalamineWorkbook, source: _Source, composer: Composer) -> None:
        self.cells = cells
        self.beside = source.beside
        self.read_near = source.read_near
        self.near: tuple[CalamineWorkbook, Mapping[str, int]] | None = None
        self.composer = composer
        self.room = MAX_TEXT
        self.headings: list[str] = []
        self.head = ""
        self.damage: Unreadable | None = None
        self.damaged = 0
        self.left: Counter[str] = Counter()
        """How many sheets, rows and so on the text is without."""

    def add(self, index: int, sheet: SheetMetadata) -> None:
        """Add a sheet that has anything to read; one with charts alone is a sheet too."""
        name = " ".join(sheet.name.split())
        is_table = sheet.typ == SheetTypeEnum.WorkSheet
        grid, said = self.read_cells(index, sheet.name) if is_table else (None, "")
        blocks = list(self.beside.read_blocks(index, sheet.name)) if self.beside else []
        if not (any(blocks) or said or (grid and grid.runs)):
            return
        heading = name if sheet.visible == SheetVisibleEnum.Visible else f"{name} (hidden)"
        label = f"sheet '{name}'"
        self.headings.append(heading)
        self.composer.begin(label)
        self.composer.add(f"## {plain(heading)}")
        if grid:
            grid.add_to(self.composer, label)
            self.room = grid.room
            self.left.update(grid.left)
            self.head = self.head or grid.head
        words = [block for block in (said, *blocks) if block]
        if words:
            self.composer.begin(label)
            self.composer.add("\n\n".join(words))

    def read_cells(self, index: int, name: str) -> tuple[Grid | None, str]:
        """Return the table of a sheet, or words on why there is none."""
        if self.room <= 0:
            self.left["sheets"] += 1
            return None, "(This sheet is left out: the file is too long.)"
        try:
            return self._read_cells(index, name)
        except Unreadable as refused:
            if refused.status is not Status.UNREADABLE:
                raise
            self.damage = self.damage or refused
            self.damaged += 1
            self.left["sheets"] += 1
            return None, "(This sheet is left out: it is damaged.)"

    def _read_cells(self, index: int, name: str) -> tuple[Grid | None, str]:
        extras = self.beside.read_sheet(index, name) if self.beside else Extras()
        if extras.is_blank:
            return None, ""
        cells, said = self.cells, ""
        if extras.area > MAX_AREA and self.read_near:
            cells, said = self._leave_far(self.read_near, name)
        sheet = _guarded(lambda: cells.get_sheet_by_index(index))
        grid = Grid(self.room)
        rows = sheet.iter_rows()
        if extras.links or extras.errors:
            first = sheet.start[1] if sheet.start else 0
            rows = _marked(rows, first, extras)
        grid.gather(rows, join_rows)
        return grid, said

    def _leave_far(self, read_near: Callable[[], Near], name: str) -> tuple[CalamineWorkbook, str]:
        """Return the workbook without far cells, and words on those of a sheet."""
        if self.near is None:
            near = read_near()
            opened = _guarded(lambda: CalamineWorkbook.from_filelike(BytesIO(near.data)))
            self.near = opened, near.left
        cells, lost = self.near
        left = lost.get(name, 0)
        self.left["cells"] += left
        more = "1 more cell is" if left == 1 else f"{left:,} more cells are"
        return cells, f"({more} left out: too far from the others.)" if left else ""


def _marked(rows: Iterable[list[Any]], first: int, extras: Extras) -> Iterator[list[Any]]:
    """Yield the rows with their links and errors, which the library does not give."""
    none: dict[int, str] = {}
    all_errors, all_links = extras.errors or {}, extras.links or {}
    for number, row in enumerate(rows):
        errors, links = all_errors.get(number, none), all_links.get(number, none)
        cells = write_values(row) if errors or links else row
        for at, words in errors.items():
            if 0 <= at - first < len(cells):
                cells[at - first] = cells[at - first] or words
        for at, target in links.items():
            if 0 <= at - first < len(cells) and cells[at - first]:
                cells[at - first] = link(cells[at - first], target)
        yield cells
