"""How tests call the command line: in this process where they can, since that is quick."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bookwheel.cli import main


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call of the command line gave."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value that standard output must be."""
        return json.loads(self.out)


Call = Callable[..., Answer]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def call_main(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["bookwheel", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return call_main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home that is its own, with no program of a client on the PATH."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / ".config"))
    monkeypatch.setenv("PATH", str(place / "bin"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "BOOKWHEEL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def notes(home: Path) -> Path:
    folder = home / "notes"
    folder.mkdir()
    return folder
