"""Categories of a collection: as its `sidebar.md` groups its pages, else its top folders."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from bookwheel.engines.base import Engine
from bookwheel.errors import NotFound
from bookwheel.reading.documents import nearest

SIDEBAR = "sidebar.md"
TOP = "(top)"
"""The category of pages that lie in no folder and stand in no sidebar."""

_HEADING = re.compile(r"#{1,6}[ \t]+(.+?)[ \t#]*$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d+[.)])[ \t]+(?P<text>.+?)[ \t]*$")
_TARGET = re.compile(r"\]\(<?([^)>\s]+)")


def read_categories(engine: Engine, collection: str) -> dict[str, list[str]]:
    """Return the documents of each category, in the order of the sidebar and then of the paths."""
    paths = engine.paths(collection)
    categories = _from_sidebar(engine, collection, paths)
    placed = {path for listed in categories.values() for path in listed}
    for path in paths:
        if path not in placed and path != SIDEBAR:
            folder, slash, _ = path.partition("/")
            categories.setdefault(folder if slash else TOP, []).append(path)
    return categories


def pick_category(categories: dict[str, list[str]], wanted: str) -> list[str]:
    """Return the documents of a category, found without regard to case."""
    for name, paths in categories.items():
        if name.casefold() == wanted.strip().casefold():
            return paths
    near = nearest(wanted, list(categories)) or list(categories)[:20]
    listed = ", ".join(f'"{name}"' for name in near)
    raise NotFound(f'Category "{wanted}" not found.', hint=f"There is {listed}." if near else None)


def _from_sidebar(engine: Engine, collection: str, paths: Iterable[str]) -> dict[str, list[str]]:
    sidebar = engine.document(collection, SIDEBAR)
    if sidebar is None:
        return {}
    by_name = {_bare(path): path for path in sorted(paths, reverse=True)}
    categories: dict[str, list[str]] = {}
    current = TOP
    for line in engine.text(sidebar.key).decode("utf-8", "replace").split("\n"):
        current, target = _read_line(line, current)
        local = _local(target) if target else None
        path = by_name.get(_bare(local)) if local is not None else None
        if path and path not in categories.setdefault(current, []):
            categories[current].append(path)
    return {name: listed for name, listed in categories.items() if listed}


def _read_line(line: str, current: str) -> tuple[str, str | None]:
    """Return the category after a line of the sidebar, and the page that it links to."""
    heading = _HEADING.match(line)
    if heading:
        return heading[1], None
    item = _ITEM.match(line)
    if item is None:
        return current, None
    target = _TARGET.search(item["text"])
    if target:
        return current, target[1]
    return item["text"].strip("*_ "), None


def _local(target: str) -> str | None:
    """Return the path that a link in the sidebar means, or None for an address elsewhere."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else unquote(parts.path)


def _bare(path: str) -> str:
    """Return a path without its extension or `index`, as links often leave them out."""
    clean = normpath("/" + path.strip()).lstrip("/")
    stem, dot, extension = clean.rpartition(".")
    if dot and "/" not in extension:
        clean = stem
    return re.sub(r"(?:^|/)index$", "", clean).casefold()
