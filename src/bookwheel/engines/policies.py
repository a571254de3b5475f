"""What the operator wants of each collection: is it read whole, and what is hidden in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bookwheel.engines.sight import Policy
from bookwheel.model import Access, Collection, Redact

if TYPE_CHECKING:
    from bookwheel.engines.base import WritableEngine
    from bookwheel.settings import Settings


class Policies:
    """The policies of a library, judged anew when its folders or their index change."""

    def __init__(
        self, store: WritableEngine, settings: Settings, folders: Callable[[], Sequence[Collection]]
    ) -> None:
        self._store = store
        self._settings = settings
        self._folders = folders
        self._judged: tuple[object, object, Mapping[str, Policy]] = (None, None, {})

    def current(self) -> Mapping[str, Policy]:
        """Return what is wanted of each collection: the strictest that anybody says.

        The index remembers what was stated, for whoever opens it without the configuration.
        """
        states = self._store.collections() if self._store.exists else []
        folders = self._folders()
        known, asked, policies = self._judged
        if known is not states or asked is not folders:  # both stay the same until they change
            policies = judge((*(state.collection for state in states), *folders), self._settings)
            self._judged = (states, folders, policies)
        return policies


def judge(collections: Sequence[Collection], settings: Settings) -> dict[str, Policy]:
    """Return the strictest that is stated of each collection."""
    policies: dict[str, Policy] = {}
    for each in collections:
        policy = _policy(each, settings)
        other = policies.get(each.name, policy)
        previews = Access.PREVIEW in (policy.access, other.access)
        policies[each.name] = Policy(
            policy.redact.or_more(other.redact), Access.PREVIEW if previews else Access.FULL
        )
    return policies


def _policy(collection: Collection, settings: Settings) -> Policy:
    """Return what is wanted of a collection; whoever may see previews only sees no secret."""
    stated = (collection.access, settings["access"])
    only_files = settings["toolsets"] == "files" and not any(stated)
    access = Access.PREVIEW if only_files or Access.PREVIEW in stated else Access.FULL
    redact = Redact(settings["redact"]).or_more(Redact(collection.redact or Redact.OFF))
    return Policy(Redact.ALL if access is Access.PREVIEW else redact, access)
