"""Show what redaction would take out of files.

Reads any format that can be indexed, and names each secret, e-mail address and phone number by its
line and kind; the thing itself is never printed. Lines are those of the text that is indexed. Exit
code 0: nothing was found. 1: something was found, or a file could not be read.

    bookwheel redact notes.md
    bookwheel redact report.pdf mail.eml --level secrets
    bookwheel redact notes.md --show > notes.redacted.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from bookwheel.cli.options import Config, Json
from bookwheel.cli.output import count, one_line, print_json
from bookwheel.indexing.worker import Task, WorkerPool
from bookwheel.model import Redact, Span
from bookwheel.safety.finding import is_secret, make_rules
from bookwheel.safety.redact import cover, in_bytes, make_safe
from bookwheel.settings import Settings, load


class Looked(NamedTuple):
    """A file and what was found in it; without a text, the reason."""

    name: str
    text: str | None
    spans: tuple[Span, ...] = ()
    reason: str = ""


def run(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files to look through.")],
    level: Annotated[
        Redact,
        typer.Option(help="secrets: keys, tokens, passwords; all: e-mail and phone numbers too."),
    ] = Redact.ALL,
    show: Annotated[
        bool, typer.Option("--show", help="Print the redacted text instead of the list.")
    ] = False,
    config: Config = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    looked = list(look_through(files, load(config=config), level))
    if json:
        print_json([_as_json(each) for each in looked])
    else:
        for each in looked:
            _print(each, show=show)
    if any(each.spans or each.text is None for each in looked):
        raise typer.Exit(1)


def look_through(files: list[str], settings: Settings, level: Redact) -> Iterator[Looked]:
    """Yield what was found in each file, in the order in which they were named."""
    setup = (settings["max_file_mb"] * 1_000_000, tuple(make_rules(settings)))
    paths = [Path(file).absolute() for file in files]
    tasks = (Task(at, (str(path.parent), path.name)) for at, path in enumerate(paths))
    found: dict[int, Looked] = {}
    with WorkerPool("bookwheel.indexing.looking:make_look", setup, workers=1) as pool:
        for outcome in pool.run(tasks):
            at = outcome.task.key
            result = outcome.result if outcome.failure is None else (outcome.failure.kind,)
            found[at] = _looked(files[at], result, level)
    for at in range(len(files)):
        yield found[at]


def _looked(name: str, result: tuple[Any, ...], level: Redact) -> Looked:
    if len(result) == 1:
        return Looked(name, None, reason=str(result[0]))
    text, spans = result
    wanted = (Span(*each) for each in spans if level is not Redact.OFF)
    return Looked(
        name, text, tuple(span for span in wanted if level is Redact.ALL or is_secret(span.kind))
    )


def _print(looked: Looked, *, show: bool) -> None:
    name = one_line(looked.name)
    if looked.text is None:
        print(f"{name}: not read: {make_safe(looked.reason)}", file=sys.stderr)
    elif show:
        covered = cover(looked.text.encode(), in_bytes(looked.text, looked.spans)).decode()
        sys.stdout.write(covered if covered.endswith("\n") else covered + "\n")
    else:
        for span, line in _with_lines(looked):
            print(f"{name}:{line}: {span.kind}, {_hint(span)}")
        print(f"{name}: {count(len(looked.spans), 'find')}", file=sys.stderr)


def _with_lines(looked: Looked) -> Iterator[tuple[Span, int]]:
    line, done = 1, 0
    for span in looked.spans:
        line += (looked.text or "").count("\n", done, span.start)
        done = span.start
        yield span, line


def _hint(span: Span) -> str:
    return count(span.end - span.start, "character")


def _as_json(looked: Looked) -> dict[str, Any]:
    if looked.text is None:
        return {"file": looked.name, "error": looked.reason}
    return {
        "file": looked.name,
        "finds": [
            {"kind": span.kind, "line": line, "start": span.start, "end": span.end}
            for span, line in _with_lines(looked)
        ],
    }
