"""What every program in the comparison must be able to do, and how its commands are written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

MCP, PROCESS, INSIDE = "MCP on stdio", "a process each", "in process"
"""The ways in which a program is asked."""
LIMIT = 10
_SAID = 1_500


class NotInstalled(Exception):
    """A program cannot be brought onto this machine, or does not do what it must."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line with what it needs of its surroundings."""

    line: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def surroundings(self) -> dict[str, str]:
        """Return the whole environment; what others set for Python is no part of it."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return {**kept, **self.environment}

    def answer(self, patience: float = 120) -> subprocess.CompletedProcess[str]:
        """Run it to its end, however that is."""
        return subprocess.run(
            self.line,
            env=self.surroundings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            check=False,
        )

    def output(self, patience: float = 1800) -> str:
        """Run a step of an installation and return what it printed; raises when it fails."""
        try:
            done = self.answer(patience)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotInstalled(f"{self.line[0]}: {error}") from error
        if done.returncode:
            said = (done.stderr or done.stdout)[-_SAID:].strip()
            raise NotInstalled(f"{' '.join(self.line)}: exit code {done.returncode}\n{said}")
        return done.stdout


class Asker(Protocol):
    """A program that is ready to be asked, until its context ends."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, query: str) -> list[str]:
        """Return the paths of the documents that it finds, best first."""

    def cpu(self) -> float:
        """Return the CPU seconds that it took so far."""

    def memory(self) -> int:
        """Return the bytes that it holds now; 0 where nothing of it runs between queries."""

    def tool_list(self) -> tuple[int, int]:
        """Return how many tools it offers, and in how many bytes; zeros where it offers none."""


class Rival(ABC):
    """One program: how it is installed, told of a folder, run and asked.

    `home` is where it is installed, `docs` the folder of documents, `place` where its index goes.
    """

    name: str
    asked: str
    """How its answers are asked for, for the table's reader."""
    not_run: str = ""
    """What it can do besides, and why that is not run here."""
    where = "into build/rivals"
    """Where it is installed."""
    ways: tuple[str, ...] = (MCP, PROCESS)
    """The first is that of the known items."""

    def __init__(self, home: Path, docs: Path, place: Path) -> None:
        self.home, self.docs, self.place = home, docs, place
        place.mkdir(parents=True, exist_ok=True)

    @abstractmethod
    def install(self) -> None:
        """Bring it onto this machine, unless it is there; raises `NotInstalled`."""

    @abstractmethod
    def version(self) -> str:
        """Return the version that is installed."""

    @abstractmethod
    def installed(self) -> int:
        """Return how many bytes the installation has, without the interpreter that it runs on."""

    @abstractmethod
    def index(self) -> Command:
        """Return the command that indexes the folder afresh."""

    @abstractmethod
    def rescan(self) -> Command | None:
        """Return the command that brings the index up to date; None where there is none."""

    @abstractmethod
    def asking(self, way: str) -> Asker:
        """Return it ready to be asked in one of its ways."""


def make_venv(home: Path, *packages: str, force: bool = False) -> Path:
    """Make a Python environment with packages and return its folder of programs."""
    programs = home / "bin"
    noted = home / ".installed"
    if not force and noted.exists() and noted.read_text(encoding="utf-8") == "\n".join(packages):
        return programs
    if not (programs / "python").exists():
        shutil.rmtree(home, ignore_errors=True)
        Command([sys.executable, "-m", "venv", str(home)]).output()
    quiet = ["--quiet", "--disable-pip-version-check"]
    Command([str(programs / "python"), "-m", "pip", "install", *quiet, *packages]).output()
    noted.write_text("\n".join(packages), encoding="utf-8")
    return programs


def site_packages(venv: Path) -> Path:
    """Return the folder of an environment's packages."""
    return next((venv / "lib").glob("python3*/site-packages"))


def size_of(folder: Path, but: Callable[[Path], bool] = lambda _: False) -> int:
    """Return the bytes of the files below a folder, each once, but for some of its entries."""
    seen: dict[tuple[int, int], int] = {}
    for entry in folder.iterdir():
        if but(entry):
            continue
        for path in (entry, *(entry.rglob("*") if entry.is_dir() else ())):
            about = path.lstat()
            if not path.is_dir():
                seen[about.st_dev, about.st_ino] = about.st_size
    return sum(seen.values())


def packages_size(venv: Path) -> int:
    """Return the bytes of an environment's packages, without the installer that came with it."""
    return size_of(
        site_packages(venv), lambda entry: entry.name.split("-")[0] in ("pip", "setuptools")
    )


def unique(paths: Iterable[str]) -> list[str]:
    """Return each path once, the first ten of them."""
    return list(dict.fromkeys(paths))[:LIMIT]
