"""The audit: one line for each call, in files of bounded size that tell when they were altered.

Several servers may write the same audit: a lock on the head file keeps their lines in one chain.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookwheel.errors import BadRequest
from bookwheel.settings import Settings
from bookwheel.telemetry.calls import EndedCall
from bookwheel.telemetry.chain import (
    START,
    Head,
    Line,
    dump,
    load_key,
    make_seal,
    read_head,
    read_line,
    write_head,
    write_line,
)

log = logging.getLogger(__name__)

KEPT_FILES = 4
"""Full files that are kept beside the one that is written."""
LONGEST_ARGUMENTS = 2000
_LONGEST_LINE = 16_384
_HEAD_BYTES = 200


def audit_path(settings: Settings, database: Path) -> Path | None:
    """Return where the audit of an index is written; None if none is wanted."""
    stated = settings["audit"]
    if stated == "off":
        return None
    return Path(stated) if stated else database.with_name(database.name + ".audit.jsonl")


def own_files(settings: Settings, database: Path) -> list[Path]:
    """Return every file that an audit may consist of: none of them is a document."""
    audit = audit_path(settings, database)
    if audit is None:
        return []
    older = [audit.with_name(f"{audit.name}.{age}") for age in range(1, KEPT_FILES + 1)]
    key = Path(settings["audit_key"]) if settings["audit_key"] else key_of(audit)
    return [audit, head_of(audit), making_of(audit), key, *older]


def key_of(audit: Path) -> Path:
    """Return where the key of an audit lies unless the operator says otherwise."""
    return audit.with_name(audit.name + ".key")


def head_of(audit: Path) -> Path:
    """Return the file that says how far an audit goes."""
    return audit.with_name(audit.name + ".head")


def making_of(audit: Path) -> Path:
    """Return what the next file of an audit is called until the full one is put aside."""
    return audit.with_name(audit.name + ".making")


def files_of(audit: Path) -> list[Path]:
    """Return the files of an audit that there are, the oldest first."""
    older = [audit.with_name(f"{audit.name}.{age}") for age in range(KEPT_FILES, 0, -1)]
    return [file for file in (*older, audit) if file.exists()]


class Audit:
    """Writes one line for each call; what keeps it from doing so is logged, once."""

    def __init__(self, file: Path, *, key: Path | None, queries: str, most_bytes: int) -> None:
        self._file = file
        self._key_file = key or key_of(file)
        self._queries = queries
        self._most_bytes = most_bytes
        self._is_failing = False
        self._head = _open_head(file)
        try:
            with self._locked():  # of servers that start together one makes the key
                self._key = load_key(self._key_file)
                self._lines = _open(file)
                if not os.fstat(self._head).st_size and not os.fstat(self._lines).st_size:
                    os.pwrite(self._head, write_head(self._key, Head()), 0)
        except BaseException:
            os.close(self._head)
            raise

    def close(self) -> None:
        """Close the files."""
        os.close(self._lines)
        os.close(self._head)

    def write(self, call: EndedCall) -> None:
        """Write the line of a call."""
        try:
            self._follow_folder()
            with self._locked():
                self._append(self._entry(call))
            self._is_failing = False
        except (OSError, BadRequest) as error:
            if not self._is_failing:
                why = getattr(error, "strerror", None) or error
                log.error("the audit %s cannot be written: %s", self._file, why)
            self._is_failing = True

    def _entry(self, call: EndedCall) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {
            "time": now,
            "caller": call.caller,
            "tool": call.tool,
            "outcome": call.outcome,
            "results": call.results,
            "ms": round(call.seconds * 1000, 1),
            **self._arguments(call.arguments),
        }

    def _arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the setting wants them: a text, a keyed hash, or nothing."""
        if self._queries == "none":
            return {}
        text = dump(arguments)
        if self._queries == "hash":
            return {"arguments_hash": make_seal(self._key, text)}
        if len(text) > LONGEST_ARGUMENTS:
            return {"arguments": text[:LONGEST_ARGUMENTS], "cut": True}
        return {"arguments": arguments}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._head, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._head, fcntl.LOCK_UN)

    def _append(self, entry: dict[str, Any]) -> None:
        self._follow_rotation()
        head = self._recall()
        line, seal = write_line(self._key, head, entry)
        raw = line.encode() + b"\n"
        if head.size and head.size + len(raw) > self._most_bytes:
            head = self._rotate(head)
        self._write_whole(raw, head.size)
        head = head._replace(last=head.last + 1, seal=seal, size=head.size + len(raw))
        os.pwrite(self._head, write_head(self._key, head), 0)

    def _write_whole(self, raw: bytes, size: int) -> None:
        """Write a line or nothing: on a full disk no part of it may stay."""
        try:
            if os.write(self._lines, raw) < len(raw):
                raise OSError(None, "the disk is full")
        except OSError:
            os.ftruncate(self._lines, size)
            raise

    def _follow_folder(self) -> None:
        """Go on with the head and the key of the audit's names, if ours are gone from there."""
        if not _lies_at(self._head, head_of(self._file)):
            self._key = load_key(self._key_file)
            _turn(self._head, _open_head(self._file))

    def _follow_rotation(self) -> None:
        """Go on in the file of the audit's name, if another process has put ours aside."""
        if not _lies_at(self._lines, self._file):
            _turn(self._lines, _open(self._file))

    def _recall(self) -> Head:
        """Return how far the lines go, by the head, or by the last line where the two disagree."""
        head = read_head(self._key, os.pread(self._head, _HEAD_BYTES, 0))
        size = os.fstat(self._lines).st_size
        if head is not None and size == head.size:
            return head
        if size and os.pread(self._lines, 1, size - 1) != b"\n":  # the power failed
            size += os.write(self._lines, b"\n")
        last = self._read_last(size)
        if head is None:
            return self._begin_anew(last, size)
        if last is not None and last.number > head.last:  # killed between the line and the head
            return head._replace(last=last.number, seal=last.seal, size=size)
        return head._replace(size=size)

    def _begin_anew(self, last: Line | None, size: int) -> Head:
        """Return a head in the place of one that was lost: how many lines went with it nobody
        knows, so a number is left out, which `audit verify` tells from then on."""
        log.error("%s was lost or changed: lines may be gone", head_of(self._file))
        first, number, seal = self._first_kept() or 1, 0, START
        if last is not None:
            number, seal = last.number, last.seal
        return Head(first, number + 1, seal, size)

    def _read_last(self, size: int) -> Line | None:
        start = max(0, size - _LONGEST_LINE)
        lines = os.pread(self._lines, size - start, start).decode("ascii", "replace").splitlines()
        return read_line(self._key, lines[-1]) if lines else None

    def _rotate(self, head: Head) -> Head:
        """Put the full file aside and drop the oldest; return the head of an empty one."""
        making = making_of(self._file)
        _turn(self._lines, _open(making))
        for age in range(KEPT_FILES - 1, -1, -1):
            older = self._file.with_name(f"{self._file.name}.{age}") if age else self._file
            if older.exists():
                older.replace(self._file.with_name(f"{self._file.name}.{age + 1}"))
        making.replace(self._file)
        return head._replace(first=self._first_kept() or head.last + 1, size=0)

    def _first_kept(self) -> int | None:
        with files_of(self._file)[0].open(encoding="ascii", errors="replace") as oldest:
            line = read_line(self._key, oldest.readline().rstrip("\n"))
        return line.number if line else None


def _lies_at(descriptor: int, file: Path) -> bool:
    """Tell whether the file that is open is the one of this name."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _turn(descriptor: int, opened: int) -> None:
    """Let a descriptor mean another file that was opened.

    It is never closed for that: its number would be a stranger's when the other cannot be opened.
    """
    try:
        os.dup2(opened, descriptor, inheritable=False)
    finally:
        os.close(opened)


def _open_head(file: Path) -> int:
    return os.open(head_of(file), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _open(file: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(file, flags, 0o600)
