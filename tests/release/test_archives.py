"""The archives of a release: they hold the program, whole, and agree with each other."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from release.trial import try_program

from bookwheel import __version__
from tests.test_operations import of_kind

TOP = Path(__file__).parent.parent.parent


def build(tree: Path, target: str, place: Path) -> Path:
    """Build one archive from a tree, without asking the package index."""
    words = [sys.executable, "-m", "hatchling", "build", "--target", target]
    subprocess.run([*words, "--directory", str(place)], cwd=tree, check=True, capture_output=True)
    (made,) = place.iterdir()
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked."""
    archive = build(TOP, "sdist", tmp_path_factory.mktemp("sdist"))
    place = tmp_path_factory.mktemp("source")
    with tarfile.open(archive) as opened:
        opened.extractall(place, filter="data")
    (tree,) = place.iterdir()
    return tree


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that the source archive gives."""
    return build(source, "wheel", tmp_path_factory.mktemp("wheel"))


def test_the_source_archive_gives_the_same_wheel_as_the_repository(
    wheel: Path, tmp_path: Path
) -> None:
    assert wheel.read_bytes() == build(TOP, "wheel", tmp_path).read_bytes()


def test_the_wheel_holds_every_file_of_the_program_and_nothing_else(wheel: Path) -> None:
    package = TOP / "src" / "bookwheel"
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
        extra = {name.partition("/")[2] for name in opened.namelist()} - {
            name.partition("/")[2] for name in held
        }

    files = (path for path in package.rglob("*") if path.is_file())
    assert held == {
        path.relative_to(package.parent).as_posix()
        for path in files
        if "__pycache__" not in path.parts
    }
    assert extra == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_links_on_the_page_of_the_package_lead_to_files_of_its_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (each for each in opened.namelist() if each.endswith("/METADATA"))
        told = opened.read(name).decode()

    links = re.findall(r"\]\(([^)]+)\)", told)
    files = [link for link in links if not link.startswith("#")]
    at = re.compile(
        r"https://(raw\.githubusercontent|github)\.com/bookwheel/bookwheel/"
        rf"(blob/)?v{re.escape(__version__)}/([^#]+)(#.*)?"
    )
    assert len(files) > 20
    assert [
        link for link in files if not (found := at.fullmatch(link)) or not (TOP / found[3]).exists()
    ] == []


def test_the_source_archive_holds_what_a_build_needs_and_no_tests(source: Path) -> None:
    held = {path.name for path in source.iterdir()}

    assert held >= {"src", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO"}
    assert not held & {"tests", "bench", "release", "dist", "build"}


def test_what_the_image_copies_is_enough_to_build_the_same_wheel(
    wheel: Path, tmp_path: Path
) -> None:
    """The first stage of the Dockerfile, without an engine to run it."""
    (tmp_path / "context").mkdir()
    for words in of_kind("COPY"):
        *sources, _ = words.split()
        for name in sources if not words.startswith("--from") else ():
            (tmp_path / "context" / name).symlink_to(TOP / name)
    (tmp_path / "made").mkdir()

    made = build(tmp_path / "context", "wheel", tmp_path / "made")
    assert made.read_bytes() == wheel.read_bytes()


def test_the_program_in_the_wheel_works_in_a_folder_that_holds_nothing_of_ours(
    wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(tmp_path)

    try_program([sys.executable, "-m", "bookwheel"], __version__, {"PYTHONPATH": str(tmp_path)})
