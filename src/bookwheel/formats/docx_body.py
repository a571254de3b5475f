"""One walk over the XML of a Word document: paragraphs, links, tables and page breaks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from lxml import etree

from bookwheel.formats.docx_fields import Fields
from bookwheel.formats.docx_format import PLAIN, Formats
from bookwheel.formats.docx_hidden import keep_shown
from bookwheel.formats.docx_plain import Kinds, Plain
from bookwheel.formats.docx_rows import OpenRow
from bookwheel.formats.elements import Handler, Handlers, integer, local_name, value
from bookwheel.formats.fields import link_target
from bookwheel.formats.manuscript import (
    PAGE_BREAK,
    Block,
    Piece,
    Row,
    Table,
    turn_pages,
    whole_words,
    write_link,
)
from bookwheel.formats.ooxml import Relation
from bookwheel.formats.symbols import symbol

_SKIPPED = frozenset(
    {"del", "moveFrom", "delText", "delInstrText", "rt", "softHyphen", "tblGrid", "Fallback"}
)
_WORDLESS = frozenset(
    {
        "bookmarkEnd",
        "bookmarkStart",
        "proofErr",
        "tblPrEx",
        "blipFill",
        "effectExtent",
        "extent",
        "positionH",
        "positionV",
        "simplePos",
        "sizeRelH",
        "sizeRelV",
        "stroke",
        "wrapNone",
        "wrapSquare",
        "wrapTopAndBottom",
    }
)
"""What stands in many places and never holds a word: marks, and where a drawing lies."""
_ORDINARY = frozenset({"t", "p", "pPr", "tbl", "tr", "trPr", "tc", "tcPr", "tab"})
_WRITTEN = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-"}
_SIGNS = {"den": "/", "sub": "_", "sup": "^"}


Notes = dict[str, dict[str, int]]
"""Numbers of notes by kind and id, in the order in which the text refers to them."""


class Context(NamedTuple):
    """What a walk needs from the other parts of the file."""

    formats: Formats
    find_relation: Callable[[str], Relation | None]
    """Give the relation of an id, where the part that is walked over has it."""
    read_graphic: Callable[[str], str]
    """Give the words in a chart or diagram by the name of its part."""
    breaks: str = ""
    """Which page breaks count: `rendered` ones, which Word stores, `hard` ones, or none."""


class Walk:
    """The state of one walk; what it finds goes to its sink piece by piece."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.sink: Callable[[Piece], None] = list[Piece]().append
        self.notes: Notes = {}
        self.page = 0
        self.out: list[str] = []
        self.fields = Fields(self.out)
        self.boxes: list[etree._Element] = []
        self.in_paragraph = False
        self.has_begun = False
        self.has_turned = False
        """Whether the paragraph before has ended its page."""
        self.hard_break = -1
        """Where a page break stands that no text follows so far, below zero for none."""
        self.format = PLAIN
        self.rows: list[Row] = []
        self.open_row: OpenRow | None = None
        self.after_split = False
        """Whether a page ends within the row before, in the same table."""
        self._text: Handler = self.text
        is_rendered = context.breaks == "rendered"
        self._methods = _RENDERED_METHODS if is_rendered else _METHODS
        self._kinds = _RENDERED_KINDS if is_rendered else _KINDS
        self._handlers = Handlers({}, self._find_handler)
        self._plain = Plain()

    def run(self, root: etree._Element) -> list[Piece]:
        """Return what stands in a part or in an element of one."""
        self._plain = Plain()
        self._plain.find(root, self._kinds)
        for has_fields in (True, False):
            pieces: list[Piece] = []
            self.sink = pieces.append
            self.notes = {}
            self.page = 1 if self.context.breaks else 0
            self.has_begun = self.has_turned = False
            self.fields = Fields(self.out, is_used=has_fields)
            self.enter(root)
            if not self.fields.are_broken:
                break
            self.context.formats.restart()
        self.out.clear()
        self._plain = Plain()  # a walk refers to itself, and would keep the whole tree until found
        return pieces

    def _find_handler(self, name: str) -> Handler | None:
        method = self._methods.get(name)
        if method is not None:
            return self._text if method is Walk.text else partial(method, self)
        skipped = name in _SKIPPED or name in _WORDLESS or name.endswith("Pr")
        return None if skipped else self.enter

    def enter(self, element: etree._Element) -> None:
        """Walk over the children of an element."""
        handlers, write = self._handlers, self._text
        for child in element:
            handler = handlers[child.tag]
            if handler is write:  # most of what is not skipped
                if text := child.text:
                    self.out.append(text)
            elif handler is not None:
                handler(child)

    def text(self, element: etree._Element) -> None:
        self.out.append(element.text or "")

    def write(self, text: str) -> None:
        """Add words that stand in an attribute or in another part."""
        if text.strip():
            self.out.append(f" {text} ")

    def symbol(self, element: etree._Element) -> None:
        self.out.append(symbol(value(element, "font"), value(element, "char")))

    def written(self, element: etree._Element) -> None:
        self.out.append(_WRITTEN[local_name(element.tag)])

    def signed(self, element: etree._Element) -> None:
        """Write a denominator or an index of a formula."""
        self.out.append(_SIGNS[local_name(element.tag)])
        self.enter(element)

    def paragraph(self, element: etree._Element) -> None:
        if self.in_paragraph:
            self.boxes.append(element)
            return
        text = self._plain.texts.get(element)
        if text is not None and not self.fields.are_open:
            self.plain_paragraph(element, text)
            return
        self.in_paragraph = True
        self.format = PLAIN
        self.enter(element)
        self.in_paragraph = False
        if self.fields.are_open:
            self.fields.pause()
        text = "".join(self.out)
        self.out.clear()
        if self.hard_break >= 0:
            self.hard_break = -1 if text.rpartition(PAGE_BREAK)[2].strip() else 0
        self.finish_paragraph(text)
        if self.boxes:
            self.enter_boxes()

    def plain_paragraph(self, element: etree._Element, text: str) -> None:
        """Write a paragraph that is known already."""
        formats = self._plain.formats.get(element)
        if formats:
            self.format = self.context.formats.read(formats)
            if self.format.is_hidden and keep_shown(element):
                del self._plain.texts[element]
                self.paragraph(element)
                return
            self.finish_paragraph(text)
        else:
            self.has_turned = False
            if text := whole_words(text).strip():
                self.sink(Block(text, page=self.page))
                self.has_begun = True
        if text:
            self.hard_break = -1

    def enter_boxes(self) -> None:
        boxes, self.boxes = self.boxes, []
        # What follows a box in its paragraph was taken for the end of the box.
        plain, self._plain = self._plain, Plain()
        self._plain.spans = plain.spans
        for box in boxes:
            handler = self._handlers[box.tag]
            if handler is not None:
                handler(box)
        self._plain = plain

    def read_format(self, element: etree._Element) -> None:
        self.format = self.context.formats.read(element)
        paragraph = element.getparent() if self.format.is_hidden else None
        if paragraph is not None and keep_shown(paragraph):
            self.format = self.context.formats.read(element, is_shown=True)

    def finish_paragraph(self, text: str) -> None:
        level, depth, number, breaks_page, is_hidden, label = self.format
        if is_hidden:
            text = PAGE_BREAK * text.count(PAGE_BREAK)
        is_hard = self.context.breaks == "hard"
        if breaks_page and self.has_begun and not self.has_turned and is_hard:
            self.page += 1
        if PAGE_BREAK in text and is_hard:
            text = self.split_paragraph(text)
        text, before, after = turn_pages(text)
        self.page += before
        if text := whole_words(text).strip():
            self.sink(Block(text, level, depth, number, self.page, label))
            self.has_begun = True
        self.page += after
        self.has_turned = after > 0

    def split_paragraph(self, text: str) -> str:
        """Give away what stands before a hard page break within the text; return the rest."""
        first, _, rest = text.partition(PAGE_BREAK)
        if not first.strip() or not rest.replace(PAGE_BREAK, "").strip():
            return text
        self.sink(Block(whole_words(first).strip(), page=self.page))
        self.has_begun = True
        return PAGE_BREAK + rest

    def text_box(self, element: etree._Element) -> None:
        """Keep a text box for after the paragraph that it is anchored to."""
        if self.in_paragraph:
            self.boxes.append(element)
        else:
            self.enter(element)

    def choose(self, element: etree._Element) -> None:
        """Enter the first choice; what is for old programs only when that says nothing."""
        before = len(self.out), len(self.boxes)
        for child in element:
            name = local_name(child.tag)
            if name in ("Choice", "Fallback"):
                self.enter(child)
                if not self.in_paragraph or (len(self.out), len(self.boxes)) != before:
                    return

    def line_break(self, element: etree._Element) -> None:
        is_page = value(element, "type") == "page" and self.context.breaks
        self.out.append(PAGE_BREAK if is_page else "\n")
        self.hard_break = len(self.out) if is_page else self.hard_break

    def rendered_break(self, _: etree._Element) -> None:
        """Turn the page, unless a hard break has just done so: Word stores both."""
        is_new = self.hard_break < 0 or "".join(self.out[self.hard_break :]).strip()
        if is_new and not self.repeats_break():
            self.out.append(PAGE_BREAK)
        self.hard_break = -1

    def repeats_break(self) -> bool:
        """Tell a break at the beginning of a cell that Word has stored before, within a row."""
        row = self.open_row
        return row is not None and row.is_turned and not row.cell and not "".join(self.out).strip()

    def field_mark(self, element: etree._Element) -> None:
        self.fields.mark(value(element, "fldCharType"))

    def instruction(self, element: etree._Element) -> None:
        self.fields.instruct(element.text or "")

    def simple_field(self, element: etree._Element) -> None:
        self.linked(element, link_target(value(element, "instr")))

    def hyperlink(self, element: etree._Element) -> None:
        relation = self.context.find_relation(value(element, "id"))
        target, anchor = relation.target if relation else "", value(element, "anchor")
        self.linked(element, f"{target}#{anchor}" if anchor else target)

    def linked(self, element: etree._Element, target: str) -> None:
        start = len(self.out)
        self.enter(element)
        if target:
            shown = "".join(self.out[start:])
            self.out[start:] = [write_link(shown, target)]

    def note(self, element: etree._Element) -> None:
        kind = local_name(element.tag).removesuffix("Reference")
        notes = self.notes.setdefault(kind, {})
        number = notes.setdefault(value(element, "id"), len(notes) + 1)
        self.out.append(note_mark(kind, number))

    def shape(self, element: etree._Element) -> None:
        self.write(value(element, "alt"))
        self.enter(element)

    def description(self, element: etree._Element) -> None:
        self.write(value(element, "descr"))

    def text_path(self, element: etree._Element) -> None:
        self.write(value(element, "string"))

    def graphic(self, element: etree._Element) -> None:
        """Write the words of a chart or diagram, which is a part of its own."""
        relation = self.context.find_relation(value(element, "id") or value(element, "dm"))
        if relation and not relation.is_external:
            self.write(self.context.read_graphic(relation.target))

    def table(self, element: etree._Element) -> None:
        if self.in_paragraph:
            self.boxes.append(element)
            return
        outer = self.sink, self.rows, self.open_row
        rows: list[Row] = []
        self.rows, self.open_row, self.after_split = rows, None, False
        self.enter(element)
        self.sink, self.rows, self.open_row = outer
        if rows:
            self.sink(Table(rows))

    def row(self, element: etree._Element) -> None:
        row = OpenRow(self.page, is_turned=self.after_split)
        self.open_row = row
        self.enter(element)
        self.open_row, self.page, self.after_split = None, row.latest, row.is_split
        if not row.is_deleted:
            self.rows.append(Row(row.cells, row.first_page()))

    def row_format(self, element: etree._Element) -> None:
        for child in element:
            name = local_name(child.tag)
            if self.open_row and name == "del":
                self.open_row.is_deleted = True
            elif self.open_row and name == "gridBefore":
                self.open_row.skip(integer(value(child)))

    def cell(self, element: etree._Element) -> None:
        row = self.open_row
        if row is None:
            self.enter(element)
            return
        pieces = row.open_cell()
        if element in self._plain.spans:
            row.skip(self._plain.spans[element] - 1)
        self.sink, self.page = pieces.append, row.start
        self.enter(element)
        row.close_cell(self.page)


_Methods = dict[str, Callable[[Walk, etree._Element], None]]
_METHODS: _Methods = {
    "t": Walk.text,
    "p": Walk.paragraph,
    "pPr": Walk.read_format,
    "tbl": Walk.table,
    "tr": Walk.row,
    "trPr": Walk.row_format,
    "tc": Walk.cell,
    "txbxContent": Walk.text_box,
    "AlternateContent": Walk.choose,
    "hyperlink": Walk.hyperlink,
    "fldSimple": Walk.simple_field,
    "fldChar": Walk.field_mark,
    "instrText": Walk.instruction,
    "br": Walk.line_break,
    "footnoteReference": Walk.note,
    "endnoteReference": Walk.note,
    "sym": Walk.symbol,
    "docPr": Walk.description,
    "shape": Walk.shape,
    "textpath": Walk.text_path,
    "chart": Walk.graphic,
    "relIds": Walk.graphic,
    **dict.fromkeys(_WRITTEN, Walk.written),
    **dict.fromkeys(_SIGNS, Walk.signed),
}
"""What handles an element of a walk, by its local name."""
_RENDERED_METHODS: _Methods = {**_METHODS, "lastRenderedPageBreak": Walk.rendered_break}
_KINDS = Kinds((_METHODS.keys() | _SKIPPED) - _ORDINARY)
_RENDERED_KINDS = Kinds((_RENDERED_METHODS.keys() | _SKIPPED) - _ORDINARY)


def note_mark(kind: str, number: int) -> str:
    """Return how the text refers to a note."""
    return f"[^{'e' if kind == 'endnote' else ''}{number}]"
