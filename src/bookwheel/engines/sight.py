"""What one caller may see: which places are open, and how much of what stands there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.model import Access, Redact
from bookwheel.query import Filters, Places, Scope

if TYPE_CHECKING:
    from bookwheel.safety.finding import Rules


LONGEST_PREVIEW = 2048
"""Bytes that are shown at a time of a document that must not be read whole."""


class Policy(NamedTuple):
    """What the operator wants of a collection."""

    redact: Redact = Redact.OFF
    access: Access = Access.FULL


def guard(
    store: Engine, scope: Scope, policies: Mapping[str, Policy], rules: Callable[[], Rules]
) -> Engine:
    """Return the store as a caller may see it: the store itself where nothing is to be hidden."""
    open_to_all = scope.within is None and scope.redact is Redact.OFF
    if open_to_all and all(policy.redact is Redact.OFF for policy in policies.values()):
        return store
    from bookwheel.engines.guarded import GuardedEngine  # a search of one's own needs none of it

    return GuardedEngine(store, scope, policies, rules())


class Sight:
    """A store, and what of it is open to one caller."""

    def __init__(
        self, store: Engine, scope: Scope, policies: Mapping[str, Policy], rules: Rules
    ) -> None:
        self._store = store
        self._within = scope.within
        self._least = scope.redact
        self._policies = policies
        self._rules = rules

    @property
    def hides(self) -> bool:
        """Tell whether texts may hold words that are not shown."""
        levels = [self._least, *(policy.redact for policy in self._policies.values())]
        return any(level is not Redact.OFF for level in levels)

    def _level(self, collection: str) -> Redact:
        return self._policies.get(collection, Policy()).redact.or_more(self._least)

    def _is_open(self, collection: str, path: str) -> bool:
        if self._within is None:
            return True
        return any(
            name == collection and (not folder or path.startswith(folder + "/"))
            for name, folder in self._within
        )

    def _has_all(self, collection: str) -> bool:
        """Tell whether every document of a collection is open."""
        return self._within is None or (collection, "") in self._within

    def _narrow(self, filters: Filters | None) -> Filters:
        """Return filters that hold only in what is open."""
        filters = self._plainly(filters or Filters())
        if self._within is None:
            return filters
        within = common_places(self._within, filters.within) if filters.within else self._within
        return filters._replace(within=within or (("", ""),))  # no collection has an empty name

    def _plainly(self, filters: Filters) -> Filters:
        """Return filters that ask for no folder whose name hides something."""
        if not filters.folders or not self.hides:
            return filters
        levels = {self._least, *(policy.redact for policy in self._policies.values())}
        hidden = {
            folder
            for folder in filters.folders
            if any(self._plain(folder, level) != folder for level in levels)
        }
        if not hidden:
            return filters
        left = tuple(folder for folder in filters.folders if folder not in hidden)
        return filters._replace(folders=left or ("\0",))  # which no folder is called

    def _plain(self, text: str, level: Redact) -> str:
        from bookwheel.safety.finding import redact_text

        return redact_text(text, level, self._rules) if text and level is not Redact.OFF else text


def common_places(open_places: Places, asked: Places) -> Places:
    """Return where two lists of places overlap."""
    found: dict[tuple[str, str], None] = {}
    for name, folder in asked:
        for other, above in open_places:
            if name != other:
                continue
            if not above or folder == above or folder.startswith(above + "/"):
                found[name, folder] = None
            elif not folder or above.startswith(folder + "/"):
                found[name, above] = None
    return tuple(found)
