"""The files of a word index: whether each is as it was written, by the sums that they carry."""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bookwheel.engines.embedded.leave import TABLE
from bookwheel.engines.embedded.lexical import KINDS

_ENDING = struct.Struct("<II")
"""A segment file ends with a JSON text, the length of that text, and a magic number."""
_MAGIC = 1337
_STEP = 1 << 20
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)
_LEFTOVER = re.compile(r"[0-9a-f]{32}\..+|\.tmp\w+")
_MERGED, _SMALLEST, _ALIKE = 8, 10_000, 2**-0.75
"""By its rule the binding merges eight segments of a size, between one and 2 ** 0.75 times as many
entries as the smallest, where those of less than ten thousand entries are all of a size."""
_ALWAYS = (".term", ".idx", ".pos", ".fieldnorm", ".fast", ".store")


def schema_sum(folder: Path) -> int:
    """Return a sum over the schemas of a word index; raises ValueError or OSError if unreadable."""
    schemas = [_read_meta(folder / kind).get("schema") for kind in KINDS]
    return zlib.crc32(json.dumps(schemas).encode())


def find_damage(folder: Path, is_sound: Callable[[Path], bool] | None = None) -> list[str]:
    """Name each file of a word index that is missing or not as it was written."""
    sound = is_sound or is_whole
    return [damage for kind in KINDS for damage in _find_damage(folder / kind, sound)]


def list_needed(folder: Path) -> Iterator[Path]:
    """Yield the files of a word index that are read whenever it is opened."""
    for kind in KINDS:
        yield folder / kind / TABLE
        try:
            names = list(_segment_files(_read_meta(folder / kind)))
        except _UNREADABLE:
            continue  # whoever asked whether it may be read knows by now, or it is damaged
        yield from (folder / kind / name for name in names)


def sweep(folder: Path) -> None:
    """Remove what a killed writer has left; only the holder of the writer lock may do so.

    The binding never removes such files, and stumbles over one when it comes to write the same.
    """
    for kind in KINDS:
        try:
            living = set(_segment_files(_read_meta(folder / kind)))
        except _UNREADABLE:
            continue
        for file in (folder / kind).iterdir():
            if file.name not in living and _LEFTOVER.fullmatch(file.name):
                file.unlink(missing_ok=True)


def is_crowded(folder: Path) -> bool:
    """Tell whether segments wait to be merged: as many of about a size as the binding merges."""
    try:
        return any(_is_crowded(_read_meta(folder / kind)) for kind in KINDS)
    except _UNREADABLE:
        return False  # whoever reads it finds that out


def _is_crowded(meta: dict[str, Any]) -> bool:
    sizes = [
        segment["max_doc"] - (segment["deletes"] or {}).get("num_deleted_docs", 0)
        for segment in meta["segments"]
    ]
    largest, alike = math.inf, 0
    for size in sorted((max(size, _SMALLEST) for size in sizes), reverse=True):
        if size < largest * _ALIKE:
            largest, alike = size, 0
        alike += 1
        if alike >= _MERGED:
            return True
    return False


def _find_damage(folder: Path, is_sound: Callable[[Path], bool]) -> list[str]:
    """Look again as long as another process commits meanwhile and takes old files away."""
    while True:
        try:
            meta = _read_meta(folder)
            names = list(_segment_files(meta))
            broken = [name for name in names if not is_sound(folder / name)]
            is_same = not broken or _read_meta(folder) == meta
        except PermissionError as error:
            return [f"the word index of {folder.name} is closed (os error {error.errno})"]
        except _UNREADABLE:
            return [f"the word index of {folder.name} has lost its table of contents"]
        if is_same:
            return [f"the word index file {folder.name}/{name} is damaged" for name in broken]


def _read_meta(folder: Path) -> dict[str, Any]:
    meta = json.loads((folder / "meta.json").read_bytes())
    if not isinstance(meta, dict):
        raise ValueError("no table")
    return meta


def _segment_files(meta: dict[str, Any]) -> Iterator[str]:
    for segment in meta["segments"]:
        name = segment["segment_id"].replace("-", "")
        yield from (name + ending for ending in _ALWAYS)
        if segment["deletes"]:
            yield f"{name}.{segment['deletes']['opstamp']}.del"


def is_whole(file: Path) -> bool:
    """Tell whether a file is as it was written, by the sum that it carries."""
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - _ENDING.size))
            length, magic = _ENDING.unpack(opened.read())
            if magic != _MAGIC:
                return False
            rest = size - _ENDING.size - length
            opened.seek(max(0, rest))
            stated = json.loads(opened.read(length))["crc"]
            opened.seek(0)
            found = 0
            while rest > 0 and (part := opened.read(min(_STEP, rest))):
                found = zlib.crc32(part, found)
                rest -= len(part)
    except (OSError, struct.error, ValueError, KeyError, TypeError):
        return False
    return rest == 0 and bool(found == stated)
