"""What stands beside every page: `sidebar.md` and `topbar.md` of the collection, or its folders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from html import escape
from typing import NamedTuple

from bookwheel.errors import Forbidden
from bookwheel.reading.categories import SIDEBAR
from bookwheel.serve.site.links import MOST_LINKS, Links
from bookwheel.serve.site.markdown import render
from bookwheel.serve.web import address, document_path
from bookwheel.view import View

TOPBAR = "topbar.md"
OWN = (SIDEBAR, TOPBAR)
"""Documents that are shown beside all others, and so are neither listed nor cite."""
_MOST_ENTRIES = 150
_MOST_TITLES = 400


class Node(NamedTuple):
    """One line of the tree of folders."""

    name: str
    url: str
    is_current: bool = False
    children: tuple[Node, ...] = ()
    is_folder: bool = False


class Navigation(NamedTuple):
    """What leads from a page to the others of its collection."""

    sidebar: str = ""
    """HTML made of `sidebar.md`; empty where the tree is shown instead."""
    topbar: str = ""
    tree: tuple[Node, ...] = ()


def navigate(library: View, collection: str, path: str, base: str) -> Navigation:
    """Return what stands beside the page of a document or folder."""
    paths = library.paths(collection)
    here = address(base, document_path(collection, path))

    def read(name: str) -> str:
        if name not in paths:
            return ""
        document = library.document(name, collection)
        (citations,) = library.citations([document], most=MOST_LINKS)
        links = Links(base, document, citations.citing, read_paths=lambda: paths)
        try:
            html = render(library.text(document).text, links.resolve).html
        except Forbidden:  # only previews may be seen: then it is a page as any other
            return ""
        mark = f'<a href="{escape(here)}"'
        return html.replace(mark, f'<a aria-current="page"{mark[2:]}')

    topbar, sidebar = read(TOPBAR), read(SIDEBAR)
    tree = () if sidebar else _make_tree(library, collection, path, paths, base)
    return Navigation(sidebar, topbar, tree)


def _make_tree(
    library: View, collection: str, path: str, paths: list[str], base: str
) -> tuple[Node, ...]:
    """Return the folders and files of each folder on the way to a path."""
    folder = path.rpartition("/")[0]
    page = library.list_documents(collection, limit=_MOST_TITLES)
    if page.has_more:  # then only those in the folder itself go by their titles
        page = library.list_documents(collection, folder=folder, limit=_MOST_TITLES)
    titles = {each.path: each.title for each in page.documents}

    def link(path: str) -> str:
        return address(base, document_path(collection, path))

    return _level("", path, paths, titles, link)


def _level(
    folder: str, path: str, paths: list[str], titles: dict[str, str], link: Callable[[str], str]
) -> tuple[Node, ...]:
    # Paths come in order, and "0" is what follows "/".
    after = bisect_left(paths, f"{folder[:-1]}0") if folder else len(paths)
    below = paths[bisect_left(paths, folder) : after]
    start = len(folder)
    names = dict.fromkeys(each[start:].partition("/")[0] for each in below if "/" in each[start:])
    nodes = []
    here = path[start:].partition("/")[0] if path.startswith(folder) else ""
    for name in _some(list(names), here):
        inner = f"{folder}{name}/"
        is_open = path.startswith(inner)
        children = _level(inner, path, below, titles, link) if is_open else ()
        nodes.append(Node(name, link(inner), path == inner, children, is_folder=True))
    files = [each for each in below if "/" not in each[start:]]
    nodes += [
        Node(titles.get(each) or each[start:], link(each), each == path)
        for each in _some(files, path)
    ]
    if len(files) > _MOST_ENTRIES or len(names) > _MOST_ENTRIES:
        nodes.append(Node("All of this folder …", link(folder)))
    return tuple(nodes)


def _some(entries: list[str], current: str) -> list[str]:
    """Return as many entries as a list can hold, with the one that is looked at."""
    shown = entries[:_MOST_ENTRIES]
    return [*shown, current] if current in entries[_MOST_ENTRIES:] else shown
