"""A process that has loaded the program once and indexes in forks of itself, ready to be killed.

`python -m tests.faults.forks FOLDER INDEX` starts an indexing for each line that it reads, kills it
after as many seconds as the line says, if any, and tells how it ended. Starting Python anew for
each would take longer than the work.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from bookwheel.indexing import pipeline
from tests.engines.embedded.test_rebuild import open_library
from tests.indoors import IndoorPool


def main(folder: Path, index: Path) -> None:
    """Fork for each line until the input ends."""
    vars(pipeline)["WorkerPool"] = IndoorPool  # files are read here
    for delay in sys.stdin:
        child = os.fork()
        if not child:
            work(folder, index)
        if delay.strip():
            time.sleep(float(delay))
            os.kill(child, signal.SIGKILL)  # its number is its own until it is waited for
        _, status = os.waitpid(child, 0)
        say(str(status))


def work(folder: Path, index: Path) -> None:
    """Bring the index up to date, as the command does, and end at once."""
    with open_library(index, folder) as library:
        library.update()
        library.embed()
    os._exit(0)


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
