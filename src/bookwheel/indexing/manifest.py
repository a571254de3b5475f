"""What a folder says of itself: a manifest at its top, of which only harmless keys count."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import Any

from bookwheel.safety.opener import OpenRefused, Root

MANIFESTS = ("manifest.json", "bookwheel.toml")
_LARGEST = 64 * 1024
_LONGEST_TEXT = 1000
_MOST_PATTERNS = 200


@dataclass(frozen=True, slots=True)
class Manifest:
    """The five keys that a folder may set for itself, and what was wrong with the rest."""

    name: str | None = None
    version: str | None = None
    description: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    problem: str | None = None


def read_manifest(root: Root) -> Manifest:
    """Return the folder's manifest; a broken one is reported in it and otherwise ignored."""
    for name in MANIFESTS:
        try:
            data = root.read_file(name, max_bytes=_LARGEST).data
        except OpenRefused as refusal:
            if refusal.status.name in ("VANISHED", "UNREADABLE") and not _is_there(root, name):
                continue
            return Manifest(problem=f"{name} is ignored: {refusal.reason}")
        return _parse(name, data)
    return Manifest()


def _is_there(root: Root, name: str) -> bool:
    try:
        root.stat_file(name)
    except OpenRefused:
        return False
    return True


def _parse(name: str, data: bytes) -> Manifest:
    try:
        text = data.decode("utf-8-sig")
        stated: Any = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return Manifest(problem=f"{name} is ignored: it cannot be read ({type(error).__name__})")
    if not isinstance(stated, dict):
        return Manifest(problem=f"{name} is ignored: it is no table of keys")
    return Manifest(
        name=_text(stated.get("name")),
        version=_text(stated.get("version")),
        description=_text(stated.get("description")),
        include=_patterns(stated.get("include")),
        exclude=_patterns(stated.get("exclude")),
    )


def _text(value: Any) -> str | None:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return " ".join(str(value).split())[:_LONGEST_TEXT] or None
    return None


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    patterns = [item for item in value if isinstance(item, str) and "\0" not in item]
    return tuple(patterns[:_MOST_PATTERNS])
