"""Measure Bookwheel on folders of documents and print a table of figures.

python -m bench FOLDER [FOLDER ...] [--only NAME] [--markdown | --json]
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from bench.clocks import bytecode_kept
from bench.corpus import Corpus
from bench.figures import Figure, as_json, as_markdown, as_text

FIGURES = (
    "indexing",
    "rescan",
    "cold",
    "search_speed",
    "quality",
    "freshness",
    "pages_table",
    "handshake",
    "throughput",
    "crowd",
    "site",
    "formats",
    "embedding",
    "meaning",
    "links",
    "redaction",
)
LONG = ("soak", "cluster", "scale")
"""What takes so long that it is measured only where it is named."""
_LIBRARIES = ("bookwheel", "apsw", "tantivy", "typer", "mcp")


def measure(corpus: Corpus, name: str) -> list[Figure]:
    """Run one module and return its rows."""
    rows: list[Figure] = import_module(f"bench.{name}").measure(corpus)
    return rows


def describe(corpus: Corpus, only: Sequence[str] | None = None) -> str:
    """Say what was measured and with which versions."""
    made_of = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    if set(only or ()) <= {"scale"} and only:  # the folders themselves are not indexed
        measured = f"documents made out of {', '.join(Path(each).name for each in corpus.folders)}"
    else:
        measured = f"{len(corpus.documents):,} documents, {corpus.chunks:,} chunks"
    return (
        f"{measured}, {corpus.queries} queries; "
        f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {made_of}"
    )


def sizes(text: str) -> tuple[int, ...]:
    """Read numbers by commas."""
    return tuple(int(number) for number in text.split(","))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("folders", nargs="+", help="folders of documents, read but never written")
    parser.add_argument(
        "--only", action="append", choices=FIGURES + LONG, help="only this module; again"
    )
    parser.add_argument("--queries", type=int, default=120, help="queries for the speed of search")
    parser.add_argument("--rounds", type=int, default=3, help="times that indexing is repeated")
    parser.add_argument("--seconds", type=float, default=60, help="how long the crowd asks")
    parser.add_argument("--minutes", type=float, default=30, help="how long the soak lasts")
    parser.add_argument(
        "--chunks", type=sizes, help="sizes for scale, by commas; the last is the cluster's too"
    )
    parser.add_argument("--load-seconds", type=float, default=math.inf, help="for the cluster")
    parser.add_argument("--keep", type=Path, help="folder in which scale keeps what it made")
    parser.add_argument("--svg", type=Path, help="file into which scale draws")
    parser.add_argument("--markdown", action="store_true", help="the table for docs/benchmarks.md")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; a miss is a row in the table, not a failure of the run."""
    options = parse(arguments)
    figures: list[Figure] = []
    with (
        tempfile.TemporaryDirectory(prefix="bookwheel-bench-") as work,
        bytecode_kept(Path(work) / "bytecode"),
    ):
        folders = [str(Path(folder).resolve()) for folder in options.folders]
        corpus = Corpus(
            *(folders, Path(work), options.queries, options.rounds),
            crowd_seconds=options.seconds,
            soak_minutes=options.minutes,
            cluster_seconds=options.load_seconds,
            kept=options.keep,
            drawing=options.svg,
        )
        if options.chunks:
            corpus.sizes, corpus.cluster_chunks = options.chunks, options.chunks[-1]
        try:
            for name in options.only or FIGURES:
                print(f"{name} ...", file=sys.stderr, flush=True)
                rows = measure(corpus, name)
                print(as_text(rows), file=sys.stderr, flush=True)
                figures += rows
            about = describe(corpus, only=options.only)
        finally:
            corpus.close()
    if options.json:
        print(as_json(figures))
    else:
        print(f"{about}.\n\n{(as_markdown if options.markdown else as_text)(figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
