"""What operators are given besides the program: a page, an image, and a command for coverage."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from bookwheel.settings import SETTINGS
from tests.clients.assistant import http_server
from tests.conftest import Shelf

TOP = Path(__file__).parent.parent
PAGE = (TOP / "docs" / "operations.md").read_text(encoding="utf-8")
DOCKERFILE = (TOP / "Dockerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, each with its words."""
    lines = [line for line in DOCKERFILE.splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [
        (line.split()[0], line.partition(" ")[2].strip()) for line in whole.splitlines() if line
    ]


def of_kind(kind: str) -> list[str]:
    return [words for each, words in instructions() if each == kind]


@pytest.mark.requirement("P-074")
def test_one_command_reports_coverage_and_wants_80_percent() -> None:
    told = subprocess.run(
        ["make", "-n", "coverage"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout

    assert re.search(r"pytest .*--cov .*--cov-fail-under=(8\d|9\d)", told)


@pytest.mark.requirement("P-077")
def test_the_image_runs_as_an_ordinary_user_under_settings_that_there_are() -> None:
    assert of_kind("USER") == ["bookwheel"]
    named = re.findall(r"\b(BOOKWHEEL_\w+)=", " ".join(of_kind("ENV")))
    assert len(named) == 3
    assert set(named) <= {row.variable for row in SETTINGS}
    copied = [word for words in of_kind("COPY") for word in words.split()[:-1]]
    assert all((TOP / word).exists() for word in copied if not word.startswith(("-", "/")))
    served = json.loads(of_kind("CMD")[-1])
    assert served[0] == "serve"


@pytest.mark.requirement("P-077")
def test_the_health_check_of_the_image_tells_a_server_that_lives_from_none(shelf: Shelf) -> None:
    shelf.put("a.md", "# A")
    check = json.loads(of_kind("HEALTHCHECK")[0].partition(" CMD ")[2])

    def run(port: str) -> int:
        words = [word.replace("8765", port) for word in check[1:]]
        ended = subprocess.run([sys.executable, *words], capture_output=True, check=False)
        return ended.returncode

    with http_server(shelf.folder, "--index", shelf.place / "index", BOOKWHEEL_TOKEN="x") as url:
        port = url.rpartition(":")[2]
        assert run(port) == 0
    assert run(port) != 0


@pytest.mark.requirement("P-077")
def test_the_example_for_kubernetes_is_sound_and_probes_what_there_is() -> None:
    (text,) = re.findall(r"```yaml\n(apiVersion.*?)```", PAGE, re.DOTALL)
    deployment, service = list(yaml.safe_load_all(text))
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    probes: list[dict[str, Any]] = [container["livenessProbe"], container["readinessProbe"]]

    assert [probe["httpGet"]["path"] for probe in probes] == ["/healthz", "/readyz"]
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["containerPort"]
    names = {entry["name"] for entry in container["env"]}
    assert names <= {row.variable for row in SETTINGS}
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {
        volume["name"] for volume in deployment["spec"]["template"]["spec"]["volumes"]
    }


def test_the_example_for_systemd_finds_the_tokens_that_its_command_makes(shelf: Shelf) -> None:
    shelf.put("a.md", "# A")
    (unit,) = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
    served = dict(re.findall(r"^Environment=(\w+)=(.*)$", unit, re.MULTILINE))
    command, *words = shlex.split(
        re.findall(r"^sudo -u (bookwheel env .*)$", PAGE, re.MULTILINE)[0]
    )
    named = dict(word.split("=", 1) for word in words if "=" in word)
    assert command == re.findall(r"^User=(.*)$", unit, re.MULTILINE)[0]
    assert named == {"BOOKWHEEL_TOKENS": served["BOOKWHEEL_TOKENS"]}

    tokens = str(shelf.place / "tokens.json")
    subprocess.run(
        [sys.executable, "-m", "bookwheel", *words[-3:]],
        env={**os.environ, "HOME": str(shelf.place / "hers"), "BOOKWHEEL_TOKENS": tokens},
        capture_output=True,
        check=True,
    )
    elsewhere = {"HOME": str(shelf.place / "its"), "BOOKWHEEL_TOKENS": tokens}
    with (
        http_server(shelf.folder, "--index", shelf.place / "index", **elsewhere) as url,
        pytest.raises(urllib.error.HTTPError, match="401"),
    ):
        urllib.request.urlopen(f"{url}/api/status")


def test_every_setting_that_the_page_names_is_one() -> None:
    named = set(re.findall(r"\bBOOKWHEEL_(?!TEST_)[A-Z_]+\b", PAGE))

    assert named <= {row.variable for row in SETTINGS} | {"BOOKWHEEL_CONFIG"}


@pytest.mark.requirement("R-070")
def test_the_page_states_the_version_rule() -> None:
    (rule,) = re.findall(r"## Versions\n(.*?)\n## ", PAGE, re.DOTALL)

    assert all(word in rule for word in ("minor", "major", "mcp_version", "months"))


@pytest.mark.requirement("R-075")
@pytest.mark.parametrize(
    "words", ["Next to the share", "By schedule", "/healthz", "/readyz", "/metrics", "cron"]
)
def test_the_page_covers_running_next_to_the_share(words: str) -> None:
    assert words in PAGE


@pytest.mark.requirement("R-075")
def test_commands_on_the_page_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    from typer.main import get_command

    from bookwheel.cli import COMMANDS, SUBCOMMANDS, app

    table: Any = get_command(app)
    shown = re.findall(r"(?:^|\s)(bookwheel (?:serve|index|token|audit|doctor)[^`#\n\\]*)", PAGE)
    assert len(shown) >= 6
    for line in shown:
        words = shlex.split(line)[1:]
        name = " ".join(words[:2]) if " ".join(words[:2]) in SUBCOMMANDS else words[0]
        assert name in COMMANDS or name in SUBCOMMANDS, line
        known = {opt for each in table.get_command(None, name).params for opt in each.opts}
        assert {word for word in words if word.startswith("--")} <= known, line
