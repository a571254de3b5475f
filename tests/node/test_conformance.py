"""The official conformance suites of both protocol eras, run whole.

The files `expected-*.yml` list what does not apply to us, with reasons; what is listed there and
passes all the same fails the run, so they cannot grow old.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from bookwheel.serve.calls import Calls
from tests.conftest import Shelf
from tests.node.conformance_contract import DOCUMENTS, FixtureServer
from tests.node.conftest import HERE, MODULES, run_node
from tests.serve.conftest import serving


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve what the suites look for."""
    shelf = Shelf(tmp_path_factory.mktemp("conformance"))
    for path, text in DOCUMENTS.items():
        shelf.put(path, text)
    shelf.update()
    with shelf.open() as library:
        calls = Calls(library)
        with serving({"/mcp": FixtureServer(calls)}) as site:
            yield f"{site.url}/mcp"
        calls.close()


def run_suite(package: str, address: str, revision: str, *options: str) -> str:
    """Run a suite; return its summary. It ends well only if all and only the expected fails."""
    expected = str(HERE / f"expected-{revision}.yml")
    program = MODULES / package / "dist/index.js"
    ended = run_node(program, "server", "--url", address, "--expected-failures", expected, *options)
    summary = ended.out.partition("=== SUMMARY ===")[2]
    assert ended.code == 0, summary or ended.err
    return summary


def passed(summary: str) -> set[str]:
    """Return the scenarios of which every check passed."""
    return set(re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed$", summary, re.MULTILINE))


SHARED = {
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "resources-list",
    "resources-read-text",
    "resources-templates-read",
    "dns-rebinding-protection",
}
WITH_HANDSHAKE = {*SHARED, "server-initialize", "ping"}
WITHOUT_SESSIONS = {
    *SHARED,
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
    # Not asked for by the revision, but nothing that we want to lose.
    "json-schema-2020-12",
    "http-header-validation",
    "http-custom-header-server-validation",
}


def test_the_released_suite_finds_nothing_unexpected(address: str) -> None:
    assert passed(run_suite("conformance-old", address, "2025-11-25")) == WITH_HANDSHAKE


def test_the_coming_suite_finds_nothing_unexpected_with_handshakes(address: str) -> None:
    summary = run_suite("conformance", address, "2025-11-25", "--requirements", "2025-11-25")

    assert passed(summary) >= WITH_HANDSHAKE | {"server-session-lifecycle", "json-schema-2020-12"}


@pytest.mark.requirement("X-016")
def test_the_coming_suite_finds_nothing_unexpected_without_sessions(address: str) -> None:
    summary = run_suite("conformance", address, "2026-07-28", "--requirements", "2026-07-28")

    assert passed(summary) >= WITHOUT_SESSIONS
