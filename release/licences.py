"""Fills in licences that a list of parts lacks, from what the packages themselves say.

`python -m release.licences LIST ENVIRONMENT` takes the first line of a package's field of metadata,
or of its licence file, where neither an expression nor a classifier names the licence. A package
that says nothing at all is a failure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any


def fill(parts: dict[str, Any], environment: Path) -> list[str]:
    """Fill in what is missing; return the names of those of which nothing is said."""
    places = [str(place) for place in environment.glob("lib/python3*/site-packages")]
    installed = {_plain(each.name): each for each in distributions(path=places)}
    unknown = []
    for part in parts["components"]:
        if part.get("licenses"):
            continue
        found = installed.get(_plain(part["name"]))
        name = licence_of(found) if found else None
        if name:
            part["licenses"] = [{"license": {"acknowledgement": "declared", "name": name}}]
        else:
            unknown.append(part["name"])
    return unknown


def licence_of(package: Distribution) -> str | None:
    """Return what a package calls its licence, if anything."""
    lines = (line.strip() for text in _texts(package) for line in text.splitlines())
    return next((line for line in lines if line), None)


def _texts(package: Distribution) -> Iterator[str]:
    yield from package.metadata.get_all("License") or []
    for named in package.metadata.get_all("License-File") or []:
        yield package.read_text(f"licenses/{named}") or package.read_text(named) or ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def main(listed: Path, environment: Path) -> int:
    """Rewrite the list; name what has no licence."""
    parts = json.loads(listed.read_text(encoding="utf-8"))
    unknown = fill(parts, environment)
    listed.write_text(json.dumps(parts, indent=2) + "\n", encoding="utf-8")
    if unknown:
        sys.stderr.write(f"no licence is known of: {', '.join(unknown)}\n")
        return 1
    sys.stdout.write(f"{listed}: {len(parts['components'])} packages, each with its licence\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
