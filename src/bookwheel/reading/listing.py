"""Listings: the documents of a collection, of a folder in it or of a category, page by page."""

from __future__ import annotations

from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import BadRequest
from bookwheel.model import Document
from bookwheel.reading.documents import make_presentable, require_text

_MOST = 1000


class Page(NamedTuple):
    """One page of a listing."""

    documents: list[Document]
    total: int
    offset: int

    @property
    def has_more(self) -> bool:
        return self.offset + len(self.documents) < self.total


def list_documents(
    engine: Engine, collection: str, folder: str, *, limit: int, offset: int
) -> Page:
    """List the documents of a collection or of a folder in it, in the order of their paths."""
    _check_page(limit, offset)
    require_text(folder)
    found, total = engine.list_documents(
        collection, folder=folder, limit=min(limit, _MOST), offset=offset
    )
    return Page([make_presentable(each) for each in found], total, offset)


def list_category(
    engine: Engine, collection: str, category: str, *, limit: int, offset: int
) -> Page:
    """List the documents of one category of a collection."""
    from bookwheel.reading.categories import pick_category, read_categories

    paths = pick_category(read_categories(engine, collection), category)
    _check_page(limit, offset)
    found = (engine.document(collection, path) for path in paths[offset : offset + limit])
    documents = [make_presentable(each) for each in found if each is not None]
    return Page(documents, len(paths), offset)


def _check_page(limit: int, offset: int) -> None:
    if limit < 1 or offset < 0:
        raise BadRequest("The limit counts from 1 and the offset from 0.")
