"""Who calls: the bearer of a token, an address, or the operator over standard input and output."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import PurePath
from typing import Any, NamedTuple

from starlette.types import Scope

from bookwheel.model import Collection
from bookwheel.query import Places
from bookwheel.settings import Rate

CALLER = "bookwheel.caller"
"""Where a request's scope holds its caller, once the guard has let it in."""


class Caller(NamedTuple):
    """Whose call it is, and what of the library he may see."""

    name: str
    """As the audit has it and limits count it."""
    roots: tuple[str, ...] = ()
    """Collections, or folders in them, that he may see; with none, all."""
    rate: Rate | None = None
    """How often he may ask, if not as often as others."""
    has_token: bool = False
    """Whether the name is that of a token rather than of an address, which may change."""

    @property
    def sees_all(self) -> bool:
        return not self.roots


STDIO = Caller("stdio")
"""Whoever starts a server over standard input and output has its operator's rights."""

NOBODY = Caller("unknown", roots=("",))
"""Whoever needs no token for what he asks, such as a probe, and sees no document."""

CURRENT: ContextVar[Caller] = ContextVar(CALLER, default=STDIO)
"""The caller whose request is being answered; a session belongs to one, and begins in it."""


def caller_of(scope: Scope) -> Caller:
    """Return who sent a request, as the guard found."""
    found = scope.get(CALLER)
    return found if isinstance(found, Caller) else Caller(peer_of(scope))


def peer_of(scope: Scope) -> str:
    """Return the address that a request came from."""
    client = scope.get("client")
    return client[0] if client else "unknown"


def shown_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without the numbers of files, unless the present caller may see them all."""
    if CURRENT.get().sees_all:
        return state
    return {name: value for name, value in state.items() if name != "indexing"}


def places_of(roots: Sequence[str], collections: Sequence[Collection]) -> Places:
    """Return the places that roots name; a root that names none lets nothing be seen.

    A root is a collection by name or alias, perhaps with a folder in it, or an absolute path.
    """
    found = (_place_of(root, collections) for root in roots)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _place_of(root: str, collections: Sequence[Collection]) -> tuple[str, str] | None:
    if root.startswith("/"):
        return _place_of_path(PurePath(root), collections)
    for name, folder in _splits(root.strip("/")):
        for each in collections:
            if name in (each.name, each.alias) and ".." not in folder.split("/"):
                return each.name, folder
    return None


def _splits(root: str) -> list[tuple[str, str]]:
    """Return the ways to part a root into a collection and a folder, the longest name first."""
    parts = root.split("/")
    return [("/".join(parts[:n]), "/".join(parts[n:])) for n in range(len(parts), 0, -1)]


def _place_of_path(path: PurePath, collections: Sequence[Collection]) -> tuple[str, str] | None:
    for each in collections:
        if path.is_relative_to(each.path) and ".." not in path.parts:
            folder = path.relative_to(each.path).as_posix()
            return each.name, "" if folder == "." else folder
    return None
