"""Lines of an audit that vouch for each other: numbered, each naming the one before, each sealed.

A seal takes the key, so that whoever may write the file but not read the key can change nothing
unseen. What was cut off at the end is told by the head: a small sealed file beside the lines.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.errors import BadRequest

START = "0" * 32
"""What the first line names as the one before."""
_SEAL = ',"seal":"'
_KEY_BYTES = 32


class Head(NamedTuple):
    """How far the lines go: the first that is kept, the last, its seal, and the file's size."""

    first: int = 1
    last: int = 0
    seal: str = START
    size: int = 0


class Line(NamedTuple):
    """A line whose seal is right."""

    number: int
    before: str
    seal: str


def load_key(file: Path) -> bytes:
    """Return the key in a file that only its owner may read; make one if there is none."""
    if not file.exists():
        _make_key(file)
    return read_key(file)


def _make_key(file: Path) -> None:
    """Write a key that is there whole or not at all, whoever is killed; one that is there stays."""
    making = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(making, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(_KEY_BYTES) + "\n")
            opened.flush()
            os.fsync(descriptor)
        file.hardlink_to(making)
    except FileExistsError:
        pass  # another process was sooner
    except OSError:
        making.replace(file)  # a file system without links
    finally:
        making.unlink(missing_ok=True)


def read_key(file: Path) -> bytes:
    """Return the key in a file; BadRequest if others may read it or it holds none."""
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            text = opened.read(1000).decode("ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        raise BadRequest(f"There is no key {file} for the audit.") from None
    except ValueError:
        raise BadRequest(f"{file} holds no key for the audit.") from None
    if mode & 0o077:
        raise BadRequest(f"Others may read the key {file}.", hint=f"Say `chmod 600 {file}`.")
    if len(key) < _KEY_BYTES:
        raise BadRequest(f"{file} holds no key for the audit.")
    return key


def make_seal(key: bytes, text: str) -> str:
    """Return the seal of a text, 128 bits in hexadecimal digits."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:32]


def _is_seal(given: str, key: bytes, text: str) -> bool:
    """Tell whether a text was given the right seal; what was given may hold anything."""
    # As bytes: texts with letters beyond ASCII are refused by the comparison.
    return hmac.compare_digest(given.encode(errors="replace"), make_seal(key, text).encode())


def write_line(key: bytes, head: Head, entry: dict[str, Any]) -> tuple[str, str]:
    """Return the line that follows a head, without its end, and its seal."""
    body = dump({"number": head.last + 1, **entry, "before": head.seal})[:-1]
    seal = make_seal(key, body)
    return f'{body}{_SEAL}{seal}"}}', seal


def read_line(key: bytes, text: str) -> Line | None:
    """Return what a line vouches for; None if its seal is wrong."""
    body, mark, rest = text.rpartition(_SEAL)
    if not mark or rest[32:] != '"}' or not _is_seal(rest[:32], key, body):
        return None
    entry = json.loads(body + "}")
    return Line(entry["number"], entry["before"], rest[:32])


def write_head(key: bytes, head: Head) -> bytes:
    """Return a head as its file holds it, of one length always."""
    text = json.dumps(head)
    return json.dumps([*head, make_seal(key, text)]).ljust(199).encode() + b"\n"


def read_head(key: bytes, raw: bytes) -> Head | None:
    """Return the head in its file; None if there is none that we sealed."""
    try:
        *values, seal = json.loads(raw)
        head = Head(*values)
    except (ValueError, TypeError, RecursionError):
        return None
    return head if _is_seal(str(seal), key, json.dumps(head)) else None


def dump(value: Any) -> str:
    """Return JSON in printable ASCII: no character of a client's can end or hide a line."""
    return json.dumps(value, separators=(",", ":"), default=str).replace("\x7f", "\\u007f")
