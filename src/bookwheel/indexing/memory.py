"""Memory of a process that indexes for long: what the allocator keeps for threads that are gone.

The word index is written by threads that come and go with every change. The C library gives each a
heap of its own, up to eight for each core, and what is freed in one is of no use to the others: a
server that followed a busy folder held more than twice what it needed.
"""

from __future__ import annotations

import ctypes

_ARENA_MAX = -8
"""M_ARENA_MAX of mallopt(3), by its number in glibc."""
_ARENAS = 2


def share_heaps() -> bool:
    """Let all threads of this process share two heaps; tell whether the C library could be told."""
    library = ctypes.CDLL(None)
    return hasattr(library, "mallopt") and library.mallopt(_ARENA_MAX, _ARENAS) == 1
