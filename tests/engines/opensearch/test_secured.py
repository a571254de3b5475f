"""A cluster with TLS that asks who calls: who is let in, who is told why not, no secret shown."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.engines.base import WritableEngine
from bookwheel.engines.choice import open_cluster
from bookwheel.errors import BookwheelError, IndexUnreachable, IndexUnusable
from bookwheel.settings import describe
from tests.cluster.secured import SecuredNode
from tests.conftest import Shelf
from tests.engines.drafts import draft, fill, found, problems

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.faults,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("secured"),
]
USER, PASSWORD = "ada", "Sm4ll-W4lrus@n:the/ice"
QUOTED = "Sm4ll-W4lrus%40n%3Athe%2Fice"
WRONG = "Wr0ng-W4lrus"
_RIGHTS = {
    "cluster_permissions": ["cluster_composite_ops", "cluster_monitor"],
    "index_permissions": [{"index_patterns": ["zoo-*"], "allowed_actions": ["indices_all"]}],
}
"""What docs/scale.md says that a user needs."""


@pytest.fixture(scope="module")
def node() -> Iterator[SecuredNode]:
    made = SecuredNode()
    try:
        made.start()
        at = "/_plugins/_security/api"
        made.ask("PUT", f"{at}/internalusers/{USER}", {"password": PASSWORD})
        made.ask("PUT", f"{at}/roles/librarian", _RIGHTS)
        mapped = {"users": [USER], "backend_roles": ["librarians"]}
        made.ask("PUT", f"{at}/rolesmapping/librarian", mapped)
        yield made
    finally:
        made.stop()


def address(node: SecuredNode, login: str = f"{USER}:{QUOTED}@", *, ca: Path | None = None) -> str:
    where = f"?ca={ca}" if ca else f"?ca={node.ca}"
    return f"opensearch+https://{login}{node.host}/zoo{where}&shards=1&replicas=0"


def engine_at(where: str, key: str | None = None) -> WritableEngine:
    return open_cluster(where, Path("/nowhere/catalog.db"), key)


def trouble_of(where: str, key: str | None = None) -> BookwheelError:
    """Return what is said of a cluster that cannot be used."""
    engine = engine_at(where, key)
    with pytest.raises(BookwheelError) as raised:
        engine.collections()
    engine.close()
    chain, said = raised.value, ""
    error: BaseException | None = chain
    while error is not None:
        said += f"{error} {error.args}"
        error = error.__cause__
    for secret in (PASSWORD, QUOTED, WRONG, "T0KEN"):
        assert secret not in said
    return chain


def test_a_user_with_the_stated_rights_can_do_all_that_is_done(node: SecuredNode) -> None:
    engine = engine_at(address(node))
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus ice"))
    fill(engine, draft("a.md", "penguin"))
    assert (found(engine, "walrus"), found(engine, "penguin")) == (["b.md"], ["a.md"])
    assert engine.facts()["health"] == "green"
    assert engine.disk_bytes() > 0
    assert problems(engine) == []
    engine.close()


def test_a_signed_token_does_instead_of_a_password(node: SecuredNode) -> None:
    key = f"Bearer {node.token('grace', 'librarians')}"
    engine = engine_at(address(node, ""), key)
    fill(engine, draft("c.md", "albatross"))
    assert found(engine, "albatross") == ["c.md"]
    engine.close()


@pytest.mark.parametrize("key", ["Bearer T0KEN.T0KEN.T0KEN", "T0KEN"])
def test_a_key_that_is_not_known_is_refused(node: SecuredNode, key: str) -> None:
    trouble = trouble_of(address(node, ""), key)
    assert isinstance(trouble, IndexUnusable)
    assert "the API key" in trouble.advice


def test_a_wrong_password_is_refused_at_once_and_never_logged(
    node: SecuredNode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for login in (f"{USER}:{WRONG}@", f"nobody:{WRONG}@", ""):
        trouble = trouble_of(address(node, login))
        assert isinstance(trouble, IndexUnusable)
        assert not isinstance(trouble, IndexUnreachable)
        assert "does not know this user or password" in trouble.message
    assert WRONG not in caplog.text


def test_a_user_without_rights_is_told_which_are_needed(node: SecuredNode) -> None:
    elsewhere = address(node).replace("/zoo?", "/museum?")
    assert "museum-*" in trouble_of(elsewhere).advice


def test_a_certificate_is_checked_against_the_authority_that_is_named(node: SecuredNode) -> None:
    unnamed = f"opensearch+https://{USER}:{QUOTED}@{node.host}/zoo"
    for where in (unnamed, address(node, ca=node.other_ca)):
        trouble = trouble_of(where)
        assert isinstance(trouble, IndexUnreachable)
        assert "a certificate that is not trusted" in trouble.message
        assert "?ca=FILE" in trouble.advice


def test_an_authority_that_is_no_file_is_named(node: SecuredNode, tmp_path: Path) -> None:
    for missing in (tmp_path / "gone.pem", tmp_path):
        trouble = trouble_of(address(node, ca=missing))
        assert isinstance(trouble, IndexUnusable)
        assert str(missing) in trouble.message
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate", encoding="utf-8")
    assert str(bad) in trouble_of(address(node, ca=bad)).message


def test_without_tls_a_secured_cluster_does_not_answer(node: SecuredNode) -> None:
    plain = f"opensearch+http://{USER}:{QUOTED}@{node.host}/zoo"
    assert isinstance(trouble_of(plain), IndexUnreachable)


def call(where: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    said = {describe("engine").variable: where}
    return subprocess.run(
        [sys.executable, "-m", "bookwheel", *map(str, arguments)],
        env={**os.environ, **said},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_command_line_works_with_a_password_and_shows_none(
    node: SecuredNode, shelf: Shelf
) -> None:
    shelf.put("walrus.md", "# Walrus\n\nA walrus swims under ice.\n")
    orders = (("index", shelf.folder), ("search", "swims", "--json"), ("doctor",))
    done = [call(address(node), *order) for order in orders]
    assert [each.returncode for each in done] == [0, 0, 0]
    assert json.loads(done[1].stdout)["results"][0]["document"] == "walrus.md"
    refused = [call(address(node, f"{USER}:{WRONG}@"), *order) for order in orders]
    assert all(each.returncode for each in refused)
    for each in (*done, *refused):
        for secret in (PASSWORD, QUOTED, WRONG):
            assert secret not in each.stdout + each.stderr
