"""Files that were made to crash, hang or fill readers, built in memory; each is small on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from tests.formats.making_ole import make_ole
from tests.formats.making_zips import (
    claim_size,
    deflate,
    make_zip,
    office,
    relations,
    set_flag,
    zip_of_zeros,
)

Make = Callable[[], bytes]

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_WORD_TYPE = f"{_OPEN_XML}.wordprocessingml.document.main+xml"
_SHEET_TYPE = f"{_OPEN_XML}.spreadsheetml.sheet.main+xml"
_SLIDE_TYPE = f"{_OPEN_XML}.presentationml.presentation.main+xml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_R = f'xmlns:r="{_OFFICE}"'
_ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
)
_ENTITIES = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
LAUGHS = f'<!DOCTYPE lolz [<!ENTITY l0 "ha">{_ENTITIES}]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>'


def word(body: str, *, doctype: str = "", empty_parts: int = 0) -> bytes:
    """Return a Word file with this body."""
    parts = {f"m{number}": "" for number in range(empty_parts)}
    xml = f"{doctype}<w:document {_W}><w:body>{body}</w:body></w:document>"
    return office("word/document.xml", {"word/document.xml": xml, **parts}, types=_WORD_TYPE)


def sheet(rows: str, *, shared: str = "", before: str = "", after: str = "") -> bytes:
    """Return an Excel file with one sheet of these rows."""
    parts = {
        "xl/workbook.xml": f'<workbook {_S} {_R}><sheets><sheet name="A" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            {
                "r1": (f"{_OFFICE}/worksheet", "worksheets/sheet1.xml"),
                "r2": (f"{_OFFICE}/sharedStrings", "sharedStrings.xml"),
            }
        ),
        "xl/sharedStrings.xml": shared or f"<sst {_S}><si><t>hi</t></si></sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {_S}>{before}<sheetData>{rows}</sheetData>{after}"
        "</worksheet>",
    }
    return office("xl/workbook.xml", parts, types=_SHEET_TYPE)


def slides(shapes: str, *, times: int = 1, doctype: str = "") -> bytes:
    """Return a PowerPoint file that shows one slide a number of times."""
    ids = '<p:sldId id="256" r:id="r1"/>' * times
    parts = {
        "ppt/presentation.xml": f"<p:presentation {_P} {_R}><p:sldIdLst>{ids}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations({"r1": (f"{_OFFICE}/slide", "slide1.xml")}),
        "ppt/slide1.xml": f"{doctype}<p:sld {_P} {_A}><p:cSld><p:spTree>{shapes}</p:spTree>"
        "</p:cSld></p:sld>",
    }
    return office("ppt/presentation.xml", parts, types=_SLIDE_TYPE)


_SHAPE = "<p:sp><p:txBody><a:p><a:r><a:t>hi</a:t></a:r></a:p></p:txBody></p:sp>"


def open_document(kind: str, body: str, *, doctype: str = "") -> bytes:
    """Return an OpenDocument file with this body."""
    mime = f"application/vnd.oasis.opendocument.{kind}"
    xml = (
        f"{doctype}<office:document-content {_ODF}><office:body>{body}</office:body>"
        "</office:document-content>"
    )
    return make_zip({"mimetype": mime, "content.xml": xml}, first="mimetype")


def book(*, spine: int = 1, doctype: str = "", chapter: str = "<p>hi</p>") -> bytes:
    """Return an e-book that shows one chapter a number of times."""
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="a.opf"/></rootfiles></container>'
    )
    package = (
        f'{doctype}<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
        + "<spine>"
        + '<itemref idref="c"/>' * spine
        + "</spine></package>"
    )
    members = {"META-INF/container.xml": container, "a.opf": package, "c.xhtml": chapter}
    return make_zip({"mimetype": "application/epub+zip", **members}, first="mimetype")


def pdf(objects: dict[int, bytes], *, root: int = 1, trailer: bytes = b"") -> bytes:
    """Return a PDF of numbered objects."""
    data = bytearray(b"%PDF-1.7\n")
    offsets: dict[int, int] = {}
    for number, body in objects.items():
        offsets[number] = len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(data), max(objects) + 1
    data += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        used = b"n" if number in offsets else b"f"
        data += b"%010d 00000 %s \n" % (offsets.get(number, 0), used)
    data += b"trailer\n<</Size %d/Root %d 0 R%s>>\n" % (size, root, trailer)
    return bytes(data + b"startxref\n%d\n%%%%EOF\n" % start)


def stream(content: bytes, about: bytes = b"") -> bytes:
    """Return a PDF stream object."""
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (about, len(content), content)


def page(content: bytes, resources: bytes = b"", **more: bytes) -> dict[int, bytes]:
    """Return the objects of a PDF with one page; further ones are numbered from 5."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<<%s>>>>"
        % (b"/Font<</F 5 0 R>>" + resources),
        4: content,
        5: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    return objects | {int(number[1:]): body for number, body in more.items()}


_HELLO = b"BT /F 9 Tf 9 9 Td (hello) Tj ET "
_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</Font<</F 5 0 R>>/XObject<<%s>>>>"


def form_that_draws_itself() -> bytes:
    """Return a PDF whose form draws itself twice."""
    form = stream(_HELLO + b"/X Do /X Do", _FORM % b"/X 6 0 R")
    return pdf(page(stream(b"/X Do"), b"/XObject<</X 6 0 R>>", n6=form))


def forms_that_double() -> bytes:
    """Return a PDF whose 25 forms each draw the next one twice."""
    forms = {
        f"n{number}": stream(_HELLO + b"/X Do /X Do", _FORM % (b"/X %d 0 R" % (number + 1)))
        for number in range(6, 31)
    }
    forms["n31"] = stream(_HELLO, _FORM % b"")
    return pdf(page(stream(b"/X Do"), b"/XObject<</X 6 0 R>>", **forms))


def pages_in_a_loop() -> bytes:
    objects = page(stream(_HELLO))
    return pdf(objects | {2: b"<</Type/Pages/Kids[3 0 R 2 0 R 2 0 R]/Count 9999999>>"})


def many_pages(count: int) -> bytes:
    """Return a PDF whose tree names one page a number of times."""
    objects = page(stream(_HELLO))
    kids = b"3 0 R " * count
    return pdf(objects | {2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, count)})


def nested_mail(depth: int) -> bytes:
    """Return a mail of multiparts inside one another."""
    parts = [f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(depth)]
    return ("Subject: deep\n" + "".join(parts) + "\nhello\n").encode()


def mail_of_parts(count: int) -> bytes:
    """Return a mail with a number of attachments."""
    part = '--x\nContent-Disposition: attachment; filename="a{}.txt"\n\nhi\n'
    parts = "".join(part.format(number) for number in range(count))
    return f'Subject: wide\nContent-Type: multipart/mixed; boundary="x"\n\n{parts}--x--'.encode()


def notebook(*cells: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


def ole_in_a_loop() -> bytes:
    """Return an OLE file whose allocation table leads back to itself."""
    data = bytearray(make_ole({"WordDocument": b"x" * 9_000}))
    for sector in range(2, 20):
        data[512 + 4 * sector : 516 + 4 * sector] = (2).to_bytes(4, "little")
    return bytes(data)


def alias_bomb() -> bytes:
    lines = ["---", "a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join([*lines, "title: *a11", "---", "# Text"]).encode()


def rows_of_cells(rows: int, columns: int) -> str:
    row = "<row>" + '<c t="s"><v>0</v></c>' * columns + "</row>"
    return row * rows


_FIRST_AND_LAST = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
)
_DIMENSION = '<dimension ref="A1:XFD1048576"/>'
_MERGED = '<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
_TABLES = "<w:tbl><w:tr><w:tc>"
_ODS_ROW = (
    '<table:table-row table:number-rows-repeated="{0}"><table:table-cell '
    'table:number-columns-repeated="{0}" office:value-type="string"><text:p>x</text:p>'
    "</table:table-cell></table:table-row>"
)
_PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)
_OUTPUT = {"output_type": "stream", "text": ["x" * 10_000] * 500}

HOSTILE: dict[str, Make] = {
    # Word
    "zeros.docx": lambda: zip_of_zeros("word/document.xml", 64 << 20),
    "laughs.docx": lambda: word("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>", doctype=LAUGHS),
    "outside.docx": lambda: word("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>", doctype=OUTSIDE),
    "tables.docx": lambda: word(_TABLES * 3_000),
    "long-word.docx": lambda: word(f"<w:p><w:r><w:t>{'x' * 12_000_000}</w:t></w:r></w:p>"),
    "paragraphs.docx": lambda: word("<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 300_000),
    "members.docx": lambda: word("", empty_parts=20_100),
    "lies.docx": lambda: claim_size(word("<w:p/>"), 7),
    "giant-claims.docx": lambda: claim_size(word("<w:p/>"), 0xFFFFFFF0),
    "flagged.docx": lambda: set_flag(word("<w:p/>")),
    "password.docx": lambda: make_ole({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}),
    "cut.docx": lambda: word("<w:p/>" * 99)[:-60],
    "image.docx": lambda: _PNG,
    "text.docx": lambda: b"just text",
    # Excel
    "sparse.xlsx": lambda: sheet(_FIRST_AND_LAST),
    "dimension.xlsx": lambda: sheet('<row r="1"><c r="A1"><v>1</v></c></row>', before=_DIMENSION),
    "merged.xlsx": lambda: sheet('<row r="1"><c r="A1"><v>1</v></c></row>', after=_MERGED),
    "laughs.xlsx": lambda: sheet(
        rows_of_cells(1, 1), shared=f"{LAUGHS}<sst {_S}><si><t>&l9;</t></si></sst>"
    ),
    "rows.xlsx": lambda: sheet(rows_of_cells(100_000, 20)),
    "wrong-index.xlsx": lambda: sheet('<row><c t="s"><v>99999999999</v></c></row>'),
    "rubbish.xls": lambda: make_ole({"Workbook": b"\x09\x08\xff\xff" * 2_000}),
    "repeated.ods": lambda: open_document(
        "spreadsheet",
        f"<office:spreadsheet><table:table table:name='A'>{_ODS_ROW.format(10**9)}</table:table>"
        "</office:spreadsheet>",
    ),
    # PowerPoint and OpenDocument
    "same-slide.pptx": lambda: slides(_SHAPE, times=100_000),
    "groups.pptx": lambda: slides("<p:grpSp>" * 5_000),
    "laughs.pptx": lambda: slides(_SHAPE.replace("hi", "&l9;"), doctype=LAUGHS),
    "rubbish.ppt": lambda: make_ole({"PowerPoint Document": b"\x0f\0\xe8\x03\0\0\0\0" * 900}),
    "spaces.odt": lambda: open_document(
        "text", '<office:text><text:p>a<text:s text:c="2000000000"/>b</text:p></office:text>'
    ),
    "sections.odt": lambda: open_document("text", "<text:section>" * 9_000),
    "laughs.odt": lambda: open_document(
        "text", "<office:text><text:p>&l9;</text:p></office:text>", doctype=LAUGHS
    ),
    "pages.odp": lambda: open_document(
        "presentation", f"<office:presentation>{'<draw:page/>' * 100_000}</office:presentation>"
    ),
    # PDF
    "self.pdf": form_that_draws_itself,
    "doubling.pdf": forms_that_double,
    "arrays.pdf": lambda: pdf(page(stream(_HELLO)) | {6: b"[" * 200_000}, trailer=b"/X 6 0 R"),
    "flate.pdf": lambda: pdf(
        page(stream(deflate(_HELLO + b" " * (100 << 20)), b"/Filter/FlateDecode"))
    ),
    "many-pages.pdf": partial(many_pages, 50_000),
    "loop.pdf": pages_in_a_loop,
    "head.pdf": lambda: b"%PDF-1.7\n",
    "page.pdf": lambda: b"<!doctype html><h1>no PDF</h1>",
    # Text
    "deep.html": lambda: b"<div>" * 100_000 + b"text",
    "quotes.md": lambda: b">" * 100_000 + b" text",
    "brackets.md": lambda: b"[" * 200_000 + b"](x)",
    "yaml.md": lambda: b"---\ntitle: " + b"[" * 50_000 + b"\n---\ntext",
    "aliases.md": alias_bomb,
    "line.csv": lambda: b"x" * 5_000_000,
    "quote.csv": lambda: b'a,b\n"' + b"x\n" * 1_000_000,
    "columns.csv": lambda: b"a," * 200_000 + b"\n" + b"1," * 200_000,
    "nested.ipynb": lambda: b'{"cells": ' + b"[" * 200_000,
    "output.ipynb": lambda: notebook({"cell_type": "code", "source": "x", "outputs": [_OUTPUT]}),
    "nested.eml": partial(nested_mail, 3_000),
    "parts.eml": partial(mail_of_parts, 3_000),
    "subject.eml": lambda: b"Subject: " + b"=?utf-8?q?x?= " * 100_000 + b"\n\nhello",
    "braces.rtf": lambda: rb"{\rtf1 " + b"{" * 500_000,
    "bin.rtf": lambda: rb"{\rtf1\bin2000000000 x}",
    "adornment.rst": lambda: b"x\n" + b"=" * 2_000_000 + b"\n" + b"  * a\n" * 100_000,
    "stars.org": lambda: b"*" * 200_000 + b" a\n" + b"#+BEGIN_SRC\n" * 50_000,
    "equals.adoc": lambda: b"=" * 200_000 + b" a\n" + b"----\n" * 50_001 + b"|===\n" * 9_999,
    # Books and old Office
    "spine.epub": lambda: book(spine=100_000),
    "laughs.epub": lambda: book(doctype=LAUGHS),
    "deep.epub": lambda: book(chapter="<div>" * 100_000),
    "rubbish.doc": lambda: make_ole(
        {"WordDocument": b"\xec\xa5" + b"\xff" * 4_000, "1Table": b"\xff"}
    ),
    "loop.doc": ole_in_a_loop,
    "rubbish.msg": lambda: make_ole({"__properties_version1.0": b"\xff" * 4_000}),
}
