"""Whether a query says of what follows that it is not wanted: `not`, `except`, `other than`."""

from __future__ import annotations

import re

_PIECE = re.compile(r"[^\s,.;:?!]+|[,.;:?!]")
_NOT = frozenset(("not", "no", "never", "except", "without", "excluding", "nor", "besides"))
_BETWEEN = frozenset(
    {"for", "any", "all", "the", "those", "these", "one", "ones", "file", "files", "document"}
    | {"documents", "year", "years", "of", "from", "in", "as", "a", "an"}
)
"""What may stand between a negation and what it is about."""
_OTHERS = 4
"""So many words may stand before `or` that are negated with what stands behind it."""
_LOOKED_BACK = 12


def ends_negated(text: str) -> bool:
    """Tell whether what follows a text is not wanted, alone or among others."""
    words = _PIECE.findall(text.lower())[-_LOOKED_BACK:]
    others = 0
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        is_than = word == "than" and words[at - 1 : at] in (["other"], ["rather"])
        if word in _NOT or word.endswith(("n't", "n’t")) or is_than:
            return True
        if word == "or":
            others = _OTHERS
        elif word not in _BETWEEN:
            others -= 1
        if others < 0 or word in ",.;:?!":
            return False
    return False
