"""Reading Office files and PDF: speed against the bare libraries, words against second readers.

The files are those of the folder that BOOKWHEEL_BENCH_FORMATS names, else of the folders given.
Also what the pool of worker processes costs on Markdown: `python -m bench.formats MODE FOLDER LIST`
prepares files in this process (`here`) or through the pool with one worker (`pool`).
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from bench.clocks import REPOSITORY, Spent, run_python
from bench.corpus import Corpus
from bench.figures import Figure, at_least, at_most
from bench.floors.formats import FLOORS, NARROW, find_second, second_name
from bookwheel.formats.registry import extension_of, read
from bookwheel.indexing.prepare import MAX_FILE_BYTES, make_prepare
from bookwheel.indexing.wire import unpack
from bookwheel.indexing.worker import Limits, Task, WorkerPool

LEAST_SPEED = 0.70
LEAST_RECALL = 0.97
MOST_POOL = 1.10
_REPEATS = 5
_MOST_MARKDOWN = 4_000
_WORD = re.compile(r"[^\W_]+")
_HANDLER = "bookwheel.indexing.prepare:make_prepare"


class Reading(NamedTuple):
    """What one reader made of one file: CPU seconds, the best of several, and the text."""

    seconds: float
    text: str


Sides = dict[str, dict[str, Reading]]
"""The readings of each reader, by path."""


class Recall(NamedTuple):
    """How many of another reader's tokens were found in one file."""

    found: int
    wanted: int

    @property
    def share(self) -> float:
        return self.found / self.wanted


def measure(corpus: Corpus) -> list[Figure]:
    """Measure each format that the folders have, then the pool."""
    named = os.environ.get("BOOKWHEEL_BENCH_FORMATS")
    folders = [named] if named else list(corpus.folders)
    figures: list[Figure] = []
    recalls: list[Recall] = []
    for extension in FLOORS:
        files = list(_files(folders, extension))
        if files:
            figures += _compare(extension, files, recalls)
    if recalls:
        figures.append(_recall("words found, all formats", recalls, f"{len(recalls)} files"))
    return figures + measure_pool(corpus)


def _files(folders: Sequence[str], extension: str) -> Iterator[str]:
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix.lower() == extension and path.is_file():
                yield str(path)


def _compare(extension: str, files: list[str], recalls: list[Recall]) -> list[Figure]:
    sides = _read_all(["ours", "floor", *(["narrow"] if extension in NARROW else [])], files)
    ours, floor = sides["ours"], sides["floor"]
    both = [path for path in files if path in ours and path in floor]
    if not both:
        return []
    name = extension[1:]
    spent, least = (sum(side[path].seconds for path in both) for side in (ours, floor))
    ratio = least / spent
    speed = at_least(
        f"{name}, documents a CPU second",
        *(ratio, LEAST_SPEED),
        shown=f"{ratio:.2f} x",
        target=f">= {LEAST_SPEED:.2f} x",
        how=f"{len(both) / spent:,.0f} against {len(both) / least:,.0f} of the bare reader; "
        f"{len(both)} files, in turn, best of {_REPEATS}; {len(files) - len(both)} left out that "
        f"either refuses ({sum(p not in ours for p in files)} by Bookwheel, "
        f"{sum(p not in floor for p in files)} by the other)",
    )
    narrow = [_compare_narrow(extension, sides)] if extension in NARROW else []
    return [speed, *narrow, _compare_words(extension, both, ours, recalls)]


def _compare_narrow(extension: str, sides: Sides) -> Figure:
    """Compare with a reader that is asked for fewer words, from the same bytes."""
    ours, narrow = sides["ours"], sides["narrow"]
    both = ours.keys() & narrow.keys()
    spent, least = (sum(side[path].seconds for path in both) for side in (ours, narrow))
    ratio = least / spent if both else 0.0
    what = NARROW[extension][0]
    return Figure(
        f"{extension[1:]}, against {what}",
        *(ratio, f"{ratio:.2f} x"),
        how=f"{len(both) / least if both else 0:,.0f} documents a CPU second, without words that "
        "Bookwheel gives",
    )


def _compare_words(
    extension: str, files: list[str], ours: dict[str, Reading], recalls: list[Recall]
) -> Figure:
    name, second = f"{extension[1:]}, words found", second_name(extension)
    if find_second(extension) is None:
        return Figure(name, 0.0, "not run", how=f"{second} is not installed")
    other = _read_all(["second"], files)["second"]
    found = {
        path: _share(ours[path].text, reading.text)
        for path, reading in other.items()
        if _WORD.search(reading.text)
    }
    recalls += found.values()
    worst = sorted(found, key=lambda path: found[path].share)[:3]
    low = ", ".join(f"{Path(path).name} {found[path].share:.2f}" for path in worst)
    return _recall(name, list(found.values()), f"of {second}'s, {len(found)} files; least: {low}")


def _recall(name: str, files: list[Recall], how: str) -> Figure:
    mean = sum(file.share for file in files) / len(files) if files else 0.0
    together = sum(file.found for file in files) / max(1, sum(file.wanted for file in files))
    return at_least(
        name,
        *(mean, LEAST_RECALL),
        shown=f"{mean:.3f}",
        target=f">= {LEAST_RECALL}",
        how=f"mean share of tokens, counted as often as they stand there; {together:.3f} of all "
        f"tokens together; {how}",
    )


def _share(ours: str, other: str) -> Recall:
    """Tell how many of another reader's tokens stand in our text."""
    wanted, there = (Counter(_WORD.findall(text.casefold())) for text in (other, ours))
    return Recall((wanted & there).total(), wanted.total())


def _read_all(sides: list[str], files: list[str]) -> Sides:
    """Read files in a worker by each reader in turn; what it refuses, or what ends it, is left out.

    In turn for each file, so that whatever else the machine does meets both alike.
    """
    tasks = [Task(n, (path,), Path(path).stat().st_size) for n, path in enumerate(files)]
    limits = Limits(batch_tasks=1, base_seconds=60.0, most_seconds=120.0)
    readings: Sides = {side: {} for side in sides}
    path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    with (
        patch.dict(os.environ, PYTHONPATH=path),  # a worker sees no modules of where it was started
        WorkerPool("bench.formats:make_reader", tuple(sides), workers=1, limits=limits) as pool,
    ):
        for outcome in pool.run(tasks):
            for side, result in zip(sides, outcome.result or (), strict=False):
                if result is not None:
                    readings[side][files[outcome.task.key]] = Reading(*result)
    return readings


def make_reader(*sides: str) -> Callable[[str], list[tuple[float, str] | None]]:
    """Return what reads one file in a worker by each reader in turn, and says what the best took.

    None stands for a reader that refuses the file.
    """

    def read_one(path: str) -> list[tuple[float, str] | None]:
        data = Path(path).read_bytes()
        best: list[tuple[float, str] | None] = [(float("inf"), "") for _ in sides]
        for _ in range(1 if sides == ("second",) else _REPEATS):
            for at, side in enumerate(sides):
                before = best[at]
                if before is not None:
                    best[at] = _read_once(_reader(side, path), data, before)
        return best

    return read_one


def _read_once(
    call: Callable[[bytes], str], data: bytes, before: tuple[float, str]
) -> tuple[float, str] | None:
    began = time.process_time()
    try:
        text = call(data)
    except Exception:  # noqa: BLE001 - each library has its own ways to refuse a file
        return None
    seconds = time.process_time() - began
    return min(seconds, before[0]), before[1] or text.encode("utf-8", "replace").decode()


def _reader(side: str, path: str) -> Callable[[bytes], str]:
    extension = extension_of(path)
    if side == "ours":
        return lambda data: read(data, path).text
    if side == "narrow":
        return NARROW[extension][1]
    second = find_second(extension)
    return FLOORS[extension] if side == "floor" or second is None else second


def measure_pool(corpus: Corpus) -> list[Figure]:
    """Prepare Markdown in one process and through the pool, in turn."""
    found = [(Path(folder), path) for folder in corpus.folders for path in _markdown(folder)]
    folder = found[0][0] if found else Path(corpus.folders[0])
    paths = [str(path.relative_to(folder)) for top, path in found if top == folder]
    listed = corpus.work / "markdown.txt"
    listed.write_text("\n".join(paths[:_MOST_MARKDOWN]), encoding="utf-8")
    spent: dict[str, list[Spent]] = {"here": [], "pool": []}
    for _ in range(corpus.rounds):
        for mode, runs in spent.items():
            runs.append(run_python(["-m", "bench.formats", mode, str(folder), str(listed)]))
    cpu = {mode: min(run.cpu for run in runs) for mode, runs in spent.items()}
    wall = {mode: min(run.wall for run in runs) for mode, runs in spent.items()}
    ratio, walls = cpu["pool"] / cpu["here"], wall["pool"] / wall["here"]
    return [
        at_most(
            "worker process on Markdown, CPU",
            *(ratio, MOST_POOL),
            shown=f"{ratio:.2f} x",
            target=f"<= {MOST_POOL:.2f} x",
            how=f"{cpu['pool']:.2f} s in parent and one worker against {cpu['here']:.2f} s in one "
            f"process, start of both included; {len(paths[:_MOST_MARKDOWN]):,} files, best of "
            f"{corpus.rounds}",
        ),
        Figure(
            "worker process on Markdown, wall clock",
            *(walls, f"{walls:.2f} x"),
            how=f"{wall['pool']:.2f} s against {wall['here']:.2f} s",
        ),
    ]


def _markdown(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).rglob("*.md") if path.is_file())


def prepare_here(folder: str, paths: list[str]) -> int:
    """Prepare files in this process."""
    prepare = make_prepare("bench", folder, None, None, MAX_FILE_BYTES)
    return sum(len(unpack(prepare(path, b""))) > 0 for path in paths)


def prepare_in_pool(folder: str, paths: list[str]) -> int:
    """Prepare files in one worker."""
    tasks = [
        Task(number, (path, b""), Path(folder, path).stat().st_size)
        for number, path in enumerate(paths)
    ]
    setup = ("bench", folder, None, None, MAX_FILE_BYTES)
    with WorkerPool(_HANDLER, setup, workers=1) as pool:
        return sum(len(unpack(outcome.result)) > 0 for outcome in pool.run(tasks))


if __name__ == "__main__":
    mode, folder, listed = sys.argv[1:]
    names = Path(listed).read_text(encoding="utf-8").splitlines()
    (prepare_here if mode == "here" else prepare_in_pool)(folder, names)
