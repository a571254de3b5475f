"""`bookwheel install`: one entry in another program's settings, and nothing else changed there."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bookwheel.cli import COMMANDS
from bookwheel.cli.clients import CLIENTS, find_client, place_of
from bookwheel.cli.server_entry import find_program
from tests.cli.conftest import Call
from tests.cli.homes import PROGRAM, entry_for, put, read

# ------------------------------------------------------------------- what is written


@pytest.mark.parametrize("client", [each.name for each in CLIENTS if each.program is None])
@pytest.mark.parametrize(
    "folder",
    ["two words", "quo\"te's", "Köln 日本", "new\nline\ttab", "back\\slash", "del\x7f", "#;&"],
)
def test_any_folder_reaches_the_client_as_it_is(
    call: Call, home: Path, client: str, folder: str
) -> None:
    path = home / folder
    path.mkdir()

    answer = call("install", client, path, "--json")

    assert answer.code == 0
    file = Path(answer.value["file"])
    text = file.read_text(encoding="utf-8")
    values = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    (section,) = values.values()
    ((name, entry),) = section.items()
    assert entry == answer.value["entry"]
    assert (entry["command"], entry["args"]) == (PROGRAM, ["serve", str(path)])
    assert name == answer.value["name"]
    assert name.replace("-", "").isalnum()
    assert name.isascii()
    assert call("install", client, path).out.startswith(f"{name} is already installed")


def test_a_folder_that_a_client_would_take_for_a_variable_is_refused(
    call: Call, home: Path
) -> None:
    for name, refusing in (("${HOME}", {"cursor", "gemini"}), ("$HOME", {"gemini"})):
        (home / name).mkdir()
        for client in ("cursor", "gemini", "codex"):
            answer = call("install", client, home / name, "--dry-run")
            assert answer.code == (2 if client in refusing else 0)


def test_a_folder_whose_name_is_no_text_is_refused(call: Call, home: Path) -> None:
    folder = os.fsdecode(os.fsencode(home) + b"/\xff")
    Path(folder).mkdir()

    answer = call("install", "cursor", folder)

    assert (answer.code, answer.out) == (2, "")
    assert "not valid Unicode" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Name the client to tell.\n  There are claude-desktop, claude-code,"),
        (["cursr"], 2, "There is no client 'cursr'.\n  Did you mean 'cursor'?"),
        (["cursor"], 2, "Name the folders to serve."),
        (["cursor", "nowhere"], 4, "There is no folder 'nowhere'."),
        (["cursor", "~nobody-here/x"], 4, "There is no folder '~nobody-here/x'."),
        (["cursor", "a\0b"], 4, "There is no folder"),
        (["cursor", "/etc/hostname"], 2, "'/etc/hostname' is not a folder."),
        (["cursor", "notes", "--name", "a b"], 2, "'a b' is no name for a server."),
        (["cursor", "notes", "--name", ""], 2, "'' is no name for a server."),
        (["cursor", "notes", "--toolsets", "pagse"], 2, "There is no toolset 'pagse'."),
        (["cursor", "notes", "--config", "no.toml"], 4, "no configuration file no.toml"),
        (["cursor", "notes", "--http", "http://h/"], 2, "A server that runs has its folders"),
        (["cursor", "notes", "--token-variable", "X"], 2, "--token-variable goes with --http."),
        (["cursor", "--http", "127.0.0.1:8765"], 2, "'127.0.0.1:8765' is no address"),
        (["cursor", "--http", "http://[/"], 2, "is no address"),
        (["cursor", "--http", "http://u:p@h/mcp"], 2, "holds a password"),
        (
            ["cursor", "--http", "http://h", "--token-variable", "s3cr-t"],
            2,
            "no name of a variable",
        ),
        (["claude-desktop", "--http", "http://h/mcp"], 2, "starts servers itself"),
        (["vscode", "--http", "http://h", "--token-variable", "T"], 2, "cannot take a token"),
        (["zed", "notes", "--project"], 2, "Zed has no settings of a project."),
        (["cursor", "--remove"], 4, "Cursor has no entry of ours"),
        (["cursor", "--remove", "--name", "x"], 4, "Cursor has no server 'x'"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(
    call: Call, home: Path, notes: Path, arguments: list[str], code: int, said: str
) -> None:
    answer = call("install", *arguments)

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert sorted(home.iterdir()) == [notes]


def test_another_server_of_the_same_name_is_shown_and_kept_unless_forced(
    call: Call, home: Path, notes: Path
) -> None:
    other = {"command": "npx", "args": ["-y", "notes server"], "env": {"K": "v"}, "disabled": True}
    file = put(home / ".cursor/mcp.json", json.dumps({"mcpServers": {"notes": other}}))

    refused = call("install", "cursor", notes)
    assert (refused.code, refused.out) == (2, "")
    assert "npx -y 'notes server'" in refused.err
    assert read(file)["mcpServers"]["notes"] == other

    assert call("install", "cursor", notes, "--force").code == 0
    assert read(file)["mcpServers"]["notes"] == {
        **entry_for(notes),
        "env": {"K": "v"},
        "disabled": True,
    }


def test_keys_that_the_user_added_do_not_make_it_another_server(
    call: Call, home: Path, notes: Path
) -> None:
    entry = {**entry_for(notes), "env": {"SECRET": "s3cret"}, "type": "stdio"}
    file = put(home / ".cursor/mcp.json", json.dumps({"mcpServers": {"notes": entry}}))
    before = file.stat().st_mtime_ns

    answer = call("install", "cursor", notes, "--json")

    assert (answer.code, answer.value["action"], answer.value["backup"]) == (0, "unchanged", None)
    assert "s3cret" not in answer.out
    assert file.stat().st_mtime_ns == before
    assert list(file.parent.iterdir()) == [file]


def test_a_dry_run_writes_nothing_and_prints_what_it_would(
    call: Call, home: Path, notes: Path
) -> None:
    for client in CLIENTS:
        answer = call("install", client.name, "notes", "--dry-run")
        assert answer.code == 0
        assert PROGRAM in answer.out
        assert str(place_of(client).file) in answer.err

    assert sorted(home.iterdir()) == [notes]


def test_options_of_the_server_are_written_with_whole_paths(
    call: Call, home: Path, notes: Path
) -> None:
    (home / "more").mkdir()
    config = put(home / "etc/bookwheel.toml", "max_file_mb = 3\n")
    options = ["--index", "ix", "--config", "etc/bookwheel.toml", "--toolsets", "pages,folder"]

    answer = call("install", "cursor", "notes", "more/../more", *options, "--json")

    assert answer.value == {
        "client": "cursor",
        "name": "bookwheel",
        "action": "installed",
        "dryRun": False,
        "file": str(home / ".cursor/mcp.json"),
        "entry": {
            "command": PROGRAM,
            "args": [
                *("serve", str(notes), str(home / "more")),
                *("--config", str(config), "--index", str(home / "ix")),
                *("--toolsets", "pages,folder"),
            ],
        },
        "command": None,
        "backup": None,
        "next": find_client("cursor").restart,
    }


def test_without_folders_those_of_the_configuration_file_are_served(
    call: Call, home: Path, notes: Path
) -> None:
    config = put(home / "bookwheel.toml", "max_file_mb = 3\n")
    assert "Name the folders" in call("install", "cursor").err

    put(config, '[[collections]]\npath = "notes"\n')
    answer = call("install", "cursor", "--json")

    assert answer.value["entry"]["args"] == ["serve", "--config", str(config)]


def test_a_variable_of_this_shell_is_pointed_out(
    call: Call, home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOKWHEEL_LANGUAGE", "de")
    monkeypatch.setenv("BOOKWHEEL_TOKEN", "s3cret")

    answer = call("install", "cursor", "notes", "--json")

    assert "BOOKWHEEL_LANGUAGE counts in this shell" in answer.err
    assert "s3cret" not in answer.out + answer.err
    assert "BOOKWHEEL_TOKEN" not in answer.err


def test_a_project_has_its_own_file(call: Call, home: Path, notes: Path) -> None:
    for client in CLIENTS:
        if client.project is not None:
            answer = call("install", client.name, "notes", "--project", "--json")
            assert answer.value["file"] == str(home / client.project)
            assert (home / client.project).is_file()
            undone = call("install", client.name, "--project", "--remove", "--json")
            assert (undone.value["action"], undone.value["name"]) == ("removed", "notes")


def test_the_program_is_named_by_module_where_there_is_no_script(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert find_program() == [str(tmp_path / "python"), "-m", "bookwheel"]

    script = put(tmp_path / "bookwheel", "#!/bin/sh\n")
    assert find_program() == [str(script)]

    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["./bookwheel"])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert find_program() == [str(script)]


# ------------------------------------------------------------------- addresses and tokens


@pytest.mark.parametrize(
    ("client", "entry"),
    [
        ("claude-code", {"type": "http", "url": "URL", "headers": "Bearer ${T}"}),
        ("cursor", {"url": "URL", "headers": "Bearer ${env:T}"}),
        ("vscode", {"type": "http", "url": "URL"}),
        ("codex", {"url": "URL", "bearer_token_env_var": "T"}),
        ("gemini", {"httpUrl": "URL", "headers": "Bearer ${T}"}),
        ("windsurf", {"serverUrl": "URL", "headers": "Bearer ${env:T}"}),
        ("zed", {"url": "URL"}),
    ],
)
def test_an_address_is_written_in_each_clients_form_and_a_token_by_its_variable_only(
    call: Call, home: Path, client: str, entry: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOKWHEEL_TOKEN", "s3cret")
    monkeypatch.setenv("T", "s3cret")
    token = ["--token-variable", "T"] if {"headers", "bearer_token_env_var"} & set(entry) else []

    answer = call("install", client, "--http", "http://127.0.0.1:1", *token, "--dry-run", "--json")

    wanted: dict[str, Any] = {**entry}
    for key in {"url", "httpUrl", "serverUrl"} & set(entry):
        wanted[key] = "http://127.0.0.1:1/mcp"
    if "headers" in entry:
        wanted["headers"] = {"Authorization": entry["headers"]}
    assert answer.value["entry"] == wanted
    assert answer.value["name"] == "bookwheel"
    assert "s3cret" not in answer.out + answer.err
    assert "T in its environment" in answer.err or "docs/clients.md says how" in answer.err


def test_an_address_of_this_machine_without_a_token_needs_no_note(call: Call, home: Path) -> None:
    assert call("install", "cursor", "--http", "http://127.0.0.1:1/mcp", "--json").err == ""
    answer = call("install", "cursor", "--http", "https://far.example/mcp", "--force", "--json")
    assert "--token-variable BOOKWHEEL_TOKEN" in answer.err


# ------------------------------------------------------------------- taking it out


def test_only_our_entry_goes(call: Call, home: Path, notes: Path) -> None:
    file = put(home / ".cursor/mcp.json", '{"mcpServers": {"a": {"command": "x"}}, "b": 1}')
    before = file.read_bytes()
    call("install", "cursor", notes)

    answer = call("install", "cursor", "--remove")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Removed notes from Cursor")
    assert json.loads(file.read_bytes()) == json.loads(before)
    assert "another server: x" in call("install", "cursor", "--remove", "--name", "a").err
    assert call("install", "cursor", "--remove", "--name", "a", "--force").code == 0
    assert read(file) == {"mcpServers": {}, "b": 1}


def test_of_several_entries_the_one_named_goes(call: Call, home: Path, notes: Path) -> None:
    for name in ("one", "two", "three"):
        call("install", "cursor", notes, "--name", name)

    answer = call("install", "cursor", "--remove")
    assert answer.code == 2
    assert "one, two, three" in answer.err
    dry = call("install", "cursor", "--remove", "--name", "two", "--dry-run")
    assert dry.out == "two would be removed.\n"
    call("install", "cursor", "--remove", "--name", "two")

    assert list(read(home / ".cursor/mcp.json")["mcpServers"]) == ["one", "three"]
    assert call("install", "--list", "--json").value["clients"][2]["installed"] == ["one", "three"]


# ------------------------------------------------------------------- Claude Code, by its program


CLAUDE = """\
#!{python}
import json, pathlib, sys
file = pathlib.Path({file!r})
values = json.loads(file.read_text()) if file.exists() else {{}}
servers = values.setdefault("mcpServers", {{}})
verb, scope, user, name = sys.argv[2:6]
assert (sys.argv[1], scope, user) == ("mcp", "--scope", "user"), sys.argv
if verb == "add-json":
    if name in servers or "refuse" in sys.argv[6]:
        sys.exit(f"MCP server {{name}} already exists in user config")
    servers[name] = json.loads(sys.argv[6])
else:
    del servers[name]
file.write_text(json.dumps(values))
"""


@pytest.fixture
def claude(home: Path) -> Path:
    """The program as it behaves, seen from outside; returns the file that it keeps."""
    file = home / ".claude.json"
    program = put(home / "bin/claude", CLAUDE.format(python=sys.executable, file=str(file)))
    program.chmod(0o755)
    return file


def test_claude_code_is_told_by_its_own_program(
    call: Call, home: Path, notes: Path, claude: Path
) -> None:
    answer = call("install", "claude-code", notes, "--json")
    entry = {"type": "stdio", **entry_for(notes)}
    assert answer.value["command"][:-1] == [
        *("claude", "mcp", "add-json", "--scope", "user", "notes"),
    ]
    assert read(claude)["mcpServers"] == {"notes": entry}
    assert call("install", "claude-code", notes, "--json").value["action"] == "unchanged"

    (home / "other").mkdir()
    other = ["install", "claude-code", "other", "--name", "notes"]
    assert call(*other).code == 2
    assert call(*other, "--force").code == 0
    assert read(claude)["mcpServers"]["notes"]["args"] == ["serve", str(home / "other")]
    assert call("install", "claude-code", "--remove").code == 0
    assert read(claude)["mcpServers"] == {}


def test_what_claude_code_had_comes_back_when_its_program_refuses_the_new_entry(
    call: Call, home: Path, notes: Path, claude: Path
) -> None:
    other = {"type": "http", "url": "https://far.example/mcp"}
    put(claude, json.dumps({"mcpServers": {"notes": other}}))
    (home / "refuse").mkdir()

    answer = call("install", "claude-code", "refuse", "--name", "notes", "--force")

    assert (answer.code, answer.out) == (2, "")
    assert "claude refused" in answer.err
    assert read(claude) == {"mcpServers": {"notes": other}}


def test_without_its_program_the_command_is_shown(call: Call, home: Path, notes: Path) -> None:
    answer = call("install", "claude-code", notes)

    assert (answer.code, answer.out) == (2, "")
    assert "There is no program 'claude' on the PATH." in answer.err
    assert "claude mcp add-json --scope user notes '{" in answer.err


@pytest.mark.parametrize("script", ["#!/bin/sh\necho no way >&2; exit 3\n", "no program\0"])
def test_a_refusal_of_the_program_is_passed_on(
    call: Call, notes: Path, claude: Path, script: str
) -> None:
    put(claude.parent / "bin/claude", script)

    answer = call("install", "claude-code", notes)

    assert (answer.code, answer.out) == (2, "")
    assert "refused: no way" in answer.err or "could not be run" in answer.err


# ------------------------------------------------------------------- where clients keep their files


def test_the_list_shows_each_clients_file(call: Call, home: Path, notes: Path) -> None:
    put(home / ".codex/config.toml", "broken")
    call("install", "cursor", notes)

    rows = {row["client"]: row for row in call("install", "--list", "--json").value["clients"]}

    assert {name: Path(row["file"]).relative_to(home).as_posix() for name, row in rows.items()} == {
        "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
        "codex": ".codex/config.toml",
        "gemini": ".gemini/settings.json",
        "windsurf": ".codeium/windsurf/mcp_config.json",
        "zed": ".config/zed/settings.json",
    }
    assert [name for name, row in rows.items() if row["exists"]] == ["cursor", "codex"]
    assert rows["cursor"]["installed"] == ["notes"]
    assert len(call("install", "--list").out.splitlines()) == len(CLIENTS)


def test_variables_that_name_a_clients_folder_count(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", "~/cx")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/c")

    assert place_of(find_client("codex")).file == home / "cx/config.toml"
    assert place_of(find_client("claude-code")).file == Path("/c/.claude.json")


def test_on_macos_the_files_lie_in_application_support(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs
    from platformdirs.macos import MacOS

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(
        platformdirs, "user_config_path", lambda **given: MacOS(**given).user_config_path
    )
    support = home / "Library/Application Support"

    assert place_of(find_client("claude-desktop")).file == (
        support / "Claude/claude_desktop_config.json"
    )
    assert place_of(find_client("vscode")).file == support / "Code/User/mcp.json"
    assert place_of(find_client("zed")).file == home / ".config/zed/settings.json"


def test_on_windows_the_files_lie_in_the_roaming_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs
    from platformdirs import windows

    monkeypatch.setenv("APPDATA", str(home / "Roaming"))
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    monkeypatch.setattr(
        platformdirs, "user_config_path", lambda **given: windows.Windows(**given).user_config_path
    )

    assert place_of(find_client("claude-desktop")).file == (
        home / "Roaming/Claude/claude_desktop_config.json"
    )


def test_the_command_is_listed() -> None:
    assert "install" in COMMANDS
