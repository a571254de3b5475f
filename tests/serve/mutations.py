"""Frames of the protocol as clients send them, and as broken ones might: made from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

SESSIONS, MODERN = "2025-11-25", "2026-07-28"
ABOUT = {"name": "fuzz", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": ABOUT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HANDSHAKE = {"protocolVersion": SESSIONS, "capabilities": {}, "clientInfo": ABOUT}
WORDS = {"zebra.md": "stripes", "giraffe.md": "acacia", "walrus.md": "tusks"}
"""Documents of the library under test, each with a word of its own."""

_ZEBRA = {"collection": "notes", "document": "zebra.md"}
_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("documents_list_collections", {}),
    ("documents_search", {"query": "stripes", "collections": ["notes"], "limit": 3}),
    ("documents_get_document", {**_ZEBRA, "maxChars": 100, "offset": 0}),
    ("documents_list_documents", {"collection": "notes", "limit": 2, "offset": 1}),
    ("documents_get_outline", {**_ZEBRA, "maxDepth": 3}),
    ("documents_get_section", {**_ZEBRA, "section": "Zebra", "includeSubsections": True}),
    ("documents_search_batch", {"queries": [{"query": "tusks"}, {"query": "acacia"}], "limit": 2}),
    ("documents_find_related", {**_ZEBRA, "chunk": "tusks", "sameDocument": True}),
    ("search_documents", {"query": "tusks", "searchIn": "both", "fileTypes": ["md"]}),
    ("search_docs", {"query": "acacia", "limit": 2}),
    ("get_doc_page", {"path": "zebra.md", "sections": ["Zebra"]}),
    ("list_doc_pages", {"category": "notes"}),
    ("searchFiles", {"query": "tusks", "k": 3, "exts": [".md"], "years": ["2024"]}),
    ("openFile", {"path": "zebra.md", "pointer": "lines 1-2", "before": 10, "after": 10}),
    ("listRoots", {}),
    ("indexFolder", {"root": "notes", "full": False, "priority": "low"}),
    (
        "summarizeResults",
        {"query": "tusks", "results": [{"path": "walrus.md", "snippet": "tusks"}]},
    ),
    ("rewriteQuery", {"query": "stripes in slides from 2021"}),
    ("searchLocalArchives", {"query": "acacia", "includeCitations": True, "citationDepth": 2}),
]
_OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("initialize", HANDSHAKE),
    ("server/discover", {}),
    ("ping", {}),
    ("tools/list", {"cursor": "x"}),
    ("resources/list", {"cursor": "eA=="}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "docs://zebra.md"}),
    ("prompts/list", {}),
    ("logging/setLevel", {"level": "debug"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}}),
    ("notifications/initialized", {}),
    ("notifications/cancelled", {"requestId": 3}),
    ("notifications/progress", {"progressToken": 1, "progress": 0.5}),
]
_ODD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        1.5,
        -0.0,
        1e308,
        2**31,
        2**53 + 1,
        2**63,
        -(2**63) - 1,
        10**400,
    ),
    *("", " ", "\0", "\n", "../../etc/passwd", "docs://", "notes", "stripes", "x" * 5000, "\ud800"),
    *("\u202e", "\ufeff", "a\u0301", "{}", '"', "%00", "true", "-stripes", '"stripes', "é" * 600),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": [1]}}, [1, "2", None], ["x"] * 300),
]
_TEXTS = [b"NaN", b"Infinity", b'"\\ud800"', b'"\\udc00\\ud800"', b"1e999", b"-", b"01", b"'x'"]
_DEEP = [40, 600, 30_000]


class Mutations:
    """Gives frames, sound and broken, by chance; the same ones for the same seed."""

    def __init__(self, seed: int, era: str) -> None:
        self.chance = random.Random(seed)
        self._era = era
        self._last = 0

    def sound(self, document: str, number: str) -> dict[str, Any]:
        """Return a call whose answer is known: it names the document with this word."""
        arguments = {"query": WORDS[document]}
        return self._frame("tools/call", {"name": "search_docs", "arguments": arguments}, number)

    def _frame(self, method: str, params: dict[str, Any], number: Any) -> dict[str, Any]:
        if self._era == MODERN:
            params = {**params, "_meta": META}
        frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if method.startswith("notifications/"):
            del frame["id"]
        return frame

    def real(self) -> dict[str, Any]:
        """Return a frame as a client might send it."""
        self._last += 1
        if self.chance.random() < 0.6:
            name, arguments = self.chance.choice(_CALLS)
            return self._frame("tools/call", {"name": name, "arguments": arguments}, self._last)
        method, params = self.chance.choice(_OTHERS)
        return self._frame(method, params, self._last)

    def broken(self) -> bytes:
        """Return a frame with one to three things wrong with it, on one line."""
        frame: Any = json.loads(json.dumps(self.real()))
        for _ in range(self.chance.choice((0, 1, 1, 2, 3))):
            frame = self.chance.choice(_IN_TREE)(self.chance, frame)
        raw = json.dumps(frame, ensure_ascii=self.chance.random() < 0.5)
        data = raw.encode("utf-8", "surrogatepass")
        if self.chance.random() < 0.5:
            data = self.chance.choice(_IN_BYTES)(self.chance, data)
        return data.replace(b"\n", b" ").replace(b"\r", b" ") or b"x"


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a tree."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        found.append((value, key))
        if isinstance(item, (dict, list)):
            found += _places(item)
    return found


def _replace(chance: random.Random, frame: Any) -> Any:
    places = _places(frame) if isinstance(frame, (dict, list)) else []
    if not places or chance.random() < 0.02:
        return deepcopy(chance.choice(_ODD))
    container, key = chance.choice(places)
    container[key] = deepcopy(chance.choice(_ODD))
    return frame


def _remove(chance: random.Random, frame: Any) -> Any:
    places = _places(frame) if isinstance(frame, (dict, list)) else []
    if places:
        container, key = chance.choice(places)
        del container[key]
    return frame


def _add(chance: random.Random, frame: Any) -> Any:
    inner = [c[k] for c, k in (_places(frame) if isinstance(frame, (dict, list)) else [])]
    containers = [each for each in (frame, *inner) if isinstance(each, dict)]
    if containers:
        name = chance.choice(("limit", "querry", "_meta", "id", "cursor", "name", "\0", "x" * 300))
        chance.choice(containers)[name] = deepcopy(chance.choice(_ODD))
    return frame


def _rename(chance: random.Random, frame: Any) -> Any:
    places = _places(frame) if isinstance(frame, (dict, list)) else []
    named = [(c, k) for c, k in places if isinstance(c, dict)]
    if named:
        container, key = chance.choice(named)
        container[str(key).swapcase() + chance.choice(("", "s", "\u00e9"))] = container.pop(key)
    return frame


def _misspell(chance: random.Random, frame: Any) -> Any:
    """Ask for a method, tool or document that is nearly one that there is."""
    places = _places(frame) if isinstance(frame, (dict, list)) else []
    texts = [(c, k) for c, k in places if isinstance(c[k], str) and c[k]]
    if texts:
        container, key = chance.choice(texts)
        text = container[key]
        at = chance.randrange(len(text))
        container[key] = text[:at] + chance.choice(("", "x", "/", "_", "\u00e9")) + text[at + 1 :]
    return frame


def _flip(chance: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        made[chance.randrange(len(made))] = chance.randrange(256)
    return bytes(made)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(1, len(data) + 1)]


def _repeat(chance: random.Random, data: bytes) -> bytes:
    """Say a stretch twice, which makes keys and braces come twice."""
    first = chance.randrange(len(data))
    last = chance.randrange(first, len(data))
    return data[:last] + data[first:last] + data[last:]


def _key_twice(chance: random.Random, data: bytes) -> bytes:
    key = chance.choice((b"id", b"method", b"jsonrpc", b"params", b"name"))
    value = chance.choice((b"null", b"7", b'"seven"', b"{}", b"[]", b'"ping"', b'"2.0"'))
    return data.replace(b"{", b'{"%s":%s,' % (key, value), 1)


def _other_text(chance: random.Random, data: bytes) -> bytes:
    """Put what is no JSON, or half a character, in place of a number or text."""
    at = data.find(b":", chance.randrange(len(data))) + 1
    return data[:at] + chance.choice(_TEXTS) + data[at + chance.randrange(4) :]


def _nest(chance: random.Random, data: bytes) -> bytes:
    depth = chance.choice(_DEEP)
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    inner = chance.choice((b"1", data))
    nested = opening * depth + inner + closing * chance.choice((depth, 0))
    if chance.random() < 0.5:
        return b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":' + nested + b"}}"
    return nested


_IN_TREE: list[Callable[[random.Random, Any], Any]] = [
    *(_replace, _replace, _remove, _add, _rename, _misspell)
]
_IN_BYTES: list[Callable[[random.Random, bytes], bytes]] = [
    *(_flip, _flip, _cut, _repeat, _key_twice, _other_text, _nest)
]


def id_of(frame: bytes) -> Any:
    """Return the id that an answer to a frame may bear: its own, if it has a sound one."""
    try:
        value = json.loads(frame.decode())
    except (ValueError, RecursionError):
        return None
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, (str, int)) and not isinstance(found, bool) else None
