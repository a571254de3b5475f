"""Zip packages for tests: whole ones, and such as only a hostile or broken program writes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

CONTENT_TYPES = "[Content_Types].xml"
_MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def make_zip(
    members: Mapping[str, str | bytes], *, compression: int = ZIP_DEFLATED, first: str = ""
) -> bytes:
    """Return a package; the member named `first` comes first and unpacked."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", compression) as package:
        for name in sorted(members, key=lambda name: name != first):
            kind = ZIP_STORED if name == first else compression
            package.writestr(name, members[name], compress_type=kind)
    return buffer.getvalue()


def relations(targets: Mapping[str, tuple[str, str]], *, external: bool = False) -> str:
    """Return the XML of relations: id to type and target."""
    mode = ' TargetMode="External"' if external else ""
    rows = "".join(
        f'<Relationship Id="{key}" Type="{kind}" Target="{target}"{mode}/>'
        for key, (kind, target) in targets.items()
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{rows}</Relationships>'


def office(main: str, parts: Mapping[str, str | bytes], *, types: str = "") -> bytes:
    """Return an Office package with this main part."""
    base = {
        CONTENT_TYPES: f'<Types><Override PartName="/{main}" ContentType="{types}"/></Types>',
        "_rels/.rels": relations({"rId1": (_MAIN, main)}),
    }
    return make_zip({**base, **parts})


def spoil(data: bytes, old: bytes, new: bytes) -> bytes:
    """Replace bytes that must be there, everywhere."""
    assert old in data
    return data.replace(old, new)


def set_flag(data: bytes, flag: int = 1) -> bytes:
    """Set a general purpose flag on every member, in its header and in the directory."""
    made = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = made.find(mark)
        while at >= 0:
            made[at + offset] |= flag
            at = made.find(mark, at + 4)
    return bytes(made)


def claim_size(data: bytes, size: int) -> bytes:
    """Let the directory claim another unpacked size of every member."""
    made = bytearray(data)
    at = made.find(b"PK\x01\x02")
    while at >= 0:
        made[at + 24 : at + 28] = size.to_bytes(4, "little")
        at = made.find(b"PK\x01\x02", at + 4)
    return bytes(made)


def zip_of_zeros(name: str, size: int) -> bytes:
    """Return a package with one member of zeros, made without holding them all."""
    buffer = BytesIO()
    block = bytes(1 << 20)
    with ZipFile(buffer, "w", ZIP_DEFLATED) as package, package.open(name, "w") as member:
        for _ in range(size >> 20):
            member.write(block)
    return buffer.getvalue()


def deflate(data: bytes) -> bytes:
    """Return a zlib stream, as PDF holds them."""
    return zlib.compress(data, 9)
