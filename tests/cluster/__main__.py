"""Start the cluster, run a command with its address in the environment, and stop it.

Without a command the tests marked `cluster` are run, and those of the five toolsets with their
libraries in the cluster: a few cases of each, or with `--all` every one, long faults included.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import FrameType

from tests import temporary
from tests.cluster.nodes import Cluster
from tests.cluster.parts import Missing

ADDRESS = "BOOKWHEEL_TEST_CLUSTER"
_PYTEST = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-o", "timeout=600"]
_TOOLSETS = ("archives", "documents_search", "files", "folder", "pages")
_CONTRACTS = ["--on-cluster", *(f"tests/clients/test_{name}.py" for name in _TOOLSETS)]
_FEW = (
    [*_PYTEST, "--few", "-m", "cluster and not faults"],
    [*_PYTEST, "--few", *_CONTRACTS],
)
_ALL = ([*_PYTEST, "-m", "cluster"], [*_PYTEST, *_CONTRACTS])


def main(command: list[str]) -> int:
    signal.signal(signal.SIGTERM, _end)
    temporary.write_to_memory()  # a server syncs every request that writes
    try:
        cluster = Cluster()
    except Missing as missing:
        print(f"No cluster can be started: {missing}", file=sys.stderr)
        return 1
    try:
        cluster.start()
        print(f"{ADDRESS}={cluster.url}", flush=True)
        environment = {**os.environ, ADDRESS: cluster.url}
        runs = _FEW if not command else _ALL if command == ["--all"] else [command]
        codes = [subprocess.call(run, env=environment) for run in runs]  # each, whatever failed
        return int(any(codes))
    except Missing as missing:
        print(f"No cluster could be started: {missing}", file=sys.stderr)
        return 1
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # `timeout` sends it twice
        cluster.stop()


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
