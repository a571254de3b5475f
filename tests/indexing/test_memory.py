"""Threads that come and go leave no heaps behind, and what is freed is joined."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, re, sys, tempfile, threading
from bookwheel.indexing.memory import share_heaps

if sys.argv[1] == "shared":
    assert share_heaps()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
ready = threading.Barrier(12)

def work():
    library.malloc(5_000)
    ready.wait()

threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
library.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    opened = ctypes.c_void_p(library.fopen(file.name.encode(), b"w"))
    library.malloc_info(0, opened)
    library.fclose(opened)
    print(len(re.findall(rb"<heap nr", file.read())))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is glibc that is told")
def test_threads_share_two_heaps() -> None:
    heaps = {
        how: int(subprocess.check_output([sys.executable, "-c", PROGRAM, how]))
        for how in ("shared", "each its own")
    }
    assert heaps["shared"] <= 2 < heaps["each its own"]


FREEING = """
import ctypes, re, sys, tempfile
from bookwheel.indexing.memory import join_freed_blocks

if sys.argv[1] == "joined":
    assert join_freed_blocks()
library = ctypes.CDLL(None)
library.malloc.restype = library.fopen.restype = ctypes.c_void_p
blocks = [library.malloc(100) for _ in range(5_000)]
with tempfile.NamedTemporaryFile() as file:
    opened = ctypes.c_void_p(library.fopen(file.name.encode(), b"w"))
    library.fputs(b"-", opened)  # takes its buffer now: one that is asked for later joins blocks
    for block in blocks: library.free(ctypes.c_void_p(block))
    library.malloc_info(0, opened)
    library.fclose(opened)
    print(re.search(rb'type="fast" count="([0-9]+)"', file.read())[1].decode())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is glibc that is told")
def test_freed_blocks_are_joined_at_once() -> None:
    apart = {
        how: int(subprocess.check_output([sys.executable, "-c", FREEING, how]))
        for how in ("joined", "kept apart")
    }
    assert apart["joined"] < 1_000 < apart["kept apart"]
