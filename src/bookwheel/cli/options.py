"""Arguments and options that several commands share, and how a library is opened from them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bookwheel.cli.output import say
from bookwheel.library import Library
from bookwheel.query import Rerank, SearchMode
from bookwheel.settings import Settings, load

DocumentName = Annotated[
    str,
    typer.Argument(metavar="DOCUMENT", help="Path in its folder, docs:// address, or file."),
]
Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        help="Folders of documents. Default: those of bookwheel.toml, else this folder.",
    ),
]
Index = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder that holds the index. Default: your cache folder."),
]
Config = Annotated[
    str | None, typer.Option(metavar="FILE", help="Configuration file (bookwheel.toml).")
]
Mode = Annotated[
    SearchMode,
    typer.Option(help="Find by words (lexical), by meaning (semantic), or by both (hybrid)."),
]
Second = Annotated[
    Rerank | None,
    typer.Option(
        "--rerank",
        help="Put the first hits into a better order with a slower model. Default: the setting "
        "`rerank`, which is none.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Collection = Annotated[
    str | None, typer.Option("--collection", "-c", metavar="NAME", help="Only this collection.")
]


def wants_second_look(rerank: Rerank | None) -> bool | None:
    """Return what a request says of it; None leaves it to the settings."""
    return None if rerank is None else rerank is not Rerank.NONE


def load_settings(paths: list[str] | None, config: str | None, **flags: Any) -> Settings:
    """Return the settings; a configuration file in this folder counts when no folder is named."""
    return load(flags, config=config, use_start_folder=not paths)


def open_library(
    paths: list[str] | None, index: str | None, config: str | None, **flags: Any
) -> Library:
    """Open the library that the arguments name, and say what is worth knowing about it."""
    settings = load_settings(paths, config, index=index, **flags)
    library = Library.open(settings, paths or ())
    for remark in library.settings.remarks:
        say(remark)
    return library
