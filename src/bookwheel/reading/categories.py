"""Categories of a collection: as its `sidebar.md` groups its pages, else its top folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bookwheel.engines.base import Engine
from bookwheel.errors import NotFound
from bookwheel.reading.documents import nearest

SIDEBAR = "sidebar.md"
TOP = "(top)"
"""The category of pages that lie in no folder and stand in no sidebar."""

_HEADING = re.compile(r"#{1,6}[ \t]+([^ \t].*)")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d+[.)])[ \t]+(?P<text>[^ \t].*)")
# Bounded, so that no line takes long whatever stands in it.
_LINK = re.compile(
    r"\[(?P<text>[^\[\]]{0,500})\]"
    r"\((?:<(?P<quoted>[^<>]{0,1000})>|(?P<target>[^()<>\s]{1,1000}))[^()]{0,500}\)"
)


class _Group(NamedTuple):
    """An item of the sidebar that names those below it."""

    name: str
    indent: int
    has_deeper: bool = False


def read_categories(engine: Engine, collection: str) -> dict[str, list[str]]:
    """Return the documents of each category, in the order of the sidebar and then of the paths.

    A folder is a category of the sidebar that is called the same, whatever the case.
    """
    paths = engine.paths(collection)
    categories = _from_sidebar(engine, collection, paths)
    names = {name.casefold(): name for name in categories}
    placed = {path for listed in categories.values() for path in listed}
    for path in paths:
        if path not in placed and path != SIDEBAR:
            folder, slash, _ = path.partition("/")
            name = folder if slash else TOP
            categories.setdefault(names.setdefault(name.casefold(), name), []).append(path)
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
    by_name = {bare_path(path): path for path in sorted(paths, reverse=True)}
    categories: dict[str, list[str]] = {}
    text = engine.text(sidebar.key).decode("utf-8", "replace")
    for category, target in _links(text):
        local = _local(target)
        path = by_name.get(bare_path(local)) if local is not None else None
        if path and path not in categories.setdefault(category, []):
            categories[category].append(path)
    return {name: listed for name, listed in categories.items() if listed}


def _links(text: str) -> Iterator[tuple[str, str]]:
    """Yield each link of a sidebar with the heading or plain item that it stands under."""
    heading = TOP
    groups: list[_Group] = []
    for line in text.split("\n"):
        found = _HEADING.match(line)
        if found:
            heading = _plain(found[1].rstrip(" \t#")) or TOP
            groups = []
            continue
        item = _ITEM.match(line)
        if item is None:
            continue
        indent = len(item["indent"].expandtabs(4))
        link = _LINK.search(item["text"])
        groups = _enclosing(groups, indent, is_link=link is not None)
        if link is None:
            groups.append(_Group(_plain(item["text"].rstrip()), indent))
        else:
            yield groups[-1].name if groups else heading, link["quoted"] or link["target"] or ""


def _enclosing(groups: list[_Group], indent: int, *, is_link: bool) -> list[_Group]:
    """Return the groups that an item lies in: those less indented than it.

    A group whose links are no more indented than itself holds those too.
    """
    kept = [group for group in groups if group.indent < indent]
    if kept:
        kept[-1] = kept[-1]._replace(has_deeper=True)
    flat = [group for group in groups[len(kept) :] if group.indent == indent]
    return kept + [group for group in flat if is_link and not group.has_deeper]


def _plain(text: str) -> str:
    """Return a heading or item without the marks around it."""
    return _LINK.sub(r"\g<text>", text).strip("*_` ")


def _local(target: str) -> str | None:
    """Return the path that a link in the sidebar means, or None for an address elsewhere."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else unquote(parts.path)


def bare_path(path: str) -> str:
    """Return a path without its extension or `index`, as links often leave them out."""
    clean = normpath("/" + path.strip()).lstrip("/")
    stem, dot, extension = clean.rpartition(".")
    if dot and "/" not in extension:
        clean = stem
    return re.sub(r"(?:^|/)index$", "", clean).casefold()
