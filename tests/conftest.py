"""What all tests share: a world of their own, and a folder of documents with its library.

No test sees the user's own settings or writes into the user's folders.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from bookwheel.indexing.pipeline import Report
from bookwheel.library import Library
from bookwheel.query import SearchRequest
from bookwheel.settings import SETTINGS, load
from tests import loopback, temporary
from tests.faults import table as fault_table
from tests.indoors import IndoorPool

loopback.watch()

# A shell has what it starts in the background ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow moment of the machine is no fault of the code.
hypothesis.settings.register_profile("bookwheel", deadline=None)
hypothesis.settings.load_profile("bookwheel")

LONG_AGO = 1_700_000_000_000_000_000
"""A modification time that no later write can be mistaken for."""


class Shelf:
    """Folders below one place, their library in `index` beside them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = place / "notes"
        self.folder.mkdir(parents=True)

    def put(self, path: str, content: str | bytes, *, at: int = LONG_AGO) -> Path:
        """Write a file below `notes` as if long ago; return where it is."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(file, ns=(at, at))
        return file

    def open(self, *folders: Path, **flags: Any) -> Library:
        """Open the library of the folders given, else of `notes`."""
        flags.setdefault("index", str(self.place / "index"))
        flags.setdefault("workers", 1)
        settings = load(flags, use_start_folder=False, environment={})
        return Library.open(settings, [str(each) for each in folders or (self.folder,)])

    def update(self, *folders: Path, full: bool = False, **flags: Any) -> list[Report]:
        """Bring the library up to date and close it."""
        with self.open(*folders, **flags) as library:
            return [timeless(report) for report in library.update(full=full)]

    def find(self, words: str, *folders: Path, **flags: Any) -> list[str]:
        """Return the ids of the documents found, the best first."""
        with self.open(*folders, **flags) as library:
            return find(library, words)


def find(library: Library, words: str) -> list[str]:
    """Return the ids of the documents found, without forgiving typos."""
    return [hit.document for hit in library.search(SearchRequest(words, fuzzy=False)).hits]


def timeless(report: Report) -> Report:
    """Return a report as it can be compared."""
    report.seconds = 0.0
    return report


def opened_below(place: Path) -> list[str]:
    """Return the files below a place that this process has open, others' leftovers not counted."""
    opened = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:  # that of the listing itself
            continue
        if target.startswith(str(place)):
            opened.append(target)
    return sorted(opened)


@pytest.fixture(autouse=True, scope="session")
def _world_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("BOOKWHEEL_") and not name.startswith("BOOKWHEEL_TEST_"):
                patch.delenv(name)
        for row in SETTINGS:
            for name in row.other_names:
                patch.delenv(name, raising=False)
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        yield


@pytest.fixture(autouse=True, scope="session")
def _nothing_leaves_this_machine(
    tmp_path_factory: pytest.TempPathFactory, _world_of_its_own: None
) -> Iterator[None]:
    """Watch the processes that tests start too, and tell in the end who tried to reach out."""
    place = tmp_path_factory.mktemp("watch")
    noted = place / "attempts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", loopback.install(place))
        patch.setenv(loopback.NOTED, str(noted))
        yield
    assert not noted.exists(), f"tests reached out: {noted.read_text(encoding='utf-8')}"


@pytest.fixture(autouse=True, scope="module")
def _workers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give the real workers to the tests that are about them, to others their work alone."""
    with pytest.MonkeyPatch.context() as patch:
        if not {"indexing", "faults", "bench"} & set(request.node.path.parts):
            patch.setattr("bookwheel.indexing.pipeline.WorkerPool", IndoorPool)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--on-cluster",
        action="store_true",
        help="keep the libraries of all tests in the cluster that BOOKWHEEL_TEST_CLUSTER names",
    )
    parser.addoption(
        "--few",
        action="store_true",
        help="of a test with many cases only the first and the last, and none with drawn ones",
    )
    parser.addoption(
        "--faults",
        action="store_true",
        help="only what shows a row of the faults, or takes long, and a table in the end",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Write to memory, but for the long faults: these have to do with disks."""
    if not config.getoption("--faults"):
        temporary.write_to_memory()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about files where libraries lie in the cluster, and what was not wanted."""
    left_out: set[pytest.Item] = set()
    if config.getoption("--on-cluster"):
        left_out |= {item for item in items if item.get_closest_marker("on_disk")}
    if config.getoption("--few"):
        left_out |= _beyond_few(items)
    if config.getoption("--faults"):
        left_out |= {item for item in items if not fault_table.is_wanted(item)}
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail in CI what this machine cannot try: a test that is skipped shows nothing."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped: {report.longreprtext}"
    return report


def _beyond_few(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return all cases of a test but its first and last, and tests that draw cases at random."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.get_closest_marker("every_case"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    drawn = {item for item in items if hasattr(getattr(item, "obj", None), "hypothesis")}
    return drawn | {item for each in cases.values() for item in each[1:-1]}


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table of faults."""
    if config.getoption("--faults"):
        for line in fault_table.make_table(terminalreporter.stats):
            terminalreporter.write_line(line)


@pytest.fixture(autouse=True, scope="session")
def _libraries_in_the_cluster(
    request: pytest.FixtureRequest, _world_of_its_own: None
) -> Iterator[None]:
    """Keep every library that this process opens in the cluster, where that is asked for."""
    if not request.config.getoption("--on-cluster"):
        yield
        return
    from tests.cluster.library import open_shelf

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bookwheel.library.open_engine", open_shelf)
        yield


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)
