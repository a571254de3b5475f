"""The places inside of a document that a link can name behind a `#`."""

from __future__ import annotations

import re
from functools import cached_property
from urllib.parse import unquote

from bookwheel.engines.base import Engine
from bookwheel.text.targets import same_anchor

WITH_ANCHORS = frozenset((".md", ".markdown", ".mdx", ".mdown", ".mkd"))
"""Documents whose text is that of their file: of others not all anchors are known."""
_MADE = re.compile(r"top$|$|[!/:]|L[0-9]+|page=|fn(?:ref)?[:0-9-]|user-content-fn", re.I)
"""What a browser or publisher knows by itself, or a script of the page reads."""
_NUMBER = re.compile(r"[-_][0-9]+$")
_STATED = re.compile(
    r"""(?:\b(?:id|name)\s*=\s*["'{]*|\{:?\s*#|(?:^|\s)\^)([^\s"'}>]+)""", re.I | re.M
)
_TERM = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|(?=\*\*))([^\n]{1,120})$", re.M)
_MACRO = re.compile(r"\{\{[^{}]*\}\}|\]\([^)]*\)")


class Anchors:
    """The anchors of one document: its headings, and those that its text states.

    Publishers make some of the terms of lists too.
    """

    def __init__(self, engine: Engine, key: int) -> None:
        self._engine = engine
        self._key = key
        self._headings = [section.heading for section in engine.sections(key)]

    def has(self, anchor: str) -> bool:
        """Tell whether an anchor leads to a place, or may do so."""
        wanted = unquote(anchor).rpartition("#")[2].strip()
        bare = _NUMBER.sub("", wanted)  # of several headings alike, the later are numbered
        return (
            _MADE.match(wanted) is not None
            or _meets(self._headings, wanted, bare)
            or wanted.lower().removeprefix("^") in self._stated
            or _meets(self._terms, wanted, bare)
        )

    @cached_property
    def _text(self) -> str:
        return self._engine.text(self._key).decode("utf-8", "replace")

    @cached_property
    def _stated(self) -> frozenset[str]:
        return frozenset(found[1].lower() for found in _STATED.finditer(self._text))

    @cached_property
    def _terms(self) -> list[str]:
        return [_MACRO.sub("", found[1]) for found in _TERM.finditer(self._text)]


def _meets(headings: list[str], *anchors: str) -> bool:
    return any(same_anchor(each, anchor) for each in headings for anchor in anchors)
