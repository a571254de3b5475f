"""Files in a user's home, and the entry that starts this program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bookwheel.cli.server_entry import find_program

PROGRAM = find_program()[0]


def put(file: Path, text: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def entry_for(*folders: Path) -> dict[str, Any]:
    return {"command": PROGRAM, "args": ["serve", *map(str, folders)]}
