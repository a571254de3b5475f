"""Tokens: kept as hashes, taken up as they change, and no good when in doubt."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, Conflict, NotFound
from bookwheel.safety.token_file import TokenFile
from bookwheel.settings import Rate


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "config" / "tokens.json")


def test_t08_a_token_is_kept_as_a_hash_in_a_file_of_its_owner(tokens: TokenFile) -> None:
    secret = tokens.add("ann", ["handbook"], "30/minute", "2999-12-31")
    found = tokens.find(secret)

    assert found is not None
    assert (found.name, found.roots, found.allowance) == ("ann", ("handbook",), Rate(30, 60))
    assert secret not in tokens.file.read_text()
    assert secret.removeprefix("bw_") not in tokens.file.read_text()
    assert tokens.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", ["x", "X", " ", "ü", "\ud800"])
def test_t08_nothing_but_the_token_itself_is_good(tokens: TokenFile, change: str) -> None:
    secret = tokens.add("ann", [], "", "")

    assert tokens.find(secret + change) is None
    assert tokens.find(change) is None
    assert tokens.find("") is None


def test_t08_a_token_is_no_good_from_its_last_day_on(tokens: TokenFile) -> None:
    assert tokens.find(tokens.add("old", [], "", "2020-01-01")) is None


def test_another_process_makes_and_takes_tokens_that_are_known_at_once(tokens: TokenFile) -> None:
    server = TokenFile(tokens.file)
    assert server.find("bw_x") is None
    secret = tokens.add("ann", [], "", "")
    assert server.find(secret)
    tokens.revoke("ann")
    assert server.find(secret) is None
    assert server.was_used


def test_tokens_made_at_the_same_time_are_all_kept(tokens: TokenFile) -> None:
    threads = [
        threading.Thread(target=lambda n=n: TokenFile(tokens.file).add(f"t{n}", [], "", ""))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {each.name for each in tokens.load()} == {f"t{n}" for n in range(8)}


@pytest.mark.parametrize(
    "name", ["", "a b", "a\nb", "1.2.3.4", "::1", "stdio", "unknown", "ä", "a" * 65, "../x"]
)
def test_a_name_can_be_taken_for_no_other_caller(tokens: TokenFile, name: str) -> None:
    with pytest.raises(BadRequest):
        tokens.add(name, [], "", "")


def test_a_name_is_given_once(tokens: TokenFile) -> None:
    tokens.add("ann", [], "", "")
    with pytest.raises(Conflict):
        tokens.add("ann", [], "", "")
    with pytest.raises(NotFound):
        tokens.revoke("bob")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tokens": [{}]}', '{"tokens": [{"name": "a"}]}', "\x00", "[" * 9999]
)
def test_t08_of_a_damaged_file_no_token_is_good(tokens: TokenFile, text: str) -> None:
    secret = tokens.add("ann", [], "", "")
    tokens.file.write_text(text)

    with pytest.raises(BadRequest):
        TokenFile(tokens.file).find(secret)


def test_t08_a_token_that_could_be_compared_with_none_makes_the_file_useless(
    tokens: TokenFile,
) -> None:
    secret = tokens.add("ann", [], "", "")
    text = tokens.file.read_text(encoding="utf-8")
    tokens.file.write_text(text.replace(tokens.load()[0].digest, "é" * 64), encoding="utf-8")

    with pytest.raises(BadRequest, match="no file of tokens"):
        TokenFile(tokens.file).find(secret)


def test_t08_a_file_that_others_may_write_is_refused(tokens: TokenFile) -> None:
    secret = tokens.add("ann", [], "", "")
    tokens.file.chmod(0o666)

    with pytest.raises(BadRequest, match="Others may write"):
        TokenFile(tokens.file).find(secret)
