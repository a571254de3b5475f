"""How an evaluation is printed: tables, queries that missed, and why a run fails."""

from __future__ import annotations

from collections.abc import Sequence

from bookwheel.cli.output import count, one_line, terminal
from bookwheel.evaluation.compare import Comparison
from bookwheel.evaluation.metrics import DEPTH
from bookwheel.evaluation.result import Miss, Result
from bookwheel.evaluation.tables import (
    Table,
    tabulate_comparisons,
    tabulate_results,
    write_markdown,
)


def print_run(results: Sequence[Result], comparisons: Sequence[Comparison], *, misses: int) -> None:
    """Print the tables, and up to so many misses of each set."""
    _print_table(tabulate_results(results))
    for result in results:
        _print_misses(result, misses)
    if comparisons:
        print()
        _print_table(tabulate_comparisons(comparisons))


def run_as_markdown(results: Sequence[Result], comparisons: Sequence[Comparison]) -> str:
    """Return the tables as a file holds them."""
    tables = [tabulate_results(results)]
    tables += [tabulate_comparisons(comparisons)] if comparisons else []
    return "\n".join(map(write_markdown, tables))


def find_shortfalls(
    results: Sequence[Result],
    comparisons: Sequence[Comparison],
    *,
    fail_below: float | None,
    max_drop: float | None,
) -> list[str]:
    """Return a sentence for each set that is below the floor or fell too far."""
    short = [
        f"{each.name}: nDCG@10 is {each.scores.ndcg:.4f}, below {fail_below:g}."
        for each in results
        if fail_below is not None and each.scores.ndcg < fail_below
    ]
    return short + [
        f"{each.name}: nDCG@10 fell by {-each.difference:.4f}, more than {max_drop:g}."
        for each in comparisons
        if max_drop is not None and -each.difference > max_drop
    ]


def _print_table(table: Table) -> None:
    console = terminal()
    if console is None:
        print(write_markdown(table), end="")
        return
    from rich.table import Table as RichTable

    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(table.headings):
        shown.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*map(one_line, row))
    console.print(shown)


def _print_misses(result: Result, most: int) -> None:
    if not result.misses or not most:
        return
    missed = count(len(result.misses), "query", "queries")
    print(f"\n{result.name}: {missed} of {result.queries:,} not answered first")
    for miss in result.misses[:most]:
        _print_miss(miss)
    if len(result.misses) > most:
        print(f"  and {len(result.misses) - most:,} more; --misses shows them")


def _print_miss(miss: Miss) -> None:
    place = f"at {miss.place}" if miss.place else f"not among the first {DEPTH}"
    print(f"  {one_line(miss.query)}")
    print(f"    wanted {one_line(', '.join(miss.wanted[:3]))}: {place}")
    before = [*miss.instead[: (miss.place or DEPTH) - 1]] or ["nothing"]
    print(f"    found  {one_line('; '.join(before))}")
