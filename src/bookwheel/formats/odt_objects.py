"""Objects within an OpenDocument text: formulas and charts are words of it, others are listed."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from lxml import etree

from bookwheel.formats.base import Unreadable
from bookwheel.formats.elements import local_name
from bookwheel.formats.package import Package
from bookwheel.model import Status

_MAX_OBJECTS = 2_000
_MAX_WORDS = 20_000
"""Characters of one object."""


class Objects:
    """Reads the objects of one document, and keeps the names of those that are documents."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._seen: set[str] = set()
        self.embedded: list[str] = []

    def read(self, target: str) -> str:
        """Return the words of a formula or chart, once; of any other document, none."""
        folder = posixpath.normpath(unquote(target))
        content = f"{folder}/content.xml"
        if folder in self._seen or len(self._seen) >= _MAX_OBJECTS:
            return ""
        self._seen.add(folder)
        root = self._parse(content) if self._package.has(content) else None
        if root is not None and local_name(root.tag) == "math":
            return _formula(root)[:_MAX_WORDS]
        if root is not None and next(root.iter("{*}chart"), None) is not None:
            return _words(root)[:_MAX_WORDS]
        if root is not None or self._package.has(folder):
            self.embedded.append(folder)
        return ""

    def _parse(self, content: str) -> etree._Element | None:
        try:
            return self._package.read_xml(content)
        except Unreadable as refused:
            if refused.status is not Status.UNREADABLE:
                raise
            return None


def _formula(root: etree._Element) -> str:
    """Return a formula as it was typed, or else its letters."""
    typed = next(root.iter("{*}annotation"), None)
    if typed is not None and typed.text and typed.text.strip():
        return " ".join(typed.text.split())
    return " ".join("".join(root.itertext()).split())


def _words(root: etree._Element) -> str:
    """Return what a chart says, each thing once."""
    found = (" ".join("".join(each.itertext()).split()) for each in root.iter("{*}p"))
    return " ".join(dict.fromkeys(filter(None, found)))
