"""Show settings and check, or repair, the index.

Every setting is shown with where its value comes from. The check reads the whole index. The
installed size is that of the packages that Bookwheel requires, its own included. What is printed
names no documents and no secrets: pass it on when you ask for help.

    bookwheel doctor ~/notes
    bookwheel doctor ~/notes --repair
"""

from __future__ import annotations

import platform
import re
from typing import Annotated, Any

import typer

from bookwheel import __version__
from bookwheel.cli.circumstances import as_lines, describe
from bookwheel.cli.footprint import packages, size_of
from bookwheel.cli.options import Config, Index, Json, Paths, open_library
from bookwheel.cli.output import print_json
from bookwheel.errors import BookwheelError, IndexDamaged, NotFound
from bookwheel.library import Library
from bookwheel.settings import SETTINGS, Settings
from bookwheel.settings.table import Row

_SET = "(set)"
_CREDENTIALS = re.compile(r"(?<=://)[^/]*(?=@)|(?<=\?).+")
"""Of an address that has a user and a password in it, or a key behind a question mark."""
_REPAIR = "Repair with --repair."
_ANEW = "`bookwheel index FOLDER --full`, where the folder lies, reads a collection anew."


def run(
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair the index, or rebuild it from the documents.")
    ] = False,
    json: Json = False,
) -> None:
    """See the module's text."""
    with open_library(paths, index, config) as library:
        done = library.repair() if repair else []
        problems, advice = ([], "") if repair else _problems(library)
        report = {
            "version": __version__,
            "python": platform.python_version(),
            "installed": _installed(),
            "index": library.location,
            **_state(library),
            "settings": _settings(library.settings),
            "problems": problems,
            "repaired": done,
            **describe(library),
        }
    if json:
        print_json(report)
    else:
        _print(report, repair=repair, advice=advice)
    if problems:
        raise typer.Exit(6)


def _state(library: Library) -> dict[str, Any]:
    """Return whether there is an index, and how the cluster is that holds it, if one does."""
    try:
        return {"exists": library.exists, "cluster": library.facts()}
    except BookwheelError:  # it is named among the problems
        return {"exists": False, "cluster": {}}


def _installed() -> dict[str, int]:
    found = packages().values()
    return {"packages": len(found), "bytes": sum(map(size_of, found))}


def _problems(library: Library) -> tuple[list[str], str]:
    """Return what is wrong with the index, and what would help."""
    try:
        return library.check(), _ANEW if library.is_shared else _REPAIR
    except NotFound:  # nothing indexed yet is no damage
        return [], ""
    except IndexDamaged as error:
        return [error.message], _REPAIR
    except BookwheelError as error:  # it says itself what helps
        return [f"{error.message} {error.hint or ''}".strip()], "A repair would not help."


def _settings(settings: Settings) -> list[dict[str, Any]]:
    return [
        {
            "name": row.name,
            "value": _without_secrets(row, settings[row.name]),
            "origin": settings.origins[row.name],
            "variables": [row.variable, *row.other_names],
            "help": row.help,
        }
        for row in SETTINGS
    ]


def _without_secrets(row: Row, value: Any) -> Any:
    if row.secret and value:
        return _SET
    is_address = isinstance(value, str) and "://" in value
    return _CREDENTIALS.sub(_SET, value) if is_address else value


def _print(report: dict[str, Any], *, repair: bool, advice: str) -> None:
    print(f"bookwheel {report['version']}, Python {report['python']}")
    installed = report["installed"]
    size = f"{installed['bytes'] / 1e6:.0f} MB in {installed['packages']} packages"
    print(f"Installed size: {size}, without extras", *as_lines(report), sep="\n")
    print(f"Index: {report['index']}")
    for name, value in report["cluster"].items():
        print(f"  {name:<20} {value}")
    print("\nSettings:")
    for row in report["settings"]:
        value = "-" if row["value"] is None else row["value"]
        print(f"  {row['name']:<20} {value!s:<24} {row['origin']}")
    print()
    for line in report["problems"] + report["repaired"]:
        print(f"  {line}")
    if repair:
        print("The index is sound now." if report["repaired"] else "Nothing had to be repaired.")
    elif report["problems"]:
        print(advice)
    else:
        print("The index is sound." if report["exists"] else "There is no index here yet.")
