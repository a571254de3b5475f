"""The generated parts of docs/, between markers: settings, exit codes, commands, clients, the API.

`python -m tests.docs_tables --write` writes them anew; without `--write` it names the stale pages.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

from typer.main import get_command

from bookwheel.cli import COMMANDS, INTERRUPTED, SUBCOMMANDS, TERMINATED, app
from bookwheel.cli.client_files import ClientFile, show_snippet
from bookwheel.cli.clients import CLIENTS, Client, Entry, call_entry
from bookwheel.cli.installing import add_command
from bookwheel.errors import ERRORS, BookwheelError
from bookwheel.serve.api import OPERATIONS
from bookwheel.serve.openapi import parameters_of
from bookwheel.serve.toolsets import load_contracts
from bookwheel.settings import SETTINGS, Row
from bookwheel.telemetry.calls import IndexFigures
from bookwheel.telemetry.metrics import REASONS, Metrics
from tests.faults.rows import ROWS

DOCS = Path(__file__).parent.parent / "docs"
MARKED = re.compile(r"(<!-- (\w+): made by `make docs` -->\n).*?(<!-- end -->)", re.DOTALL)


def settings_table() -> str:
    """Return one row per setting."""
    rows = ["| Setting | Environment | Value | Default | What for |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *map(_settings_row, SETTINGS)])


def _settings_row(row: Row) -> str:
    names = ", ".join(f"`{name}`" for name in (row.variable, *row.other_names))
    default = {None: "", True: "true", False: "false"}.get(row.default, str(row.default))
    return f"| `{row.name}` | {names} | {row.parse.__doc__} | {default} | {row.help} |"


OPERATING = (
    *("token", "tokens", "public", "hosts", "trusted_proxies", "base_path"),
    *("rate_limit_requests", "rate_limit_window", "tool_limits", "call_seconds", "max_calls"),
    *("readers", "audit", "audit_key", "audit_queries", "audit_mb", "log_format"),
)
"""The settings that concern whoever runs a server for others."""


def operating_table() -> str:
    """Return one row per setting that concerns operators."""
    rows = ["| Setting | Environment | Value | Default | What for |", "|---|---|---|---|---|"]
    named = {row.name: row for row in SETTINGS}
    return "\n".join([*rows, *(_settings_row(named[name]) for name in OPERATING)])


def limits_table() -> str:
    """Return one row per tool that has a limit of its own."""
    tools = [tool for contract in load_contracts().values() for tool in contract.tools]
    rows = [f"| `{tool.name}` | {tool.per_minute} |" for tool in tools if tool.per_minute]
    return "\n".join(["| Tool | Calls of one client in a minute |", "|---|---|", *rows])


def metrics_table() -> str:
    """Return one row per figure at /metrics."""
    made = Metrics("0", lambda: IndexFigures(0, 0, 0, 0, 0, 0)).describe()
    rows = [
        f"| `{name}` | {kind} | {', '.join(f'`{label}`' for label in labels)} | {help} |"
        for name, kind, help, labels in made
    ]
    reasons = ", ".join(f"`{reason}`" for reason in REASONS)
    table = "\n".join(["| Figure | Type | Labels | What it tells |", "|---|---|---|---|", *rows])
    return f"{table}\n\nReasons of refusals: {reasons}."


def api_table() -> str:
    """Return one row per address of the JSON API, with its parameters."""
    rows = ["| Address | Must be given | May be given | What it does |", "|---|---|---|---|"]
    for each in OPERATIONS:
        named: dict[bool, list[str]] = {True: [], False: []}
        for parameter in parameters_of(each):
            named[parameter["required"]].append(f"`{parameter['name']}`")
        must, may = ", ".join(named[True]), ", ".join(named[False])
        rows.append(f"| `{each.path}` | {must} | {may} | {each.summary} |")
    return "\n".join(rows)


THREAT_TEST = re.compile(r"^def (test_t(\d\d)_\w+)", re.MULTILINE)


def threats_list() -> str:
    """Return the tests that show how each threat is met, by the number that their names carry."""
    shown: dict[str, list[str]] = {}
    tests = Path(__file__).parent
    for file in sorted(tests.rglob("test_*.py")):
        place = file.relative_to(tests.parent).as_posix()
        for name, number in THREAT_TEST.findall(file.read_text(encoding="utf-8")):
            shown.setdefault(number, []).append(f"- `{place}::{name}`")
    return "\n\n".join(
        "\n".join([f"### T{number}", "", *shown[number]]) for number in sorted(shown)
    )


FAULT_TEST = re.compile(r"^def (test_f(\d\d)_\w+)", re.MULTILINE)


def faults_table() -> str:
    """Return one row per fault, and below it the tests that show what happens then."""
    head = ["| Row | Fault | What happens | Known limits |", "|---|---|---|---|"]
    rows = [
        f"| {name} | {row.fault} | {row.promise} | {row.limits} |" for name, row in ROWS.items()
    ]
    table = "\n".join([*head, *rows])
    return f"{table}\n\nShown by:\n\n{_fault_tests()}"


def _fault_tests() -> str:
    tests = Path(__file__).parent
    shown: dict[str, list[str]] = {name: [] for name in ROWS}
    for file in sorted(tests.rglob("test_*.py")):
        place = file.relative_to(tests.parent).as_posix()
        for name, number in FAULT_TEST.findall(file.read_text(encoding="utf-8")):
            shown[f"F{number}"].append(f"`{place}::{name}`")
    return "\n".join(f"- {name}: {', '.join(found)}" for name, found in shown.items())


def exit_codes_table() -> str:
    """Return one row per exit code, in order."""
    kinds: dict[int, list[type[BookwheelError]]] = {}
    for error in ERRORS:
        kinds.setdefault(error.exit_code, []).append(error)
    meanings = {
        code: [(each.__doc__ or "").strip() for each in found] for code, found in kinds.items()
    }
    meanings[0] = ["The answer was given, or its reader had seen enough."]
    ours = (
        "A folder could not be looked through; the others were. `eval`: a set fell short. "
        "`redact`, `audit verify`: there is something to see to."
    )
    meanings.setdefault(1, []).insert(0, ours)
    meanings[INTERRUPTED] = ["Stopped by Ctrl-C; what was indexed is kept."]
    meanings[TERMINATED] = ["`index` was stopped by SIGTERM; what was indexed is kept."]
    names = {
        code: ", ".join(f"`{each.__name__}`" for each in found) for code, found in kinds.items()
    }
    rows = [
        f"| {code} | {' '.join(meanings[code])} | {names.get(code, '')} |"
        for code in sorted(meanings)
    ]
    return "\n".join(["| Exit code | Meaning | Error in Python |", "|---|---|---|", *rows])


def commands_text() -> str:
    """Return what the commands say of themselves, whatever the library that prints their help."""
    return "\n\n".join(map(command_text, [*COMMANDS, *SUBCOMMANDS]))


def command_text(name: str) -> str:
    """Return a command's text, its examples, and one row per argument and option."""
    module = import_module(f"bookwheel.cli.{name.replace(' ', '_')}_command")
    paragraphs = (module.__doc__ or "").strip().split("\n\n")
    text = "\n\n".join(part for part in paragraphs if not part.startswith("    "))
    examples = "\n".join(dedent(part).strip() for part in paragraphs if part.startswith("    "))
    rows = [f"| {usage} | {help} |" for usage, help in parameters(name)]
    table = "\n".join(["| Argument or option | What for |", "|---|---|", *rows])
    return f"### {name}\n\n{text}\n\n```sh\n{examples}\n```\n\n{table}"


def parameters(command: str) -> Iterator[tuple[str, str]]:
    """Give each argument and option of a command: how it is written and what it is for."""
    table: Any = get_command(app)
    for parameter in table.get_command(None, command).params:
        if parameter.param_type_name == "argument":
            yield f"`{parameter.metavar}`", parameter.help
            continue
        names = [*parameter.opts, *parameter.secondary_opts]
        value = "" if parameter.is_flag else f" `{parameter.metavar or 'VALUE'}`"
        shown = not parameter.is_flag and parameter.default not in (None, "")
        default = f" Default: {parameter.default}." if shown else ""
        yield ", ".join(f"`{name}`" for name in names) + value, parameter.help + default


ADDRESS = "http://127.0.0.1:8765/mcp"
TOKEN = "BOOKWHEEL_TOKEN"


def clients_table() -> str:
    """Return one row per client: where its settings lie, and what it can do."""
    rows = ["| Client | Settings | In a project | Address | Token |", "|---|---|---|---|---|"]
    for client in CLIENTS:
        project = f"`{client.project}`" if client.project else ""
        address = "yes" if client.call else ""
        token = "by variable" if client.token else ""
        file = f"`{user_file(client)}`"
        rows.append(f"| `{client.name}` | {file} | {project} | {address} | {token} |")
    return "\n".join(rows)


def user_file(client: Client) -> str:
    """Return the place of a client's settings on Linux, when no variable names another."""
    home = client.home[1] if client.home else "~"
    return client.file.format(config="~/.config", dots="~/.config", home=home)


def client_text(client: Client) -> str:
    """Return how a client is told of a server: by our command, or by hand."""
    entry = client.start("/path/to/bookwheel", ["serve", "/home/me/notes"])
    parts = [_told(client, f"bookwheel install {client.name} ~/notes", "notes", entry)]
    if client.call:
        token = TOKEN if client.token else None
        option = f" --token-variable {TOKEN}" if token else ""
        command = f"bookwheel install {client.name} --http {ADDRESS}{option}"
        entry = call_entry(client, ADDRESS, token)
        parts += ["A server that runs already:", _told(client, command, "bookwheel", entry)]
    return "\n\n".join(parts)


def _told(client: Client, command: str, name: str, entry: Entry) -> str:
    if client.program:
        kind, text = "sh", shlex.join(add_command(client, name, entry)) + "\n"
        where = f"or by `{client.program}` itself, which the command calls"
    else:
        place = ClientFile(Path(), client.kind, client.section)
        kind, text = client.kind, show_snippet(place, name, entry)
        where = f"or by hand, in `{user_file(client)}`"
    return f"```sh\n{command}\n```\n\n{where}:\n\n```{kind}\n{text}```"


PARTS: dict[str, Callable[[], str]] = {
    "settings": settings_table,
    "exit_codes": exit_codes_table,
    "operating": operating_table,
    "limits": limits_table,
    "metrics": metrics_table,
    "api": api_table,
    "threats": threats_list,
    "faults": faults_table,
    "commands": commands_text,
    "clients": clients_table,
    **{each.name.replace("-", "_"): partial(client_text, each) for each in CLIENTS},
}


def refresh(page: str) -> str:
    """Return a page with its generated parts made anew."""
    return MARKED.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}\n{part[3]}", page)


def main() -> int:
    """Write the pages anew, or name those that are stale."""
    stale = 0
    for path in sorted(DOCS.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        fresh = refresh(page)
        if fresh == page:
            continue
        if "--write" in sys.argv[1:]:
            path.write_text(fresh, encoding="utf-8")
        else:
            stale = 1
            sys.stderr.write(f"docs/{path.name} is stale; run `make docs`.\n")
    return stale


if __name__ == "__main__":
    sys.exit(main())
