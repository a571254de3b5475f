"""No test reaches another machine: a watch over sockets, in every Python process of the tests.

`watch` is laid in the tests' own process by conftest; `install` writes a module that Python loads
by itself when it starts, so that servers, workers and commands are watched too. What is not allowed
fails there with an error, and is written down for the end of the run. Native code, Node and
processes with an environment of their own are not seen: `make test-offline` holds these.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

NOTED = "BOOKWHEEL_TEST_CONNECTIONS"
"""Names the file in which each attempt is written down."""
_CONNECTING = ("socket.connect", "socket.sendto", "socket.sendmsg")
_ASKING = ("socket.getaddrinfo", "socket.gethostbyname")
_UNIX = 1


class Outside(RuntimeError):
    """A test tried to reach another machine."""


def watch() -> None:
    """Refuse from now on whatever would leave this machine."""
    sys.addaudithook(_judge)


def _judge(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _CONNECTING:
        where = None if arguments[0].family == _UNIX else arguments[1]
    elif event in _ASKING:
        where = arguments[0]
    else:
        return
    host = where[0] if isinstance(where, tuple) else where
    if not is_here(host):
        _note(f"{event} {host!r} by {' '.join(sys.orig_argv)[:200]}")
        raise Outside(f"{event} {host!r}: tests reach no other machine")


def is_here(host: object) -> bool:
    """Tell whether an address is this machine's own; a name is not asked for, but known."""
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    from ipaddress import ip_address  # not where every process begins

    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _note(attempt: str) -> None:
    named = os.environ.get(NOTED)
    if named:
        with open(named, "a", encoding="utf-8") as file:
            file.write(attempt + "\n")


def install(folder: Path) -> str:
    """Write the module that watches new processes; return the value of PYTHONPATH for them."""
    here = Path(__file__)
    (folder / here.name).write_bytes(here.read_bytes())
    (folder / "sitecustomize.py").write_text(
        f"import {here.stem}\n\n{here.stem}.watch()\n", encoding="utf-8"
    )
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
