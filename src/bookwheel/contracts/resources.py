"""Documents as `docs://` resources: listing them page by page, and reading one whole."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import NamedTuple

from bookwheel.addresses import SCHEME, uri
from bookwheel.contracts.tool import INVALID_PARAMS, RpcError
from bookwheel.contracts.wording import one_line
from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.model import Document, SafeText
from bookwheel.reading.documents import quoted
from bookwheel.view import View

PAGE_SIZE = 100
_LONGEST_CURSOR = 20_000
_SEAL_BYTES = 8
_OWN_TEXT = ("text/markdown", "text/plain")
"""Types of files that are given as they stand; of any other the Markdown made of it is given."""


class Entry(NamedTuple):
    """One line of the listing; the mime type is the file's own."""

    uri: str
    name: str
    title: str
    description: str
    mime: str


class ResourcePage(NamedTuple):
    """One page of the listing and where the next begins."""

    entries: list[Entry]
    next_cursor: str | None


class ResourceText(NamedTuple):
    """A document as it is read: under the address asked for, whole."""

    uri: str
    mime: str
    text: SafeText


class _Position(NamedTuple):
    collection: str
    offset: int
    last: str
    """The path of the document before the offset, to find the place again after a change."""


def is_alone(library: View) -> bool:
    """Tell whether addresses leave the collection's name out, since there is but one."""
    return len(library.states()) == 1


def list_resources(
    library: View, cursor: str | None = None, *, size: int = PAGE_SIZE
) -> ResourcePage:
    """Return the page that a cursor stands for, the first one without; RpcError for a wrong one."""
    names = [state.collection.name for state in library.states() if state.documents]
    alone = is_alone(library)
    position = _read_cursor(library, cursor) if cursor is not None else None
    if position is None:
        position = _Position(names[0] if names else "", 0, "")
    if position.collection not in names:
        return ResourcePage([], None)
    offset = _resume(library, position)
    page = library.list_documents(position.collection, limit=size, offset=offset)
    following = _following(position.collection, names)
    if page.has_more:
        after = offset + len(page.documents)
        following = _Position(position.collection, after, page.documents[-1].path)
    return ResourcePage(
        [_entry(document, alone) for document in page.documents],
        _write_cursor(library, following) if following else None,
    )


def _following(collection: str, names: list[str]) -> _Position | None:
    rest = names[names.index(collection) + 1 :]
    return _Position(rest[0], 0, "") if rest else None


def _entry(document: Document, alone: bool) -> Entry:
    return Entry(
        uri=uri(document.collection, document.path, alone=alone),
        name=document.path.rpartition("/")[2],
        title=one_line(document.title),
        description=one_line(document.description),
        mime=document.mime,
    )


def _resume(library: View, position: _Position) -> int:
    """Return where to go on: behind the last path given, even if documents came or went."""
    if not position.offset:
        return 0

    def path_at(offset: int) -> str | None:
        found = library.list_documents(position.collection, limit=1, offset=offset).documents
        return found[0].path if found else None

    if path_at(position.offset - 1) == position.last:
        return position.offset
    low, high = 0, library.list_documents(position.collection, limit=1).total
    while low < high:
        middle = (low + high) // 2
        path = path_at(middle)
        if path is not None and path <= position.last:
            low = middle + 1
        else:
            high = middle
    return low


def _write_cursor(library: View, position: _Position) -> str:
    payload = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_seal(library, payload) + payload).decode()


def _read_cursor(library: View, cursor: str) -> _Position:
    """Return what a cursor of ours says; any other text is refused."""
    try:
        sealed = base64.b64decode(cursor[:_LONGEST_CURSOR], altchars=b"-_", validate=True)
    except ValueError:
        sealed = b""
    seal, payload = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if not payload or seal != _seal(library, payload):
        raise RpcError(
            INVALID_PARAMS,
            "The cursor is not one that this server gave; start again without it.",
            {"cursor": echo(cursor)},
        )
    return _Position(*json.loads(payload))


def _seal(library: View, payload: bytes) -> bytes:
    """Return a mark that tells cursors for this index from other text; it keeps no secret."""
    place = library.location.encode(errors="surrogateescape")
    return hashlib.blake2b(place + b"\0" + payload, digest_size=_SEAL_BYTES).digest()


class NoResource(RpcError):
    """There is nothing at an address; revisions of the protocol have different codes for it."""

    def __init__(self, message: str, address: str) -> None:
        super().__init__(INVALID_PARAMS, message, {"uri": echo(address)})


def read_resource(library: View, address: str) -> ResourceText:
    """Read the document that an address names; NoResource, with what is near, if there is none."""
    if not address.startswith(SCHEME):
        raise NoResource(
            f"{quoted(echo(address))} is no address of a document: those begin with {SCHEME}.",
            address,
        )
    try:
        document = library.document(address)
        text = library.text(document).text
    except BadRequest as error:
        raise RpcError(INVALID_PARAMS, error.advice, {"uri": echo(address)}) from error
    except (Forbidden, NotFound) as error:
        raise NoResource(error.advice, address) from error
    mime = document.mime if document.mime in _OWN_TEXT else _OWN_TEXT[0]
    return ResourceText(address, mime, text)


def echo(text: str) -> str:
    """Return what a client wrote as it may be sent back: bounded, and valid Unicode."""
    return text[:1000].encode(errors="replace").decode()
