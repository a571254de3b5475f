"""What the worker does with one file: read, parse, cut into chunks, make terms.

Runs in the worker process. Takes and returns plain values only, because the parent accepts no
others from a process that has met hostile bytes.
"""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import PurePath
from typing import Any

from bookwheel.engines.hiding import Page, document_terms
from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import extension_of, mime_type, read
from bookwheel.indexing.pieces import InPieces
from bookwheel.indexing.wire import pack
from bookwheel.model import Collection, Draft, FileState, Link, Parsed, Status
from bookwheel.safety.finding import OWN_RULES, Rules, find_spans
from bookwheel.safety.opener import FileBytes, OpenRefused, Root
from bookwheel.safety.redact import in_bytes
from bookwheel.text.chunking import chunk
from bookwheel.text.language import base_language, detect_language
from bookwheel.text.targets import Origin, document_names, link_keys

MAX_FILE_BYTES = 50_000_000
# A write within this time after the reading may leave the modification time as it was.
_RACY_NS = 2_000_000_000
# The clock of a share may be ahead; what is dated later than that was not dated by a clock.
_AHEAD_NS = 86_400_000_000_000
_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)"
)

Prepare = Callable[[str, bytes], tuple[Any, ...] | InPieces]


def make_prepare(
    name: str,
    path: str,
    source: str | None,
    language: str | None,
    max_bytes: int,
    rules: tuple[Any, ...] = OWN_RULES,
) -> Prepare:
    """Return the function that prepares files of one collection."""
    redaction = Rules(*rules)
    collection = Collection(name=name, path=path, source=source, language=language)
    root = Root.open(path)

    def prepare(relative: str, digest: bytes) -> tuple[Any, ...] | InPieces:
        return pack(prepare_file(root, collection, relative, digest, max_bytes, redaction))

    # A worker at rest must not keep a share from being unmounted.
    weakref.finalize(prepare, root.close)
    return prepare


def prepare_file(
    root: Root,
    collection: Collection,
    path: str,
    known_digest: bytes,
    max_bytes: int,
    rules: Rules = OWN_RULES,
) -> Draft | FileState:
    """Return the file as a draft, or only its state when its content is what it was."""
    try:
        file = root.read_file(path, max_bytes=max_bytes)
    except OpenRefused as refusal:
        return refused(collection.name, path, refusal.status, refusal.reason)
    state = FileState(
        file.size,
        file.modified_ns,
        blake2b(file.data, digest_size=16).digest(),
        racy=-_AHEAD_NS < time.time_ns() - file.modified_ns < _RACY_NS,
    )
    if state.digest == known_digest:
        return state
    try:
        parsed = read(file.data, path)
    except Unreadable as trouble:
        return refused(collection.name, path, trouble.status, trouble.reason, state)
    return draft(collection, path, file, state, parsed, rules)


def draft(
    collection: Collection,
    path: str,
    file: FileBytes,
    state: FileState,
    parsed: Parsed,
    rules: Rules = OWN_RULES,
) -> Draft:
    """Return what the engine needs of a parsed file."""
    extension = extension_of(path)
    chunks = tuple(chunk(parsed))
    language = (
        base_language(collection.language)
        or base_language(parsed.language)
        or detect_language(parsed.text)
    )
    origin = Origin(collection.name, path, parsed.url, PurePath(collection.path).name)
    headings = tuple(section.heading for section in parsed.sections)
    spans = in_bytes(parsed.text, find_spans(parsed.text, rules))
    data = parsed.text.encode()
    page = Page(
        *(collection.name, parsed.title, parsed.tags, data, chunks, headings, language, spans),
        path=path,
    )
    terms = document_terms(page, rules)
    return Draft(
        collection=collection.name,
        path=path,
        extension=extension,
        mime=mime_type(extension),
        state=state,
        status=Status.OK,
        reason=parsed.remark,
        parsed=parsed._replace(links=tuple(_with_keys(link, origin) for link in parsed.links)),
        date=document_date(parsed.date, path, file.modified_ns),
        source=parsed.source or collection.source or collection.name,
        language=language,
        words=sum(passage.exact.count(" ") for passage in terms.passages),
        chunks=chunks,
        terms=terms,
        spans=spans,
        rules=rules.version,
        names=document_names(origin, parsed.title, parsed.aliases),
    )


def _with_keys(link: Link, origin: Origin) -> Link:
    return link._replace(keys=link_keys(link.kind, link.target, origin))


def refused(
    collection: str, path: str, status: Status, reason: str, state: FileState | None = None
) -> Draft:
    """Return the entry of a file that gives no document."""
    extension = extension_of(path)
    return Draft(
        collection=collection,
        path=path,
        extension=extension,
        mime=mime_type(extension),
        state=state or FileState(0, 0, b""),
        status=status,
        reason=reason,
    )


def document_date(stated: str | None, path: str, modified_ns: int) -> str:
    """Return the document's own date, else one in its path, else when it was modified."""
    for text in (stated or "", path):
        for year, month, day in _DATE.findall(text):
            if _is_date(year, month, day):
                return f"{year}-{month}-{day}"
    return datetime.fromtimestamp(modified_ns / 1e9, UTC).strftime("%Y-%m-%d")


def _is_date(year: str, month: str, day: str) -> bool:
    try:
        datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError:
        return False
    return True
