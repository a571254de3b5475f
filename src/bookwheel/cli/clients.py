"""The assistants that can be told of this server: where each keeps its servers, in which form.

The forms of VS Code, Windsurf and Zed are those of their documentation; Claude Code, Codex and
Gemini CLI were given theirs and listed the server. Cursor and Claude Desktop are written as the
guides of many servers have them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.cli.client_files import ClientFile
from bookwheel.errors import BadRequest
from bookwheel.settings import folder_of

Entry = dict[str, Any]


class Client(NamedTuple):
    """One client: its files, and how it is told to start a command or to call an address."""

    name: str
    title: str
    section: str
    start: Callable[[str, list[str]], Entry]
    call: Callable[[str], Entry] | None
    """None where the settings file knows commands only."""
    file: str
    """The user's own file: in `~`, the client's `{home}`, the system's `{config}`, or `{dots}`,
    which is the same save on macOS."""
    project: str | None = None
    """Place of the file below a project's folder, where the client has one."""
    home: tuple[str, str] | None = None
    """A variable that names the client's folder, and the folder when it is not set."""
    kind: str = "json"
    comments: bool = False
    """Whether the client reads comments and trailing commas."""
    variables: str = r"\$\{"
    """What the client would take for a variable in an argument; a path must not have it."""
    token: str | None = None
    """How a header names a variable of the environment, where the client can."""
    program: str | None = None
    """The program that changes the user's own file, where the client rewrites it all the time."""
    restart: str = ""


def _command(command: str, arguments: list[str]) -> Entry:
    return {"command": command, "args": arguments}


def _typed_command(command: str, arguments: list[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": arguments}


def _command_with_environment(command: str, arguments: list[str]) -> Entry:
    return {"command": command, "args": arguments, "env": {}}


def _address(key: str, **before: str) -> Callable[[str], Entry]:
    """Make the entry of an address; `before` are the keys that come first."""
    return lambda url: {**before, key: url}


_BARE, _ENV = "${{{}}}", "${{env:{}}}"

CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        "mcpServers",
        _command,
        None,
        "{config}/Claude/claude_desktop_config.json",
        variables="",
        restart="Quit Claude Desktop and start it again; closing its window is not enough.",
    ),
    Client(
        "claude-code",
        "Claude Code",
        "mcpServers",
        _typed_command,
        _address("url", type="http"),
        "{home}/.claude.json",
        ".mcp.json",
        home=("CLAUDE_CONFIG_DIR", "~"),
        token=_BARE,
        program="claude",
        restart="Start a new session; `claude mcp list` and, inside, /mcp show the server.",
    ),
    Client(
        "cursor",
        "Cursor",
        "mcpServers",
        _command,
        _address("url"),
        "~/.cursor/mcp.json",
        ".cursor/mcp.json",
        token=_ENV,
        restart="Restart Cursor, and see that the server is on in its MCP settings.",
    ),
    Client(
        "vscode",
        "VS Code",
        "servers",
        _typed_command,
        _address("url", type="http"),
        "{config}/Code/User/mcp.json",
        ".vscode/mcp.json",
        comments=True,
        restart="Run `MCP: List Servers` in VS Code, and start the server there.",
    ),
    Client(
        "codex",
        "Codex",
        "mcp_servers",
        _command,
        _address("url"),
        "{home}/config.toml",
        ".codex/config.toml",
        home=("CODEX_HOME", "~/.codex"),
        kind="toml",
        variables="",
        token="{}",
        restart="Start a new session; `codex mcp list` and, inside, /mcp show the server.",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "mcpServers",
        _command,
        _address("httpUrl"),
        "~/.gemini/settings.json",
        ".gemini/settings.json",
        comments=True,
        variables=r"\$[{\w]",
        token=_BARE,
        restart="Start Gemini CLI anew; `gemini mcp list` and, inside, /mcp show the server.",
    ),
    Client(
        "windsurf",
        "Windsurf",
        "mcpServers",
        _command,
        _address("serverUrl"),
        "~/.codeium/windsurf/mcp_config.json",
        token=_ENV,
        restart="Refresh the servers in Windsurf's MCP panel, or restart it.",
    ),
    Client(
        "zed",
        "Zed",
        "context_servers",
        _command_with_environment,
        _address("url"),
        "{dots}/zed/settings.json",
        comments=True,
        variables="",
        restart="Look at the server's dot in the settings of Zed's Agent Panel.",
    ),
)


def find_client(name: str) -> Client:
    """Return a client by name; raises BadRequest with those there are."""
    for client in CLIENTS:
        if client.name == name:
            return client
    names = [client.name for client in CLIENTS]
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(names)}."
    raise BadRequest(f"There is no client {name!r}.", hint=hint)


def place_of(client: Client, *, project: Path | None = None) -> ClientFile:
    """Return where a client keeps its servers: for the user, or for a project."""
    if project is None:
        file = _user_file(client)
    elif client.project is None:
        raise BadRequest(
            f"{client.title} has no settings of a project.", hint="Leave --project out."
        )
    else:
        file = project / client.project
    return ClientFile(file, client.kind, client.section, client.comments)


def _user_file(client: Client) -> Path:
    import sys

    from platformdirs import user_config_path

    config = user_config_path(appauthor=False, roaming=True)
    dots = Path("~/.config") if sys.platform == "darwin" else config
    home = folder_of(*client.home) if client.home else "~"
    return Path(client.file.format(config=config, dots=dots, home=home)).expanduser()


def call_entry(client: Client, url: str, token: str | None) -> Entry:
    """Return the entry of a server that runs; `token` names the variable that holds its token."""
    if client.call is None:
        raise BadRequest(
            f"{client.title} starts servers itself; its settings file knows no addresses.",
            hint="Name folders instead of --http. Its own settings have connectors for addresses "
            "that can be reached from outside.",
        )
    entry = client.call(url)
    if token is None:
        return entry
    if client.token is None:
        raise BadRequest(
            f"{client.title} cannot take a token from its environment.",
            hint="Leave --token-variable out, and see docs/clients.md for what to do instead.",
        )
    if client.kind == "toml":
        return {**entry, "bearer_token_env_var": token}
    return {**entry, "headers": {"Authorization": f"Bearer {client.token.format(token)}"}}


def words_of(entry: Entry) -> list[str]:
    """Return the words of the command that an entry starts, whatever others put there."""
    arguments = entry.get("args")
    words = [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]
    return [str(word) for word in words if word is not None]


def is_ours(entry: object) -> bool:
    """Say whether an entry starts this program."""
    if not isinstance(entry, dict):
        return False
    words = words_of(entry)
    names = {re.split(r"[\\/]", word)[-1].removesuffix(".exe") for word in words[:3]}
    return "serve" in words and "bookwheel" in names
