"""What may be asked of the library and what it answers, as frozen values."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from bookwheel.model import Redact, SafeText

Place = tuple[str, str]
"""The name of a collection with a folder in it, or with an empty text for all of it."""
Places = tuple[Place, ...]


class SearchIn(StrEnum):
    """Which part of a document must hold the words."""

    BOTH = "both"
    TITLE = "title"
    CONTENT = "content"


class SearchMode(StrEnum):
    """By what pages are found: their words, their meaning, or both."""

    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class Rerank(StrEnum):
    """Which model looks at the first hits again."""

    NONE = "none"
    MINILM = "minilm"


class Filters(NamedTuple):
    """What a hit must fulfil whatever its words; never relaxed."""

    collections: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None
    within: Places = ()
    """Any of these places."""
    years: tuple[str, ...] = ()
    """Any of these years must stand in the file's name, its title or its text."""


class Scope(NamedTuple):
    """What one caller may see."""

    within: Places | None = None
    """The places open to them, as in the filters; None for every collection."""
    redact: Redact = Redact.OFF
    """What is taken out at the least, whatever the collections ask for."""
    previews: bool = False
    """Short previews only, of every collection."""


EVERYTHING = Scope()


_REACHES = (25, 100, 400, 1000)
WORDS_ALONE = "words alone were compared"
"""How a note begins that says why meaning was left out."""


class SearchRequest(NamedTuple):
    """One question, resolved: nothing in it is left to check."""

    text: str
    filters: Filters = Filters()
    search_in: SearchIn = SearchIn.BOTH
    limit: int = 10
    offset: int = 0
    fuzzy: bool = True
    exacting: bool = False
    """Find nothing where no document has some telling word of the question."""
    mode: SearchMode = SearchMode.HYBRID
    max_distance: float | None = None
    """Hits whose passage is farther from the question (1 - cosine) are left out."""
    rerank: bool | None = None
    """Look at the first hits again, with a better model; None: as the settings have it."""
    snippet_length: int = 240
    """About; 0 asks for no snippets, since the passage is enough."""
    window: int = 0
    """So many pages are weighed against each other whatever the offset, and the others follow as
    their words put them: then pages of an answer fit together. 0: as many as the answer needs."""
    anything: bool = False
    """Where no word is asked for, whatever meets the filters is wanted; else nothing is."""

    @property
    def reach(self) -> int:
        """How many places of the order count for this page of the answer, and for those like it.

        What is weighed against each other sets the scale, so that pages fit together that have it
        in common.
        """
        end = self.offset + self.limit
        return next((reach for reach in _REACHES if end <= reach), end)


class Snippet(NamedTuple):
    """Text around the best place, with the spans (in characters) of the words that matched."""

    text: SafeText
    marks: tuple[tuple[int, int], ...] = ()
    cut_before: bool = False
    cut_after: bool = False


class SearchHit(NamedTuple):
    """One document of the answer with its best passage."""

    collection: str
    document: str
    title: SafeText
    heading: SafeText
    trail: tuple[SafeText, ...]
    pointer: str
    start_line: int
    end_line: int
    snippet: Snippet
    passage: SafeText
    """The whole text of the chunk that the snippet is cut from."""
    score: float
    matched_in: SearchIn
    extension: str
    date: str
    modified_ns: int
    chunk: int
    chunks: int
    language: str = ""
    word_score: float | None = None
    """The share that its words have in the above, 0 to 1; None where words alone were compared."""
    rank_score: float = 0.0
    """What the order of the answer comes from; comparable within one answer only."""
    similarity: float | None = None
    """How near the passage is in meaning, as a cosine; None where only words were compared."""
    near_words: float | None = None
    """How near its words come to those of a long question, 1 at most; None: not looked at."""
    second_look: float | None = None
    """The cosine that a second look gave it; None where there was none."""


class SearchResults(NamedTuple):
    """The answer: hits in order, how many there may be, and what was relaxed to find them."""

    query: str
    hits: tuple[SearchHit, ...]
    total: int
    relaxed: tuple[str, ...]
    suggestions: tuple[str, ...]
    unreadable: int
    files: int
    """All files in the scope of the filters by collection, type and folder, readable or not."""
    remarks: tuple[str, ...] = ()
    """What of the request was not done, or not all of it."""

    @property
    def respelt(self) -> str:
        """Say which words were also taken for others; nothing if none was."""
        notes = [note for note in self.relaxed if " also as " in note]
        return f"Note: {'; '.join(notes)}." if notes else ""

    @property
    def without_meaning(self) -> str:
        """Say why words alone were compared; nothing if they were not, or were asked for."""
        notes = [note for note in self.relaxed if note.startswith(WORDS_ALONE)]
        return f"Note: {'; '.join(notes)}." if notes else ""

    @property
    def caution(self) -> str:
        """Say how much of what was searched could not be read; nothing if all could."""
        if not self.unreadable:
            return ""
        return f"{self.unreadable:,} of {self.files:,} files in scope could not be read."
