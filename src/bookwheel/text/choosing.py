"""Which of several documents of one name a link means: the one spelt like it and nearest by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bookwheel.text.targets import (
    FRONT_PAGES,
    WIKILINK,
    Origin,
    absolute,
    canonical,
    follow,
    is_inside,
    target_path,
    without_extension,
)


class Candidate(NamedTuple):
    """A document that a link may mean."""

    document: int
    collection: str
    path: str


def likeliest(kind: str, target: str, origin: Origin, among: Iterable[Candidate]) -> Candidate:
    """Return the one of some documents that a link in a document means."""
    candidates = list(among)
    if len(candidates) == 1:
        return candidates[0]
    wanted = _wanted(kind, target, origin)
    by_depth = kind != WIKILINK
    return min(candidates, key=lambda each: _order(each, wanted, origin, by_depth=by_depth))


def _wanted(kind: str, target: str, origin: Origin) -> str:
    """Return the path that a link spells, the collection's name leading it where it is known."""
    if kind == WIKILINK:
        return target.partition("#")[0].strip().strip("/")
    if not is_inside(kind, target):
        return ""
    path = target_path(target.removeprefix("docs://"))
    return "/".join(follow(path if target.startswith("docs://") else absolute(path, origin)))


def _order(each: Candidate, wanted: str, origin: Origin, *, by_depth: bool) -> tuple[object, ...]:
    place = f"{each.collection}/{each.path}"
    spelt, called = canonical(wanted).split("/"), canonical(place).split("/")
    name = each.path.rpartition("/")[2].partition(".")[0].lower()
    return (
        not _ends_with(place, wanted),
        not _ends_with(place.casefold(), wanted.casefold()),
        -_alike(spelt[::-1], called[::-1]) if wanted else 0,
        -len(set(spelt) & set(called)),
        each.collection != origin.collection,
        len(called) if by_depth else 0,
        FRONT_PAGES.index(name) if name in FRONT_PAGES else -1,
        -_alike(origin.path.split("/"), each.path.split("/")),
        len(each.path),
        each.collection,
        each.path,
    )


def _ends_with(place: str, wanted: str) -> bool:
    """Tell whether a path is spelt as wanted; the extension of a page may be left out."""
    if not wanted:
        return False
    return any(f"/{each}".endswith(f"/{wanted}") for each in (place, without_extension(place)[0]))


def _alike(one: list[str], other: list[str]) -> int:
    """Return how many parts two paths have in common at their beginning."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count
