"""Where the links in a document lead on this site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from posixpath import dirname, normpath
from urllib.parse import quote, unquote, urlsplit

from bookwheel.addresses import SCHEME
from bookwheel.reading.categories import bare_path
from bookwheel.serve.web import address, document_path

_ELSEWHERE = ("http", "https", "mailto")
_LONGEST = 2000


class Links:
    """The links of one document: to pages of this site, to elsewhere, or to nothing."""

    def __init__(
        self, base: str, collection: str, path: str, *, read_paths: Callable[[], Sequence[str]]
    ) -> None:
        self._base = base
        self._collection = collection
        self._folder = dirname(path)
        self._read_paths = read_paths

    def resolve(self, url: str) -> str | None:
        """Return the address that a link leads to; None if there is nothing there."""
        if len(url) > _LONGEST or url.startswith("#"):
            return url if len(url) <= _LONGEST else None
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme in _ELSEWHERE:
            return url
        if parts.netloc and not parts.scheme:
            return f"https:{url}"
        if parts.scheme == SCHEME.partition(":")[0]:
            return self._own(unquote(url[len(SCHEME) :].partition("#")[0]), parts.fragment)
        if parts.scheme or not parts.path:
            return None
        return self._own(self._join(unquote(parts.path)), parts.fragment)

    def _join(self, path: str) -> str:
        joined = path if path.startswith("/") else f"{self._folder}/{path}"
        clean = normpath("/" + joined).lstrip("/")
        return f"{clean}/" if path.endswith("/") and clean else clean

    def _own(self, path: str, fragment: str) -> str | None:
        found = self._find(path)
        if found is None:
            # docs:// addresses name the collection first where there are several.
            found = self._find(path.removeprefix(f"{self._collection}/"))
        if found is None:
            return None
        place = f"#{quote(unquote(fragment), safe='-_.~')}" if fragment else ""
        return address(self._base, document_path(self._collection, found)) + place

    def _find(self, path: str) -> str | None:
        if path in self._paths:
            return path
        bare = self._bare.get(bare_path(path))
        if bare is not None:
            return bare
        folder = path.rstrip("/") + "/"
        return folder if any(each.startswith(folder) for each in self._paths) else None

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self._read_paths())

    @cached_property
    def _bare(self) -> dict[str, str]:
        return {bare_path(path): path for path in sorted(self._paths, reverse=True)}
