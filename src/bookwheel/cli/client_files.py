"""The settings file of another program: read, changed by one entry, kept as a backup, replaced.

What cannot be understood is never written: the change is made as text, read again, and compared
with what it should say before the file is touched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.cli.json_entries import drop_json, parse_json, put_json
from bookwheel.cli.toml_entries import drop_toml, parse_toml, put_toml
from bookwheel.errors import BadRequest, Conflict

_MARK = "\ufeff"
"""The byte order mark that some editors put first; it stays if it was there."""
MOST_BYTES = 20_000_000


class ClientFile(NamedTuple):
    """Where a client keeps its servers: the file, how it is written, the section in it."""

    file: Path
    kind: str
    section: str
    comments: bool = False


class Refused(BadRequest):
    """The file cannot be changed safely; whoever asked is shown what to put there."""


class Content(NamedTuple):
    """A settings file as it was read."""

    place: ClientFile
    raw: bytes | None
    text: str
    values: dict[str, Any]

    @property
    def servers(self) -> dict[str, Any]:
        """Return the servers that the file names."""
        found = self.values.get(self.place.section, {})
        if not isinstance(found, dict):
            raise Refused(f"{self.place.section!r} in {self.place.file} holds no list of servers.")
        return found


def read_content(place: ClientFile) -> Content:
    """Read a settings file; one that is missing or empty says nothing."""
    try:
        raw = _read_bytes(place.file)
        text = raw.decode("utf-8").removeprefix(_MARK) if raw else ""
        values = _parse(place, text)
    except OSError as error:
        raise Refused(f"{place.file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        why = f"It is not valid {place.kind.upper()}: {error}."
        if place.kind == "json" and not place.comments and _is_json_with_comments(text_of(raw)):
            why = "It has comments or trailing commas, which the client may not understand."
        raise Refused(f"{place.file} was left alone. {why}") from None
    if not isinstance(values, dict):
        raise Refused(f"{place.file} was left alone. It holds no object.")
    return Content(place, raw, text, values)


def text_of(raw: bytes | None) -> str:
    """Return a file's text, however damaged."""
    return (raw or b"").decode("utf-8", errors="replace")


def _read_bytes(file: Path) -> bytes | None:
    try:
        with file.open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(raw) > MOST_BYTES:
        raise ValueError("it is too large for settings")
    return raw


def _parse(place: ClientFile, text: str) -> Any:
    if place.kind == "toml":
        return parse_toml(text)
    return parse_json(text, comments=place.comments) if text.strip() else {}


def _is_json_with_comments(text: str) -> bool:
    try:
        parse_json(text.removeprefix(_MARK), comments=True)
    except (ValueError, RecursionError):
        return False
    return True


def put_entry(content: Content, name: str, entry: dict[str, Any]) -> str:
    """Return the file's new text with the entry in it."""
    wanted = {**content.values, content.place.section: {**content.servers, name: entry}}
    put = put_toml if content.place.kind == "toml" else put_json
    return _checked(content, wanted, lambda text, section: put(text, section, name, entry))


def drop_entry(content: Content, name: str) -> str:
    """Return the file's new text without the entry."""
    others = {key: value for key, value in content.servers.items() if key != name}
    wanted = {**content.values, content.place.section: others}
    drop = drop_toml if content.place.kind == "toml" else drop_json
    return _checked(content, wanted, lambda text, section: drop(text, section, name))


def _checked(content: Content, wanted: dict[str, Any], change: Callable[[str, str], str]) -> str:
    """Make a change and read it again; refuse when it says anything but what is wanted."""
    place = content.place
    try:
        text = change(content.text, place.section)
        values = _parse(place, text)
    except (ValueError, LookupError, RecursionError):
        values = None
    if values is None or not _is_same(place, values, wanted):
        raise Refused(f"{place.file} was left alone. It is laid out in a way that is not foreseen.")
    return text


def _is_same(place: ClientFile, values: Any, wanted: dict[str, Any]) -> bool:
    if place.kind == "json":  # as text, since 1, 1.0 and true are equal in Python
        return json.dumps(values) == json.dumps(wanted)
    section = place.section
    emptied = {**values, section: values.get(section, {})} if section in wanted else values
    return bool(emptied == wanted)


def write_content(content: Content, text: str) -> Path | None:
    """Replace the file in one step, and return where its old content is kept, if it had any."""
    file = Path(os.path.realpath(content.place.file))  # a link stays a link
    mark = _MARK if content.raw and content.raw.startswith(_MARK.encode()) else ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        backup = _keep(file, content.raw) if content.raw else None
        _replace(file, (mark + text).encode("utf-8"), content.raw)
    except OSError as error:
        where = error.filename or file
        raise Refused(f"{where} cannot be written: {error.strerror}.") from None
    except UnicodeEncodeError:
        raise Refused(f"{file} was left alone. It holds half a character.") from None
    return backup


def _keep(file: Path, raw: bytes) -> Path:
    """Write a backup under a name that is free."""
    number = 1
    while True:
        backup = file.with_name(
            f"{file.name}.bookwheel-backup{'' if number == 1 else f'-{number}'}"
        )
        try:
            _create(backup, raw, file)
        except FileExistsError:
            number += 1
        else:
            return backup


def _create(path: Path, raw: bytes, like: Path) -> None:
    """Create a file that nobody may read who may not read the other one."""
    mode = like.stat().st_mode & 0o777 if like.exists() else None
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(raw)
        stream.flush()
        os.fsync(stream.fileno())
    if mode is not None:
        path.chmod(mode)


def _replace(file: Path, raw: bytes, expected: bytes | None) -> None:
    fresh = file.with_name(f".{file.name}.bookwheel-{os.getpid()}")
    _create(fresh, raw, file)
    try:
        if _read_bytes(file) != expected:
            raise Conflict(f"{file} was changed meanwhile.", hint="Try again.")
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def show_snippet(place: ClientFile, name: str, entry: dict[str, Any]) -> str:
    """Return the entry as it stands in a file that has nothing else."""
    put = put_toml if place.kind == "toml" else put_json
    return put("", place.section, name, entry)
