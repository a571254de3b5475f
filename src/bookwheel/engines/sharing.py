"""Who a collection belongs to where several machines keep theirs in one library."""

from __future__ import annotations

import platform
from collections.abc import Container, Iterable
from pathlib import Path

from bookwheel.engines.base import CollectionState
from bookwheel.errors import BadRequest
from bookwheel.model import Collection


def this_host() -> str:
    """Return what this machine is called."""
    return platform.node()


def lies_here(state: CollectionState) -> bool:
    """Tell whether a collection was indexed from a folder of this machine that is still there."""
    return state.host == this_host() and Path(state.collection.path).is_dir()


def take_names(
    known: Iterable[CollectionState], wanted: Iterable[Collection], stated: Container[str]
) -> list[str]:
    """Refuse a name that stands for another folder; return what is worth saying of the others.

    A folder has the name that its operator stated, wherever it lies: `stated` are such names. One
    that is called after its last part may be another one that is called so, unless it was moved.
    """
    old = {state.collection.name: state for state in known}
    remarks = []
    for each in wanted:
        state = old.get(each.name)
        if state is None or each.name in stated or each.name != Path(each.path).name:
            continue
        is_here = state.host == this_host()
        if state.collection.path == each.path:
            if not is_here:
                remarks.append(
                    f"{each.path} was indexed on {state.host} before. If that is another folder, "
                    "give each a name of its own in bookwheel.toml."
                )
        elif not is_here or Path(state.collection.path).is_dir():
            raise BadRequest(
                f"The library has another folder that is called {each.name!r}: "
                f"{state.collection.path} on {state.host}.",
                hint="Give this one a `name` of its own in bookwheel.toml, or state that name "
                "there if it is the same folder, moved.",
            )
    return remarks
