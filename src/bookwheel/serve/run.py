"""Putting the server together: a library to read, a thread that writes, one way in, an orderly end.

Nothing is opened here that is not closed here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from bookwheel import __version__
from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract
from bookwheel.errors import BadRequest, BookwheelError, IndexUnusable
from bookwheel.indexing.memory import share_heaps
from bookwheel.library import Library
from bookwheel.model import Collection
from bookwheel.safety.token_file import Token, TokenFile, tokens_path
from bookwheel.serve.background import Indexing
from bookwheel.serve.callers import STDIO, places_of
from bookwheel.serve.calls import Calls
from bookwheel.serve.changes import ChangeBell
from bookwheel.serve.limits import RateLimit, ToolLimits
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.stdio import serve_stdio, take_streams
from bookwheel.serve.toolsets import ALL, choose, load_contracts
from bookwheel.settings import Settings
from bookwheel.telemetry.audit import Audit, audit_path
from bookwheel.telemetry.calls import Witness
from bookwheel.telemetry.logs import fields, log_call

if TYPE_CHECKING:
    from bookwheel.serve.readers import Readers

log = logging.getLogger(__name__)


def serve(library: Library, folders: Sequence[str], address: tuple[str, int] | None) -> None:
    """Serve a library over HTTP at an address, or over standard input and output without one."""
    share_heaps()
    known = load_contracts(read_only=library.settings["read_only"])
    offered = choose(known, library.settings["toolsets"])
    with telling(library, known) as oversight:
        if address is None:
            streams, bell = take_streams(), ChangeBell()
            with indexing(library, folders, bell, oversight) as (calls, thread):
                anyio.run(serve_stdio, DocumentServer(calls, offered), streams, bell, thread.start)
        else:
            _serve_http(library, folders, known, offered, address, oversight)


class Oversight(NamedTuple):
    """Who is told of calls, and how often tools may be called."""

    witnesses: list[Witness]
    limits: ToolLimits | None = None


@contextmanager
def telling(library: Library, known: dict[str, Contract]) -> Iterator[Oversight]:
    """Open the audit, and read the limits of tools, for as long as a server runs."""
    tools = [tool for contract in known.values() for tool in contract.tools]
    limits = ToolLimits(tools, library.settings["tool_limits"])
    audit = _open_audit(library)
    if audit is None:
        yield Oversight([log_call], limits)
        return
    with closing(audit):
        yield Oversight([log_call, audit.write], limits)


def _open_audit(library: Library) -> Audit | None:
    """Open the audit; one that was not asked for is gone without where it cannot be written."""
    settings = library.settings
    file = audit_path(settings, library.database)
    if file is None:
        return None
    try:
        library.make_place()
        file.parent.mkdir(parents=True, exist_ok=True)
        return Audit(
            file,
            key=Path(settings["audit_key"]) if settings["audit_key"] else None,
            queries=settings["audit_queries"],
            most_bytes=settings["audit_mb"] * 1_000_000,
        )
    except (OSError, IndexUnusable) as error:
        why = getattr(error, "strerror", None) or error
        if settings["audit"]:
            raise BadRequest(f"The audit {file} cannot be written: {why}.") from None
        log.warning("no audit is kept, since %s cannot be written: %s", file, why)
        return None


def _serve_http(
    library: Library,
    folders: Sequence[str],
    known: dict[str, Contract],
    offered: Offered,
    address: tuple[str, int],
    oversight: Oversight,
) -> None:
    from bookwheel.indexing.worker import count_cores
    from bookwheel.serve.guard import make_rules, require_safe_address
    from bookwheel.serve.http import bind, make_app, serve_http
    from bookwheel.serve.readers import Readers
    from bookwheel.serve.site.routes import make_site_routes
    from bookwheel.serve.web import Web
    from bookwheel.telemetry.metrics import Metrics

    settings, host = library.settings, address[0]
    token, tokens = settings["token"], TokenFile(tokens_path(settings))
    has_token = bool(token or tokens.load())
    warn_of_roots(tokens.load(), library.collections)
    require_safe_address(host, has_token=has_token, public=settings["public"])
    listening, bell = bind(*address), ChangeBell()
    port = listening.getsockname()[1]
    count = settings["readers"] if settings["readers"] is not None else min(4, count_cores())
    readers = Readers(settings, folders, count) if count else None
    metrics = Metrics(__version__, lambda: library.figures(thread.lag))
    oversight.witnesses.append(metrics.observe)
    follows = indexing(
        *(library, folders, bell, oversight, readers), on_unheard=metrics.count_unheard
    )
    with listening, follows as (calls, thread):
        metrics.watch_calls(lambda: calls.under_way)
        rules = make_rules(host, port, others=settings["hosts"], token=token, tokens=tokens)
        listed = offered.listed if settings["mcp_enabled"] else ()
        toolsets = {each.name: tuple(tool.name for tool in each.tools) for each in listed}
        web = Web(calls, state=thread.describe, toolsets=toolsets, rules=rules)
        app = make_app(
            _make_servers(calls, known, offered) if settings["mcp_enabled"] else {},
            rules=rules,
            limit=RateLimit(settings["rate_limit_requests"], settings["rate_limit_window"]),
            bell=bell,
            state=thread.describe,
            figures=lambda: calls.look(STDIO, lambda _: metrics.write()),
            count=metrics.count_refusal,
            base_path=settings["base_path"],
            site=make_site_routes(web),
        )
        thread.start()
        _log_address(host, port, settings)
        anyio.run(serve_http, app, listening, settings["trusted_proxies"])


def warn_of_roots(tokens: Sequence[Token], collections: Sequence[Collection]) -> None:
    """Warn of roots that open nothing: most likely a name was misspelt, or has changed."""
    for token in tokens:
        for root in token.roots:
            if not places_of([root], collections):
                log.warning(
                    "the token %s opens nothing at %r: no such collection", token.name, root
                )


def _log_address(host: str, port: int, settings: Settings) -> None:
    serves, hosts = settings["mcp_enabled"], settings["hosts"]
    path = "/mcp" if serves else ""
    site = f"http://{f'[{host}]' if ':' in host else host}:{port}{settings['base_path']}"
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
    library: Library,
    folders: Sequence[str],
    bell: ChangeBell,
    oversight: Oversight | None = None,
    readers: Readers | None = None,
    *,
    on_unheard: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Calls, Indexing]]:
    """Make ready to index and follow the folders while calls are answered; end both in order."""
    thread = Indexing(
        partial(Library.open, library.settings, folders),
        on_change=bell.ring,
        on_ready=lambda: calls.warm(),
        on_unheard=on_unheard,
        is_indexed=_is_indexed(library),
    )
    library.when_model_is_other(thread.look_at_model)
    library.when_damaged(thread.look_at_index)
    if readers is not None:
        readers.on_other_model = thread.look_at_model
        readers.on_damage = thread.look_at_index
    calls = Calls(
        library,
        ready=thread.ready,
        progress=thread.count,
        has_failed=lambda: thread.has_failed,
        is_behind=lambda: thread.is_behind,
        readers=readers,
        limits=oversight.limits if oversight else None,
        witnesses=oversight.witnesses if oversight else [log_call],
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
        took = time.monotonic() - started
        about = fields(event="open", seconds=round(took, 4))
        log.info("index opened in %.1f ms", took * 1000, extra=about)
    return is_indexed
