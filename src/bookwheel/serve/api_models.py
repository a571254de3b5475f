"""What programs ask of `/api` and what it answers, as OpenAPI describes it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from bookwheel.query import SearchMode

MOST_HITS = 100
MOST_LISTED = 1000
LONGEST_PART = 200_000


Year = Annotated[int, Field(ge=1, le=9999)]


class Asked(BaseModel):
    """The parameters of a request; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """A part of an answer, with names as JavaScript writes them."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


# What is asked


class SearchAsked(Asked):
    """A question and its filters."""

    q: str = Field(max_length=2000, description="Words, phrases in quotes, -excluded words")
    collection: tuple[str, ...] = Field((), description="Only these collections")
    type: tuple[str, ...] = Field((), description="Only these types, as `.pdf`")
    folder: tuple[str, ...] = Field((), description="Only what lies below these folders")
    year_from: Year | None = Field(None, description="Only documents of this year or later")
    year_to: Year | None = Field(None, description="Only documents of this year or earlier")
    mode: SearchMode = Field(SearchMode.HYBRID, description="By words, by meaning, or by both")


class PageOfHitsAsked(SearchAsked):
    """A question, and which of its hits are wanted."""

    limit: int = Field(10, ge=1, le=MOST_HITS, description="Hits in one answer")
    offset: int = Field(0, ge=0, le=900, description="Hits to leave out at the beginning")


class DocumentsAsked(Asked):
    """Which documents to list."""

    collection: str = Field(description="Name or alias of a collection")
    folder: str = Field("", description="Only what lies below this folder")
    limit: int = Field(100, ge=1, le=MOST_LISTED, description="Documents in one answer")
    offset: int = Field(0, ge=0, le=2**31, description="Documents to leave out at the beginning")


class DocumentAsked(Asked):
    """Which document is meant."""

    document: str = Field(min_length=1, max_length=5000, description="Path or docs:// address")
    collection: str | None = Field(None, description="Its collection, where there are several")


class TextAsked(DocumentAsked):
    """Which part of which document is wanted."""

    offset: int = Field(0, ge=0, le=2**31, description="Characters to leave out at the beginning")
    length: int = Field(
        20_000, ge=1, le=LONGEST_PART, description="Characters of text in one answer"
    )


class OutlineAsked(DocumentAsked):
    """How deep an outline is wanted."""

    depth: int = Field(3, ge=1, le=6, description="Deepest level of headings")


class SectionAsked(DocumentAsked):
    """Which section is wanted."""

    heading: str = Field(
        min_length=1, max_length=1000, description="A heading, or a trail `Guide > Install`"
    )
    subsections: bool = Field(True, description="Whether deeper sections are part of it")


class RelatedAsked(DocumentAsked):
    """How many related documents are wanted."""

    limit: int = Field(5, ge=1, le=50, description="Documents in the answer")


class GraphAsked(SearchAsked):
    """Around which documents the graph is wanted; with neither words nor document, that of all."""

    document: str | None = Field(
        None, min_length=1, max_length=5000, description="Path or docs:// address"
    )
    collection: tuple[str, ...] = Field(
        (), description="Of the document, or the only ones to find in"
    )
    q: str = Field("", max_length=2000, description="Around what these words find")
    depth: int = Field(1, ge=0, le=3, description="Citations to follow from there")
    outside: bool = Field(False, description="Whether addresses elsewhere are shown")
    most: int = Field(300, ge=1, le=1000, description="Most nodes")

    @property
    def filters(self) -> dict[str, object]:
        """What the words are looked for in, as the parameters that say so."""
        names = ("collection", "type", "folder", "year_from", "year_to")
        stated = {name: getattr(self, name) for name in names if getattr(self, name)}
        return stated | ({} if self.mode is SearchMode.HYBRID else {"mode": self.mode.value})


class NothingAsked(Asked):
    """Takes no parameters."""


# What is answered


class SnippetAnswer(Answer):
    """The text around a match."""

    text: str
    marks: list[tuple[int, int]] = Field(description="Where matched words begin and end")
    cut_before: bool
    cut_after: bool


class HitAnswer(Answer):
    """One document that was found, with its best passage."""

    collection: str
    document: str
    title: str
    heading: str
    trail: list[str] = Field(description="The headings above the passage")
    pointer: str = Field(description="The place in the words of the format, as `page 3`")
    line: int = Field(description="The line that fits best")
    start_line: int
    end_line: int
    snippet: SnippetAnswer
    score: float = Field(description="0 to 1, on one scale for all questions")
    extension: str
    date: str
    language: str
    address: str = Field(description="The docs:// address")
    url: str = Field(description="The page that shows the place")


class SearchAnswer(Answer):
    """What a question found."""

    query: str
    hits: list[HitAnswer]
    total: int
    relaxed: list[str] = Field(description="What was relaxed to find more")
    suggestions: list[str] = Field(description="Words that come near, where nothing was found")
    remarks: list[str]
    unreadable: int = Field(description="Files in scope that could not be read")
    files: int = Field(description="All files in scope")


class CountAnswer(Answer):
    """A value of a filter and how many of the documents found have it."""

    value: str
    count: int


class FacetsAnswer(Answer):
    """The values of the filters among what a question finds."""

    collections: list[CountAnswer]
    types: list[CountAnswer]
    years: list[CountAnswer]
    folders: list[CountAnswer]
    complete: bool = Field(description="False where only the best 1,000 matches were counted")


class DocumentEntry(Answer):
    """A document in a listing."""

    collection: str
    document: str
    title: str
    description: str
    tags: list[str]
    extension: str
    author: str
    date: str
    language: str
    words: int
    characters: int
    size: int
    address: str
    url: str


class DocumentsAnswer(Answer):
    """A page of a listing."""

    documents: list[DocumentEntry]
    total: int
    next_offset: int | None


class TextAnswer(DocumentEntry):
    """A document with its text or a part of it."""

    text: str = Field(description="Markdown")
    offset: int
    total_characters: int
    next_offset: int | None


class HeadingAnswer(Answer):
    """One line of an outline."""

    level: int
    text: str
    line: int


class OutlineAnswer(Answer):
    """The headings of a document."""

    collection: str
    document: str
    title: str
    headings: list[HeadingAnswer]


class SectionAnswer(Answer):
    """One section of a document."""

    collection: str
    document: str
    heading: str
    level: int
    text: str
    start_line: int
    end_line: int
    others: list[str] = Field(description="How more sections of this heading are asked for")


class RelatedAnswer(Answer):
    """Documents like one."""

    related: list[HitAnswer]


class NodeAnswer(Answer):
    """A document of the graph, or an address elsewhere."""

    id: str
    label: str
    collection: str | None
    document: str | None
    level: int = Field(description="How far it is from where one began")
    url: str | None


class EdgeAnswer(Answer):
    """A citation."""

    source: str
    target: str
    confidence: float = Field(description="1 for an explicit link, lower for what is likely one")


class GraphAnswer(Answer):
    """Who cites whom."""

    nodes: list[NodeAnswer]
    edges: list[EdgeAnswer]
    cut: bool = Field(description="Whether there is more of it")


class UnreadableEntry(Answer):
    """A file that gave no document."""

    document: str
    status: str
    reason: str


class SkippedEntry(Answer):
    """Files that were passed over."""

    reason: str
    extension: str
    files: int


class CollectionAnswer(Answer):
    """A collection and what is in it."""

    name: str
    alias: str | None
    description: str | None
    version: str | None
    documents: int
    types: list[CountAnswer]
    indexed_at: str | None = Field(description="When its folder was last looked through")
    unreadable: list[UnreadableEntry] = Field(description="At most 1,000 of them")
    unreadable_total: int
    skipped: list[SkippedEntry]


class IndexingAnswer(Answer):
    """How far an update of the index is."""

    done: int
    total: int


class StatusAnswer(Answer):
    """The state of the server and of all collections."""

    version: str
    ready: bool
    behind: bool = Field(description="Whether what changed cannot be indexed just now")
    indexing: IndexingAnswer | None
    semantic: bool = Field(description="Whether anything can be found by meaning")
    collections: list[CollectionAnswer]
    toolsets: dict[str, list[str]] = Field(description="The tools of each toolset served")


class ErrorBody(Answer):
    """What went wrong and what to do about it."""

    code: str
    message: str
    hint: str | None = None


class ErrorAnswer(Answer):
    """Any answer but a good one."""

    error: ErrorBody
