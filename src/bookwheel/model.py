"""What the library holds: collections, documents, sections, chunks and links, as frozen values.

Offsets named `start` and `end` are byte offsets into the UTF-8 form of a document's text; lines
count from 1 and include both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple, NewType, Protocol

SafeText = NewType("SafeText", str)
"""Text that has passed the one door (safety.redact) and may be shown to a caller."""


class Status(StrEnum):
    """What became of a file; every file that could be a document has exactly one."""

    OK = "ok"
    NO_TEXT = "no_text"
    ENCRYPTED = "encrypted"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    BINARY = "binary"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    FAILED = "failed"


class Redact(StrEnum):
    """What is taken out of a text before anyone is shown it; each level holds the one before."""

    OFF = "off"
    SECRETS = "secrets"
    ALL = "all"

    def or_more(self, other: Redact) -> Redact:
        """Return the stricter of the two."""
        return max(self, other, key=list(Redact).index)


class Access(StrEnum):
    """How much of a document may be read: all of it, or short previews."""

    FULL = "full"
    PREVIEW = "preview"


class Span(NamedTuple):
    """A stretch of a text that must not be seen, and what it is."""

    start: int
    end: int
    kind: str


class Collection(NamedTuple):
    """One folder that the operator has allowed."""

    name: str
    path: str
    alias: str | None = None
    description: str | None = None
    version: str | None = None
    source: str | None = None
    language: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    access: str | None = None
    redact: str | None = None
    """These two as far as the operator stated them; the settings may ask for more."""
    root: str = ""
    """Its path as the operator wrote it, where that leads to `path` by a link; not kept."""
    stated: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """`include` and `exclude` as far as the operator stated them, without the folder's own; kept
    only where several machines share the index."""


class Section(NamedTuple):
    """A heading and what stands under it, deeper headings included."""

    level: int
    heading: str
    start: int
    end: int
    start_line: int
    end_line: int


class Place(NamedTuple):
    """Where a stretch of text lies in the words of the format: `page 3`, `slide 7`.

    Where it begins with a row of a table, each line of it is one row, counted from `row` on.
    """

    start: int
    label: str
    row: int = 0


class Link(NamedTuple):
    """A link as it stands in a document, with the sentence around it."""

    kind: str
    target: str
    text: str
    context: str
    line: int
    keys: tuple[int, ...] = ()
    """What it leads to, as text.targets has it; none where it cites nothing."""


class Citation(NamedTuple):
    """A link from one document to another, or to an address that is none of them."""

    source: int
    target: int | None
    link: Link


class Parsed(NamedTuple):
    """What a format reads out of a file's bytes."""

    title: str
    description: str
    text: str
    tags: tuple[str, ...] = ()
    author: str | None = None
    date: str | None = None
    language: str | None = None
    source: str | None = None
    url: str | None = None
    aliases: tuple[str, ...] = ()
    """What else it is called by: a DOI, an arXiv id, other titles and paths."""
    sections: Sequence[Section] = ()
    links: Sequence[Link] = ()
    places: Sequence[Place] = ()
    quiet: tuple[tuple[int, int], ...] = ()
    """Spans that stay readable but are left out of chunks: front matter, navigation, footers."""
    remark: str = ""
    """How much of the file is not in the text, which says where."""


class Chunk(NamedTuple):
    """What search ranks: a section, a part of one, or several small ones together."""

    ordinal: int
    start: int
    end: int
    start_line: int
    end_line: int
    trail: tuple[str, ...]
    pointer: str


class Document(NamedTuple):
    """One file of a collection as the catalogue knows it."""

    key: int
    collection: str
    path: str
    title: str
    description: str
    tags: tuple[str, ...]
    extension: str
    mime: str
    size: int
    modified_ns: int
    author: str
    date: str
    source: str
    language: str
    words: int
    characters: int
    chunks: int
    status: Status
    reason: str
    generation: int


class PassageTerms(NamedTuple):
    """What the word index holds of one chunk: terms joined by blanks."""

    heading: str
    body: str
    exact: str
    names: str
    hidden: str = ""
    """Marks of what stands here only where it is redacted."""


class PageTerms(NamedTuple):
    """What the word index holds of a whole document, and of each of its chunks.

    Of the document itself that is all its chunks hold, unless `text` says what.
    """

    title: str
    title_exact: str
    title_names: str
    headings: str
    passages: Sequence[PassageTerms]
    years: tuple[str, ...] = ()
    """The years that its title and text name."""
    hidden: str = ""
    """Marks of what stands in it only where it is redacted."""
    private: tuple[str, ...] = ()
    """Its title, tags and file's name where something in them is redacted: none is asked for."""
    text: PassageTerms | None = None
    """Of a long document: its words, of which those far from its beginning stand here once."""


class FileState(NamedTuple):
    """How a file looked when it was read: enough to tell whether it changed since."""

    size: int
    modified_ns: int
    digest: bytes
    racy: bool = False
    """Read so soon after its modification time that a later write might not show in it."""


class LongText(Protocol):
    """A text that is too long to be held in memory, read in pieces as often as need be."""

    @property
    def characters(self) -> int: ...

    def pieces(self) -> Iterator[bytes]: ...


class Draft(NamedTuple):
    """One file as the worker hands it to the engine: a document, or the reason why not."""

    collection: str
    path: str
    extension: str
    mime: str
    state: FileState
    status: Status
    reason: str = ""
    """Why there is no document, or what is left out of it."""
    parsed: Parsed | None = None
    date: str = ""
    source: str = ""
    language: str = ""
    words: int = 0
    chunks: Sequence[Chunk] = ()
    terms: PageTerms | None = None
    spans: Sequence[Span] = ()
    rules: str = ""
    """By which rules the spans were found."""
    names: tuple[int, ...] = ()
    """The keys of all that a link may call it by, as text.targets has them."""
    long: LongText | None = None
    """The text where `parsed` is without; all that there are many of is read in pieces too."""

    @property
    def characters(self) -> int:
        """How long the text is."""
        if self.long is not None:
            return self.long.characters
        return len(self.parsed.text) if self.parsed else 0

    def gather(self) -> Draft:
        """Return it with its text, for whoever cannot take that in pieces."""
        if self.long is None or self.parsed is None:
            return self
        text = b"".join(self.long.pieces()).decode()
        return self._replace(parsed=self.parsed._replace(text=text), long=None)


class Known(NamedTuple):
    """What the catalogue remembers of a file, for telling what changed."""

    key: int
    size: int
    modified_ns: int
    racy: bool
    digest: bytes
    status: Status


class Priority(IntEnum):
    """Which of several jobs comes first."""

    LOW = 0
    NORMAL = 1
    HIGH = 2


class JobState(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Counts(NamedTuple):
    """What indexing did so far; `done` of `total` files that have to be read."""

    indexed: int = 0
    skipped: int = 0
    """Files that are as they were, or that gave no text."""
    removed: int = 0
    done: int = 0
    total: int = 0


class Job(NamedTuple):
    """One folder of a collection to be indexed; `""` is the whole collection."""

    number: int
    collection: str
    folder: str
    full: bool
    priority: Priority
    state: JobState
    is_asked: bool
    """Whether a caller wants it; the others are what a process does of its own accord."""
    counts: Counts
    error: str
    """Why it failed, in words for the caller."""
    owner: int | None
    """The process that runs it or ran it last."""
    attempts: int
    asked_at: float
    started_at: float | None

    @property
    def is_finished(self) -> bool:
        return self.state in (JobState.DONE, JobState.FAILED)
