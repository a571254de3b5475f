"""Tokens and the audit on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bookwheel.safety.token_file import TokenFile
from tests.cli.conftest import Call
from tests.telemetry.test_audit import lines_of, written


@pytest.fixture
def file(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = home / "tokens.json"
    monkeypatch.setenv("BOOKWHEEL_TOKENS", str(place))
    return place


def test_a_token_is_made_shown_once_listed_and_revoked(call: Call, file: Path) -> None:
    made = call("token", "new", "ann", "--roots", "handbook", "--rate", "30/minute")
    secret = made.out.strip()
    listed = call("token", "list")
    described = call("token", "list", "--json").value
    found = TokenFile(file).find(secret)
    revoked = call("token", "revoke", "ann")

    assert (made.code, listed.code, revoked.code) == (0, 0, 0)
    assert found is not None
    assert found.roots == ("handbook",)
    assert listed.out.startswith("ann: handbook; 30/minute; made ")
    assert "digest" not in described[0]
    assert secret not in listed.out + json.dumps(described)
    assert TokenFile(file).find(secret) is None
    assert "no tokens" in call("token", "list").err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("token", "new", "a b"), 2, "is no name for a token"),
        (("token", "new", "ann", "--roots", " "), 2, "A root is empty"),
        (("token", "new", "ann", "--rate", "often"), 2, "60/minute"),
        (("token", "new", "ann", "--expires", "soon"), 2, "2031-12-31"),
        (("token", "revoke", "bob"), 4, "There is no token 'bob'"),
        (("token", "make"), 2, "There are token new, token list, token revoke."),
        (("token",), 2, "There are token new"),
        (("audit", "check"), 2, "audit verify"),
        (("audit", "verify", "none.jsonl"), 4, "There is no audit none.jsonl"),
    ],
)
def test_what_cannot_be_done_is_said(
    call: Call, file: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    answer = call(*words)

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err


def test_tokens_that_have_ended_are_told_apart(call: Call, file: Path) -> None:
    assert (
        "2020-01-01 has come already" in call("token", "new", "old", "--expires", "2020-01-01").err
    )
    call("token", "new", "ann", "--expires", "9999-01-01")

    old, ann = call("token", "list").out.splitlines()
    assert old.endswith("; ended 2020-01-01")
    assert ann.endswith("; until 9999-01-01")


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_commands_of_one_first_word_have_a_help_page(call: Call, asked: str) -> None:
    page = call("token", asked)

    assert (page.code, page.err) == (0, "")
    assert all(f"  {name} " in page.out for name in ("new", "list", "revoke"))


def test_an_audit_is_looked_through(call: Call, tmp_path: Path) -> None:
    audit = written(tmp_path / "audit.jsonl")
    sound = call("audit", "verify", audit)
    audit.write_text("\n".join([*lines_of(audit)[:3], *lines_of(audit)[4:]]) + "\n")
    altered = call("audit", "verify", audit)
    told = call("audit", "verify", audit, "--json").value

    assert (sound.code, sound.out) == (0, "9 lines in 1 file, all as they were written.\n")
    assert (altered.code, altered.out) == (
        1,
        "audit.jsonl:4 follows a gap: line 4 was taken out.\n",
    )
    assert told["findings"] == [
        {"where": "audit.jsonl:4", "what": "follows a gap: line 4 was taken out"}
    ]


def test_the_audit_of_an_index_is_found_by_the_index(call: Call, notes: Path) -> None:
    (notes / "a.md").write_text("# A")
    call("index", notes, "--index", "idx")
    written(Path("idx/catalog.db.audit.jsonl").absolute(), 2)

    assert call("audit", "verify", "--index", "idx").out.startswith("2 lines")
