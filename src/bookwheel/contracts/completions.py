"""Completing what a person types: names of collections, and addresses of documents in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bookwheel.addresses import SCHEME
from bookwheel.contracts.resources import is_alone
from bookwheel.contracts.tool import INVALID_PARAMS, RpcError
from bookwheel.errors import NotFound
from bookwheel.view import View

MOST_COMPLETIONS = 100
"""As many values as the protocol allows in one answer."""

_OF_ONE = f"{SCHEME}{{+path}}"
_OF_SEVERAL = f"{SCHEME}{{collection}}/{{+path}}"


class Template(NamedTuple):
    """How addresses of documents are made."""

    uri_template: str
    title: str


def describe_template(library: View) -> Template:
    """Return the template of the addresses that the library lists."""
    if is_alone(library):
        return Template(_OF_ONE, "A document by its path")
    return Template(_OF_SEVERAL, "A document by its collection and path")


def complete(
    library: View, template: str, argument: str, typed: str, known: Mapping[str, str]
) -> list[str]:
    """Return all values that an argument may be completed to, the likeliest first."""
    if template not in (_OF_ONE, _OF_SEVERAL):
        wrong = f"There is no template {template[:100]!r}" if template else "There are no prompts"
        own = describe_template(library).uri_template
        raise RpcError(INVALID_PARAMS, f"{wrong} to complete, but the template {own}.")
    names = [state.collection.name for state in library.states()]
    if argument == "collection":
        return _matching(names, typed)
    if argument != "path":
        has = "path" if template == _OF_ONE else "collection and path"
        raise RpcError(
            INVALID_PARAMS, f"The template has no argument {argument[:100]!r}; it has {has}."
        )
    if template == _OF_ONE and len(names) != 1:
        return _matching(
            (f"{name}/{path}" for name in names for path in library.paths(name)), typed
        )
    collection = known.get("collection", names[0] if names else "")
    try:
        return _matching(library.paths(collection), typed)
    except NotFound:  # what was typed for the collection is none
        return []


def _matching(values: Iterable[str], typed: str) -> list[str]:
    """Return the values that begin with what was typed, then those with it in another place."""
    wanted = typed.casefold()
    first: list[str] = []
    then: list[str] = []
    for value in values:
        place = value.casefold().find(wanted)
        if place >= 0:
            (then if place else first).append(value)
    return first + then
