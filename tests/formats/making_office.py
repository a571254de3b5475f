"""Small Office files for tests, made in memory."""

from __future__ import annotations

import struct
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
NAMES = (
    f'xmlns:p="{SLIDES}" xmlns:a="{DRAWING}" xmlns:r="{_OFFICE}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)


def pack(parts: dict[str, str | bytes]) -> bytes:
    """Return a zip package of these parts."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return file.getvalue()


def relations(*rows: str) -> str:
    """Return a part of relations from rows such as `r1 slide slides/a.xml`."""
    found = ""
    for row in rows:
        name, kind, target = row.split(" ", 2)
        mode = ' TargetMode="External"' if "://" in target or "mailto:" in target else ""
        base = f"{_PACKAGE}/relationships/metadata" if kind == "core-properties" else _OFFICE
        found += f'<Relationship Id="{name}" Type="{base}/{kind}" Target="{target}"{mode}/>'
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{found}</Relationships>'


def core(**values: str) -> str:
    """Return the part of properties."""
    rows = "".join(f"<dc:{name}>{value}</dc:{name}>" for name, value in values.items())
    return (
        '<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" '
        f'xmlns:cp="{_PACKAGE}/metadata/core-properties">{rows}</cp:coreProperties>'
    )


def shape(text: str, kind: str | None = None, *, inner: str = "") -> str:
    """Return a shape; its paragraphs are lines, more tabs in front of one are deeper levels."""
    mark = "" if kind is None else f'<p:ph type="{kind}"/>' if kind else "<p:ph/>"
    lines = "".join(
        f'<a:p><a:pPr lvl="{len(line) - len(line.lstrip(chr(9)))}"/>'
        f"<a:r><a:t>{line.strip()}</a:t></a:r></a:p>"
        for line in text.split("\n")
    )
    about = f'<p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>{mark}</p:nvPr></p:nvSpPr>'
    return f"<p:sp>{about}<p:txBody>{inner or lines}</p:txBody></p:sp>"


def slide(*shapes: str, show: str = "1") -> str:
    """Return a slide of these shapes."""
    tree = f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>"
    return f'<p:sld {NAMES} show="{show}">{tree}</p:sld>'


def pptx(*slides: str, more: dict[str, str | bytes] | None = None, strict: bool = False) -> bytes:
    """Return a presentation; its slides are stored in the reverse of their order."""
    count = len(slides)
    listed = "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in range(count))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types><Override ContentType="x/presentationml.presentation.main"/>'
        "</Types>",
        "_rels/.rels": relations(
            "r1 officeDocument ppt/presentation.xml", "r2 core-properties docProps/core.xml"
        ),
        "ppt/presentation.xml": f"<p:presentation {NAMES}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(f"r{n} slide slides/slide{count - n}.xml" for n in range(count))
        ),
    }
    parts |= {f"ppt/slides/slide{count - n}.xml": slides[n] for n in reversed(range(count))}
    parts |= more or {}
    if strict:
        for name, content in parts.items():
            if isinstance(content, str):
                content = content.replace(_OFFICE, _STRICT).replace(DRAWING, "http://x/drawing")
                parts[name] = content.replace(SLIDES, "http://x/slides")
    return pack(parts)


_STYLES = (
    f'<styleSheet xmlns="{SHEETS}"><numFmts><numFmt numFmtId="164" formatCode="[h]:mm:ss"/>'
    '</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>'
    '<xf numFmtId="164"/><xf numFmtId="21"/></cellXfs></styleSheet>'
)


def sheet(*rows: str, after: str = "") -> str:
    """Return a sheet; a row is `number: cells`, a cell is XML or `A1=text`, parted by ` | `."""
    found = ""
    for row in rows:
        number, _, cells = row.partition(": ")
        shown = "".join(_cell(cell) for cell in cells.split(" | "))
        found += f'<row r="{number}">{shown}</row>'
    data = f"<sheetData>{found}</sheetData>{after}"
    return f'<worksheet xmlns="{SHEETS}" xmlns:r="{_OFFICE}">{data}</worksheet>'


def _cell(cell: str) -> str:
    if cell.startswith("<"):
        return cell
    place, _, text = cell.partition("=")
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def xlsx(
    sheets: dict[str, str], *, more: dict[str, str | bytes] | None = None, workbook: str = ""
) -> bytes:
    """Return a workbook; a name that ends in `!` is that of a hidden sheet."""
    listed = "".join(
        f'<sheet name="{name.rstrip("!")}" sheetId="{n}" r:id="r{n}" '
        f'state="{"hidden" if name.endswith("!") else "visible"}"/>'
        for n, name in enumerate(sheets, 1)
    )
    rows = [f"r{n} worksheet worksheets/sheet{n}.xml" for n in range(1, len(sheets) + 1)]
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types><Default ContentType="x/spreadsheetml.sheet.main"/></Types>',
        "_rels/.rels": relations(
            "r1 officeDocument xl/workbook.xml", "r2 core-properties docProps/core.xml"
        ),
        "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{_OFFICE}">{workbook}'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(*rows, "r99 styles styles.xml"),
        "xl/styles.xml": _STYLES,
    }
    parts |= {f"xl/worksheets/sheet{n}.xml": text for n, text in enumerate(sheets.values(), 1)}
    return pack(parts | (more or {}))


_ODF = (
    "".join(
        f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in {
            "office": "office",
            "text": "text",
            "table": "table",
            "draw": "drawing",
            "presentation": "presentation",
            "style": "style",
            "meta": "meta",
            "svg": "svg-compatible",
            "chart": "chart",
        }.items()
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def opendocument(kind: str, body: str, more: dict[str, str | bytes] | None = None) -> bytes:
    """Return an OpenDocument file of a kind such as `presentation`."""
    parts: dict[str, str | bytes] = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content{_ODF}>{body}</office:document-content>",
        "meta.xml": f"<office:document-meta{_ODF}><office:meta><dc:title>Kept</dc:title>"
        "<meta:keyword>one</meta:keyword><meta:keyword>two</meta:keyword></office:meta>"
        "</office:document-meta>",
        "META-INF/manifest.xml": "<m:manifest xmlns:m='m'/>",
    }
    parts |= {
        name: content.replace("<root>", f"<root{_ODF}>") if isinstance(content, str) else content
        for name, content in (more or {}).items()
    }
    return pack(parts)


def ole(streams: dict[str, bytes]) -> bytes:
    """Return an OLE file; each stream is filled up with zeros to the size of a plain stream."""
    contents = [s.ljust(max(4096, -(-len(s) // 512) * 512), b"\0") for s in streams.values()]
    sizes = [len(content) // 512 for content in contents]
    tables = -(-(sum(sizes) + len(streams) + 16) // 128) + 1
    directory = -(-(len(streams) + 1) // 4)
    table = [0xFFFFFFFD] * tables
    starts: list[int] = []
    for size in (directory, *sizes):
        starts.append(len(table))
        table += [*range(len(table) + 1, len(table) + size), 0xFFFFFFFE]
    table += [0xFFFFFFFF] * (tables * 128 - len(table))
    entries = [_entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1 if streams else 0xFFFFFFFF)]
    for index, (name, content) in enumerate(zip(streams, contents, strict=True), 1):
        following = index + 1 if index < len(streams) else 0xFFFFFFFF
        entries.append(_entry(name, 2, starts[index], len(content), right=following))
    entries += [bytes(128)] * (directory * 4 - len(entries))
    difat = [*range(tables), *[0xFFFFFFFF] * (109 - tables)]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, tables, starts[0], 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<109I", *difat)
    body = struct.pack(f"<{len(table)}I", *table) + b"".join(entries)
    return header + body + b"".join(contents)


def _entry(
    name: str, kind: int, start: int, size: int, *, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF
) -> bytes:
    letters = name.encode("utf-16-le") + b"\0\0"
    head = letters.ljust(64, b"\0") + struct.pack("<HBB", len(letters), kind, 1)
    return (
        head
        + struct.pack("<III", 0xFFFFFFFF, right, child)
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )


def biff(kind: int, content: bytes = b"") -> bytes:
    """Return one record of an old Excel file."""
    return struct.pack("<HH", kind, len(content)) + content


def xls(*cells: bytes, first: bytes = b"") -> bytes:
    """Return an old Excel file with one sheet of these records."""
    begin = struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)
    name = b"\x05\x00Old 1"
    bound_size = 4 + 6 + len(name)
    top = biff(0x809, begin) + first
    start = len(top) + bound_size + 4
    top += biff(0x85, struct.pack("<IH", start, 0) + name) + biff(0x0A)
    page = biff(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    page += biff(0x200, struct.pack("<IIHHH", 0, 9, 0, 9, 0))
    return ole({"Workbook": top + page + b"".join(cells) + biff(0x0A)})


def label(row: int, column: int, text: str) -> bytes:
    """Return a cell with text."""
    content = struct.pack("<HHHHB", row, column, 0, len(text), 1) + text.encode("utf-16-le")
    return biff(0x204, content)


def number(row: int, column: int, value: float) -> bytes:
    """Return a cell with a number."""
    return biff(0x203, struct.pack("<HHHd", row, column, 0, value))


def atom(kind: int, content: bytes = b"", instance: int = 0) -> bytes:
    """Return one record of an old PowerPoint file."""
    return struct.pack("<HHI", instance << 4, kind, len(content)) + content


def container(kind: int, *inner: bytes, instance: int = 0) -> bytes:
    """Return a record that holds others."""
    content = b"".join(inner)
    return struct.pack("<HHI", instance << 4 | 0xF, kind, len(content)) + content


def text_atoms(kind: int, text: str) -> bytes:
    """Return the records of a text."""
    return atom(0x0F9F, struct.pack("<I", kind)) + atom(0x0FA0, text.encode("utf-16-le"))


def text_shape(content: bytes, placeholder: int = 0) -> bytes:
    """Return a shape with a text."""
    mark = atom(0x0BC3, struct.pack("<iBBH", 0, placeholder, 0, 0))
    return container(0xF004, container(0xF011, mark), container(0xF00D, content))


def old_slide(*shapes: bytes, kind: int = 0x03EE, first: bytes = b"", last: bytes = b"") -> bytes:
    """Return a slide, or a page of notes, with these shapes."""
    drawing = container(0x040C, container(0xF002, container(0xF003, *shapes)))
    return container(kind, first, drawing, last)


def ppt(
    slides: list[tuple[bytes, bytes]], notes: list[bytes] | None = None, links: bytes = b""
) -> bytes:
    """Return an old presentation of slides with their outlines; they are stored in reverse."""
    stream, places = b"", [0]
    pages = [*(page for page, _ in slides), *(notes or [])]
    found: dict[int, int] = {}
    for index in reversed(range(len(pages))):
        found[index] = len(stream)
        stream += pages[index]
    listed = [
        atom(0x03F3, struct.pack("<IIIII", n + 2, 0, 0, 256 + n, 0)) + outline
        for n, (_, outline) in enumerate(slides)
    ]
    noted = [
        atom(0x03F3, struct.pack("<IIIII", n + 2 + len(slides), 0, 0, n, 0))
        for n in range(len(notes or []))
    ]
    places = [len(stream), *(found[index] for index in range(len(pages)))]
    stream += container(
        0x03E8,
        container(0x0409, links),
        container(0x0FF0, *listed),
        container(0x0FF0, *noted, instance=2),
    )
    table = len(stream)
    stream += atom(0x1772, struct.pack(f"<{len(places) + 1}I", len(places) << 20 | 1, *places))
    edit = len(stream)
    stream += atom(0x0FF5, struct.pack("<IIIIIIHH", 0, 0, 0, table, 1, 0, 0, 0))
    current = atom(0x0FF6, struct.pack("<III", 20, 0xE391C05F, edit))
    return ole({"PowerPoint Document": stream, "Current User": current})
