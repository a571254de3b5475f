"""Measure how good search is, on test sets or your documents.

A test set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, as BEIR has them. It is
indexed in a temporary folder, and every query is asked of the library's own search. For your own
documents, write down some questions and the documents that should answer them: `eval init` starts
that file. Shown are nDCG@10 (are the best on top?), Recall@100 (is everything found?), MRR@10 and
hit@10 (how soon does something useful come?), and what it costs.

    bookwheel eval init ~/notes
    bookwheel eval ~/notes
    bookwheel eval ~/notes ~/papers --judged questions.toml
    bookwheel eval sets/scifact sets/nfcorpus --out before.json
    bookwheel eval sets/scifact --baseline before.json --max-drop 0.005
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from bookwheel.cli.eval_output import find_shortfalls, print_run, run_as_markdown
from bookwheel.cli.evaluating import OwnFolders, Wish, evaluate, read_targets
from bookwheel.cli.options import Config, Json, Mode, Second, wants_second_look
from bookwheel.cli.output import print_json, say
from bookwheel.errors import BadRequest
from bookwheel.evaluation.compare import Comparison, compare_runs
from bookwheel.evaluation.judged import FILE_NAME
from bookwheel.evaluation.result import Result
from bookwheel.evaluation.run import ASKED
from bookwheel.evaluation.saved import Saved, describe_answer, describe_run, read_run
from bookwheel.query import SearchMode

_MISSES = 20
"""So many misses of one's own documents are shown; those of a test set when asked for."""


def run(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATASET...",
            help=f"Test sets, or folders of documents with a {FILE_NAME}. Default: this folder.",
        ),
    ] = None,
    judged: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Ask the questions in this file instead."),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder that holds the index of your own documents."),
    ] = None,
    config: Config = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Compare with this saved run.")
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0,
            max=1,
            help="Exit with 1 if nDCG@10 of a set falls further below the baseline.",
        ),
    ] = None,
    fail_below: Annotated[
        float | None,
        typer.Option(
            metavar="X", min=0, max=1, help="Exit with 1 if nDCG@10 of a set is below this."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Save the run as JSON, for --baseline.")
    ] = None,
    markdown: Annotated[
        str | None, typer.Option(metavar="FILE", help="Save the tables as Markdown.")
    ] = None,
    misses: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="List this many queries whose answer did not come first. "
            f"Default: {_MISSES} of your own documents, none of a test set.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Keep the indexes of test sets in folders below this one."
        ),
    ] = None,
    mode: Mode = SearchMode.HYBRID,
    rerank: Second = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    if max_drop is not None and baseline is None:
        raise BadRequest("--max-drop needs --baseline: a drop is from an earlier run.")
    before = read_run(Path(baseline)) if baseline else {}
    _check_writable(out, markdown)
    targets = read_targets(sets or [], judged)
    own = all(isinstance(each, OwnFolders) for each in targets)
    if index is not None and not own:
        hint = "--keep DIR keeps the index of a test set."
        raise BadRequest("--index is for the index of your own documents.", hint=hint)
    if misses is None:
        misses = _MISSES if own else 0
    wish = Wish(
        ASKED._replace(mode=mode, rerank=wants_second_look(rerank)),
        index=index,
        config=config,
        keep=keep,
    )
    gc.enable()
    try:
        results = [evaluate(each, wish) for each in targets]
        comparisons = _compare(results, before) if baseline else []
    except KeyboardInterrupt:
        raise KeyboardInterrupt("no run was saved") from None
    if out:
        described = describe_run(results, comparisons, misses=misses)
        _write(out, dumps(described, ensure_ascii=False, indent=1) + "\n")
    if markdown:
        _write(markdown, run_as_markdown(results, comparisons))
    if json:
        print_json(describe_answer(results, comparisons, misses=misses))
    else:
        print_run(results, comparisons, misses=misses)
    short = find_shortfalls(results, comparisons, fail_below=fail_below, max_drop=max_drop)
    for sentence in short:
        say(sentence)
    if short:
        raise typer.Exit(1)


def _compare(results: Sequence[Result], before: Mapping[str, Saved]) -> list[Comparison]:
    """Compare each set that the saved run has too; at least one must be."""
    comparisons = []
    for each in results:
        old = before.get(each.name, Saved(0, {}))
        found = compare_runs(each.name, old.per_query, each.per_query, random=Random(0))
        if found is None:
            say(f"{each.name}: not compared, the baseline has none of its queries.")
            continue
        comparisons.append(found)
        if found.queries < max(each.queries, len(old.per_query)):
            say(f"{each.name}: compared over the {found.queries:,} queries of both runs.")
        if each.documents != old.documents:
            say(f"{each.name}: {old.documents:,} documents then, {each.documents:,} now.")
    if not comparisons:
        raise BadRequest("The baseline has no query of these sets.")
    return comparisons


def _check_writable(*files: str | None) -> None:
    """Refuse a place that cannot be written to before the work instead of after it."""
    for file in files:
        if file and (Path(file).is_dir() or not Path(file).absolute().parent.is_dir()):
            raise BadRequest(f"{file} cannot be written: name a file in a folder that exists.")


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadRequest(f"{file} cannot be written: {error.strerror}.") from None
