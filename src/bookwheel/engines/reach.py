"""What is in reach of one caller: the folders and the store as far as their scope allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bookwheel.engines.sight import LONGEST_PREVIEW, common_places, guard
from bookwheel.model import Access, Collection, Redact, SafeText
from bookwheel.query import EVERYTHING, Places, Scope, SearchHit
from bookwheel.safety.redact import make_safe

if TYPE_CHECKING:
    from bookwheel.engines.base import Engine, WritableEngine
    from bookwheel.engines.policies import Policies
    from bookwheel.safety.finding import Rules


class Reach:
    """A store, the folders that are meant, and the scope that a caller is held to."""

    def __init__(
        self,
        store: WritableEngine,
        folders: Callable[[], Sequence[Collection]],
        policies: Policies,
        rules: Callable[[], Rules],
        scope: Scope = EVERYTHING,
    ) -> None:
        self._store = store
        self._folders = folders
        self._policies = policies
        self._rules = rules
        self._scope = scope

    def within(self, scope: Scope) -> Reach:
        """Return what a caller reaches who is held to this scope beside the present one."""
        mine = self._scope
        both = Scope(
            _both(mine.within, scope.within),
            mine.redact.or_more(scope.redact),
            mine.previews or scope.previews,
        )
        return Reach(self._store, self._folders, self._policies, self._rules, both)

    @property
    def engine(self) -> Engine:
        """The store as it may be seen."""
        return guard(self._store, self.scope, self._policies.current(), self._rules)

    @property
    def scope(self) -> Scope:
        """The scope, held to the folders of this library where the index has those of others."""
        if not (self._store.is_shared and self._store.exists):
            return self._scope
        known = {(each.collection.name, each.collection.path) for each in self._store.collections()}
        own = known & {(each.name, each.path) for each in self._folders()}
        if own == known:
            return self._scope  # to look in some places only costs more
        within = _both(self._scope.within, tuple((name, "") for name, _ in sorted(own)))
        return self._scope._replace(within=within)

    @property
    def collections(self) -> tuple[Collection, ...]:
        """The folders that the operator wants, indexed or not, as far as they are in scope."""
        within = self._scope.within  # of these folders, whoever shares the index
        folders = self._folders()
        if within is None:
            return tuple(folders)
        names = {name for name, _ in within}
        return tuple(each for each in folders if each.name in names)

    @property
    def places(self) -> list[tuple[Collection, str]]:
        """The folders that a caller may name: of collections, and where held to them, in these."""
        folders = {each.name: each for each in self.collections}
        within = self._scope.within
        named = [(name, "") for name in folders] if within is None else within
        return [(folders[name], folder) for name, folder in named if name in folders]

    @property
    def shut(self) -> set[str]:
        """The collections of whose documents only short stretches may be read."""
        policies = self._policies.current().items()
        return {
            name
            for name, policy in policies
            if self._scope.previews or policy.access is Access.PREVIEW
        }

    def shorten(self, hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
        """Return hits with no more of their passages than may be shown."""
        shut = self.shut
        return tuple(_shorten(hit) if hit.collection in shut else hit for hit in hits)

    def hide(self, text: str) -> SafeText:
        """Return a text of no document without what this caller must not see."""
        from bookwheel.safety.finding import redact_text

        return make_safe(redact_text(text, self._scope.redact, self._rules()))

    def hide_in_path(self, path: str) -> str:
        """Return the path of a folder without what this caller must not see."""
        if self._scope.redact is Redact.OFF:
            return path
        from bookwheel.safety.finding import redact_path

        return make_safe(redact_path(path, self._scope.redact, self._rules()))


def _both(one: Places | None, other: Places | None) -> Places | None:
    """Return the places that are in both; None stands for every one."""
    if one is None or other is None:
        return other if one is None else one
    return common_places(one, other)


def _shorten(hit: SearchHit) -> SearchHit:
    passage = hit.passage.encode()[:LONGEST_PREVIEW].decode("utf-8", "ignore")
    return hit._replace(passage=SafeText(passage))
