"""Results as tables: headings and cells, and both as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bookwheel.evaluation.compare import Comparison
from bookwheel.evaluation.result import Result


class Table(NamedTuple):
    """Headings and rows of cells; the first column is a name, the others are figures."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tabulate_results(results: Iterable[Result]) -> Table:
    """Return one row per test set or folder."""
    headings = (
        *("set", "documents", "queries", "nDCG@10", "Recall@100", "MRR@10", "hit@10"),
        *("p50 ms", "p95 ms", "index s", "bytes/doc"),
    )
    return Table(headings, tuple(map(_result_row, results)))


def _result_row(result: Result) -> tuple[str, ...]:
    seconds = result.index_seconds
    return (
        result.name,
        f"{result.documents:,}",
        f"{result.queries:,}",
        *(f"{score:.3f}" for score in result.scores),
        f"{result.p50_ms:.1f}",
        f"{result.p95_ms:.1f}",
        "-" if seconds is None else f"{seconds:.1f}",
        f"{result.bytes_per_document:,.0f}",
    )


def tabulate_comparisons(comparisons: Iterable[Comparison]) -> Table:
    """Return one row per set that both runs have."""
    headings = ("set", "queries", "before", "after", "difference", "95 % interval", "p", "verdict")
    return Table(headings, tuple(map(_comparison_row, comparisons)))


def _comparison_row(each: Comparison) -> tuple[str, ...]:
    return (
        each.name,
        f"{each.queries:,}",
        f"{each.before:.3f}",
        f"{each.after:.3f}",
        f"{each.difference:+.3f}",
        f"{each.low:+.3f} to {each.high:+.3f}",
        f"{each.p_value:.3f}",
        str(each.verdict),
    )


def write_markdown(table: Table) -> str:
    """Return a table that reads as well plain as it renders."""
    cells = [tuple(cell.replace("|", "\\|") for cell in row) for row in table.rows]
    widths = [max(map(len, column)) for column in zip(table.headings, *cells, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [table.headings, rule, *cells]
    return "".join(f"| {' | '.join(_pad(line, widths))} |\n" for line in lines)


def _pad(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(cells, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
