"""Try an installation as a stranger would: its version, an index, a search, an assistant.

`python -m release.trial FILE` installs a wheel or a source archive, with all that it requires,
into a fresh environment at build/trial and tries the program there. The environment stays:
`make sbom` and `make audit` look at it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from mcp import Client, StdioServerParameters

PLACE = Path("build/trial")
PATIENCE = 120
TOOL = "documents_search"
NOTE = "# Keys\n\nRotate the signing key every spring.\n"


def install(archive: Path, place: Path = PLACE) -> str:
    """Install an archive into a fresh environment; return the program."""
    venv.create(place, clear=True, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(place), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", str(archive)], check=True)
    return str((place / "bin" / "bookwheel").absolute())


def try_program(
    program: Sequence[str], expected: str, variables: Mapping[str, str] | None = None
) -> None:
    """Use a program in a folder that holds nothing of ours; raise if it does not do its work."""
    with TemporaryDirectory() as name:
        home = Path(name)
        environment = {"PATH": os.environ["PATH"], "HOME": name, **(variables or {})}
        (home / "notes").mkdir()
        (home / "notes" / "keys.md").write_text(NOTE, encoding="utf-8")

        def run(*words: str) -> str:
            done = subprocess.run(
                [*program, *words],
                cwd=home,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                timeout=PATIENCE,
                check=False,
            )
            if done.returncode:
                raise RuntimeError(f"{words[0]} ended with {done.returncode}: {done.stderr}")
            return done.stdout

        version = run("--version").strip()
        _expect(version, f"bookwheel {expected}")
        run("index", "notes")
        hits = json.loads(run("search", "rotated keys", "notes", "--json"))["results"]
        _expect([hit["document"] for hit in hits], ["keys.md"])
        served = StdioServerParameters(
            command=program[0],
            args=[*program[1:], "serve", str(home / "notes")],
            env=environment,
            cwd=name,
        )
        _expect("signing key" in anyio.run(_ask_assistant, served), True)


async def _ask_assistant(server: StdioServerParameters) -> str:
    """Let an assistant start the server, list its tools, and call one."""
    with anyio.fail_after(PATIENCE):
        async with Client(server) as client:
            _expect(TOOL in {tool.name for tool in (await client.list_tools()).tools}, True)
            answer = await client.call_tool(TOOL, {"query": "rotate the key"})
    return str(answer.content)


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise RuntimeError(f"expected {wanted!r}, got {found!r}")


def version_of(archive: Path) -> str:
    """Return the version in the name of a wheel or a source archive."""
    return archive.name.removesuffix(".tar.gz").split("-")[1]


if __name__ == "__main__":
    chosen = Path(sys.argv[1])
    try_program([install(chosen)], version_of(chosen))
    sys.stdout.write(f"{chosen} works: version, index, search, an assistant over stdio\n")
