"""Where the links in a document lead on this site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from posixpath import dirname, normpath, splitext
from urllib.parse import quote, unquote, urlsplit

from bookwheel.model import Document
from bookwheel.reading.categories import bare_path
from bookwheel.reading.citations import Cited
from bookwheel.serve.web import address, document_path

MOST_LINKS = 1000
"""Links of one document that are looked up; more of them are words."""
_ELSEWHERE = ("http", "https", "mailto")
_LONGEST = 2000
_LEFT_OUT = ("", ".html", ".htm")
"""What stands for the extension of a document in many links to it."""


class Links:
    """The links of one document: to pages of this site, to elsewhere, or to nothing."""

    def __init__(
        self,
        base: str,
        document: Document,
        citing: Sequence[Cited],
        *,
        read_paths: Callable[[], Sequence[str]],
    ) -> None:
        self._base = base
        self._document = document
        self._targets: dict[str, Document] = {
            each.address: each.target for each in citing if each.target is not None
        }
        self._read_paths = read_paths

    def resolve(self, url: str) -> str | None:
        """Return the address that a link leads to; None if there is nothing there."""
        if len(url) > _LONGEST:
            return None
        if url.startswith("#"):
            return url
        target = self._targets.get(url)
        if target is not None:
            return self._place(target.collection, target.path) + _fragment(url)
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme in _ELSEWHERE:
            return url
        if parts.netloc and not parts.scheme:
            return f"https:{url}"
        if parts.scheme or not parts.path:
            return None
        found = self._find(parts.path)
        return found and found + _fragment(url)

    def _find(self, path: str) -> str | None:
        """Return the page of a folder, which nobody cites, or of what was cited before.

        Of several links to one document only the first is known as a citation.
        """
        plain = unquote(path)
        joined = plain if plain.startswith("/") else f"{dirname(self._document.path)}/{plain}"
        clean = normpath("/" + joined).lstrip("/")
        folder = f"{clean}/"
        if clean in self._paths:
            return self._place(self._document.collection, clean)
        cited = self._cited.get(bare_path(clean)) if splitext(clean)[1] in _LEFT_OUT else None
        if cited is not None:
            return self._place(self._document.collection, cited)
        if any(each.startswith(folder) for each in self._paths):
            return self._place(self._document.collection, folder)
        return None

    def _place(self, collection: str, path: str) -> str:
        return address(self._base, document_path(collection, path))

    @cached_property
    def _cited(self) -> dict[str, str]:
        """The paths of what is cited in the collection, by what links may leave of them."""
        own = self._document.collection
        paths = (each.path for each in self._targets.values() if each.collection == own)
        return {bare_path(path): path for path in paths}

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self._read_paths())


def _fragment(url: str) -> str:
    _, mark, fragment = url.partition("#")
    return f"#{quote(unquote(fragment), safe='-_.~')}" if mark else ""
