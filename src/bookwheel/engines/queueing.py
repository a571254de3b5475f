"""What queues of jobs have in common, whichever engine keeps them."""

from __future__ import annotations

from bookwheel.errors import Conflict

MOST_ATTEMPTS = 5
"""So often a job is begun whose processes die of it."""
MOST_WAITING = 1000
MOST_FINISHED = 100
"""So many are remembered."""
GIVEN_UP = "it was begun too often without coming to an end"


def overlap(one: str, other: str) -> bool:
    """Tell whether one of two folders holds the other."""
    shorter, longer = sorted((one, other), key=len)
    return not shorter or f"{longer}/".startswith(f"{shorter}/")


def refuse_flood(waiting: int) -> None:
    """Raise Conflict where too many folders wait already."""
    if waiting >= MOST_WAITING:
        raise Conflict(
            f"{waiting:,} folders wait to be indexed already.", hint="Ask again when some are done."
        )
