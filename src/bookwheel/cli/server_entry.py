"""What a client is told of this server: its name, and the command or address to reach it by."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bookwheel.cli.clients import Client, Entry, call_entry
from bookwheel.errors import BadRequest, NotFound
from bookwheel.settings import CONFIG_NAME, load

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every client takes for the name of a server."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked for."""

    client: Client
    paths: tuple[str, ...] = ()
    name: str | None = None
    index: str | None = None
    config: str | None = None
    toolsets: str | None = None
    http: str | None = None
    token: str | None = None
    project: Path | None = None
    force: bool = False
    dry_run: bool = False


def make_entry(wish: Wish) -> tuple[Entry, list[str]]:
    if wish.http is None:
        if wish.token is not None:
            raise BadRequest("--token-variable goes with --http.")
        program = find_program()
        arguments, notes = _serve_arguments(wish)
        words = [*program, *arguments]
        for word in words:
            _check_word(word, wish.client)
        return wish.client.start(words[0], words[1:]), notes
    if wish.paths or wish.index or wish.config or wish.toolsets:
        raise BadRequest(
            "A server that runs has its folders, index and toolsets already.",
            hint="Leave them out; an address as http://127.0.0.1:8765/mcp/pages names a toolset.",
        )
    if wish.token is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", wish.token):
        raise BadRequest(f"{wish.token!r} is no name of a variable; the token itself stays out.")
    url = _check_address(wish.http)
    entry = call_entry(wish.client, url, wish.token)
    return entry, _token_notes(wish, url)


def find_program() -> list[str]:
    """Return the words that start this program from anywhere."""
    script = "bookwheel.exe" if sys.platform == "win32" else "bookwheel"
    if Path(sys.argv[0]).name in ("bookwheel", script):
        found = shutil.which(sys.argv[0])
        if found:
            return [os.path.abspath(found)]  # noqa: PTH100 - Path.absolute keeps ..
    beside = Path(sys.executable).with_name(script)
    if beside.is_file():
        return [str(beside)]
    return [sys.executable, "-m", "bookwheel"]


def _serve_arguments(wish: Wish) -> tuple[list[str], list[str]]:
    """Return the arguments of the server, and what the user should know about them."""
    from bookwheel.serve.toolsets import choose, load_contracts

    arguments = ["serve", *(_check_folder(path) for path in wish.paths)]
    if wish.config or not wish.paths:
        arguments += ["--config", _find_config(wish)]
    if wish.index is not None:
        arguments += ["--index", _absolute(wish.index)]
    if wish.toolsets is not None:
        choose(load_contracts(), wish.toolsets)
        arguments += ["--toolsets", wish.toolsets]
    return arguments, _shell_notes(wish)


def _find_config(wish: Wish) -> str:
    """Return the configuration file, which must name folders when the user names none."""
    settings = load(config=wish.config, use_start_folder=not wish.paths)
    named = settings.collections or settings.origins["docs_root"] == CONFIG_NAME
    if settings.config is None or not (wish.paths or named):
        raise BadRequest(
            "Name the folders to serve.",
            hint=f"bookwheel install {wish.client.name} ~/notes, or list them in {CONFIG_NAME}.",
        )
    return settings.config


def _shell_notes(wish: Wish) -> list[str]:
    """Name the variables that count here, but perhaps not where the client starts the server."""
    settings = load(config=wish.config, use_start_folder=not wish.paths)
    quiet = {"flag", "default", CONFIG_NAME, settings.origins["token"]}
    named = sorted(set(settings.origins.values()) - quiet)
    if not named:
        return []
    return [f"{', '.join(named)} counts in this shell; the client may start the server without it."]


def _check_folder(path: str) -> str:
    folder = _absolute(path)
    if not Path(folder).exists():
        raise NotFound(
            f"There is no folder {path!r}.", hint="Check the path; ~ and .. may be used."
        )
    if not Path(folder).is_dir():
        raise BadRequest(f"{path!r} is not a folder.")
    return folder


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - Path.absolute keeps ..
    except (RuntimeError, ValueError):
        raise NotFound(f"There is no folder {path!r}.") from None


def _check_word(word: str, client: Client) -> None:
    """Refuse a path that would reach the server as another one."""
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRequest(f"{word!r} is not valid Unicode; settings cannot hold it.") from None
    if client.variables and re.search(client.variables, word):
        raise BadRequest(
            f"{word!r} has a $ that {client.title} takes for a variable.",
            hint="Serve it by another path, as through a link.",
        )


def _check_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or re.search(r"[\s\x00-\x1f]", url):
        raise BadRequest(f"{url!r} is no address; write it as http://127.0.0.1:8765/mcp.")
    if parts.username or parts.password:
        raise BadRequest("The address holds a password, which settings should not.")
    return parts._replace(path="/mcp").geturl() if parts.path in ("", "/") else url


def _token_notes(wish: Wish, url: str) -> list[str]:
    """Say how a token gets to the client; it is never written itself."""
    if wish.token is not None:
        return [f"{wish.client.title} must have {wish.token} in its environment when it starts."]
    here = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
    if here and not load(use_start_folder=False)["token"]:
        return []
    if wish.client.token is None:
        return ["If the server wants a token, docs/clients.md says how this client sends it."]
    return ["If the server wants a token, say --token-variable BOOKWHEEL_TOKEN."]


def choose_name(wish: Wish) -> str:
    if wish.name is not None:
        if not NAME.fullmatch(wish.name):
            raise BadRequest(
                f"{wish.name!r} is no name for a server.",
                hint="Use up to 64 of the letters a-z and A-Z, digits, - and _.",
            )
        return wish.name
    if len(wish.paths) != 1:
        return "bookwheel"
    folder = unicodedata.normalize("NFKD", Path(_absolute(wish.paths[0])).name)
    plain = folder.encode("ascii", errors="ignore").decode("ascii")
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:64] or "bookwheel"
