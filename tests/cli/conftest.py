"""How tests call the command line: in this process where they can, since that is quick."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
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
