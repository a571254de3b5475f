"""Notebooks: Markdown as it stands, code and its output in fences; every cell is a place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bookwheel.formats import text
from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About, Composer, fenced, parsed
from bookwheel.formats.decoding import decode
from bookwheel.formats.html import inner_markdown, open_page
from bookwheel.model import Parsed, Status

_MAX_OUTPUT = 50_000
_MAX_OUTPUTS = 50
_MAX_WIDE = 100_000
"""Characters of HTML that are looked at where an output has no plain text."""
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[@-Z\\-_])")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n)", re.M)
_EMBEDDED = re.compile(r"data:[\w.+-]+/[\w.+-]+[;,][^)\"'\s<>]*")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.M)
_LANGUAGE = re.compile(r"[\w.+#-]{1,40}")
_WORDS = {"stream": "text", "error": "traceback", "pyerr": "traceback"}

Json = dict[str, Any]


def read(data: bytes, path: str) -> Parsed:
    """Read a notebook of any version."""
    if not data.strip():
        return text.read(data, path)
    notebook = _load(data)
    metadata = _map(notebook.get("metadata"))
    language = _language(metadata)
    composer = Composer()
    for number, cell in enumerate(_cells(notebook), 1):
        composer.begin(f"cell {number}")
        for block in _blocks(cell, language):
            composer.add(block)
    authors = [_text(_map(author).get("name")) for author in _list(metadata.get("authors"))]
    about = About(
        title=_text(metadata.get("title")),
        author=", ".join(name for name in authors[:10] if name),
        date=_text(metadata.get("date")),
    )
    return parsed(composer, path, about)


def _load(data: bytes) -> Json:
    try:
        notebook = json.loads(decode(data))
    except RecursionError:
        raise Unreadable(Status.UNREADABLE, "its JSON is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(Status.UNREADABLE, f"damaged JSON ({str(error)[:80]})") from None
    if not isinstance(notebook, dict) or not {"cells", "worksheets", "nbformat"} & set(notebook):
        raise Unreadable(Status.UNREADABLE, "JSON, but not a notebook")
    return notebook


def _map(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    """Return what a notebook writes as one string or as a list of lines."""
    if isinstance(value, list):
        try:
            return "".join(value)
        except TypeError:
            return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _language(metadata: Json) -> str:
    kernel = _map(metadata.get("kernelspec"))
    for name in (
        _map(metadata.get("language_info")).get("name"),
        kernel.get("language"),
        metadata.get("language"),
    ):
        if isinstance(name, str) and _LANGUAGE.fullmatch(name):
            return name.lower()
    return "python" if "python" in _text(kernel.get("name")) else ""


def _cells(notebook: Json) -> Iterator[Json]:
    sheets = _list(notebook.get("worksheets"))
    for holder in (notebook, *map(_map, sheets)):
        for cell in _list(holder.get("cells")):
            yield _map(cell)


def _blocks(cell: Json, language: str) -> Iterator[str]:
    """Yield the Markdown blocks of a cell."""
    kind = cell.get("cell_type")
    source = _text(cell.get("source")) or _text(cell.get("input"))
    if kind == "markdown":
        yield _closed(_without_files(source)).strip("\n")
    elif kind == "heading":
        level = cell.get("level")
        depth = level if isinstance(level, int) and 1 <= level <= 6 else 1
        yield f"{'#' * depth} {' '.join(source.split())}" if source.strip() else ""
    elif kind == "code":
        yield fenced(source, _text(cell.get("language")) or language)
        for output in _list(cell.get("outputs"))[:_MAX_OUTPUTS]:
            yield _output(_map(output))
    else:
        yield fenced(source)


def _without_files(markdown: str) -> str:
    return _EMBEDDED.sub("data:", markdown) if "data:" in markdown else markdown


def _closed(markdown: str) -> str:
    """Return Markdown whose fences and comments end where its cell ends."""
    fence = ""
    fences = _FENCE.findall(markdown) if "```" in markdown or "~~~" in markdown else ()
    for mark, rest in fences:
        if not fence:
            fence = mark
        elif mark.startswith(fence) and not rest.strip():
            fence = ""
    if fence:
        return f"{markdown}\n{fence}"
    return markdown + " -->" if markdown.rfind("<!--") > markdown.rfind("-->") else markdown


def _output(output: Json) -> str:
    """Return what an output says in text; images say nothing."""
    kind = _text(output.get("output_type"))
    if kind in _WORDS:
        said = _joined(output.get(_WORDS[kind]))
        said = said or f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
        return fenced(_shortened(said))
    shown = _map(output.get("data")) or output
    said = next((t for t in map(_text, map(shown.get, ("text/plain", "text"))) if t), "")
    if said:
        return fenced(_shortened(said))
    wide = next((t for t in map(_text, map(shown.get, ("text/html", "html"))) if t), "")
    if wide:
        return _closed(_shortened(inner_markdown(open_page(wide[:_MAX_WIDE]))))
    return fenced(_shortened(_text(shown.get("text/markdown")) or _text(shown.get("text/latex"))))


def _joined(value: object) -> str:
    """Return lines of a traceback, which have no line ends, or the text of a stream."""
    lines = [line for line in _list(value) if isinstance(line, str)]
    ends = any(line.endswith("\n") for line in lines[:-1])
    return _text(value) if ends or not lines else "\n".join(lines)


def _shortened(text: str) -> str:
    """Return text as a terminal shows it, without colours, and cut where it grows too long."""
    shown = text[: 4 * _MAX_OUTPUT]
    if "\x1b" in shown or "\r" in shown:
        shown = _OVERWRITTEN.sub("", _ANSI.sub("", shown))
    rest = len(text) - 4 * _MAX_OUTPUT if len(text) > 4 * _MAX_OUTPUT else 0
    rest += max(0, len(shown) - _MAX_OUTPUT)
    return f"{shown[:_MAX_OUTPUT]}\n({rest:,} more characters)" if rest else shown
