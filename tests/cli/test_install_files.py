"""`bookwheel install` and the settings files of others: whatever is in them stays as it is."""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bookwheel.cli.client_files import ClientFile, read_content, write_content
from bookwheel.errors import Conflict
from tests.cli.conftest import Call
from tests.cli.homes import PROGRAM, entry_for, put, read

# ------------------------------------------------------------------- files that must not be harmed


COMMENTED = """\
// mine
{
    "mcpServers": {
        // do not touch
        "other": {"command": "x", "args": [1.0, 1e3]}, // nor this
    },
}
"""


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED,
        "{",
        "[]",
        "7",
        '{"mcpServers": []}',
        '{"mcpServers": {}} trailing',
        "[" * 100_000,
        "\x00",
        b"\xff\xfe{\x00}\x00",
        b'{"a": "\xff"}',
    ],
)
def test_a_file_that_is_no_plain_json_is_left_alone_and_the_entry_shown(
    call: Call, home: Path, notes: Path, text: str | bytes
) -> None:
    file = put(home / ".cursor/mcp.json", text)
    before = file.read_bytes()

    answer = call("install", "cursor", notes)

    assert (answer.code, answer.out) == (2, "")
    assert str(file) in answer.err
    assert "Traceback" not in answer.err
    snippet = answer.err.partition("by hand:\n")[2]
    assert json.loads(snippet) == {"mcpServers": {"notes": entry_for(notes)}}
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_comments_and_trailing_commas_stay_where_the_client_reads_them(
    call: Call, home: Path, notes: Path
) -> None:
    text = COMMENTED.replace("mcpServers", "servers")
    file = put(home / ".config/Code/User/mcp.json", text)

    assert call("install", "vscode", notes).code == 0

    entry = json.dumps({"type": "stdio", **entry_for(notes)}, indent=4).replace("\n", "\n        ")
    assert file.read_text(encoding="utf-8") == text.replace(
        "// nor this\n", f'// nor this\n        "notes": {entry},\n'
    )
    assert call("install", "vscode", "--remove").code == 0
    assert file.read_text(encoding="utf-8") == text


def test_a_comment_after_the_last_entry_stays_with_it(call: Call, home: Path, notes: Path) -> None:
    text = '{\n\t"context_servers": {\n\t\t"a": {"url": "x"} // mine\n\t}\n}\n'
    file = put(home / ".config/zed/settings.json", text)

    assert call("install", "zed", notes).code == 0

    assert '\t\t"a": {"url": "x"}, // mine\n\t\t"notes": {\n' in file.read_text(encoding="utf-8")
    assert call("install", "zed", "--remove").code == 0
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "notes": ENTRY\n  }\n}\n'),
        (" \n", '{\n  "mcpServers": {\n    "notes": ENTRY\n  }\n}\n'),
        ("{}", '{\n  "mcpServers": {\n    "notes": ENTRY\n  }\n}'),
        ('{"a": 1.0}', '{"a": 1.0, "mcpServers": {"notes": FLAT}}'),
        ('{"mcpServers": {"b": {}}}', '{"mcpServers": {"b": {}, "notes": FLAT}}'),
        (
            '\ufeff{\r\n   "z": "\\u00e9\\/",\r\n   "a": [1e3,1.0]\r\n}',
            '\ufeff{\r\n   "z": "\\u00e9\\/",\r\n   "a": [1e3,1.0],\r\n   "mcpServers": {\r\n'
            '      "notes": ENTRY\r\n   }\r\n}',
        ),
        (
            '{\n\t"mcpServers": {\n\t\t"b": {"x": "}, {"}\n\t},\n\t"mcp": {}\n}\n',
            '{\n\t"mcpServers": {\n\t\t"b": {"x": "}, {"},\n\t\t"notes": ENTRY\n\t},\n'
            '\t"mcp": {}\n}\n',
        ),
        (
            '{\n  "mcpServers": {}, "mcpServers": {\n    "b": 1\n  }\n}\n',
            '{\n  "mcpServers": {}, "mcpServers": {\n    "b": 1,\n    "notes": ENTRY\n  }\n}\n',
        ),
    ],
)
def test_what_was_there_stays_byte_for_byte(
    call: Call, home: Path, notes: Path, before: str, after: str
) -> None:
    file = put(home / ".cursor/mcp.json", before)

    assert call("install", "cursor", notes).code == 0

    got = file.read_bytes().decode()
    unit = "\t" if "\t" in after else "   " if "\r\n" in after else "  "
    newline = "\r\n" if "\r\n" in after else "\n"
    entry = json.dumps(entry_for(notes), indent=unit).replace("\n", newline + unit * 2)
    assert got == after.replace("ENTRY", entry).replace("FLAT", json.dumps(entry_for(notes)))
    if before.strip():
        kept = file.with_name("mcp.json.bookwheel-backup")
        assert kept.read_bytes() == before.encode()


def test_a_link_stays_a_link_and_its_target_keeps_its_permissions(
    call: Call, home: Path, notes: Path
) -> None:
    real = put(home / "dotfiles/cursor.json", "{}")
    real.chmod(0o640)
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    file.symlink_to(Path("../dotfiles/cursor.json"))

    assert call("install", "cursor", notes).code == 0

    assert file.is_symlink()
    assert read(real) == {"mcpServers": {"notes": entry_for(notes)}}
    modes = [stat.S_IMODE(each.stat().st_mode) for each in sorted(real.parent.iterdir())]
    assert modes == [0o640, 0o640]
    assert [each.name for each in sorted(real.parent.iterdir())] == [
        "cursor.json",
        "cursor.json.bookwheel-backup",
    ]


def test_a_link_to_nowhere_yet_is_followed(call: Call, home: Path, notes: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    file.symlink_to(home / "dotfiles/deep/cursor.json")

    assert call("install", "cursor", notes).code == 0

    assert file.is_symlink()
    assert "notes" in read(home / "dotfiles/deep/cursor.json")["mcpServers"]


def test_a_folder_that_cannot_be_written_is_said_so(
    call: Call, home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(home / ".cursor/mcp.json", "{}")
    really_open = os.open

    def refuse(path: Any, flags: int, *rest: Any, **named: Any) -> int:  # as root never meets it
        if flags & os.O_CREAT and Path(path).parent == file.parent:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really_open(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    answer = call("install", "cursor", notes)

    assert (answer.code, answer.out) == (2, "")
    assert "cannot be written: Permission denied" in answer.err
    assert file.read_bytes() == b"{}"


@pytest.mark.parametrize("blocking", [".cursor", ".cursor/mcp.json/x"])
def test_a_path_that_is_blocked_is_said_so_and_the_entry_shown(
    call: Call, home: Path, notes: Path, blocking: str
) -> None:
    put(home / blocking, "in the way")

    answer = call("install", "cursor", notes)

    assert (answer.code, answer.out) == (2, "")
    assert "cannot be" in answer.err
    assert PROGRAM in answer.err


def test_a_folder_that_cannot_be_made_is_said_so(call: Call, home: Path, notes: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    file.symlink_to("/proc/nowhere/mcp.json")

    answer = call("install", "cursor", notes)

    assert (answer.code, answer.out) == (2, "")
    assert "/proc/nowhere cannot be written" in answer.err
    assert PROGRAM in answer.err


def test_a_file_that_changes_meanwhile_is_not_overwritten(home: Path) -> None:
    place = ClientFile(put(home / "mcp.json", "{}"), "json", "mcpServers")
    content = read_content(place)
    put(place.file, '{"newer": 1}')

    with pytest.raises(Conflict):
        write_content(content, '{"mcpServers": {}}')

    assert read(place.file) == {"newer": 1}
    assert sorted(each.name for each in home.iterdir()) == ["mcp.json", "mcp.json.bookwheel-backup"]


def test_half_a_character_in_the_users_own_keys_is_left_alone(
    call: Call, home: Path, notes: Path
) -> None:
    text = '{"mcpServers": {"notes": {"command": "x", "note": "\\ud800"}}}'
    file = put(home / ".cursor/mcp.json", text)

    answer = call("install", "cursor", notes, "--force")

    assert (answer.code, answer.out) == (2, "")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "entry", [None, 7, [], {}, {"command": 5, "args": 7}, {"args": [None, {}]}, {"url": []}]
)
def test_an_entry_of_any_shape_is_shown_listed_and_can_be_replaced(
    call: Call, home: Path, notes: Path, entry: object
) -> None:
    file = put(home / ".cursor/mcp.json", json.dumps({"mcpServers": {"notes": entry}}))

    refused = call("install", "cursor", notes)
    assert (refused.code, refused.out) == (2, "")
    assert "has a server 'notes' already" in refused.err
    assert call("install", "--list").code == 0
    assert call("install", "cursor", "--remove").code == 4
    assert call("install", "cursor", notes, "--force").code == 0
    assert read(file) == {"mcpServers": {"notes": entry_for(notes)}}
    assert call("install", "cursor", "--remove").code == 0
    assert file.read_text(encoding="utf-8") == '{"mcpServers": {}}'


def test_a_link_in_a_loop_is_said_so(call: Call, home: Path, notes: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    file.symlink_to(file)

    answer = call("install", "cursor", notes)

    assert (answer.code, answer.out) == (2, "")
    assert "cannot be read" in answer.err
    assert call("install", "--list").code == 0


def test_a_backup_is_never_overwritten(call: Call, home: Path, notes: Path) -> None:
    file = put(home / ".cursor/mcp.json", '{"a": 1}')
    put(file.with_name("mcp.json.bookwheel-backup"), "older")

    call("install", "cursor", notes)
    answer = call("install", "cursor", notes, "--name", "again", "--json")

    third = file.with_name("mcp.json.bookwheel-backup-3")
    assert answer.value["backup"] == str(third)
    assert [
        file.with_name(f"mcp.json.bookwheel-backup{end}").read_text(encoding="utf-8")
        for end in ("", "-2")
    ] == ["older", '{"a": 1}']


# ------------------------------------------------------------------- TOML


def test_a_toml_file_keeps_its_text_and_gives_the_entry_back(
    call: Call, home: Path, notes: Path
) -> None:
    text = (
        "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = 'y'\n\n[tui] # last\na = 1"
    )
    file = put(home / ".codex/config.toml", text)

    assert call("install", "codex", notes).code == 0

    got = file.read_text(encoding="utf-8")
    assert got == (
        f"{text}\n\n[mcp_servers.notes]\ncommand = {json.dumps(PROGRAM)}\n"
        f'args = ["serve", {json.dumps(str(notes))}]\n'
    )
    assert tomllib.loads(got)["mcp_servers"]["notes"] == entry_for(notes)
    assert call("install", "codex", "--remove").code == 0
    assert file.read_text(encoding="utf-8") == text + "\n"


def test_a_toml_table_is_replaced_where_it_stands_with_the_keys_that_the_user_added(
    call: Call, home: Path, notes: Path
) -> None:
    text = (
        '[mcp_servers . "notes"] # ours\r\ncommand = "old"\r\nstartup_timeout_sec = 20\r\n'
        "enabled = true\r\n"
        '[mcp_servers.notes.env]\r\nKEY = "v\\u007f"\r\n\r\n# of the next\r\n[tui]\r\na = 1\r\n'
    )
    file = put(home / ".codex/config.toml", text)

    assert call("install", "codex", notes).code == 2
    assert call("install", "codex", notes, "--force").code == 0

    got = file.read_bytes().decode()
    values = tomllib.loads(got)
    assert values == {
        "mcp_servers": {
            "notes": {
                **entry_for(notes),
                "startup_timeout_sec": 20,
                "enabled": True,
                "env": {"KEY": "v\x7f"},
            }
        },
        "tui": {"a": 1},
    }
    assert got.endswith("\r\n\r\n# of the next\r\n[tui]\r\na = 1\r\n")
    assert call("install", "codex", "--remove").code == 0
    assert file.read_bytes().decode() == "# of the next\r\n[tui]\r\na = 1\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } }\n",
        "mcp_servers.notes.command = 'x'\n",
        "mcp_servers = 3\n",
        "[[mcp_servers]]\nname = 'x'\n",
        "a = '''\n[mcp_servers.notes]\n'''\n[mcp_servers.notes]\ncommand = 'x'\n",
        "[mcp_servers.notes]\ncommand = 'x'\nsince = 2024-01-01\n",
        "broken",
        b"\xff",
    ],
)
def test_a_toml_file_that_is_not_foreseen_is_left_alone_and_the_entry_shown(
    call: Call, home: Path, notes: Path, text: str | bytes
) -> None:
    file = put(home / ".codex/config.toml", text)
    before = file.read_bytes()

    answer = call("install", "codex", notes, "--force")

    assert (answer.code, answer.out) == (2, "")
    snippet = answer.err.partition("by hand:\n")[2]
    assert tomllib.loads(snippet) == {"mcp_servers": {"notes": entry_for(notes)}}
    assert file.read_bytes() == before
