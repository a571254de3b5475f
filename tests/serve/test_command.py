"""The arguments of `bookwheel serve`, and what other commands show of its settings."""

from __future__ import annotations

import sys

import pytest

from bookwheel.cli import main
from tests.conftest import Shelf


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["bookwheel", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize(
    ("arguments", "folders", "address"),
    [
        (["a", "b"], ["a", "b"], "127.0.0.1:8765"),
        (["a", "127.0.0.1:9000"], ["a"], "127.0.0.1:9000"),
        ([":9000"], [], ":9000"),
        (["[::1]:9000", "a"], ["a"], "[::1]:9000"),
        (["a9000"], ["a9000"], "127.0.0.1:8765"),
    ],
)
def test_the_address_may_follow_http_among_the_folders(
    arguments: list[str], folders: list[str], address: str
) -> None:
    from bookwheel.cli.serve_command import _split_address

    assert _split_address(arguments, http=True) == (folders, address)
    assert _split_address(arguments, http=False) == (arguments, "127.0.0.1:8765")


def test_it_does_not_listen_to_other_machines_unasked(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = [shelf.folder, "--index", shelf.place / "index"]

    code, out, err = run(monkeypatch, capsys, "serve", *where, "--http", "0.0.0.0:0")

    assert (code, out) == (2, "")
    assert "Other machines could read the documents at 0.0.0.0." in err
    assert "BOOKWHEEL_TOKEN" in err


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "256.0.0.1:0"])
def test_an_address_that_cannot_be_is_refused(
    shelf: Shelf,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
) -> None:
    where = [shelf.folder, "--index", shelf.place / "index"]

    code, _, err = run(monkeypatch, capsys, "serve", *where, "--public", "--http", address)

    assert code == 2
    assert address in err


def test_help_has_examples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(monkeypatch, capsys, "serve", "--help")

    assert code == 0
    assert "bookwheel serve ~/notes --http" in out
    assert "--toolsets" in out


def test_t08_the_doctor_keeps_the_token_to_himself(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOOKWHEEL_TOKEN", "geheim")
    monkeypatch.setenv("BOOKWHEEL_LLM_URL", "https://me:geheim@models.example/v1?key=geheim")
    where = [shelf.folder, "--index", shelf.place / "index"]

    _, out, err = run(monkeypatch, capsys, "doctor", *where)

    assert "geheim" not in out + err
    assert "(set)" in out
    assert "https://(set)@models.example/v1?(set)" in out


def test_http_takes_its_address_behind_an_equals_sign_too(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = [shelf.folder, "--index", shelf.place / "index"]

    code, _, err = run(monkeypatch, capsys, "serve", *where, "--http=0.0.0.0:0")

    assert code == 2
    assert "Other machines could read the documents at 0.0.0.0." in err


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("9000", "127.0.0.1:9000"),
        ("99999", "127.0.0.1:8765"),
        ("localhost", "localhost:8765"),
        ("127.0.0.1:abc", "127.0.0.1:8765"),
    ],
)
def test_half_an_address_is_refused_with_the_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str, meant: str
) -> None:
    code, _, err = run(monkeypatch, capsys, "serve", "--http", given)

    assert code == 2
    assert f"{given!r} is no address; write it as {meant}." in err
