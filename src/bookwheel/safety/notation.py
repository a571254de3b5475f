"""What a row of the tables of notations says."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bookwheel.safety.judges import is_given


class Notation(NamedTuple):
    """One notation."""

    kind: str
    first: str
    """What it may begin with: words or their beginnings, in lower case, with spaces between."""
    hint: str
    """The pattern of its beginning."""
    rest: str
    """What follows; its one group is the secret, which is all of it where there is no group."""
    judge: Callable[[str], bool] = is_given
    peek: str = ""
    """How what follows begins, so that a beginning that leads nowhere costs nothing."""
    needs: tuple[bytes, ...] = ()
    """One of these stands soon after the beginning."""
    alone: bool = False
    """Others may begin within what it begins with: it is looked for by itself."""
