"""What the indices of a library hold, by kind, and of which version that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bookwheel.engines.base import Field
from bookwheel.errors import IndexUnusable
from bookwheel.text.words import ANALYSIS_VERSION

SCHEMA_VERSION = 1
STATE, DOCUMENTS, TEXTS, PAGES, PASSAGES, WORDS = KINDS = (
    "state",
    "documents",
    "texts",
    "pages",
    "passages",
    "words",
)
_VERSION = re.compile(r"-v([0-9]+)(?:\.([0-9]+))?$")
_VECTORS = re.compile("vectors-[0-9a-f]{12}")
ANALYSED = (PAGES, PASSAGES, WORDS)
"""What depends on how texts are cut into terms."""
COPIED = (DOCUMENTS, TEXTS)
"""What no other index has: it comes over into a new schema as it is."""
_KEYWORD: Mapping[str, Any] = {"type": "keyword"}
_FIXED: Mapping[str, Any] = {"type": "keyword", "doc_values": False}
_LONG: Mapping[str, Any] = {"type": "long"}
_KEPT: Mapping[str, Any] = {"type": "object", "enabled": False}
"""Stored and given back, never looked into."""


def _terms(options: str) -> dict[str, Any]:
    return {"type": "text", "analyzer": "terms", "index_options": options}


_WORDS_OF: Mapping[str, Any] = {
    Field.TITLE: _terms("freqs"),
    Field.HEADING: _terms("freqs"),
    Field.BODY: _terms("freqs"),
    Field.NAMES: _terms("freqs"),
    Field.EXACT: _terms("positions"),
    Field.HIDDEN: _terms("docs"),
}
MAPPINGS: Mapping[str, Mapping[str, Any]] = {
    STATE: {"properties": {"data": _KEPT}},
    DOCUMENTS: {
        "properties": {
            "key": _LONG,
            "collection": _KEYWORD,
            "path": _KEYWORD,
            "folder": _KEYWORD,
            "extension": _KEYWORD,
            "language": _KEYWORD,
            "status": _KEYWORD,
            "chunks": _LONG,
            "model": _KEYWORD,
            "generation": _LONG,
            "names": _LONG,
            "cites": _LONG,
            "may_cite": _LONG,
            "anchors": {"type": "boolean"},
            "kept": _KEPT,
        }
    },
    TEXTS: {"properties": {"document": _LONG, "generation": _LONG, "kept": _KEPT}},
    PAGES: {
        "_source": {"includes": ["document", "generation"]},
        "properties": {
            "document": _LONG,
            "generation": _LONG,
            "collection": _KEYWORD,
            "extension": _FIXED,
            "folder": _FIXED,
            "tag": _FIXED,
            "year": _FIXED,
            "same_title": _FIXED,
            "date": _LONG,
            **_WORDS_OF,
        },
    },
    PASSAGES: {
        "_source": {"includes": ["document", "generation", "ordinal", "kept"]},
        "properties": {
            "document": _LONG,
            "generation": _LONG,
            "ordinal": _LONG,
            "kept": _KEPT,
            **{name: made for name, made in _WORDS_OF.items() if name != Field.TITLE},
        },
    },
    WORDS: {
        "properties": {
            "field": _KEYWORD,
            "word": _KEYWORD,
            "length": _LONG,
            "generation": _LONG,
        }
    },
}
ANALYSIS: Mapping[str, Any] = {
    "tokenizer": {"blanks": {"type": "whitespace", "max_token_length": 8_000}},
    "analyzer": {"terms": {"type": "custom", "tokenizer": "blanks"}},
}
SIMILARITY: Mapping[str, Any] = {"default": {"type": "LegacyBM25", "k1": 1.2, "b": 0.75}}
"""With the factor k1 + 1, as the embedded engine has it: bonuses weigh the same."""


def is_kind(name: str) -> bool:
    """Tell our kinds from the indices of a library whose prefix begins with ours."""
    return name in KINDS or _VECTORS.fullmatch(name) is not None


def refuse_foreign(name: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise IndexUnusable for an index that has our name, but not our fields."""
    fields = found.get("properties", {})
    for field, ours in wanted["properties"].items():
        theirs = fields.get(str(field), {"type": "missing"})
        for part in ("type", "dimension"):
            if part in ours and theirs.get(part, "object") != ours[part]:
                raise IndexUnusable(
                    f"The index {name} is not one of Bookwheel's, or was changed: "
                    f"its field {field} is {theirs.get(part)}, not {ours[part]}.",
                    hint="Give the address another prefix, or delete that index if none needs it.",
                )


def refuse_newer(names: Iterable[str]) -> None:
    """Raise IndexUnusable for an index that a newer version has made.

    Indexers are upgraded one after the other: each would build anew what the other has built.
    """
    for name in names:
        if version_of(name) > (SCHEMA_VERSION, ANALYSIS_VERSION):
            raise IndexUnusable(
                f"The index {name} was made by a newer Bookwheel.",
                hint="Upgrade this one. Search works meanwhile.",
            )


def version_of(name: str) -> tuple[int, int]:
    """Return the versions of schema and analysis that the name of an index carries."""
    version = _VERSION.search(name)
    return (int(version[1]), int(version[2] or 0)) if version else (0, 0)


def version_for(kind: str) -> str:
    """Return the version of what this program writes, as the name of an index carries it."""
    return f"v{SCHEMA_VERSION}.{ANALYSIS_VERSION}" if kind in ANALYSED else f"v{SCHEMA_VERSION}"
