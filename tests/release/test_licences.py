"""Every package of a list of parts has a licence, or the list is not made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from release.licences import main

MIT: dict[str, Any] = {"license": {"acknowledgement": "declared", "id": "MIT"}}


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment of packages that say what their licence is in different ways, or not."""
    packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name, header, text in [
        ("a_field", "License: BSD-3-Clause, Apache-2.0\n", None),
        ("whole-text", "License: MIT License\n        \n        Permission is\n", None),
        ("a.file", "License-File: LICENSE\n", "\nMIT License\n\nPermission is"),
        ("silent", "", None),
    ]:
        about = packages / f"{name.replace('-', '_')}-1.0.dist-info"
        (about / "licenses").mkdir(parents=True)
        said = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{header}"
        (about / "METADATA").write_text(said, encoding="utf-8")
        if text:
            (about / "licenses" / "LICENSE").write_text(text, encoding="utf-8")
    return tmp_path / "env"


def write(folder: Path, *names: str) -> Path:
    parts: list[dict[str, Any]] = [{"name": "known", "licenses": [MIT]}]
    listed = folder / "list.json"
    text = json.dumps({"components": parts + [{"name": name} for name in names]})
    listed.write_text(text, encoding="utf-8")
    return listed


def test_what_a_package_says_of_its_licence_is_taken(tmp_path: Path, environment: Path) -> None:
    listed = write(tmp_path, "a-field", "whole_text", "a-file")

    assert main(listed, environment) == 0

    parts = json.loads(listed.read_text(encoding="utf-8"))["components"]
    assert parts[0]["licenses"] == [MIT]
    assert [part["licenses"][0]["license"]["name"] for part in parts[1:]] == [
        "BSD-3-Clause, Apache-2.0",
        "MIT License",
        "MIT License",
    ]


@pytest.mark.parametrize("name", ["silent", "not installed"])
def test_a_package_without_any_is_named_and_fails_the_list(
    tmp_path: Path, environment: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(write(tmp_path, name), environment) == 1
    assert name in capsys.readouterr().err
