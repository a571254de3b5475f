"""Elements and attributes of Word files by their local names, whatever the namespace."""

from __future__ import annotations

from lxml import etree


def local_name(tag: object) -> str:
    """Return the name of an element without its namespace, nothing for a comment."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def value(element: etree._Element, name: str = "val") -> str:
    """Return an attribute by its local name."""
    for key, found in element.items():
        if key.rpartition("}")[2] == name:
            return found
    return ""


def child_value(element: etree._Element, name: str) -> str:
    """Return what the first child of this local name says."""
    child = element.find("{*}" + name)
    return "" if child is None else value(child)


def integer(text: str) -> int:
    """Return a whole number, 0 for what is none."""
    digits = text.strip()[:9]
    return int(digits) if digits.isascii() and digits.isdigit() else 0
