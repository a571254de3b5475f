"""What stands beside the cells of an Excel sheet: links, errors, comments, text boxes, charts.

A sheet's XML is searched for what matters, not parsed: that would cost more than its cells.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from lxml import etree

from bookwheel.formats import ooxml
from bookwheel.formats.base import Unreadable
from bookwheel.formats.charts import read_chart, read_diagram
from bookwheel.formats.composing import plain
from bookwheel.formats.drawing import Relations, child, markdown, read_paragraphs, relation_id
from bookwheel.formats.grid import Extras, Marks
from bookwheel.formats.package import Package, parse_xml
from bookwheel.formats.xlsx_far import Near, find_blanks, trim_sheet
from bookwheel.model import Status
from bookwheel.safety.patterns import compiled

MAX_AREA = 20_000_000
"""Cells of the rectangle around all that a sheet holds, which is built whole in memory."""
_MOST_COLUMNS = 26 + 26**2 + 26**3
"""Columns whose names have three letters at most, as those that are looked for do."""
MAX_NOTES = 5_000
MAX_LINKED = 20_000
_MAY_LIE_FAR = (
    (26 * 99_999, r' r="[A-Za-z](?:[A-Za-z]|[0-9]{6})'),
    (702 * 9_999, r' r="[A-Za-z](?:[A-Za-z][A-Za-z]|[A-Za-z]?[0-9]{5})'),
    (999 * _MOST_COLUMNS, r' r="[A-Za-z]{1,3}[0-9]{4}'),
)
"""Areas that no cell lies outside of, unless this is found; RE2 looks three times as fast as `re`.

Most sheets lie within the first; in wider ones the first row tells, and the second is looked for.
"""
_FILLED = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Za-z]{1,3})([0-9]{1,7})"[^>]*(?<!/)>')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>]")
_ROW = re.compile(rb' r="[A-Za-z]{1,3}([0-9]{1,7})"')
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_PLACE = re.compile(rb"\br=[\"']\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_LINK = re.compile(rb"<(?:\w+:)?hyperlink\s([^>]*)>")
_MAX_TAG, _MAX_PREFIX = 1_000, 100
_ERROR_MARK = b't="e"'
_ERROR = re.compile(rb"<(?:\w+:)?c\s([^>]*)>")
_VALUE_OR_END = re.compile(rb"<(?:\w+:)?v>([^<]{1,20})<|</(?:\w+:)?c>")
_MAX_CELL = 20_000
_ATTRIBUTE = re.compile(rb"""([\w:.]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_UTF8 = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml version=.1\.0. encoding=['"](?:UTF-8|utf-8)['"]""")
_SHEETS = re.compile(
    rb'<sheets>(?:\s*<sheet(?: (?:\w+:)?\w+="[^"<>&\t\r\n]*")+ ?(?:/>|></sheet>))*+\s*</sheets>'
)
_SHEET = re.compile(r"""<sheet(?: name="([^"]*)"| \w+:id="([^"]*)"| [\w:]+="[^"]*")+""")
_COUNT = re.compile(rb'\buniqueCount="([0-9]+)"')
_THREADED = "[Threaded comment]"
_NO_MERGES = b'<mergeCells id="acmblsyu"/>'
"""An empty list of merged cells; it has the checksum 0."""


class Workbook:
    """The parts of an Excel file by the names of their sheets."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self.is_binary = main.lower().endswith(".bin")
        self._relations = ooxml.read_relations(package, main)
        self._parts: dict[str, str] = {}
        self._known: dict[str, Relations] = {}
        self._persons: dict[str, str] | None = None
        if self.is_binary:
            return
        for name, identity in _sheets(package.read(main)):
            relation = self._relations.get(identity)
            if relation is not None and package.has(relation.target):
                self._parts[name] = relation.target
        self._refuse_counts()

    def _refuse_counts(self) -> None:
        """Refuse a table of strings that claims to be longer than it can be."""
        for relation in self._relations.values():
            if relation.kind == "sharedStrings" and self._package.has(relation.target):
                head = self._package.read_head(relation.target, 2_000)
                count = _COUNT.search(head)
                if count and int(count[1]) > self._package.size(relation.target):
                    raise Unreadable(Status.UNREADABLE, "its table of strings is damaged")

    def without_merges(self) -> bytes:
        """Return the file with sheets that the library need not read twice.

        It looks through each for merged cells, which it is not asked for and which come last.
        """
        return self._package.prepend(self._parts.values(), _NO_MERGES)

    def read_sheet(self, index: int, name: str) -> Extras:
        """Return what is beside the cells of a sheet."""
        part = self._parts.get(name)
        if part is None:
            return Extras()
        data = self._package.read(part)
        if b"sheet" not in data:
            raise Unreadable(Status.UNREADABLE, "a damaged spreadsheet (no XML of a sheet)")
        if not _has_cells(data):
            return Extras(is_blank=True)
        return Extras(_area(data), self._links(part, data), _errors(data))

    def has_formulas(self) -> bool:
        """Tell whether any sheet has a formula."""
        return any(_FORMULA.search(self._package.read(part)) for part in self._parts.values())

    def read_near(self) -> Near:
        """Return the sheets whose cells lie too far apart, without those that are too far."""
        blanks: frozenset[bytes] = frozenset()
        for relation in self._relations.values():
            if relation.kind == "sharedStrings" and self._package.has(relation.target):
                blanks = find_blanks(self._package.read(relation.target))
        sheets: dict[str, bytes] = {}
        left: dict[str, int] = {}
        for name, part in self._parts.items():
            data = self._package.read(part)
            if _area(data) > MAX_AREA:
                sheets[part], left[name] = trim_sheet(data, blanks, MAX_AREA)
        return Near(self._package.repack(sheets, without=self._parts.values()), left)

    def _ties(self, part: str) -> Relations:
        if part not in self._known:
            self._known = {part: ooxml.read_relations(self._package, part)}
        return self._known[part]

    def _links(self, part: str, data: bytes) -> Marks:
        found: Marks = {}
        relations = self._ties(part)
        outside = any(relation.is_external for relation in relations.values())
        first = data.find(b"hyperlink ") if outside else -1  # they stand together, behind all cells
        if first < 0:
            return found
        for number, tag in enumerate(_LINK.finditer(data, max(0, first - _MAX_PREFIX))):
            values = _attributes(tag[1])
            relation = relations.get(values.get("id", ""))
            place = _CELL.match(values.get("ref", ""))
            if place and relation is not None and relation.is_external and number < MAX_LINKED:
                found.setdefault(int(place[2]) - 1, {})[column(place[1])] = relation.target
        return found

    def read_blocks(self, index: int, name: str) -> Iterator[str]:
        """Yield the comments, text boxes and charts of a sheet as Markdown."""
        part = self._parts.get(name)
        if part is None:
            return
        relations = self._ties(part)
        if not relations:  # as most sheets
            return
        notes = [*self._comments(relations), *self._threads(relations)][:MAX_NOTES]
        if notes:
            yield "Comments:\n\n" + "\n".join(notes)
        for target, root in self._roots(relations, "drawing"):
            leads_on = next(root.iter("{*}graphicFrame", "{*}hlinkClick"), None) is not None
            ties = ooxml.read_relations(self._package, target) if leads_on else {}
            yield from self._drawing(root, ties)

    def _roots(self, relations: Relations, kind: str) -> Iterator[tuple[str, etree._Element]]:
        for relation in relations.values():
            if relation.kind == kind and self._package.has(target := relation.target):
                try:
                    yield target, self._package.read_xml(target)
                except Unreadable:
                    continue  # a damaged drawing does not keep the cells out

    def _comments(self, relations: Relations) -> Iterator[str]:
        for _, root in self._roots(relations, "comments"):
            authors = [(e.text or "").strip() for e in root.iterfind("{*}authors/{*}author")]
            for comment in root.iterfind("{*}commentList/{*}comment"):
                words = " ".join("".join(comment.itertext("{*}t")).split())
                index = comment.get("authorId", "")
                known = index.isdecimal() and int(index) < len(authors)
                author = authors[int(index)] if known else ""
                if words and not words.startswith(_THREADED):
                    yield write_note(comment.get("ref", ""), author, words)

    def _threads(self, relations: Relations) -> Iterator[str]:
        for _, root in self._roots(relations, "threadedComment"):
            for comment in root.iterfind("{*}threadedComment"):
                words = " ".join((comment.findtext("{*}text") or "").split())
                if words:
                    author = self._person(comment.get("personId", ""))
                    yield write_note(comment.get("ref", ""), author, words)

    def _person(self, name: str) -> str:
        if self._persons is None:
            self._persons = {
                str(element.get("id", "")): str(element.get("displayName", ""))
                for _, root in self._roots(self._relations, "person")
                for element in root.iterchildren("{*}person")
            }
        return self._persons.get(name, "")

    def _drawing(self, root: etree._Element, relations: Relations) -> Iterator[str]:
        for body in root.iter("{*}txBody"):
            yield markdown(read_paragraphs(body, relations))
        for picture in root.iter("{*}pic"):
            properties = child(next(picture.iterchildren("{*}*"), None), "cNvPr")
            words = "" if properties is None else " ".join(properties.get("descr", "").split())
            yield f"Image: {plain(words)}" if words else ""
        for _, chart in self._roots(relations, "chart"):
            yield from read_chart(chart)
        for _, diagram in self._roots(relations, "diagramData"):
            yield read_diagram(diagram)


def _has_cells(data: bytes) -> bool:
    """Tell a sheet from a blank one, as a new workbook has two of; what is odd may have cells."""
    at = data.find(b"<sheetData")
    return not data.startswith(b"<sheetData/>", at) or b"<sheetData" in data[at + 1 :]


def _sheets(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names of the sheets and the ids of their relations."""
    plain = _SHEETS.search(data) if _UTF8.match(data) and b"<!" not in data else None
    if plain:  # a parser would go over the styles and names of the whole workbook
        yield from _SHEET.findall(plain[0].decode("utf-8", "replace"))
        return
    for element in parse_xml(data).iterfind("{*}sheets/{*}sheet"):
        yield str(element.get("name", "")), relation_id(element)


def write_note(place: str, author: str, words: str) -> str:
    """Return a comment on a cell as an item of a list."""
    said = f"{author}: {words}" if author and not words.startswith(author) else words
    return f"- {place}: {plain(said)}"


def _attributes(tag: bytes) -> dict[str, str]:
    """Return the attributes of a tag by their names without prefixes."""
    return {
        name.rpartition(b":")[2].decode("ascii", "replace"): html.unescape(
            (one or two).decode("utf-8", "replace")
        )
        for name, one, two in _ATTRIBUTE.findall(tag)
    }


def _errors(data: bytes) -> Marks:
    found: Marks = {}
    at = data.find(_ERROR_MARK) if b"#" in data else -1  # as all errors begin: one sign is fast
    while at >= 0:
        # Only cells with the mark are looked at: there are few of them among many.
        start = data.rfind(b"<", max(0, at - _MAX_TAG), at)
        tag = _ERROR.match(data, start) if start >= 0 else None
        place = _PLACE.search(tag[1]) if tag else None
        if tag and place:
            value = _VALUE_OR_END.search(data, tag.end(), tag.end() + _MAX_CELL)
            if value and value[1]:
                words = value[1].decode("utf-8", "replace")
                found.setdefault(int(place[2]) - 1, {})[column(place[1].decode())] = words
        end = tag.end() if tag else data.find(b">", at)
        at = data.find(_ERROR_MARK, end) if end >= 0 else -1
    return found


def _area(data: bytes) -> int:
    """Return how many cells the rectangle around all cells has, where it can be large at all."""
    if any(area <= MAX_AREA and not compiled(far).search(data) for area, far in _MAY_LIE_FAR):
        return 0
    rows = [int(number) for number in set(_ROW.findall(data))]  # of cells: rows may say otherwise
    limit = MAX_AREA // (max(rows, default=0) - min(rows, default=0) + 1)
    if limit >= _MOST_COLUMNS or not _beyond(limit).search(data):
        return 0
    places = _FILLED.findall(data)
    rows = [int(number) for _, number in places]
    columns = [column(letters.decode()) for letters in {letters for letters, _ in places}]
    width = max(columns, default=0) - min(columns, default=0) + 1
    return width * (max(rows, default=0) - min(rows, default=0) + 1)


def _beyond(limit: int) -> re.Pattern[bytes]:
    """Return what finds a cell in the column of this number from 0, or in a later one."""
    name = column_name(limit)
    last = len(name) - 1
    names = [name, f"[A-Z]{{{last + 2},}}"]
    for at, letter in enumerate(name):
        if letter < "Z":
            names.append(f"{name[:at]}[{chr(ord(letter) + 1)}-Z]{'[A-Z]' * (last - at)}")
    return re.compile(f' r="(?:{"|".join(names)})[0-9]'.encode(), re.I)


def column_name(number: int) -> str:
    """Return the name of a column by its number from 0: `A` for 0, `AA` for 26."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def column(letters: str) -> int:
    """Return the number of a column from 0: `A` is 0, `AA` is 26."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1
