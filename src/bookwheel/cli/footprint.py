"""How much room the packages take that an installation of Bookwheel brings with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

_REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def packages(name: str = "bookwheel") -> dict[str, Distribution]:
    """Return a package and all that it requires, as far as that is installed here."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(name, "")]
    while waiting:
        package, extra = waiting.pop()
        key = re.sub(r"[-_.]+", "-", package).lower()
        if (key, extra) in seen:
            continue
        seen.add((key, extra))
        try:
            found[key] = distribution(package)
        except PackageNotFoundError:  # it is for another system
            continue
        waiting += _required(found[key], extra)
    return found


def _required(package: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    """Give what a package requires, by itself or for one of its extras."""
    for line in package.requires or ():
        required, _, condition = line.partition(";")
        wanted = _EXTRA.search(condition)
        if (wanted[1] if wanted else "") == extra and (named := _REQUIREMENT.match(required)):
            yield named[1], ""
            for each in filter(None, (named[2] or "").split(",")):
                yield named[1], each.strip()


def size_of(package: Distribution) -> int:
    """Return how many bytes a package's files hold, compiled modules included."""
    return sum(map(_size, (Path(str(file.locate())) for file in package.files or ())))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
