"""Serve folders to assistants over MCP.

Speaks over standard input and output, as assistants expect of a command they start, or over HTTP.
There people find pages too, at http://127.0.0.1:8765/: search, reading, the state of the index.
Folders are indexed and followed meanwhile. By default the toolset `documents` is shown and every
other tool can be called all the same; --toolsets serves just those named, or all.

    bookwheel serve ~/notes
    bookwheel serve ~/notes ~/papers --toolsets documents,pages
    bookwheel serve ~/notes --http
    bookwheel serve ~/notes --http 127.0.0.1:9000
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from bookwheel.cli.options import Config, Index, Paths, open_library
from bookwheel.errors import BadRequest
from bookwheel.library import Library

DEFAULT_ADDRESS = "127.0.0.1:8765"
LARGEST_PORT = 65535
_HALF_AN_ADDRESS = re.compile(r"[0-9]{2,5}|(localhost|[0-9]+(\.[0-9]+){3})(:[^/]*)?")
_ADDRESS = re.compile(r"([\w.-]*|\[[0-9a-fA-F:.]+\]):([0-9]{1,5})")


def run(
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    toolsets: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Toolsets to serve, with commas between them, or all."),
    ] = None,
    http: Annotated[
        bool,
        typer.Option(
            "--http",
            help=f"Serve HTTP at {DEFAULT_ADDRESS}, or at the HOST:PORT that follows.",
        ),
    ] = False,
    public: Annotated[
        bool,
        typer.Option("--public", help="Let other machines connect, even without a token."),
    ] = False,
    read_only: Annotated[
        bool,
        typer.Option("--read-only", help="Leave out tools that change anything."),
    ] = False,
    log_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="How the log is written: text, or json for collectors."
        ),
    ] = None,
) -> None:
    """See the module's text."""
    folders, address = _split_address(paths or [], http=http)
    flags = {
        "toolsets": toolsets,
        "public": public or None,
        "read_only": read_only or None,
        "log_format": log_format,
    }
    with open_library(folders, index, config, **flags) as library:
        _serve(library, folders, _parse_address(address) if http else None)


def _split_address(arguments: list[str], *, http: bool) -> tuple[list[str], str]:
    """Part the HOST:PORT that follows --http from the folders."""
    found = [each for each in arguments if http and _ADDRESS.fullmatch(each)]
    for each in arguments:
        if http and not found and _HALF_AN_ADDRESS.fullmatch(each) and not Path(each).exists():
            is_port = each.isdigit() and int(each) <= LARGEST_PORT
            host = "127.0.0.1" if each.isdigit() else each.partition(":")[0]
            port = each if is_port else DEFAULT_ADDRESS.partition(":")[2]
            raise BadRequest(f"{each!r} is no address; write it as {host}:{port}.")
    folders = [each for each in arguments if each not in found]
    return folders, found[0] if found else DEFAULT_ADDRESS


def _parse_address(text: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found[2]) > LARGEST_PORT:
        raise BadRequest(f"{text!r} is no address; write it as {DEFAULT_ADDRESS}.")
    return found[1].strip("[]") or DEFAULT_ADDRESS.partition(":")[0], int(found[2])


def _serve(library: Library, folders: list[str], address: tuple[str, int] | None) -> None:
    import gc

    from bookwheel.telemetry.logs import set_up_logs

    set_up_logs(library.settings["log_format"], library.hide_in_logs)
    if address is None and sys.stdin.isatty():
        print(
            "An assistant starts this command itself; with --http it serves many.", file=sys.stderr
        )
    from bookwheel.serve.run import serve

    gc.freeze()  # what was imported is there to stay
    gc.enable()
    serve(library, folders, address)
