"""What can be set, by which names, with which default; the only reader of the environment.

A value comes from a flag, else the environment, else the configuration file, else the default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookwheel.model import Collection
from bookwheel.settings import files
from bookwheel.settings.forms import CLIENT, ENDPOINT, Rate, read_rate, read_rates
from bookwheel.settings.table import CONFIG_NAME, SETTINGS, Row, describe, parse, stated_text

__all__ = [
    "CLIENT",
    "CONFIG_NAME",
    "ENDPOINT",
    "SETTINGS",
    "Rate",
    "Row",
    "Settings",
    "describe",
    "folder_of",
    "load",
    "read_rate",
    "read_rates",
]


_ALIKE = 0.9


@dataclass(frozen=True)
class Settings:
    """The resolved values, each with where it came from."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    collections: tuple[Collection, ...] = ()
    config: str | None = None
    remarks: tuple[str, ...] = ()
    redaction: tuple[tuple[str, str, str], ...] = ()
    """The operator's own rules of redaction: name, kind, pattern."""

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    config: str | None = None,
    use_start_folder: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Resolve every setting; raises BadRequest naming the one that cannot be used."""
    env = os.environ if environment is None else environment
    named = config or env.get("BOOKWHEEL_CONFIG")
    file = files.find_config(named, use_start_folder=use_start_folder)
    stated = files.from_folder(file.parent, files.read_config(file)) if file else {}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    remarks: list[str] = []
    if file is not None and not named and file == Path(CONFIG_NAME).absolute():
        stated = _without_reach(stated, file, remarks)
        stated = files.add_stricter(stated, files.read_own_config())
    for row in SETTINGS:
        values[row.name], origins[row.name] = _resolve(row, flags or {}, env, stated, remarks)
    remarks += _misspelt(env)
    files.refuse_unknown(stated, file)
    collections = files.read_collections(stated.get("collections", []), file) if file else ()
    rules = files.read_redaction(stated.get("redaction", []), file) if file else ()
    named_file = str(file) if file else None
    return Settings(values, origins, collections, named_file, tuple(remarks), rules)


def _resolve(
    row: Row,
    flags: Mapping[str, Any],
    env: Mapping[str, str],
    stated: Mapping[str, Any],
    remarks: list[str],
) -> tuple[Any, str]:
    if flags.get(row.name) is not None:
        return parse(row, str(flags[row.name]), f"--{row.name.replace('_', '-')}"), "flag"
    named = [name for name in (row.variable, *row.other_names) if env.get(name)]
    if len(named) > 1:
        remarks.append(f"{named[0]} and {named[1]} are both set; {named[0]} is used.")
    if named:
        return parse(row, env[named[0]], named[0]), named[0]
    if row.name in stated:
        return parse(row, stated_text(row, stated[row.name]), row.name), CONFIG_NAME
    return row.default, "default"


def _misspelt(env: Mapping[str, str]) -> list[str]:
    """Name variables that look like ours with a slip: nobody would see that they do nothing.

    Any others may be somebody else's, as those are that Kubernetes makes for a service's name.
    """
    known = {name for row in SETTINGS for name in (row.variable, *row.other_names)}
    unknown = [name for name in env if name.startswith("BOOKWHEEL_") and name not in known]
    if not unknown:
        return []
    from difflib import get_close_matches

    near = {name: get_close_matches(name, known, n=1, cutoff=_ALIKE) for name in unknown}
    return [
        f"{name} is no setting and does nothing. Did you mean {meant[0]}?"
        for name, meant in near.items()
        if meant
    ]


def _without_reach(stated: Mapping[str, Any], file: Path, remarks: list[str]) -> dict[str, Any]:
    """Leave out what only the operator may say, since whoever made the folder made this file."""
    kept = dict(stated)
    for row in SETTINGS:
        if (
            row.reaches_out is not None
            and row.name in kept
            and row.reaches_out(str(kept[row.name]))
        ):
            del kept[row.name]
            remarks.append(
                f"{row.name} in {file} is not used: the file only lay in the start folder. "
                f"Name the file with --config, or set {row.variable}."
            )
    return kept


def folder_of(variable: str, default: str) -> Path:
    """Return the folder that another program is told of by a variable, or its default."""
    return Path(os.environ.get(variable) or default).expanduser()
