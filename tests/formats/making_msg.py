"""Makes small OLE files and Outlook messages for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Union

Tree = Mapping[str, Union[bytes, "Tree"]]

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SMALL = 4_096


def ole_file(tree: Tree) -> bytes:
    """Return an OLE file of these storages and streams."""
    return _Writer(tree).write()


class _Writer:
    """Places streams in sectors of 512 bytes, short ones in sectors of 64."""

    def __init__(self, tree: Tree) -> None:
        self.sectors: list[bytes] = []
        self.chain: list[int] = []
        self.small = bytearray()
        self.small_chain: list[int] = []
        self.entries: list[bytearray] = [bytearray(128)]
        self.names: list[tuple[str, int, int, int]] = [("Root Entry", 5, 0, 0)]
        self.kin: list[list[int]] = [[_FREE, _FREE]]
        self.add(0, tree)

    def add(self, parent: int, tree: Tree) -> None:
        previous = -1
        for name, value in tree.items():
            index = len(self.names)
            self.kin.append([_FREE, _FREE])
            if previous < 0:
                self.kin[parent][1] = index
            else:
                self.kin[previous][0] = index
            previous = index
            if isinstance(value, bytes):
                self.names.append((name, 2, self.place(value), len(value)))
            else:
                self.names.append((name, 1, 0, 0))
                self.add(index, value)

    def place(self, data: bytes) -> int:
        if not data:
            return _END
        if len(data) >= _SMALL:
            return self.append(data)
        first = len(self.small_chain)
        count = -(-len(data) // 64)
        self.small += data.ljust(count * 64, b"\0")
        self.small_chain += [*range(first + 1, first + count), _END]
        return first

    def append(self, data: bytes) -> int:
        first = len(self.sectors)
        count = -(-len(data) // 512)
        padded = data.ljust(count * 512, b"\0")
        self.sectors += [padded[at * 512 : at * 512 + 512] for at in range(count)]
        self.chain += [*range(first + 1, first + count), _END]
        return first

    def directory(self, small_start: int) -> Iterator[bytes]:
        for index, (name, kind, start, size) in enumerate(self.names):
            if index == 0:
                start, size = small_start, len(self.small)
            wide = name.encode("utf-16-le") + b"\0\0"
            right, child = self.kin[index]
            yield wide.ljust(64, b"\0") + struct.pack(
                "<HBBIII36xIII", len(wide), kind, 1, _FREE, right, child, start, size, 0
            )

    def write(self) -> bytes:
        small_start = self.append(bytes(self.small)) if self.small else _END
        packed = struct.pack(f"<{len(self.small_chain)}I", *self.small_chain)
        links = self.append(packed.ljust(512, b"\xff")) if packed else _END
        directory = self.append(b"".join(self.directory(small_start)))
        count = 1
        while (len(self.chain) + count) > count * 128:
            count += 1
        first = len(self.chain)
        table = [*self.chain, *[_FAT] * count]
        table += [_FREE] * (count * 128 - len(table))
        self.sectors.append(struct.pack(f"<{len(table)}I", *table))
        header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
        header += struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, count, directory, 0,
                              _SMALL, links, -(-len(packed) // 512), _END, 0)  # fmt: skip
        pointers = [*range(first, first + count)] + [_FREE] * (109 - count)
        return header + struct.pack("<109I", *pointers) + b"".join(self.sectors)


def properties(header: int, **numbers: int) -> bytes:
    """Return a property stream; names are `x3FFD_4` for an integer of four bytes and so on."""
    found = bytes(header)
    for name, value in numbers.items():
        number, _, size = name.removeprefix("x").partition("_")
        kind = {"4": 0x0003, "8": 0x0040}[size]
        found += struct.pack("<HHIQ", kind, int(number, 16), 6, value)
    return found


def wide(**texts: str) -> dict[str, bytes]:
    """Return streams of Unicode properties; names are `x0037` and so on."""
    return {
        f"__substg1.0_{name.removeprefix('x').upper()}001F": text.encode("utf-16-le")
        for name, text in texts.items()
    }


def narrow(**texts: bytes) -> dict[str, bytes]:
    """Return streams of properties in some code page."""
    return {
        f"__substg1.0_{name.removeprefix('x').upper()}001E": text for name, text in texts.items()
    }
