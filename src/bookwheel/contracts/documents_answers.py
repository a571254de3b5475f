"""What the answers of the `documents` tools are made of, in the words of their clients."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

from pydantic_core import to_json

from bookwheel.contracts.tool import Reply
from bookwheel.model import Collection, Document
from bookwheel.query import SearchHit, SearchResults
from bookwheel.reading.documents import TextPart, quoted
from bookwheel.reading.sections import SectionText
from bookwheel.safety.redact import make_safe
from bookwheel.view import View

NOTHING_FOUND = "No results found for the given query."
_MOST_NOTES = 5
LONGEST_SECTION = 50_000
"""Characters of a section that one answer holds."""
_MOST_CONTENT = 50_000
"""Characters of passages that one answer holds whole."""
_EXCERPT = 200
_HEADING_LINE = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|(?:=+|-+)\s*$)", re.MULTILINE)


def reply_with(value: dict[str, Any], *, results: int = 1) -> Reply:
    """Answer an object, as bare JSON and as structured content."""
    return Reply(_dump(value), value, results=results)


def reply_with_list(name: str, items: list[dict[str, Any]]) -> Reply:
    """Answer a bare array, which as structured content must stand in an object."""
    return Reply(_dump(items), {name: items}, results=len(items))


def sendable(text: str) -> str:
    """Return what a client wrote without the halves of characters that cannot be sent back."""
    return text.encode("utf-8", "replace").decode()


def _dump(value: Any) -> str:
    return to_json(value).decode()


def known_collections(library: View) -> dict[str, Collection]:
    """Return the collections by name: as indexed, else as the operator states them."""
    indexed = [state.collection for state in library.states()]
    return {each.name: each for each in (*library.collections, *indexed)}


def name_collection(collection: Collection) -> dict[str, Any]:
    """Return what a collection is called: by its alias, if it has one, and then by name too."""
    if not collection.alias:
        return {"collection": collection.name}
    return {"collection": collection.alias, "collectionId": collection.name}


def describe_collection(collection: Collection, count: int) -> dict[str, Any]:
    """Return an entry of the list of collections."""
    about = name_collection(collection) | {"documentCount": count}
    for key, value in (("description", collection.description), ("version", collection.version)):
        if value:
            about[key] = make_safe(value)
    return about


def name_document(library: View, document: Document) -> dict[str, Any]:
    """Return what a document and its collection are called."""
    collection = known_collections(library)[document.collection]
    return name_collection(collection) | {"document": document.path}


def describe_remainder(part: TextPart) -> dict[str, Any]:
    """Return what is said about a text that was not given whole."""
    rest = part.next_offset
    if rest is None:
        return {"truncated": False, "totalChars": part.total} if part.offset else {}
    return {
        "truncated": True,
        "totalChars": part.total,
        "nextOffset": rest,
        "hint": f"{part.total - rest} of {part.total} characters remain: go on with offset {rest}, "
        "or see documents_get_outline and read one section with documents_get_section.",
    }


def cut_section(found: SectionText, whole: str) -> dict[str, Any]:
    """Return as many lines of a section as one answer holds, and how to read on."""
    shown = found.text[:LONGEST_SECTION]
    border = shown.rfind("\n", LONGEST_SECTION // 2)
    shown = shown[:border] if border > 0 else shown  # an endless line is cut where it must
    end_line = found.start_line + shown.count("\n")
    before = sum(len(line) + 1 for line in whole.split("\n")[: found.start_line - 1])
    rest = before + len(shown) + (border > 0)
    return {
        "content": shown,
        "endLine": end_line,
        "truncated": True,
        "totalChars": len(found.text),
        "nextOffset": rest,
        "hint": f"{len(found.text) - len(shown)} of the section's {len(found.text)} characters "
        f"remain: read a subsection, or go on with documents_get_document, offset {rest}.",
    }


def list_hits(
    library: View, hits: Sequence[SearchHit], *, document_key: str = "documentId"
) -> list[dict[str, Any]]:
    """Return hits with the fields that all search tools share."""
    collections = known_collections(library)
    # The trail leaves the title out, or looks below.
    above = [not hit.heading or _goes_on_into_a_section(hit.passage) for hit in hits]
    headings = iter(library.headings_above([*compress(hits, above)]))
    made = []
    for hit, is_above in zip(hits, above, strict=True):
        item = name_collection(collections[hit.collection])
        item |= {document_key: hit.document, "documentTitle": hit.title}
        heading = next(headings) if is_above else hit.heading
        if heading:
            item["sectionHeading"] = heading
        item |= {"content": hit.passage, "relevanceScore": hit.score, "distance": _distance(hit)}
        if hit.pointer and not hit.pointer.startswith("line"):
            item["pointer"] = hit.pointer
        if hit.chunk:
            item |= {"chunkIndex": hit.chunk, "totalChunks": hit.chunks}
        made.append(item)
    return made


def shorten(items: Iterable[dict[str, Any]]) -> str:
    """Leave the beginning of each passage beyond what one answer holds; say how to read it whole.

    None is left out: whoever asks for a hundred results gets a hundred.
    """
    room, cut = _MOST_CONTENT, []
    for item in items:
        room -= len(item["content"])
        if room < 0 and len(item["content"]) > _EXCERPT:
            item |= {"content": item["content"][:_EXCERPT].rstrip(), "truncated": True}
            cut.append(item)
    if not cut:
        return ""
    first = cut[0]
    place = {
        "collection": first["collection"],
        "document": first.get("documentId") or first["document"],
        "section": first.get("pointer") or first.get("sectionHeading") or first["documentTitle"],
    }
    return (
        f"This answer is long: of {len(cut)} results only the beginning is shown (truncated). Ask "
        f"for fewer, or read one whole: documents_get_section {_dump(place)}"
    )


def _distance(hit: SearchHit) -> float | None:
    """Return the cosine distance of a hit's passage; rounding never takes it below 0."""
    return None if hit.similarity is None else max(0.0, round(1 - hit.similarity, 4))


def _goes_on_into_a_section(passage: str) -> bool:
    """Tell whether a passage begins with plain text and has a heading further down."""
    first, _, rest = passage.partition("\n")
    return not first.lstrip().startswith("#") and _HEADING_LINE.search(rest) is not None


def explain_nothing(library: View, results: SearchResults, elsewhere: Iterable[SearchHit]) -> str:
    """Say that nothing was found, what was tried, and what is near, in other collections too."""
    sentences = [NOTHING_FOUND]
    if results.relaxed:
        sentences.append(make_safe(f"Tried: {'; '.join(results.relaxed[:_MOST_NOTES])}."))
    if results.suggestions:
        near = ", ".join(quoted(word) for word in results.suggestions)
        sentences.append(f"Near are {near}.")
    collections = known_collections(library)
    for hit in elsewhere:
        collection = name_collection(collections[hit.collection])["collection"]
        sentences.append(f"Collection {quoted(collection)} has {quoted(hit.document)}.")
    if results.caution:
        sentences.append(results.caution)
    sentences.append("documents_list_documents shows what there is.")
    return " ".join(sentences)
