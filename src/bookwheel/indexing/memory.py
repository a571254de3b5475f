"""What the C library's allocator is told about how this process uses memory.

The word index is written by threads that come and go with every change. The C library gives each a
heap of its own, up to eight for each core, and what is freed in one is of no use to the others: a
server that followed a busy folder held more than twice what it needed.
"""

from __future__ import annotations

import ctypes

_ARENA_MAX, _MXFAST = -8, 1
"""M_ARENA_MAX and M_MXFAST of mallopt(3), by their numbers in glibc."""
_ARENAS = 2


def share_heaps() -> bool:
    """Let all threads of this process share two heaps; tell whether the C library could be told."""
    return _tell(_ARENA_MAX, _ARENAS)


def join_freed_blocks() -> bool:
    """Let small blocks of memory be joined with their neighbours at once when they are freed.

    The C library puts that off until much memory is asked for, and then looks for half a million
    blocks of a long document's tree all over memory: a quarter of the time that it takes to read.
    """
    return _tell(_MXFAST, 0)


def _tell(which: int, value: int) -> bool:
    library = ctypes.CDLL(None)
    return hasattr(library, "mallopt") and library.mallopt(which, value) == 1
