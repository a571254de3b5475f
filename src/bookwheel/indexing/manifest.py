"""What a folder says of itself: a manifest at its top, of which only harmless keys count."""

from __future__ import annotations

import json
import tomllib
from typing import Any, NamedTuple

from bookwheel.model import Status
from bookwheel.safety.opener import OpenRefused, Root
from bookwheel.safety.redact import make_safe

MANIFESTS = ("manifest.json", "bookwheel.toml")
_LARGEST = 64 * 1024
_LONGEST_TEXT = 1000
_MOST_PATTERNS = 200
_FOREIGN = frozenset(
    ("manifest_version", "start_url", "icons", "schemaVersion", "mediaType", "minAppVersion")
)
"""Keys of other programs' manifest.json: browser extensions, web apps, containers, plug-ins."""


class Manifest(NamedTuple):
    """The five keys that a folder may set for itself, and what was wrong with the rest."""

    name: str | None = None
    version: str | None = None
    description: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    problem: str | None = None


def read_manifest(root: Root) -> Manifest:
    """Return the folder's manifest; a broken one is reported in it and otherwise ignored."""
    problems: list[str] = []
    for name in MANIFESTS:
        try:
            stated = _parse(name, root.read_file(name, max_bytes=_LARGEST).data)
        except OpenRefused as refusal:
            if refusal.status is not Status.VANISHED:
                problems.append(f"{name} is ignored: {refusal.reason}")
        except _Unusable as trouble:
            problems.append(f"{name} is ignored: {trouble}")
        else:
            return _manifest(name, stated, problems)
    return Manifest(problem="; ".join(problems) or None)


class _Unusable(Exception):
    """Why a file is no manifest of ours."""


def _parse(name: str, data: bytes) -> dict[str, Any]:
    try:
        text = data.decode("utf-8-sig")
        stated: Any = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if name.endswith(".json") else "TOML"
        raise _Unusable(f"it is not valid {kind}") from error
    if not isinstance(stated, dict):
        raise _Unusable("it is no table of keys")
    foreign = sorted(_FOREIGN.intersection(stated))
    if foreign:
        raise _Unusable(f"its key {foreign[0]!r} shows that it was written for another program")
    return stated


def _manifest(name: str, stated: dict[str, Any], problems: list[str]) -> Manifest:
    problems += [
        f"{key} of {name} is ignored: it is no list of up to {_MOST_PATTERNS} patterns"
        for key in ("include", "exclude")
        if not _is_list_of_patterns(stated.get(key, []))
    ]
    return Manifest(
        name=_text(stated.get("name")),
        version=_text(stated.get("version")),
        description=_text(stated.get("description")),
        include=_patterns(stated.get("include", [])),
        exclude=_patterns(stated.get("exclude", [])),
        problem="; ".join(problems) or None,
    )


def _text(value: Any) -> str | None:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        text = str(value).encode("utf-8", "replace").decode()
        return " ".join(make_safe(text).split())[:_LONGEST_TEXT] or None
    return None


def _is_list_of_patterns(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_PATTERNS and all(map(_is_pattern, value))


def _is_pattern(value: Any) -> bool:
    # JSON can spell halves of a character, which no path has.
    return isinstance(value, str) and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value)


def _patterns(value: Any) -> tuple[str, ...]:
    return tuple(value) if _is_list_of_patterns(value) else ()
