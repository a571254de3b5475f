"""How a client's settings come to name this server, and no longer do."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bookwheel.cli.client_files import (
    ClientFile,
    Content,
    Refused,
    drop_entry,
    put_entry,
    read_content,
    show_snippet,
    write_content,
)
from bookwheel.cli.clients import Client, Entry, is_ours, place_of, words_of
from bookwheel.cli.output import one_line
from bookwheel.cli.server_entry import Wish, choose_name, make_entry
from bookwheel.errors import BadRequest, NotFound

_HOW = {
    *("type", "command", "args", "url", "httpUrl", "serverUrl", "headers"),
    *("bearer_token_env_var", "http_headers", "env_http_headers"),
}
"""The keys that say how a server is reached; the others are the user's own, and stay."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, or would be in a dry run."""

    wish: Wish
    name: str
    action: str
    place: ClientFile
    entry: Entry | None = None
    backup: Path | None = None
    command: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def client(self) -> Client:
        return self.wish.client

    @property
    def dry_run(self) -> bool:
        return self.wish.dry_run


def install(wish: Wish) -> Done:
    """Put the entry into the client's settings, or find that it is there."""
    place = place_of(wish.client, project=wish.project)
    entry, notes = make_entry(wish)
    name = choose_name(wish)
    try:
        content = read_content(place)
        old = content.servers.get(name)
        if _is_same_server(old, entry):
            return Done(wish, name, "unchanged", place, entry, notes=notes)
        if name in content.servers and not wish.force:
            raise BadRequest(
                f"{wish.client.title} has a server {name!r} already: {_show(old)}.",
                hint="Choose another --name, or replace it with --force.",
            )
        backup = _write(wish, content, name, entry)
    except Refused as error:
        raise Refused(
            error.message, hint=f"To do it by hand:\n{_by_hand(wish, place, name, entry)}"
        ) from None
    command = add_command(wish.client, name, entry) if _has_program(wish) else ()
    return Done(wish, name, "installed", place, entry, backup, command, notes)


def _write(wish: Wish, content: Content, name: str, entry: Entry) -> Path | None:
    """Make the change, and return the backup if there is one."""
    if _has_program(wish):
        if not wish.dry_run:
            _write_by_program(wish.client, content, name, entry)
        return None
    text = put_entry(content, name, {**entry, **_own_keys(content.servers.get(name))})
    return None if wish.dry_run else write_content(content, text)


def _by_hand(wish: Wish, place: ClientFile, name: str, entry: Entry) -> str:
    if _has_program(wish):
        return shlex.join(add_command(wish.client, name, entry))
    return show_snippet(place, name, entry).rstrip()


def remove(wish: Wish) -> Done:
    """Take the entry out of the client's settings."""
    place = place_of(wish.client, project=wish.project)
    content = read_content(place)
    name = wish.name or _only_entry(content, wish)
    if name not in content.servers:
        raise NotFound(f"{wish.client.title} has no server {name!r} in {place.file}.")
    entry = content.servers[name]
    foreign = isinstance(entry, dict) and "command" in entry and not is_ours(entry)
    if foreign and not wish.force:
        raise BadRequest(
            f"{name!r} is another server: {_show(entry)}.", hint="Remove it with --force."
        )
    if _has_program(wish):
        command = _remove_command(wish.client, name)
        if not wish.dry_run:
            _call(command)
        return Done(wish, name, "removed", place, command=command)
    text = drop_entry(content, name)
    backup = None if wish.dry_run else write_content(content, text)
    return Done(wish, name, "removed", place, backup=backup)


def _only_entry(content: Content, wish: Wish) -> str:
    """Return the name of our entry when there is no doubt which one is meant."""
    if wish.paths:
        return choose_name(wish)
    ours = [name for name, entry in content.servers.items() if is_ours(entry)]
    if len(ours) == 1:
        return ours[0]
    if not ours:
        raise NotFound(f"{wish.client.title} has no entry of ours in {content.place.file}.")
    raise BadRequest("There are several; say which by --name.", hint=f"{', '.join(ours)}.")


# What is there


def _is_same_server(old: object, entry: Entry) -> bool:
    """Say whether an entry leads to the same server; keys that the user added do not count."""
    if not isinstance(old, dict):
        return False
    kind = entry.get("type")
    if kind is not None and old.get("type", kind) != kind:
        return False
    return all(old.get(key) == entry.get(key) for key in _HOW - {"type"})


def _own_keys(old: object) -> Entry:
    """Return what the user added to an entry that is to be replaced."""
    if not isinstance(old, dict):
        return {}
    return {key: value for key, value in old.items() if key not in _HOW}


def _show(entry: Any) -> str:
    """Return in one line how an entry's server is reached."""
    if not isinstance(entry, dict):
        return one_line(repr(entry))[:200]
    address = next((entry[key] for key in ("url", "httpUrl", "serverUrl") if key in entry), "?")
    return one_line(shlex.join(words_of(entry) or [str(address)]))[:200]


# Clients with a program


def _has_program(wish: Wish) -> bool:
    """Say whether the client's own program makes the change: it does for the user's own file."""
    return wish.client.program is not None and wish.project is None


def add_command(client: Client, name: str, entry: Entry) -> tuple[str, ...]:
    """Return the command by which a client's own program adds a server."""
    text = json.dumps(entry, ensure_ascii=False)
    return (client.program or "", "mcp", "add-json", "--scope", "user", name, text)


def _remove_command(client: Client, name: str) -> tuple[str, ...]:
    return (client.program or "", "mcp", "remove", "--scope", "user", name)


def _write_by_program(client: Client, content: Content, name: str, entry: Entry) -> None:
    """Let the program add the entry; one of that name goes first, and comes back on failure."""
    if name not in content.servers:
        _call(add_command(client, name, entry))
        return
    _call(_remove_command(client, name))
    try:
        _call(add_command(client, name, entry))
    except Refused:
        _call(add_command(client, name, content.servers[name]))
        raise


def _call(command: tuple[str, ...]) -> None:
    found = shutil.which(command[0])
    if found is None:
        raise Refused(f"There is no program {command[0]!r} on the PATH.")
    try:
        ended = subprocess.run(
            [found, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{command[0]} could not be run: {error}.") from None
    if ended.returncode != 0:
        said = one_line(ended.stderr.strip() or ended.stdout.strip())
        raise Refused(f"{command[0]} refused: {said}")
