"""Elements and attributes of office files by their local names, whatever the namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lxml import etree

_VALUE = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}val"
"""The attribute that is asked for most, in the namespace that most files have."""

OFF = frozenset({"0", "false", "off"})
"""Values of what is switched off; without a value it is on."""

_MAX_NAMES = 1_000
Handler = Callable[[etree._Element], None]


class Handlers(dict[object, "Handler | None"]):
    """What handles an element, by its tag; None for one to be passed over.

    They are given by local names, since kinds of files differ in their namespaces only.
    """

    def __init__(
        self, handlers: Mapping[str, Handler], other: Callable[[str], Handler | None]
    ) -> None:
        super().__init__()
        self._handlers = handlers
        self._other = other

    def __missing__(self, tag: object) -> Handler | None:
        name = local_name(tag)
        handler = self._handlers.get(name)
        if handler is None and name:
            handler = self._other(name)
        self[tag] = handler
        return handler


def local_name(tag: object) -> str:
    """Return the name of an element without its namespace, nothing for a comment."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


class LocalNames(dict[object, str]):
    """Local names by tags, for whoever asks for many: files of one kind have the same few."""

    def __missing__(self, tag: object) -> str:
        if len(self) >= _MAX_NAMES:
            self.clear()
        name = self[tag] = local_name(tag)
        return name


def value(element: etree._Element, name: str = "val") -> str:
    """Return an attribute by its local name."""
    if name == "val" and (found := element.get(_VALUE)) is not None:
        return found
    for key, found in element.items():
        if key.rpartition("}")[2] == name:
            return found
    return ""


def source_text(part: bytes) -> str:
    """Return the XML of a part that is searched rather than parsed."""
    return part.decode("utf-16" if b"\0" in part[:4] else "utf-8", "replace")


def integer(text: str) -> int:
    """Return a whole number, 0 for what is none."""
    digits = text.strip()[:9]
    return int(digits) if digits.isascii() and digits.isdigit() else 0
