"""What an installation takes: the packages that are required, followed by their metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.cli.footprint import packages, size_of

MB = 1_000_000


def test_a_default_installation_takes_less_than_its_limit() -> None:
    """At most 320 MB, whatever the packages that it requires grow to."""
    assert sum(map(size_of, packages().values())) <= 320 * MB


def test_what_is_required_is_followed_and_extras_are_not() -> None:
    """Requirements of requirements count, with the extras that these ask for; ours do not."""
    names = set(packages())
    assert {"bookwheel", "apsw", "mcp", "pydantic-core", "numpy", "cryptography"} <= names
    assert not names & {"pytest", "onnxruntime", "model2vec", "pip", "setuptools"}


def test_sizes_are_those_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of another system is passed over, a file that is gone counts as nothing."""
    for name, requires in (("outer", "inner[more]>=1; python_version > '3'"), ("inner", "")):
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        lines = [f"Name: {name}", "Version: 1", "Metadata-Version: 2.1"]
        lines += [f"Requires-Dist: {requires}"] if requires else ["Provides-Extra: more"]
        lines += ['Requires-Dist: Elsewhere; extra == "more"', 'Requires-Dist: x; extra == "no"']
        (folder / "METADATA").write_text("\n".join(lines), encoding="utf-8")
        (folder / "RECORD").write_text(f"{name}.py,,\ngone.py,,\n", encoding="utf-8")
        (tmp_path / f"{name}.py").write_text("#" * 100, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = packages("outer")
    assert {name: size_of(package) for name, package in found.items()} == {
        "outer": 100,
        "inner": 100,
    }
