"""The folders that a run measures, their index made once, and queries drawn from their words."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bookwheel.engines.embedded import contents
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.place import DATABASE
from bookwheel.library import Library
from bookwheel.model import Document
from bookwheel.settings import Settings, load

WORD = re.compile(r"\b[a-z]{4,14}\b")
TEMPLATES = (
    "how to {} the {}",
    "how do I {} a {} with {}",
    "what is the {} of a {}",
    "why does {} not {} in {}",
    "{} {} and {} example",
    "difference between {} and {} {}",
    "can I use {} for {} without {}",
    "where to find {} when the {} is {}",
    "{} {} {} {}",
    "best way to {} {} in a {} using {}",
)
"""Between four and ten words with their gaps filled."""


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk with its own text, as another search engine would be given it."""

    title: str
    heading: str
    body: str


@dataclass
class Corpus:
    """What every figure works on; `work` is a folder of ours that may be filled.

    Indexing is measured `rounds` times, what is short `repeats` times, each stretch of load
    lasts `slice_seconds`.
    """

    folders: Sequence[str]
    work: Path
    queries: int = 120
    rounds: int = 3
    repeats: int = 15
    clients: int = 16
    slice_seconds: float = 3.0
    crowd: int = 64
    crowd_seconds: float = 60.0
    soak_minutes: float = 30.0
    many_chunks: int = 100_000
    """What is measured on many chunks gets at least so many, out of copies of the folders."""
    cluster_chunks: int = 1_000_000
    """What the cluster is loaded with, out of copies of the folders."""
    cluster_seconds: float = math.inf
    """Loading it ends after so long, whatever it was loaded with."""
    sizes: Sequence[int] = (10_000, 100_000)
    """Chunks at which it is measured how cost grows."""
    kept: Path | None = None
    """A folder of its own for what grows, where it stays; else it is thrown away."""
    drawing: Path | None = None
    """Where what grows is drawn."""
    seed: int = 7
    _opened: list[Library] = field(default_factory=list)

    @cached_property
    def index(self) -> Path:
        """Return the folder of the index, which is made at the first asking."""
        place = self.work / "index"
        with self.open(place) as library:
            library.update()
        return place

    def open(self, index: Path, folders: Sequence[str] = ()) -> Library:
        """Open the library of the folders with its index at a place."""
        return Library.open(settings_for(index), folders or self.folders)

    @cached_property
    def library(self) -> Library:
        """Return the library over the index, open until `close`."""
        library = self.open(self.index)
        self._opened.append(library)
        return library

    def close(self) -> None:
        """Close what was opened."""
        for library in self._opened:
            library.close()

    @cached_property
    def documents(self) -> list[Document]:
        """Return every document in the order of collections and paths."""
        engine = EmbeddedEngine(self.index / DATABASE)
        found: list[Document] = []
        for state in engine.collections():
            found += engine.list_documents(state.collection.name, limit=10**9, offset=0)[0]
        engine.close()
        return found

    @cached_property
    def chunks(self) -> int:
        """Return how many chunks the documents have."""
        return sum(document.chunks for document in self.documents)

    def rows(self) -> Iterator[Row]:
        """Yield the chunks of all documents with their text."""
        engine = self.library._store
        assert isinstance(engine, EmbeddedEngine)
        for document in self.documents:
            text = engine.text(document.key)
            for chunk in contents.read_chunks(engine._reader(), document.key):
                body = text[chunk.start : chunk.end].decode("utf-8", "replace")
                yield Row(document.title, " ".join(chunk.trail), body)

    @cached_property
    def questions(self) -> list[str]:
        """Return questions of four to ten words whose telling words stand in the documents."""
        rng = random.Random(self.seed)
        questions: list[str] = []
        while len(questions) < self.queries:
            template = rng.choice(TEMPLATES)
            words = self._sample_words(rng, template.count("{}"))
            question = template.format(*words)
            if 4 <= len(question.split()) <= 10:
                questions.append(question)
        return questions

    def _sample_words(self, rng: random.Random, count: int) -> list[str]:
        """Draw words as often as they stand in texts, all of one question from one document."""
        for _ in range(100):
            document = rng.choice(self.documents)
            text = self.library._store.text(document.key).decode("utf-8", "replace")
            words = WORD.findall(text)
            if len(set(words)) >= count:
                return rng.sample(words, count)
        return ["document"] * count


def settings_for(index: Path) -> Settings:
    """Return settings that depend on nothing but the place of the index."""
    return load({"index": str(index)}, use_start_folder=False, environment={})
