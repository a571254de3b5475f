"""docs/clients.md: whoever follows it gets what it shows."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bookwheel.cli.clients import CLIENTS
from bookwheel.serve.toolsets import ALL, load_contracts
from bookwheel.settings import SETTINGS
from tests.cli.conftest import Call
from tests.cli.homes import PROGRAM, put
from tests.docs_tables import DOCS

GUIDE = (DOCS / "clients.md").read_text(encoding="utf-8")
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(
    r"```sh\n(bookwheel install [^\n]+)\n```\n\nor by [^\n]+:\n\n```\w+\n(.*?)```", GUIDE, re.DOTALL
)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.requirement("P-075")
def test_the_guide_covers_clients_addresses_and_settings_and_the_readme_leads_to_it(
    call: Call, home: Path, notes: Path
) -> None:
    titles = re.findall(r"^## (.+)$", GUIDE, re.MULTILINE)
    assert {client.title for client in CLIENTS} < set(titles)
    for command, block in SHOWN:
        answer = call(*_words(command, home), "--dry-run")
        got = answer.out.replace(PROGRAM, "/path/to/bookwheel").replace(str(home), "/home/me")
        assert (answer.code, got) == (0, block), command

    for path in ("mcp", "healthz", "readyz", *(f"mcp/{name}" for name in (*load_contracts(), ALL))):
        assert f"`/{path}`" in GUIDE
    assert "(settings.md)" in GUIDE
    settings = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert [row.variable for row in SETTINGS if f"`{row.variable}`" not in settings] == []
    section = README.partition("## Connect an assistant\n")[2].partition("\n## ")[0]
    assert "(docs/clients.md)" in section
    assert "bookwheel install claude-desktop" in section


def _words(command: str, home: Path) -> list[str]:
    words = shlex.split(command)[1:]
    return [str(home / "notes") if word == "~/notes" else word for word in words]


def test_every_client_is_shown_with_a_command_and_where_it_can_with_an_address() -> None:
    wanted = [client.name for client in CLIENTS for _ in range(2 if client.call else 1)]

    assert [command.split()[2] for command, _ in SHOWN] == wanted


def test_every_block_can_be_read() -> None:
    for block in blocks("json"):
        json.loads(block)
    for block in blocks("toml"):
        tomllib.loads(block)
    (call,) = [block for block in blocks("sh") if block.startswith("curl")]
    words = shlex.split(call)
    assert json.loads(words[words.index("-d") + 1])["method"] == "tools/call"
    assert urlsplit(words[2]).path == "/mcp"


def test_the_example_in_python_finds_what_it_looks_for(
    home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")  # a client does not hand it on
    put(notes / "a.md", "# Rollout\n\nHow to deploy.\n")
    (example,) = blocks("python")
    example = example.replace("/path/to/bookwheel", PROGRAM).replace("/home/me/notes", str(notes))
    subprocess.run([PROGRAM, "index", str(notes)], check=True, capture_output=True, timeout=50)

    ended = subprocess.run(
        [sys.executable, "-c", example], check=True, capture_output=True, text=True, timeout=50
    )

    assert "Rollout" in ended.stdout
