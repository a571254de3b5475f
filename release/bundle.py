"""Make an MCP bundle: one file that an assistant installs, asking which folders to serve.

`python -m release.bundle UV` packs the source archive with a manifest into dist/, by the format's
own tool, which checks it; then unpacks the bundle and tries it the way a host starts it. The host
brings uv, and uv brings Python and the dependencies.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from bookwheel import __version__
from bookwheel.serve.toolsets import choose, load_contracts
from release.trial import try_program

TOP = Path(__file__).parent.parent
PLACE = TOP / "build" / "mcpb"
TOOL = TOP / "release" / "node_modules" / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"
NEEDED = ("pyproject.toml", "README.md", "LICENSE")
START = ("run", "--project", "${__dirname}", "bookwheel")
"""What the host tells uv; the words of the program follow."""


def make_manifest() -> dict[str, Any]:
    """Return what a host is told of the bundle."""
    tools = [
        {"name": tool.name, "description": tool.description}
        for contract in choose(load_contracts(), None).listed
        for tool in contract.tools
    ]
    return {
        "manifest_version": "0.4",
        "name": "bookwheel",
        "display_name": "Bookwheel",
        "version": __version__,
        "description": "Searches folders of documents, by words and by meaning.",
        "author": {"name": "The Bookwheel authors"},
        "license": "MIT",
        "keywords": ["search", "documents", "full-text"],
        "server": {
            "type": "uv",
            "entry_point": "src/bookwheel/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": [*START, "serve", "${user_config.folders}"],
            },
        },
        "tools": tools,
        "compatibility": {"platforms": ["linux"], "runtimes": {"python": ">=3.11,<3.14"}},
        "user_config": {
            "folders": {
                "type": "directory",
                "title": "Folders",
                "description": "Folders of documents that the assistant may search and read.",
                "multiple": True,
                "required": True,
            }
        },
    }


def lay_out(place: Path) -> None:
    """Write what goes into the bundle: the sources as released, and the manifest."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    words = ["hatchling", "build", "--target", "sdist", "--directory", str(place)]
    subprocess.run([sys.executable, "-m", *words], cwd=TOP, check=True, capture_output=True)
    (archive,) = place.iterdir()
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name.startswith("src/") or member.name in NEEDED:
                opened.extract(member, place, filter="data")
    archive.unlink()
    text = json.dumps(make_manifest(), indent=2, ensure_ascii=False)
    (place / "manifest.json").write_text(text + "\n", encoding="utf-8")


def run_tool(*words: object) -> None:
    """Run the tool of the format in the Node of the development packages."""
    node = Path(sys.executable).parent / "node"
    subprocess.run([str(node), str(TOOL), *map(str, words)], check=True, stdout=sys.stderr)


def main(uv: Path) -> None:
    """Lay out, check, pack, unpack and try the bundle."""
    lay_out(PLACE / "in")
    bundle = TOP / "dist" / f"bookwheel-{__version__}.mcpb"
    bundle.parent.mkdir(exist_ok=True)
    run_tool("validate", PLACE / "in" / "manifest.json")
    run_tool("pack", PLACE / "in", bundle)
    shutil.rmtree(PLACE / "out", ignore_errors=True)
    run_tool("unpack", bundle, PLACE / "out")
    start = [word.replace("${__dirname}", str(PLACE / "out")) for word in START]
    kept = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "SSL_"))}
    try_program([str(uv.absolute()), *start], __version__, kept)
    sys.stdout.write(f"{bundle.relative_to(TOP)} works\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
