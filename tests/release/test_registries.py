"""What registries and hosts are told of the program is so."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from release.bundle import NEEDED, make_manifest
from release.wheels import PYTHONS

from bookwheel import __version__
from bookwheel.cli import COMMANDS
from tests.clients.assistant import assisting
from tests.conftest import Shelf
from tests.test_operations import of_kind

TOP = Path(__file__).parent.parent.parent
SERVER: dict[str, Any] = json.loads((TOP / "server.json").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_registry_is_told_the_name_and_version_of_the_package() -> None:
    (package,) = SERVER["packages"]

    assert (package["registryType"], package["identifier"]) == ("pypi", PROJECT["project"]["name"])
    assert SERVER["version"] == package["version"] == __version__


def test_the_readme_names_the_server_the_way_the_registry_looks_for_it() -> None:
    readme = (TOP / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"mcp-name: (\S+)(?= -->)", readme) == [SERVER["name"]]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])


def test_the_registry_and_the_package_name_one_repository_that_of_the_name() -> None:
    account, _, name = SERVER["name"].removeprefix("io.github.").partition("/")

    assert SERVER["repository"] == {
        "url": f"https://github.com/{account}/{name}",
        "source": "github",
    }
    addresses = PROJECT["project"]["urls"].values()
    assert all(each.startswith(SERVER["repository"]["url"]) for each in addresses)


def test_every_python_that_is_allowed_is_promised_wheels_and_no_other() -> None:
    prefix = "Programming Language :: Python :: 3."
    classifiers = PROJECT["project"]["classifiers"]
    minors = [int(each.removeprefix(prefix)) for each in classifiers if each.startswith(prefix)]

    assert [f"3.{minor}" for minor in minors] == [*PYTHONS]
    assert PROJECT["project"]["requires-python"] == f">=3.{minors[0]},<3.{minors[-1] + 1}"


def test_the_image_is_named_and_its_python_is_one_that_the_package_is_for() -> None:
    assert of_kind("LABEL") == [f'io.modelcontextprotocol.server.name="{SERVER["name"]}"']
    tags = {words.split()[0].partition(":")[2] for words in of_kind("FROM")}
    (version,) = {tag.removesuffix("-slim") for tag in tags}
    assert f"Programming Language :: Python :: {version}" in PROJECT["project"]["classifiers"]


def test_what_the_image_copies_is_not_kept_from_it() -> None:
    kept = (TOP / ".dockerignore").read_text(encoding="utf-8").split()
    copied = {
        word for words in of_kind("COPY") if not words.startswith("--") for word in words.split()
    }
    assert not copied & set(kept)


def test_the_registry_takes_the_description() -> None:
    """It refuses more than 100 characters."""
    assert 0 < len(SERVER["description"]) <= 100


def test_the_registry_starts_a_command_that_there_is() -> None:
    (package,) = SERVER["packages"]
    command, folder = package["packageArguments"]

    assert command["value"] in COMMANDS
    assert (folder["format"], folder["isRequired"]) == ("filepath", True)


def test_a_bundle_is_of_this_version_and_starts_a_command_that_there_is() -> None:
    manifest = make_manifest()
    words = manifest["server"]["mcp_config"]["args"]

    assert manifest["version"] == __version__
    assert words[words.index("bookwheel") + 1] in COMMANDS
    assert words[-1] == "${user_config.folders}"
    assert list(manifest["user_config"]) == ["folders"]
    needed = PROJECT["project"]["requires-python"]
    assert manifest["compatibility"]["runtimes"]["python"] == needed


def test_what_a_bundle_names_is_in_it() -> None:
    assert (TOP / make_manifest()["server"]["entry_point"]).is_file()
    assert all((TOP / name).is_file() for name in NEEDED)


def test_a_bundle_lists_the_tools_that_a_client_is_shown(shelf: Shelf) -> None:
    shelf.put("a.md", "# A")
    shelf.update()
    with assisting(shelf.open()) as assistant:
        shown = assistant.ask("list_tools").tools

    listed = {tool["name"]: tool["description"] for tool in make_manifest()["tools"]}
    assert listed == {tool.name: tool.description for tool in shown}


def test_t30_every_dependency_has_its_reason_and_a_lowest_version() -> None:
    reasons = (TOP / "docs/decisions/0002-dependencies.md").read_text(encoding="utf-8")
    given = set(
        re.findall(r"[\w-]+", " ".join(re.findall(r"^\| ([^|]+) \|", reasons, re.MULTILINE)))
    )
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [
        *PROJECT["project"]["dependencies"],
        *(each for name in extras if name not in ("dev", "bench") for each in extras[name]),
    ]

    assert [each for each in asked if re.split(r"[>=<]", each)[0] not in given] == []
    assert [each for each in asked if ">=" not in each and "==" not in each] == []


def test_the_changelog_tells_of_the_version_below_what_is_to_come() -> None:
    text = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", text, re.MULTILINE)

    assert sections[0] == ("Unreleased", "")
    assert all(day for _, day in sections[1:])
    assert "dev" in __version__ or sections[1][0] == __version__
