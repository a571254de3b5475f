"""Which toolsets there are, and what a client is offered of them."""

from __future__ import annotations

from bookwheel.contracts import archives, documents, files, folder, pages
from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract
from bookwheel.errors import BadRequest

ALL = "all"


def load_contracts(*, read_only: bool = False) -> dict[str, Contract]:
    """Return every contract by name; the first is the one that is shown by default."""
    known = (
        documents.CONTRACT,
        folder.CONTRACT,
        pages.CONTRACT,
        files.CONTRACT,
        archives.CONTRACT,
    )
    return {each.name: without_changes(each) if read_only else each for each in known}


def without_changes(contract: Contract) -> Contract:
    """Return a contract without the tools that change anything."""
    return contract._replace(tools=tuple(tool for tool in contract.tools if tool.read_only))


def choose(known: dict[str, Contract], wanted: str | None) -> Offered:
    """Return what a comma list of toolsets offers; with none the default, and all callable."""
    every = tuple(known.values())
    names = [name.strip() for name in (wanted or "").split(",") if name.strip()]
    if not names:
        return Offered(listed=every[:1], callable=every)
    unknown = [name for name in names if name not in known and name != ALL]
    if unknown:
        raise BadRequest(
            f"There is no toolset {unknown[0]!r}.",
            hint=f"There are {', '.join(known)}, and {ALL} for all of them.",
        )
    chosen = tuple(each for each in every if ALL in names or each.name in names)
    return Offered(chosen, chosen, tuple(each for each in every if each not in chosen), wanted)
