"""Which files of a word index were found to be as they were written, and need not be read again.

A file that looks as it did when its sum was verified is taken for whole for a day. What is noted on
disk is written by the holder of the writer lock alone; others remember for themselves.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bookwheel.engines.embedded import files
from bookwheel.engines.embedded.lexical import KINDS

_NOTE = "verified.json"
_DAY = 86_400.0


class _Look(NamedTuple):
    """How a file looked when it was verified, and when that was."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int
    at: float


class VerifiedFiles:
    """The files of one word index, each read whole before it is trusted."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._known: dict[Path, _Look] | None = None
        self._tables = 0
        self._is_noted = False

    def find_damage(self) -> list[str]:
        """Name each file that is missing or not as it was written; remember those that are."""
        if self._known is None:
            self._read_note()
        whole: dict[Path, _Look] = {}
        damage = files.find_damage(self._folder, partial(self._is_whole, whole))
        self._known = whole  # of files that are no more nothing is kept
        return damage

    def are_alike(self) -> bool:
        """Tell whether all files look as they did when they were verified: asked at each search."""
        now = self._clock()
        try:
            return all(
                known[:4] == _look_of(file.stat(), now)[:4] and known.at <= now < known.at + _DAY
                for file, known in (self._known or {}).items()
            )
        except OSError:
            return False

    @property
    def is_doubtful(self) -> bool:
        """Tell whether the tables of contents, which carry no sums, are others than were noted."""
        if self._known is None:
            self._read_note()
        return self._tables != _sum_tables(self._folder)

    def note(self) -> None:
        """Note what is there now, all of it just verified, for the processes that come."""
        if self._is_noted and not self.is_doubtful:
            return
        self._tables = _sum_tables(self._folder)
        self._is_noted = True
        making = self._folder / f"{_NOTE}.making"
        try:
            known = {
                str(file.relative_to(self._folder)): look
                for file, look in (self._known or {}).items()
            }
            making.write_text(json.dumps([self._tables, known]), encoding="utf-8")
            making.replace(self._folder / _NOTE)
        except OSError:
            pass  # it only saves time: whoever finds none reads the files

    def forget(self) -> None:
        """Forget what is known of files that are no more."""
        self._known, self._is_noted = None, False

    def _read_note(self) -> None:
        self._known, self._tables = {}, 0
        try:
            tables, known = json.loads((self._folder / _NOTE).read_bytes())
            self._known = {self._folder / name: _Look(*look) for name, look in known.items()}
            self._tables, self._is_noted = tables, True
        except (OSError, ValueError, TypeError, AttributeError):
            pass

    def _is_whole(self, whole: dict[Path, _Look], file: Path) -> bool:
        now = self._clock()
        try:
            look = _look_of(file.stat(), now)
        except OSError:
            return False
        known = (self._known or {}).get(file)
        if known and known[:4] == look[:4] and known.at <= now < known.at + _DAY:
            whole[file] = known
            return True
        if not files.is_whole(file):
            return False
        whole[file], self._is_noted = look, False
        return True


def _look_of(seen: os.stat_result, at: float) -> _Look:
    return _Look(seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, at)


def _sum_tables(folder: Path) -> int:
    """Return a sum over the tables of contents; 0 where one cannot be read."""
    total = 0
    try:
        for kind in KINDS:
            total = zlib.crc32((folder / kind / "meta.json").read_bytes(), total)
    except OSError:
        return 0
    return total
