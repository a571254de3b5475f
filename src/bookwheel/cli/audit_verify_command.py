"""Check that nobody has altered an audit.

Names each line that was changed, removed, moved or inserted, and tells of lines missing at the end.
Without FILE it is the audit of the index that the settings name. Exits with 1 if anything is wrong.

    bookwheel audit verify --index /srv/index
    bookwheel audit verify /var/log/bookwheel/audit.jsonl --key /root/audit.key
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bookwheel.cli.options import Config, Index, Json, open_library
from bookwheel.cli.output import count, one_line, print_json
from bookwheel.errors import NotFound
from bookwheel.telemetry.audit import audit_path, files_of
from bookwheel.telemetry.verify import verify


def run(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="The audit. Default: that of the index."),
    ] = None,
    index: Index = None,
    config: Config = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEYFILE", help="File that holds its key. Default: beside it."),
    ] = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    audit, secret = _find(file, index, config)
    verdict = verify(audit, Path(key) if key else secret)
    if json:
        findings = [each._asdict() for each in verdict.findings]
        print_json({"audit": str(audit), "lines": verdict.lines, "findings": findings})
    else:
        for where, what in verdict.findings:
            print(one_line(f"{where} {what}."))
        if not verdict.findings:
            files = count(len(files_of(audit)), "file")
            print(f"{count(verdict.lines, 'line')} in {files}, all as they were written.")
    if verdict.findings:
        print(f"{audit} is not as it was written.", file=sys.stderr)
        raise typer.Exit(1)


def _find(file: str | None, index: str | None, config: str | None) -> tuple[Path, Path | None]:
    """Return the audit that the arguments name, and its key where the settings name one."""
    if file and not Path(file).is_dir():
        return Path(file), None
    with open_library([file] if file else None, index, config) as library:
        audit, key = audit_path(library.settings, library.database), library.settings["audit_key"]
    if audit is None:
        raise NotFound("No audit is kept: the setting `audit` is off.")
    return audit, Path(key) if key else None
