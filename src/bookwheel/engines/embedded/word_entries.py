"""What the word index holds: the fields of its entries, and how a document becomes some.

There is one entry for a page and one for each of its chunks, in two indexes.
"""

from __future__ import annotations

from typing import NamedTuple

import tantivy

from bookwheel.engines.asking import day_number, folder_terms, same_titles
from bookwheel.engines.base import Field
from bookwheel.model import PageTerms, PassageTerms
from bookwheel.text.entries import BORDER, years_in_name
from bookwheel.text.words import normal_title

MARK = -1
"""The document of the entry that names the generation."""
NOBODY = -2
_TOGETHER = 500
"""Chunks whose terms are handed over together: of most documents all."""


class Entry(NamedTuple):
    """What the word index needs to know of one document."""

    key: int
    collection: str
    path: str
    extension: str
    title: str
    tags: tuple[str, ...]
    date: str
    terms: PageTerms


def schema_of(kind: str) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # Signed: deleting by a term of an unsigned field silently deletes nothing.
    builder.add_integer_field("document", indexed=True, fast=True)
    builder.add_integer_field("ordinal", fast=True)
    for field in (Field.TITLE, Field.HEADING, Field.BODY, Field.NAMES):
        builder.add_text_field(field, tokenizer_name="terms", index_option="freq")
    builder.add_text_field(Field.EXACT, tokenizer_name="terms", index_option="position")
    builder.add_text_field(Field.HIDDEN, tokenizer_name="terms", index_option="basic")
    if kind == "pages":
        for name in ("collection", "extension", "folder", "tag", "year", "same_title"):
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
        builder.add_integer_field("date", indexed=True, fast=True)
    return builder.build()


def passage_entry(key: int, ordinal: int, passage: PassageTerms) -> tantivy.Document:
    chunk = tantivy.Document()
    chunk.add_integer("document", key)
    chunk.add_integer("ordinal", ordinal)
    chunk.add_text(Field.HEADING, passage.heading)
    chunk.add_text(Field.BODY, passage.body)
    chunk.add_text(Field.EXACT, passage.exact)
    chunk.add_text(Field.NAMES, passage.names)
    if passage.hidden:
        chunk.add_text(Field.HIDDEN, passage.hidden)
    return chunk


class PageText:
    """The terms of a page's text, put together from those of its chunks, unless they are given."""

    def __init__(self, terms: PageTerms) -> None:
        # The title counts as text too: a word of it then gains less from its field alone.
        self._bodies = [terms.title]
        # A term that no query holds keeps phrases from running on from the title into the text.
        self._exact = [terms.title_exact, BORDER]
        self._names = [terms.title_names]
        self._is_given = terms.text is not None
        if terms.text is not None:
            self._take(terms.text)

    def add(self, passage: PassageTerms, page: tantivy.Document) -> None:
        if self._is_given:
            return
        self._take(passage)
        if len(self._bodies) >= _TOGETHER:
            self._hand_over(page)

    def _take(self, passage: PassageTerms) -> None:
        self._bodies.append(passage.body)
        self._exact.append(passage.exact)
        self._names.append(passage.names)

    def finish(self, page: tantivy.Document) -> None:
        """Hand over what is left, and the words in their order, which must be one text."""
        self._hand_over(page)
        words, self._exact = "".join(self._exact), []
        page.add_text(Field.EXACT, words)

    def _hand_over(self, page: tantivy.Document) -> None:
        page.add_text(Field.BODY, "".join(self._bodies))
        page.add_text(Field.NAMES, "".join(self._names))
        self._bodies, self._names = [], []


def page_entry(entry: Entry) -> tantivy.Document:
    """Return the entry of a page, without the terms of its text."""
    terms = entry.terms
    page = tantivy.Document()
    page.add_integer("document", entry.key)
    page.add_integer("ordinal", 0)
    page.add_text("collection", entry.collection)
    page.add_text("extension", entry.extension)
    for folder in folder_terms(entry.path):
        page.add_text("folder", folder)
    for tag in map(normal_title, entry.tags):
        if tag not in terms.private:
            page.add_text("tag", tag)
    for year in {*terms.years, *years_in_name(entry.path)}:
        page.add_text("year", year)
    page.add_integer("date", day_number(entry.date))
    for called in same_titles(entry.title, entry.path, terms.private):
        page.add_text("same_title", called)
    page.add_text(Field.TITLE, terms.title)
    page.add_text(Field.HEADING, terms.headings)
    if terms.hidden:
        page.add_text(Field.HIDDEN, terms.hidden)
    return page
