"""The program: runs the command line and leaves at once."""

import atexit
import gc
import os
import sys


def run() -> None:
    """Run the command line, and end the process without taking the interpreter apart.

    Everything is closed and written by then; undoing the imports one by one would cost a fifth
    of a search from the command line. Nor is there garbage to collect while they are made:
    commands that run for long turn the collector on again.
    """
    gc.disable()
    # numpy's threads cost more to wake than they save: comparing ten thousand vectors takes .5 ms,
    # and several times as much where two threads wait for each other on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from bookwheel.cli import main

    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        print(code, file=sys.stderr)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(bool(code)))


if __name__ == "__main__":
    run()
