"""A process that reads a document and a larger one, and prints what it took.

python -m tests.clients.large_reader FOLDER INDEX SMALL.md SECTION LARGE.md SECTION
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bookwheel.library import Library
from bookwheel.settings import load
from tests.clients.assistant import Assistant, assisting

TOOLS = ("documents_get_outline", "documents_get_section")


def memory(line: str) -> int:
    """Return bytes as the system counts them: `VmRSS` held now, `VmHWM` the most ever held."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{line}:")[1].split()[0]) * 1024


def steps(function: Callable[[], object]) -> int:
    """Return how many calls and returns a function takes, those of C included."""
    seen = 0

    def note(*_: object) -> None:
        nonlocal seen
        seen += 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return seen


def read(assistant: Assistant, tool: str, name: str, section: str) -> Any:
    asked = {"section": section} if tool == "documents_get_section" else {}
    return assistant.call(tool, collection="notes", document=name, **asked).json


def main(folder: str, index: str, *words: str) -> None:
    small, large = words[:2], words[2:]
    settings = load({"index": index}, use_start_folder=False, environment={})
    with Library.open(settings, [folder]) as library, assisting(library) as assistant:
        for tool in TOOLS:
            read(assistant, tool, *small)
        before = memory("VmRSS")
        answers, peaks = {}, {}
        for tool in TOOLS:
            answers[tool] = read(assistant, tool, *large)
            peaks[tool] = memory("VmHWM") - before
        taken = []
        for name, section in (small, large):
            document = library.document(name)
            ways: list[Callable[[], object]] = [
                partial(library.outline, document),
                partial(library.section, document, section),
            ]
            taken.append([steps(way) for way in ways])
    sys.stdout.write(json.dumps({"answers": answers, "peaks": peaks, "steps": taken}))


if __name__ == "__main__":
    main(*sys.argv[1:])
