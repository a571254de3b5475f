"""Add this server to an assistant's settings.

Writes the client's settings so that it starts `bookwheel serve` for the folders, or calls a server
that runs already. Everything else in the file stays as it is, and a backup is kept beside it.
An entry of the same name that says something else is left alone unless you say --force.
Without folders, bookwheel.toml must name them.

    bookwheel install --list
    bookwheel install claude-desktop ~/notes
    bookwheel install cursor ~/notes ~/papers --name library --project
    bookwheel install codex ~/notes --toolsets documents,pages --dry-run
    bookwheel install vscode --http http://127.0.0.1:8765/mcp
    bookwheel install claude-desktop --remove
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bookwheel.cli.client_files import ClientFile, Content, Refused, read_content, show_snippet
from bookwheel.cli.clients import CLIENTS, Client, find_client, is_ours, place_of
from bookwheel.cli.installing import Done, install, remove
from bookwheel.cli.options import Config, Json
from bookwheel.cli.output import one_line, print_json, say
from bookwheel.cli.server_entry import Wish
from bookwheel.errors import BadRequest


def run(
    client: Annotated[
        str | None,
        typer.Argument(metavar="CLIENT", help="The assistant; --list shows those that are known."),
    ] = None,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH...", help="Folders of documents to serve."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the client calls the server. Default: the folder's name, else bookwheel.",
        ),
    ] = None,
    index: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder that holds the index.")
    ] = None,
    config: Config = None,
    toolsets: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Toolsets to serve, with commas between them, or all."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Connect to the server that runs at this address instead of starting one.",
        ),
    ] = None,
    token_variable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --http: the environment variable from which the client takes the token.",
        ),
    ] = None,
    project: Annotated[
        bool, typer.Option("--project", help="Only for the project in the current folder.")
    ] = False,
    remove_it: Annotated[bool, typer.Option("--remove", help="Remove the entry.")] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace or remove an entry even if it says something else."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be written, and write nothing.")
    ] = False,
    list_them: Annotated[
        bool,
        typer.Option("--list", help="List the clients, their files, and what is installed there."),
    ] = False,
    json: Json = False,
) -> None:
    """See the module's text."""
    if list_them:
        _list(json=json)
        return
    if client is None:
        names = ", ".join(each.name for each in CLIENTS)
        raise BadRequest("Name the client to tell.", hint=f"There are {names}.")
    wish = Wish(
        find_client(client),
        tuple(paths or ()),
        name=name,
        index=index,
        config=config,
        toolsets=toolsets,
        http=http,
        token=token_variable,
        project=Path.cwd() if project else None,
        force=force,
        dry_run=dry_run,
    )
    done = remove(wish) if remove_it else install(wish)
    for note in done.notes:
        say(note)
    if json:
        print_json(_describe(done))
    else:
        _print(done)


def _describe(done: Done) -> dict[str, Any]:
    return {
        "client": done.client.name,
        "name": done.name,
        "action": done.action,
        "dryRun": done.dry_run,
        "file": str(done.place.file),
        "entry": done.entry,
        "command": list(done.command) or None,
        "backup": str(done.backup) if done.backup else None,
        "next": done.client.restart if done.action != "unchanged" else None,
    }


def _print(done: Done) -> None:
    client, name = done.client, done.name
    where = f"{client.title} ({one_line(str(done.place.file))})"
    if done.action == "unchanged":
        print(f"{name} is already installed in {where}.")
    elif done.dry_run:
        _print_dry_run(done, where)
    elif done.action == "removed":
        print(f"Removed {name} from {where}.")
        _print_backup(done)
        print(f"Restart {client.title} if it runs.")
    else:
        print(f"Installed {name} in {where}.")
        _print_backup(done)
        print(client.restart)
        flags = " --project" if done.wish.project else ""
        print(f"To undo: bookwheel install {client.name} --remove --name {name}{flags}")


def _print_backup(done: Done) -> None:
    if done.backup:
        print(f"What was there before is kept in {one_line(str(done.backup))}.")


def _print_dry_run(done: Done, where: str) -> None:
    """Print what would be written, so that it can be piped or pasted; the rest is a note."""
    print(f"bookwheel: nothing was changed. For {where}:", file=sys.stderr)
    if done.command:
        print(shlex.join(done.command))
    elif done.entry is not None:
        print(show_snippet(done.place, done.name, done.entry), end="")
    else:
        print(f"{done.name} would be removed.")


def _list(*, json: bool) -> None:
    rows = [_row(client) for client in CLIENTS]
    if json:
        print_json({"clients": rows})
        return
    for row in rows:
        state = "no file yet" if not row["exists"] else ", ".join(row["installed"]) or "-"
        print(f"{row['client']:<15} {state:<20} {one_line(row['file'])}")


def _row(client: Client) -> dict[str, Any]:
    place = place_of(client)
    return {
        "client": client.name,
        "title": client.title,
        "file": str(place.file),
        "exists": os.path.lexists(place.file),
        "project": client.project,
        "http": client.call is not None,
        "installed": _installed(place),
    }


def _installed(place: ClientFile) -> list[str]:
    """Return the names under which this program is installed; none when the file is not read."""
    try:
        content: Content = read_content(place)
        return [name for name, entry in content.servers.items() if is_ours(entry)]
    except Refused:
        return []
