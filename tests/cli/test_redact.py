"""`bookwheel redact`: what would go is named, never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

TEXT = "# Notes\n\nThe password is hunter2.\n\nWrite to bob@example.com.\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "notes.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_finds_are_named_by_line_and_kind_and_not_shown(call: Call, file: Path) -> None:
    answer = call("redact", "notes.md")
    assert answer.out == "notes.md:3: password, 7 characters\nnotes.md:5: email, 15 characters\n"
    assert answer.code == 1
    assert "hunter2" not in answer.out + answer.err


def test_the_redacted_text_can_be_shown(call: Call, file: Path) -> None:
    answer = call("redact", "notes.md", "--show", "--level", "secrets")
    assert answer.out == TEXT.replace("hunter2", "[redacted:password]")


def test_json_has_places_and_no_secret(call: Call, file: Path) -> None:
    answer = call("redact", "notes.md", "--json")
    assert answer.value == [
        {
            "file": "notes.md",
            "finds": [
                {"kind": "password", "line": 3, "start": 25, "end": 32},
                {"kind": "email", "line": 5, "start": 44, "end": 59},
            ],
        }
    ]


def test_a_clean_file_ends_well_and_a_missing_one_does_not(call: Call, file: Path) -> None:
    file.write_text("Nothing here.\n", encoding="utf-8")
    assert call("redact", "notes.md").code == 0
    answer = call("redact", "notes.md", "missing.md")
    assert answer.code == 1
    assert "missing.md: not read" in answer.err


def test_rules_of_the_operator_are_used_and_bad_ones_named(call: Call, file: Path) -> None:
    config = file.parent / "own.toml"
    rule = "[[redaction]]\nname = 'mine'\nkind = 'heading'\npattern = '{}'\n"
    config.write_text(rule.format("Notes"), encoding="utf-8")
    answer = call("redact", "notes.md", "--config", config)
    assert answer.out.startswith("notes.md:1: heading, 5 characters\n")
    config.write_text(rule.format("(?=Notes)"), encoding="utf-8")
    answer = call("redact", "notes.md", "--config", config)
    assert answer.code == 2
    assert "redaction rule 'mine' cannot be used" in answer.err
