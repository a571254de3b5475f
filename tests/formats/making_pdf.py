"""Makes small PDF files by hand: pages, outline, links, fields, notes, attachments, encryption."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_KEY = bytes(range(16))


@dataclass(frozen=True)
class Page:
    """A page: its lines from top to bottom, and what is laid over it."""

    lines: Sequence[str | bytes] = ()
    size: int = 12
    first_size: int = 0
    """Another size for the first line."""
    links: Sequence[tuple[str, int]] = ()
    """Address and number of the line, from 0, that it is laid over."""
    annotations: Sequence[str] = ()
    """Whole dictionaries."""
    content: bytes | None = None
    """What is drawn, instead of the lines."""


@dataclass(frozen=True)
class Entry:
    """An entry of the outline that leads to a page, counted from 1."""

    title: str
    page: int
    inner: Sequence[Entry] = field(default=())


def make_pdf(
    pages: Sequence[Page | None],
    *,
    properties: dict[str, str] | None = None,
    outline: Sequence[Entry] = (),
    attachments: Sequence[str] = (),
    language: str = "",
    unicode_map: dict[int, str] | None = None,
    encrypt: str | None = None,
) -> bytes:
    """Return a PDF file; a page that is None is damaged.

    `encrypt` is a user's password for RC4, which leaves strings as they are, or `?` for a
    security handler nobody knows.
    """
    maker = _Maker(unicode_map or {})
    catalogue = maker.add_catalogue(pages, outline, attachments, language)
    information = maker.add(_dictionary({k: _text(v) for k, v in (properties or {}).items()}))
    trailer = f"/Root {catalogue} 0 R /Info {information} 0 R"
    return maker.finish(trailer, encrypt)


class _Maker:
    def __init__(self, unicode_map: dict[int, str]) -> None:
        self.objects: list[bytes] = []
        self.streams: dict[int, tuple[bytes, bytes]] = {}
        mapped = self.add_stream(_unicode_map(unicode_map)) if unicode_map else 0
        unicode = f"/ToUnicode {mapped} 0 R" if mapped else ""
        self.font = self.add(
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding"
            f" {unicode} >>"
        )

    def add(self, content: str | bytes) -> int:
        self.objects.append(content.encode("latin-1") if isinstance(content, str) else content)
        return len(self.objects)

    def add_stream(self, content: bytes, more: str = "") -> int:
        head = f"<< /Length {len(content)} {more} >>\nstream\n".encode()
        number = self.add(head + content + b"\nendstream")
        self.streams[number] = (head, content)
        return number

    def add_catalogue(
        self,
        pages: Sequence[Page | None],
        outline: Sequence[Entry],
        attachments: Sequence[str],
        language: str,
    ) -> int:
        tree = self.add("")
        kids = [self.add_page(page, tree) for page in pages]
        listed = " ".join(f"{kid} 0 R" for kid in kids)
        self.objects[tree - 1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
        more = f"/Lang {_text(language)}" if language else ""
        if outline:
            more += f" /Outlines {self.add_outline(outline, kids, 0)} 0 R"
        if attachments:
            names = " ".join(f"{_text(name)} {self.add_file(name)} 0 R" for name in attachments)
            more += f" /Names << /EmbeddedFiles << /Names [{names}] >> >>"
        return self.add(f"<< /Type /Catalog /Pages {tree} 0 R {more} >>")

    def add_page(self, page: Page | None, tree: int) -> int:
        if page is None:
            return self.add("(this is no page)")
        content = self.add_stream(_draw(page) if page.content is None else page.content)
        links = [_link(page, target, line) for target, line in page.links]
        annotations = " ".join((*links, *page.annotations))
        over = f"/Annots [{annotations}]" if annotations else ""
        return self.add(
            f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 600 800] /Contents {content} 0 R"
            f" /Resources << /Font << /F {self.font} 0 R >> >> {over} >>"
        )

    def add_outline(self, entries: Sequence[Entry], kids: list[int], parent: int) -> int:
        root = parent or self.add("")
        numbers = [self.add("") for _ in entries]
        for index, entry in enumerate(entries):
            around = "".join(
                f"/{name} {numbers[other]} 0 R "
                for name, other in (("Prev", index - 1), ("Next", index + 1))
                if 0 <= other < len(numbers)
            )
            inner = ""
            if entry.inner:
                first = len(self.objects) + 1
                self.add_outline(entry.inner, kids, numbers[index])
                inner = f"/First {first} 0 R /Last {first + len(entry.inner) - 1} 0 R /Count 1"
            self.objects[numbers[index] - 1] = (
                f"<< /Title {_text(entry.title)} /Parent {root} 0 R {around} {inner}"
                f" /Dest [{kids[entry.page - 1]} 0 R /Fit] >>"
            ).encode("latin-1")
        if not parent:
            ends = f"/First {numbers[0]} 0 R /Last {numbers[-1]} 0 R"
            self.objects[root - 1] = f"<< /Type /Outlines {ends} /Count {len(numbers)} >>".encode()
        return root

    def add_file(self, name: str) -> int:
        data = self.add_stream(b"data", "/Type /EmbeddedFile")
        return self.add(f"<< /Type /Filespec /UF {_text(name)} /EF << /F {data} 0 R >> >>")

    def finish(self, trailer: str, encrypt: str | None) -> bytes:
        if encrypt is not None:
            dictionary, key = _encryption(encrypt)
            for number, (head, content) in self.streams.items():
                secret = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
                self.objects[number - 1] = head + _rc4(secret, content) + b"\nendstream"
            trailer += f" /Encrypt {self.add(dictionary)} 0 R"
            trailer += f" /ID [<{_KEY.hex()}> <{_KEY.hex()}>]"
        done, places = bytearray(b"%PDF-1.7\n"), []
        for number, content in enumerate(self.objects, 1):
            places.append(len(done))
            done += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
        start = len(done)
        done += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode()
        done += "".join(f"{place:010} 00000 n \n" for place in places).encode()
        done += f"trailer\n<< /Size {len(places) + 1} {trailer} >>\n".encode()
        return bytes(done + f"startxref\n{start}\n%%EOF\n".encode())


def _draw(page: Page) -> bytes:
    done = [b"BT 50 750 Td"]
    for index, line in enumerate(page.lines):
        size = page.first_size if index == 0 and page.first_size else page.size
        shown = line.encode("cp1252") if isinstance(line, str) else line
        done.append(b"/F %d Tf <%s> Tj 0 -20 Td" % (size, shown.hex().encode()))
    return b"\n".join((*done, b"ET"))


def _link(page: Page, target: str, line: int) -> str:
    bottom = 750 - 20 * line - 3
    action = f"/A << /S /URI /URI {_string(target.encode())} >>"
    if target.startswith("#"):
        action = "/A << /S /GoTo /D [0 /Fit] >>"
    return f"<< /Type /Annot /Subtype /Link /Rect [48 {bottom} 590 {bottom + 14}] {action} >>"


def _text(value: str) -> str:
    return _string(b"\xfe\xff" + value.encode("utf-16-be"))


def _string(value: bytes) -> str:
    return f"<{value.hex()}>"


def _dictionary(values: dict[str, str]) -> str:
    return "<< " + " ".join(f"/{name} {value}" for name, value in values.items()) + " >>"


def _unicode_map(codes: dict[int, str]) -> bytes:
    rows = "\n".join(f"<{c:02x}> <{v.encode('utf-16-be').hex()}>" for c, v in codes.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{rows}\nendbfchar\nendcmap end end"
    ).encode()


def _encryption(password: str) -> tuple[str, bytes]:
    """Return the dictionary that tells of it, and the key."""
    if password == "?":
        return "<< /Filter /NobodysHandler /V 1 /R 2 /O <00> /U <00> /P -4 >>", _KEY
    owner = _rc4(hashlib.md5(_padded("owner")).digest()[:5], _padded(password))
    rights = (-4).to_bytes(4, "little", signed=True)
    key = hashlib.md5(_padded(password) + owner + rights + _KEY).digest()[:5]
    user = _rc4(key, _PADDING)
    proof = f"/O {_string(owner)} /U {_string(user)}"
    return f"<< /Filter /Standard /V 1 /R 2 {proof} /P -4 >>", key


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    done = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        done.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(done)
