"""Putting the server together: a library to read, a thread that writes, one way in, an orderly end.

Nothing is opened here that is not closed here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract
from bookwheel.errors import BookwheelError
from bookwheel.library import Library
from bookwheel.serve.background import Indexing
from bookwheel.serve.calls import Calls
from bookwheel.serve.changes import ChangeBell
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.stdio import serve_stdio, take_streams
from bookwheel.serve.toolsets import ALL, choose, load_contracts

if TYPE_CHECKING:
    from bookwheel.serve.readers import Readers

log = logging.getLogger(__name__)


def serve(library: Library, folders: Sequence[str], address: tuple[str, int] | None) -> None:
    """Serve a library over HTTP at an address, or over standard input and output without one."""
    known = load_contracts(read_only=library.settings["read_only"])
    offered = choose(known, library.settings["toolsets"])
    if address is None:
        streams, bell = take_streams(), ChangeBell()
        with indexing(library, folders, bell) as (calls, thread):
            anyio.run(serve_stdio, DocumentServer(calls, offered), streams, bell, thread.start)
    else:
        _serve_http(library, folders, known, offered, address)


def _serve_http(
    library: Library,
    folders: Sequence[str],
    known: dict[str, Contract],
    offered: Offered,
    address: tuple[str, int],
) -> None:
    from bookwheel.indexing.worker import count_cores
    from bookwheel.serve.guard import make_rules, require_safe_address
    from bookwheel.serve.http import bind, make_app, serve_http
    from bookwheel.serve.limits import RateLimit
    from bookwheel.serve.readers import Readers
    from bookwheel.serve.site.routes import make_site_routes
    from bookwheel.serve.web import Web

    settings, host = library.settings, address[0]
    token = settings["token"]
    require_safe_address(host, token=token, public=settings["public"])
    listening, bell = bind(*address), ChangeBell()
    port = listening.getsockname()[1]
    count = settings["readers"] if settings["readers"] is not None else min(4, count_cores())
    readers = Readers(settings, folders, count) if count else None
    with listening, indexing(library, folders, bell, readers) as (calls, thread):
        rules = make_rules(host, port, others=settings["hosts"], token=token)
        listed = offered.listed if settings["mcp_enabled"] else ()
        toolsets = {each.name: tuple(tool.name for tool in each.tools) for each in listed}
        web = Web(calls, state=thread.describe, toolsets=toolsets, rules=rules)
        app = make_app(
            _make_servers(calls, known, offered) if settings["mcp_enabled"] else {},
            rules=rules,
            limit=RateLimit(settings["rate_limit_requests"], settings["rate_limit_window"]),
            bell=bell,
            state=thread.describe,
            site=make_site_routes(web),
        )
        thread.start()
        _log_address(host, port, serves=settings["mcp_enabled"], hosts=settings["hosts"])
        anyio.run(serve_http, app, listening, settings["trusted_proxies"])


def _log_address(host: str, port: int, *, serves: bool, hosts: str | None) -> None:
    path = "/mcp" if serves else ""
    site = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    log.info("serving %s%s", site, path)
    log.info("read and search in a browser: %s/", site)
    if not serves:
        log.info("MCP is turned off (MCP_ENABLED)")
    elif host in ("0.0.0.0", "::", ""):
        names = hosts or "none; BOOKWHEEL_HOSTS names them"
        log.info("clients call it by an address of this machine, or by a known name (%s)", names)
    else:
        log.info("give assistants the address with /mcp; Ctrl-C ends it")


def _make_servers(
    calls: Calls, known: dict[str, Contract], offered: Offered
) -> dict[str, DocumentServer]:
    """Return a server for the toolsets chosen, for each by itself, and for all of them."""
    each = {f"/mcp/{name}": choose(known, name) for name in (*known, ALL)}
    return {path: DocumentServer(calls, what) for path, what in {"/mcp": offered, **each}.items()}


@contextmanager
def indexing(
    library: Library, folders: Sequence[str], bell: ChangeBell, readers: Readers | None = None
) -> Iterator[tuple[Calls, Indexing]]:
    """Make ready to index and follow the folders while calls are answered; end both in order."""
    thread = Indexing(
        partial(Library.open, library.settings, folders),
        on_change=bell.ring,
        on_ready=lambda: calls.warm(),
        is_indexed=_is_indexed(library),
    )
    calls = Calls(
        library,
        ready=thread.ready,
        progress=thread.count,
        has_failed=lambda: thread.has_failed,
        readers=readers,
    )
    try:
        yield calls, thread
    finally:
        if not thread.stop():
            log.warning("indexing did not stop in time; what it committed is kept")
        calls.close()


def _is_indexed(library: Library) -> bool:
    started = time.monotonic()
    try:
        is_indexed = library.is_indexed
    except BookwheelError:  # a damaged index is made anew by the thread
        return False
    if is_indexed:
        log.info("index opened in %.1f ms", (time.monotonic() - started) * 1000)
    return is_indexed
