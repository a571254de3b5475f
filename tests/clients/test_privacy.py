"""Nothing leaves the machine by itself, no folder widens what is served, no defect shows itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bookwheel.contracts.dispatch import call
from bookwheel.contracts.tool import RpcError
from bookwheel.contracts.work import Work
from bookwheel.serve.toolsets import choose, load_contracts
from tests.conftest import Shelf

CONNECTS = """
import socket, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0]
        family = getattr(arguments[0], "family", None)
        if family == socket.AF_UNIX or address in (None, "127.0.0.1", "localhost"):
            return
        if isinstance(address, tuple) and address[0] == "127.0.0.1":
            return
        print("OUT", event, address, file=sys.stderr, flush=True)

sys.addaudithook(refuse)
"""


def run_watched(folder: Path, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script that tells of every attempt, its processes' too, to reach another machine."""
    (folder / "sitecustomize.py").write_text(CONNECTS)
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )


def test_the_watch_is_able_to_fail(tmp_path: Path) -> None:
    reach_out = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
    script = f"""
    import subprocess, sys
    subprocess.run([sys.executable, "-c", "import socket; {reach_out}"])
    """

    assert "OUT socket.connect" in run_watched(tmp_path, script).stderr


@pytest.mark.requirement("X-035")
def test_t19_indexing_searching_and_serving_reach_no_other_machine(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put("zebra.md", "# Zebra\n\n![x](http://192.0.2.1/x.png) <http://192.0.2.1/>")
    shelf.put(
        "page.html", '<h1>Page</h1><img src="http://192.0.2.1/y.png"><link href="//192.0.2.1">'
    )
    script = """
    import sys
    import anyio
    from bookwheel.library import Library
    from bookwheel.query import SearchRequest
    from bookwheel.serve.calls import Calls
    from bookwheel.serve.mcp import DocumentServer
    from bookwheel.serve.toolsets import choose, load_contracts
    from bookwheel.settings import load
    from mcp import Client

    settings = load({"index": sys.argv[2], "workers": 1}, use_start_folder=False)
    with Library.open(settings, [sys.argv[1]]) as library:
        library.update()
        library.embed()
        library.warm()
        print(len(library.search(SearchRequest("striped animals")).hits))
        library.check()
        calls = Calls(library)

        async def main():
            server = DocumentServer(calls, choose(load_contracts(), "all"))
            async with Client(server) as client:
                for tool in (await client.list_tools()).tools:
                    try:
                        await client.call_tool(tool.name, {"query": "zebra"})
                    except Exception:
                        pass
                await client.read_resource("docs://zebra.md")

        anyio.run(main)
        calls.close()
    print("done")
    """
    ended = run_watched(tmp_path, script, shelf.folder, shelf.place / "index")

    assert ended.stdout.split()[-1] == "done", ended.stderr
    assert "OUT" not in ended.stderr


WIDENING: dict[str, str] = {
    "bookwheel.toml": """
        name = "Nice"
        public = true
        token = "x"
        tokens = "tokens.json"
        toolsets = "all"
        hosts = "evil.example"
        trusted_proxies = "0.0.0.0/0"
        redact = "off"
        access = "full"
        audit = "off"
        tool_limits = "off"
        docs_root = "/"
        index = "elsewhere"
        [[collections]]
        path = ".."
        redact = "off"
    """,
    "manifest.json": json.dumps(
        {"name": "Nice", "path": "..", "roots": ["/"], "redact": "off", "access": "full"}
    ),
}


@pytest.mark.requirement("X-042")
@pytest.mark.parametrize("name", WIDENING)
def test_t06_no_file_of_a_folder_widens_what_is_served(shelf: Shelf, name: str) -> None:
    (shelf.place / "outside.md").write_text("# Outside\n\nzebra")
    shelf.put(name, textwrap.dedent(WIDENING[name]))
    shelf.put("tokens.json", '{"tokens": []}')
    shelf.put("a.md", "# A\n\nzebra password: hunter2hunter2 ann@example.com")
    flags: dict[str, Any] = {"redact": "all", "access": "preview"}
    shelf.update(**flags)

    with shelf.open(**flags) as library:
        (state,) = library.states()
        assert [path for path in library.paths(state.collection.name) if "outside" in path] == []
        assert (state.collection.access, state.collection.redact) == (None, None)
        assert library.settings["public"] is False
        assert library.settings["token"] is None
        assert library.settings["audit"] is None
        offered = choose(load_contracts(), "all")
        reply = call(Work(library), offered, "documents_search", {"query": "zebra password"})
    assert "hunter2" not in reply.text
    assert "ann@example.com" not in reply.text


class Canary(Exception):
    """A defect whose text must not be seen."""


SECRETS = ("Canary", "SELECT", "/srv/secret", "Traceback", "view.py", ".db")


def every_tool() -> list[str]:
    return [tool.name for each in load_contracts().values() for tool in each.tools]


ENOUGH: dict[str, Any] = {
    "query": "zebra",
    "queries": [{"query": "zebra"}],
    "collection": "notes",
    "document": "zebra.md",
    "section": "Zebra",
    "path": "zebra.md",
    "root": "{root}",
    "results": [{"path": "{root}/zebra.md", "snippet": "zebra"}],
}


def arguments_for(name: str, root: Path) -> dict[str, Any]:
    tools = {tool.name: tool for each in load_contracts().values() for tool in each.tools}
    wanted = tools[name].input_schema().get("required", [])
    filled = json.loads(json.dumps(ENOUGH).replace("{root}", str(root)))
    made = {key: filled[key] for key in wanted}
    return made | ({"path": f"{root}/zebra.md"} if name == "openFile" else {})


@pytest.mark.parametrize("tool", every_tool())
@pytest.mark.parametrize("place", ["_reader", "_ask"])
def test_t29_a_defect_in_the_store_shows_nothing_of_itself(
    shelf: Shelf, tool: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bookwheel.engines.embedded.engine import EmbeddedEngine

    def fail(*_: Any, **__: Any) -> Any:
        raise Canary("SELECT * FROM documents WHERE path = '/srv/secret/catalog.db'")

    shelf.put("zebra.md", "# Zebra\n\nstripes")
    shelf.update()
    with shelf.open(index_answer_seconds=1) as library:
        monkeypatch.setattr(EmbeddedEngine, place, fail)
        told = tell(lambda: call(Work(library), offered, tool, arguments_for(tool, shelf.folder)))
    assert not [secret for secret in SECRETS if secret in told], told


offered = choose(load_contracts(), "all")


def tell(ask: Callable[[], Any]) -> str:
    """Return all that a client is told."""
    try:
        reply = ask()
    except RpcError as error:
        return f"{error.message} {error.data}"
    return f"{reply.text} {reply.structured}"
