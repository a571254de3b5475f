"""Whom a change concerns: a caller who sees a part of the documents hears of changes in that part.

To be told of any other would tell of documents that he may not know to be there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from bookwheel.errors import BookwheelError
from bookwheel.serve.callers import CURRENT, Caller
from bookwheel.serve.calls import Calls
from bookwheel.view import View

_PAGE = 1000

_Event = TypeVar("_Event")


class Sights:
    """What each kind of caller has seen of the list of documents, as a sum over it."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._seen: dict[tuple[str, ...], bytes] = {}

    async def begin(self, caller: Caller) -> None:
        """Note what a caller sees who will hear of changes."""
        if not caller.sees_all and caller.roots not in self._seen:
            self._seen[caller.roots] = await self._calls.look(caller, sum_up)

    async def concerned(self, callers: Iterable[Caller]) -> set[tuple[str, ...]]:
        """Return the roots of those callers whose documents changed since they were last asked."""
        changed = {caller.roots for caller in callers if caller.sees_all}
        for caller in {each.roots: each for each in callers if not each.sees_all}.values():
            sum_now = await self._calls.look(caller, sum_up)
            if self._seen.get(caller.roots) != sum_now:
                changed.add(caller.roots)
            self._seen[caller.roots] = sum_now
        return changed


def sum_up(view: View) -> bytes:
    """Return a sum over the documents of a view that tells when one changes, comes or goes."""
    made = hashlib.blake2b(digest_size=16)
    try:
        for state in view.states():
            name, offset, more = state.collection.name, 0, True
            while more:
                page = view.list_documents(name, limit=_PAGE, offset=offset)
                for each in page.documents:
                    made.update(repr((name, each.path, each.generation)).encode())
                offset, more = offset + _PAGE, page.has_more
    except BookwheelError:  # an index that cannot be read now is no news
        return b""
    return made.digest()


class Subscribers(Generic[_Event]):
    """Clients of the era without sessions that listen, each with who it is."""

    def __init__(self) -> None:
        self._listeners: dict[object, tuple[Caller, Callable[[_Event], None]]] = {}

    def subscribe(self, listener: Callable[[_Event], None]) -> Callable[[], None]:
        key = object()
        self._listeners[key] = (CURRENT.get(), listener)
        return lambda: self._listeners.pop(key, None) and None

    async def publish(self, event: _Event) -> None:
        """Tell everyone; the SDK's own way, which we do not use."""
        self.tell(event, {caller.roots for caller in self.callers()})

    def callers(self) -> list[Caller]:
        return [caller for caller, _ in self._listeners.values()]

    def tell(self, event: _Event, concerned: set[tuple[str, ...]]) -> None:
        for caller, listener in list(self._listeners.values()):
            if caller.roots in concerned:
                listener(event)
