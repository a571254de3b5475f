"""The entries of a draft in the word indices: its page, each of its chunks, its vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bookwheel.engines.asking import day_number, folder_terms, same_titles
from bookwheel.engines.base import Field
from bookwheel.engines.opensearch import rows
from bookwheel.engines.opensearch.lexical import FILLER
from bookwheel.model import Chunk, Document, PageTerms
from bookwheel.text.entries import years_in_name
from bookwheel.text.words import normal_title

LARGEST_ENTRY = 40_000_000
"""Characters of terms that one entry may hold: a cluster takes no request above 100 MB."""
_LONGEST_WORD = 100
"""Longer ones are no words that anybody mistypes."""
_BORDER = f" {FILLER} "
Source = dict[str, Any]


def page_entry(document: Document, terms: PageTerms) -> Source:
    """Return the words of a page, and what filters ask for."""
    passages = terms.passages
    # The title counts as text too: a word of it then gains less from its field alone.
    words = {
        Field.TITLE: terms.title,
        Field.HEADING: terms.headings,
        Field.BODY: "".join([terms.title, *[each.body for each in passages]]),
        # A term that no query holds keeps phrases from running on from the title into the text.
        Field.EXACT: "".join([terms.title_exact, _BORDER, *[each.exact for each in passages]]),
        Field.NAMES: "".join([terms.title_names, *[each.names for each in passages]]),
    }
    asked = [text for text in map(normal_title, document.tags) if text not in terms.private]
    return {
        "document": document.key,
        "generation": document.generation,
        "collection": document.collection,
        "extension": document.extension,
        "folder": folder_terms(document.path),
        "tag": asked,
        "year": sorted({*terms.years, *years_in_name(document.path)}),
        "date": day_number(document.date),
        "same_title": same_titles(document.title, document.path, terms.private) or FILLER,
        **{name: _filled(text) for name, text in words.items()},
        Field.HIDDEN: terms.hidden,
    }


def passage_entries(
    document: Document, terms: PageTerms, chunks: Sequence[Chunk], data: bytes
) -> Iterator[tuple[str, Source]]:
    """Yield the id and the entry of each chunk."""
    for chunk, words in zip(chunks, terms.passages, strict=True):
        yield (
            f"{document.key}-{document.generation}-{chunk.ordinal}",
            {
                "document": document.key,
                "generation": document.generation,
                "ordinal": chunk.ordinal,
                Field.HEADING: _filled(words.heading),
                Field.BODY: _filled(words.body),
                Field.EXACT: _filled(words.exact),
                Field.NAMES: _filled(words.names),
                Field.HIDDEN: words.hidden,
                "kept": {**rows.from_chunk(chunk, data), "collection": document.collection},
            },
        )


def _filled(terms: str) -> str:
    """Return terms, or one that no query holds: all fields then count as many entries."""
    return terms if terms.strip() else FILLER


def words_of(terms: PageTerms) -> set[tuple[Field, str]]:
    """Return the vocabulary of a page: its words as written, and its stems."""
    exact = " ".join([terms.title_exact, *[each.exact for each in terms.passages]])
    stems = " ".join([terms.title, *[each.body for each in terms.passages]])
    found = {(Field.EXACT, word) for word in exact.split()}
    found |= {(Field.BODY, word) for word in stems.split()}
    return {each for each in found if len(each[1]) <= _LONGEST_WORD}


def word_entry(field: Field, word: str, generation: int) -> Source:
    """Return a word of the vocabulary, with when it was first met."""
    return {"field": field, "word": word, "length": len(word), "generation": generation}


def size_of(terms: PageTerms) -> int:
    """Return about how many characters the entry of a page holds."""
    texts = [terms.title, terms.headings, terms.hidden]
    texts += [text for each in terms.passages for text in each]
    return sum(map(len, texts))
