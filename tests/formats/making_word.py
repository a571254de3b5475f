"""Makes small files of word processors in memory: docx, odt and doc."""

from __future__ import annotations

import struct
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_NAMES = (
    f'xmlns:w="{{word}}" xmlns:r="{_RELATIONS}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def package(parts: dict[str, str | bytes]) -> bytes:
    """Return a zip file with these members."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return out.getvalue()


def part(root: str, content: str, word: str = WORD) -> str:
    """Return a part of a docx file with all namespaces that tests use."""
    return f"<?xml version='1.0'?><w:{root} {_NAMES.format(word=word)}>{content}</w:{root}>"


def relations(*ties: tuple[str, str, str], external: tuple[str, ...] = ()) -> str:
    """Return the relations `id, kind, target` of a part."""
    lines = [
        f'<Relationship Id="{key}" Type="{_RELATIONS}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if key in external else "/>")
        for key, kind, target in ties
    ]
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(lines)}</Relationships>'


def docx(
    body: str,
    *,
    links: dict[str, str] | None = None,
    parts: dict[str, str] | None = None,
    main: str = "word/document.xml",
    word: str = WORD,
) -> bytes:
    """Return a docx file; parts are tied to the main one by the letters of their names."""
    ties = [(f"p-{name}", name.rstrip("0123456789"), f"{name}.xml") for name in parts or {}]
    ties += [(key, "hyperlink", target) for key, target in (links or {}).items()]
    folder, _, name = main.rpartition("/")
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Override PartName="/{main}" ContentType="{_TYPE}"/></Types>',
        "_rels/.rels": relations(("d", "officeDocument", main)),
        main: part("document", f"<w:body>{body}</w:body>", word),
        f"{folder}/_rels/{name}.rels": relations(*ties, external=tuple(links or {})),
    }
    members |= {f"{folder}/{key}.xml": content for key, content in (parts or {}).items()}
    return package(members)


def run(text: str) -> str:
    """Return a run of text."""
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def anchored(text: str, anchor: str) -> str:
    """Return a link to a place in the document itself."""
    return f'<w:hyperlink w:anchor="{anchor}">{run(text)}</w:hyperlink>'


def related(text: str, key: str) -> str:
    """Return a link to what a relation names."""
    return f'<w:hyperlink r:id="{key}">{run(text)}</w:hyperlink>'


def mark(kind: str) -> str:
    """Return the beginning, middle or end of a field."""
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def field(instruction: str, result: str = "", end: str = "end") -> str:
    """Return a field with what it shows."""
    shown = mark("separate") + run(result) if result else ""
    inner = instruction
    if not instruction.startswith("<"):
        inner = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    return mark("begin") + inner + shown + (mark(end) if end else "")


def p(text: str = "", format: str = "", more: str = "") -> str:
    """Return a paragraph of a docx file."""
    run = f"<w:r><w:t>{text}</w:t></w:r>" if text else ""
    return f"<w:p><w:pPr>{format}</w:pPr>{run}{more}</w:p>"


def styled(text: str, style: str) -> str:
    """Return a paragraph with a style."""
    return p(text, f'<w:pStyle w:val="{style}"/>')


def listed(text: str, numbering: int, level: int = 0) -> str:
    """Return an item of a list."""
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{numbering}"/></w:numPr>')


def table(*rows: str) -> str:
    """Return a table of a docx file."""
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def cell(content: str, format: str = "") -> str:
    """Return a cell; plain text is its only paragraph."""
    inner = content if content.startswith("<") else p(content)
    return f"<w:tc><w:tcPr>{format}</w:tcPr>{inner}</w:tc>"


_OPEN = "urn:oasis:names:tc:opendocument:xmlns:"
_OPEN_NAMES = " ".join(
    f'xmlns:{prefix}="{_OPEN}{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
        ("fo", "xsl-fo-compatible"),
        ("svg", "svg-compatible"),
        ("meta", "meta"),
    )
)
_OPEN_NAMES += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
_OPEN_NAMES += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'


def odt(
    body: str,
    *,
    styles: str = "",
    common: str = "",
    meta: str = "",
    manifest: str = "",
    parts: dict[str, str | bytes] | None = None,
) -> bytes:
    """Return an OpenDocument text; parts are other members of its package."""
    shared = f"<office:document-styles {_OPEN_NAMES}>{common}</office:document-styles>"
    return package(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {_OPEN_NAMES}>"
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:text>{body}</office:text></office:body>"
            "</office:document-content>",
            "styles.xml": shared,
            "meta.xml": f"<office:document-meta {_OPEN_NAMES}><office:meta>{meta}</office:meta>"
            "</office:document-meta>",
            "META-INF/manifest.xml": manifest or "<manifest/>",
            **(parts or {}),
        }
    )


def ole(streams: dict[str, bytes]) -> bytes:
    """Return an OLE file; streams are padded, so that none of them is a small one."""
    sector = 512
    padded = {name: data.ljust(4_096, b"\0") for name, data in streams.items()}
    chains: list[int] = []
    starts: dict[str, int] = {}
    body = b""
    for name, data in padded.items():
        count = -(-len(data) // sector)
        starts[name] = len(chains)
        chains += [*range(len(chains) + 1, len(chains) + count), -2]
        body += data.ljust(count * sector, b"\0")
    directory = len(chains)
    names = ["Root Entry", *padded]
    count = -(-len(names) * 128 // sector)
    chains += [*range(directory + 1, directory + count), -2]
    entries = b"".join(
        _entry(name, index, len(names), starts.get(name, -2), len(padded.get(name, b"")))
        for index, name in enumerate(names)
    )
    body += entries.ljust(count * sector, b"\0")
    table = len(chains)
    chains.append(-3)
    allocation = struct.pack(f"<{len(chains)}i", *chains).ljust(sector, b"\xff")
    assert len(allocation) == sector
    head = struct.pack(
        "<8s16sHHHHH6sIIIIIiIiI",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"",
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        b"",
        0,
        1,
        directory,
        0,
        4_096,
        -2,
        0,
        -2,
        0,
    )
    return (head + struct.pack("<i", table)).ljust(sector, b"\xff") + body + allocation


def _entry(name: str, index: int, count: int, start: int, size: int) -> bytes:
    letters = name.encode("utf-16-le")
    right = index + 1 if 0 < index < count - 1 else -1
    return struct.pack(
        "<64sHBBiii16sIQQiQ",
        letters,
        len(letters) + 2,
        2 if index else 5,
        1,
        -1,
        right,
        -1 if index else 1,
        b"",
        0,
        0,
        0,
        start,
        size,
    )


def doc(
    text: str,
    *,
    wide: bool = True,
    flags: int = 0,
    kind: int = 0xA5EC,
    version: int = 0xC1,
    lengths: tuple[int, ...] = (),
    properties: list[tuple[int, int, bytes]] | None = None,
    summary: bytes = b"",
    styles: bytes = b"",
) -> bytes:
    """Return a file of Word 97; properties are `last letter, style, bytes` of paragraphs."""
    data = text.encode("utf-16-le" if wide else "cp1252")
    start = 2_048
    page = -(-(start + len(data)) // 512)
    counts = (*(lengths or (len(text),)), *[0] * 8)[:8]
    header = bytearray(start)
    struct.pack_into("<HH", header, 0, kind, version)
    struct.pack_into("<H", header, 0x0A, 0x0200 | flags)
    struct.pack_into("<8i", header, 0x4C, *counts)
    place = start if wide else start * 2 | 0x40000000
    pieces = struct.pack("<BIIIHIH", 2, 16, 0, len(text), 0, place, 0)
    struct.pack_into("<II", header, 0x1A2, 0, len(pieces))
    bins = struct.pack("<III", start, start + len(data), page)
    struct.pack_into("<II", header, 0x102, len(pieces), len(bins))
    struct.pack_into("<II", header, 0xA2, len(pieces) + len(bins), len(styles))
    width = 2 if wide else 1
    body = bytes(header) + data
    body = body.ljust(page * 512, b"\0") + _properties(properties or [], start, width)
    streams = {"WordDocument": body, "1Table": pieces + bins + styles}
    return ole(streams | {"\x05SummaryInformation": summary} if summary else streams)


def style_sheet(*styles: tuple[int, int, int, str, bytes] | None) -> bytes:
    """Return the styles of a file of Word 97: `kind, type, base, name, bytes`, or none."""
    sheet = struct.pack("<HHH", 4, len(styles), 10)
    for style in styles:
        if style is None:
            sheet += struct.pack("<H", 0)
            continue
        kind, stk, base, name, properties = style
        entry = struct.pack("<5H", kind, stk | base << 4, 1, 0, 0)
        entry += struct.pack("<H", len(name)) + f"{name}\0".encode("utf-16-le")
        entry += struct.pack("<HH", 2 + len(properties), 0) + properties
        sheet += struct.pack("<H", len(entry)) + entry + b"\0" * (len(entry) % 2)
    return sheet


def old_doc(
    data: bytes,
    *,
    language: int = 0x409,
    letters: int = 0,
    flags: int = 0,
    pieces: list[tuple[int, int]] | None = None,
    properties: list[tuple[int, bytes]] | None = None,
    lengths: tuple[int, ...] = (),
) -> bytes:
    """Return a file of Word 6; pieces are `first, last` byte of the data, in their order.

    Properties are `last letter, bytes` of paragraphs, the bytes from the style on.
    """
    start = 768
    page = -(-(start + len(data)) // 512)
    header = bytearray(start)
    struct.pack_into("<HH2xH2xH", header, 0, 0xA5DC, 101, language, flags | (4 if pieces else 0))
    struct.pack_into("<H2xII", header, 0x14, letters, start, start + len(data))
    length = sum(last - first for first, last in pieces) if pieces else len(data)
    struct.pack_into("<8i", header, 0x34, *(*(lengths or (length,)), *[0] * 8)[:8])
    body = (bytes(header) + data).ljust(page * 512, b"\0") + _old_page(properties or [], start)
    bins = struct.pack("<IIH", start, start + len(data), page)
    struct.pack_into("<II", header, 0xC0, len(body), len(bins))
    borders = [sum(last - first for first, last in (pieces or [])[:n]) for n in range(99)]
    table = struct.pack(f"<{len(pieces or []) + 1}I", *borders[: len(pieces or []) + 1])
    table += b"".join(struct.pack("<HIH", 0, start + first, 0) for first, _ in pieces or [])
    table = struct.pack("<BI", 2, len(table)) + table
    struct.pack_into("<II", header, 0x160, len(body) + len(bins), len(table))
    return ole({"WordDocument": bytes(header) + body[start:] + bins + table})


def _old_page(properties: list[tuple[int, bytes]], start: int) -> bytes:
    """Return a page of properties of paragraphs, which end at these letters."""
    page = bytearray(512)
    page[511] = len(properties)
    ends = [start, *(start + last for last, _ in properties)]
    struct.pack_into(f"<{len(ends)}I", page, 0, *ends)
    at = 510
    for index, (_, said) in enumerate(properties):
        said += b"\0" * (1 - len(said) % 2)
        at -= (len(said) + 2) // 2 * 2
        page[at : at + 1 + len(said)] = bytes((len(said) // 2 + len(said) % 2,)) + said
        page[4 * len(ends) + 7 * index] = at // 2
    return bytes(page)


def summarize(values: dict[int, bytes]) -> bytes:
    """Return a stream of properties; each value begins with its type."""
    at = 8 + 8 * len(values)
    table = packed = b""
    for key, value in values.items():
        table += struct.pack("<II", key, at + len(packed))
        packed += value
    section = struct.pack("<II", at + len(packed), len(values)) + table + packed
    return b"\xfe\xff".ljust(44, b"\0") + struct.pack("<I", 48) + section


def _properties(found: list[tuple[int, int, bytes]], start: int, width: int) -> bytes:
    """Return a page with the properties of paragraphs."""
    page = bytearray(512)
    ends = [start, *(start + (last + 1) * width for last, _, _ in found)]
    struct.pack_into(f"<{len(ends)}I", page, 0, *ends)
    free = 510
    for index, (_, style, data) in enumerate(found):
        grouped = struct.pack("<H", style) + data
        entry = bytes([0, -(-len(grouped) // 2)]) + grouped
        free -= len(entry) + len(entry) % 2
        page[free : free + len(entry)] = entry
        page[4 * len(ends) + 13 * index] = free // 2
    page[511] = len(found)
    return bytes(page)
