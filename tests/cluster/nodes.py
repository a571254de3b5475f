"""Two nodes: started, lost, started again and stopped, never as the superuser."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.cluster import parts

_START_SECONDS = 300
_STOP_SECONDS = 60
_NOBODY = 65534
HEAP = "512m"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _bound_to_us() -> list[str]:
    """Return what starts a program that ends with us, however we end; nothing where it is not."""
    starter = shutil.which("setpriv")
    return [starter, "--pdeathsig", "KILL"] if starter else []


class Node:
    """One node; it keeps its ports and its data over a restart."""

    def __init__(self, name: str, place: Path, *, http: int, transport: int) -> None:
        self.name = name
        self.place = place
        self.http = http
        self.transport = transport
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}"

    def configure(
        self,
        home: Path,
        seeds: list[str],
        *,
        leads: bool,
        heap: str = HEAP,
        more: Sequence[str] = (),
    ) -> None:
        """Write the files that the node reads at its start, with more settings where given."""
        config = self.place / "config"
        shutil.copytree(home / "config", config)
        (config / "opensearch.yml").write_text(
            "\n".join(
                [
                    "cluster.name: bookwheel-tests",
                    f"node.name: {self.name}",
                    f"node.roles: [{'cluster_manager, data' if leads else 'data'}]",
                    "network.host: 127.0.0.1",
                    f"http.port: {self.http}",
                    f"transport.port: {self.transport}",
                    f"path.data: {self.place / 'data'}",
                    f"path.logs: {self.place / 'logs'}",
                    f"discovery.seed_hosts: {json.dumps(seeds)}",
                    'cluster.initial_cluster_manager_nodes: ["one"]' if leads else "",
                    "cluster.routing.allocation.disk.threshold_enabled: false",
                    "cluster.max_shards_per_node: 20000",
                    "action.auto_create_index: false",
                    *more,
                    "",
                ]
            ),
            encoding="utf-8",
        )
        options = config / "jvm.options"
        text = options.read_text(encoding="utf-8").replace("-Xms1g", f"-Xms{heap}")
        text = text.replace("-Xmx1g", f"-Xmx{heap}")
        text = text.replace("logs/gc.log", str(self.place / "gc.log"))
        text = text.replace("logs/hs_err", str(self.place / "hs_err"))
        if not (parts.java() / "jmods" / "jdk.incubator.vector.jmod").exists():
            text = text.replace("20-:--add-modules=jdk.incubator.vector", "")
        if heap == HEAP:  # a node for tests: it does not live long enough to be worth compiling
            text += "\n-XX:TieredStopAtLevel=1\n"
        options.write_text(text, encoding="utf-8")
        for name in ("data", "logs"):
            (self.place / name).mkdir()

    def start(self, home: Path) -> None:
        """Start it, as nobody where this is the superuser: the server refuses that one."""
        java = str(parts.java())
        environment = {
            **os.environ,
            "JAVA_HOME": java,
            "OPENSEARCH_JAVA_HOME": java,
            "OPENSEARCH_PATH_CONF": str(self.place / "config"),
            "OPENSEARCH_TMPDIR": str(self.place),
            "HOME": str(self.place),
        }
        other: dict[str, Any] = {}
        if os.getuid() == 0:
            for each in (self.place, *self.place.rglob("*")):
                os.chown(each, _NOBODY, _NOBODY)
            other = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        with (self.place / "out.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_bound_to_us(), str(home / "bin" / "opensearch")],
                env=environment,
                cwd=self.place,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **other,
            )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        return (self.place / "out.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, politely or not; whoever does not heed a polite word has to go."""
        if self._process is not None:
            if self.runs:
                os.killpg(self._process.pid, how)
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None


class Cluster:
    """Both nodes. The first one leads; the second may be lost."""

    def __init__(self, *, heap: str = HEAP, below: Path | None = None) -> None:
        self._home = parts.server()
        self._place = Path(tempfile.mkdtemp(prefix="bookwheel-cluster-", dir=below))
        self._place.chmod(0o755)
        transports = [free_port(), free_port()]
        self.nodes = [
            Node(name, self._place / name, http=free_port(), transport=transport)
            for name, transport in zip(("one", "two"), transports, strict=True)
        ]
        seeds = [f"127.0.0.1:{port}" for port in transports]
        for node in self.nodes:
            node.place.mkdir()
            node.configure(self._home, seeds, leads=node is self.nodes[0], heap=heap)

    @property
    def url(self) -> str:
        return self.nodes[0].url

    def start(self) -> None:
        for node in self.nodes:
            node.start(self._home)
        self.wait()

    def start_node(self, node: Node) -> None:
        node.start(self._home)
        self.wait()

    def wait(self) -> None:
        """Wait until both nodes have found each other."""
        until = time.monotonic() + _START_SECONDS
        while not self._is_whole():
            for node in self.nodes:
                if not node.runs:
                    raise parts.Missing(f"node {node.name} did not start: {node.log}")
            if time.monotonic() > until:
                raise parts.Missing(f"the cluster did not come up: {self.nodes[0].log}")
            time.sleep(0.5)

    def _is_whole(self) -> bool:
        try:
            address = f"{self.url}/_cluster/health?timeout=1s"
            with urllib.request.urlopen(address, timeout=10) as answer:
                health = json.load(answer)
        except (urllib.error.URLError, OSError, ValueError):
            return False
        return bool(health["number_of_nodes"] == len(self.nodes) and health["status"] != "red")

    def stop(self) -> None:
        for node in reversed(self.nodes):
            node.stop()
        shutil.rmtree(self._place, ignore_errors=True)
