"""Search one folder of Markdown with Bookwheel and with its rivals, and print one table.

python -m bench.rivals FOLDER [--queries N] [--seed N] [--without NAME] [--work DIR] [--json]

Programs are installed below build/rivals, but for recoll, which comes by apt for the whole machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.clocks import REPOSITORY
from bench.rivals import compare
from bench.rivals.base import NotInstalled, Rival
from bench.rivals.bookwheel import Bookwheel, BookwheelWords
from bench.rivals.fts5 import Fts5
from bench.rivals.qmd import Qmd
from bench.rivals.questions import draw, read_pages
from bench.rivals.recoll import Recoll
from bench.rivals.table import Result, as_json, as_markdown
from bench.rivals.vault import MarkdownVault

HOME = REPOSITORY / "build" / "rivals"
RIVALS: dict[str, type[Rival]] = {
    "fts5": Fts5,
    "qmd": Qmd,
    "markdown-vault-mcp": MarkdownVault,
    "recoll": Recoll,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.rivals", description=__doc__)
    parser.add_argument("folder", type=Path, help="Markdown files, read but never written")
    parser.add_argument("--queries", type=int, default=100, help="of each of the four kinds")
    parser.add_argument("--seed", type=int, default=11, help="of what the queries are drawn with")
    parser.add_argument(
        "--without", action="append", choices=RIVALS, default=[], help="leave one out; again"
    )
    parser.add_argument(
        "--work",
        type=Path,
        help="keep copies, indexes and figures of indexing here, and go on from there",
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    return parser.parse_args(arguments)


def say(text: str) -> None:
    """Tell whoever waits what goes on."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def copy_pages(folder: Path, docs: Path) -> None:
    """Copy the Markdown files alone, so that every program gets the same and writes nothing."""
    for path in folder.resolve().rglob("*.md"):
        copied = docs / path.relative_to(folder.resolve())
        if not copied.exists():
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copied)


def programs(work: Path, without: Sequence[str]) -> list[Rival]:
    """Return the programs to compare, each with its own place; Bookwheel's two share a home."""
    docs = work / "docs"
    ours: list[Rival] = [
        Bookwheel(HOME / "bookwheel", docs, work / "bookwheel"),
        BookwheelWords(HOME / "bookwheel", docs, work / "words"),
    ]
    chosen = {name: kind for name, kind in RIVALS.items() if name not in without}
    return [*ours, *(kind(HOME / name, docs, work / name) for name, kind in chosen.items())]


def install(rivals: Sequence[Rival], without: Sequence[str]) -> list[Result]:
    """Install what is missing and note what is there."""
    results = []
    for rival in rivals:
        say(f"installing {rival.name}: {rival.where} ...")
        try:
            rival.install()
        except NotInstalled as error:
            raise NotInstalled(explain(rival, error, without)) from error
        about = (rival.version(), rival.asked, rival.not_run, rival.installed())
        results.append(Result(rival.name, *about))
    return results


def explain(rival: Rival, error: NotInstalled, without: Sequence[str]) -> str:
    """Say which program cannot be installed, and how to go on without it."""
    name = rival.home.name
    left = " ".join(f"--without {each}" for each in (*without, name))
    way_out = f"\nTo go on: {left}" if name in RIVALS else ""
    return f"{rival.name} cannot be installed: {error}{way_out}"


def run(options: argparse.Namespace, work: Path) -> str:
    """Install, index, ask; return what is to be printed."""
    rivals = programs(work, options.without)
    results = install(rivals, options.without)
    copy_pages(options.folder, work / "docs")
    pages = read_pages(work / "docs")
    asked = draw(pages, options.queries, options.seed)
    for rival, result in zip(rivals, results, strict=True):
        say(f"indexing with {rival.name} ...")
        compare.index(rival, result)
    compare.ask(rivals, results, asked, say)
    if options.json:
        return as_json(results)
    about = f"{len(pages):,} Markdown files, {options.queries} queries of each kind, seed"
    load = f"load {os.getloadavg()[1]:.0f}"
    return f"{about} {options.seed}; {time.strftime('%Y-%m-%d')}, {load}.\n\n{as_markdown(results)}"


def main(arguments: Sequence[str]) -> int:
    """Compare and print; a program that cannot be installed ends the run with the reason."""
    options = parse(arguments)
    if not any(options.folder.rglob("*.md")):
        print(f"{options.folder}: no Markdown files there", file=sys.stderr)
        return 2
    HOME.mkdir(parents=True, exist_ok=True)
    try:
        with work_folder(options.work) as work:
            print(run(options, work))
    except NotInstalled as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextmanager
def work_folder(kept: Path | None) -> Iterator[Path]:
    """Give the folder that is to be kept, or one for this run."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
    else:
        with tempfile.TemporaryDirectory(prefix="bookwheel-rivals-") as made:
            yield Path(made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
