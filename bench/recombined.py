"""Documents by the hundred thousand out of the real ones: their parts, put together anew.

Each document has a page as its ground and sections and sentences of pages that lie near it in the
tree, in another order. Names in code are crossed with names of other pages, so that new words keep
coming as they do in a growing collection. One number gives one document, always the same.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bookwheel.formats.registry import read
from bookwheel.text.chunking import chunk

_NEIGHBOURS = 40
_IN_A_FOLDER = 200
FOLDERS = 23
"""At the top, so that a filter by one of them leaves few documents."""
_MOST_COINED = 4
_HEADING = re.compile(r"^(?=## )", re.M)
_TITLE = re.compile(r"^(?:title:|#) +[\"']?(.+?)[\"']?$", re.M)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)
_BLOCK = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|(?:^[^\n]+\n?(?!```))+", re.M | re.S)
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z`*_\[])")
_NAME = re.compile(r"\b[a-z]{3,}(?:[A-Z][a-z]{2,})+\b")
_HUMP = re.compile(r"[A-Z]?[a-z]+")


@dataclass(frozen=True, slots=True)
class Page:
    """A real page in parts; a section is its heading and its paragraphs."""

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    names: tuple[str, ...]


def split(text: str, stem: str) -> Page:
    """Take a Markdown file apart."""
    titled = _TITLE.search(text)
    body = _FRONT.sub("", text)
    sections = []
    for part in _HEADING.split(body):
        heading, _, rest = part.partition("\n") if part.startswith("## ") else ("", "", part)
        paragraphs = tuple(each.strip("\n") for each in _BLOCK.findall(rest) if each.strip())
        if paragraphs:
            sections.append((heading, paragraphs))
    names = tuple(dict.fromkeys(_NAME.findall(body)))
    return Page(titled[1] if titled else stem, tuple(sections), names)


class Recombined:
    """All documents that can be made out of some folders."""

    def __init__(self, folders: Sequence[str], seed: int) -> None:
        self._folders = folders
        self._seed = seed

    @cached_property
    def pages(self) -> list[Page]:
        """The real pages, in the order of their paths: near ones are about the same."""
        files = [path for each in self._folders for path in sorted(Path(each).rglob("*.md"))]
        pages = (split(file.read_text("utf-8", "replace"), file.stem) for file in files)
        return [page for page in pages if page.sections]

    @cached_property
    def _humps(self) -> list[str]:
        names = {name for page in self.pages for name in page.names}
        return sorted({hump for name in names for hump in _HUMP.findall(name)}) or ["Name"]

    def document(self, number: int, edition: int = 0) -> tuple[str, str]:
        """Return the path and the text of one document; of another edition, other text."""
        rng = random.Random(f"{self._seed} {number} {edition}")
        ground = random.Random(f"{self._seed} {number}").randrange(len(self.pages))
        near = [self._near(rng, ground) for _ in range(rng.randint(1, 3))]
        title = f"{self.pages[ground].title} and {rng.choice(near).title}, part {number}"
        sections = self._sections(rng, self.pages[ground], near)
        text = "\n\n".join([f"---\ntitle: {json.dumps(title)}\n---", *sections]) + "\n"
        return self.place(number), self._coin(rng, text)

    @staticmethod
    def place(number: int) -> str:
        """Return the path of a document."""
        folder, place = divmod(number, _IN_A_FOLDER)
        return f"{folder % FOLDERS:02}/{folder:05}/page-{place:03}.md"

    def _near(self, rng: random.Random, place: int) -> Page:
        other = place + rng.randint(-_NEIGHBOURS, _NEIGHBOURS)
        return self.pages[other % len(self.pages)]

    def _sections(self, rng: random.Random, ground: Page, near: list[Page]) -> list[str]:
        every = [(ground, each) for each in ground.sections]
        every += [(page, each) for page in near for each in page.sections]
        chosen = rng.sample(every, max(1, min(len(every), round(1.4 * len(ground.sections)))))
        spare = [text for page in near for _, texts in page.sections for text in texts]
        made = []
        for _, (heading, paragraphs) in chosen:
            order = rng.sample(paragraphs, len(paragraphs))
            made.append("\n\n".join([heading, *(_cross(rng, each, spare) for each in order)]))
        return made

    def _coin(self, rng: random.Random, text: str) -> str:
        """Give some of the names in a text another part."""
        names = sorted(set(_NAME.findall(text)))
        for name in rng.sample(names, min(len(names), rng.randint(0, _MOST_COINED))):
            humps = _HUMP.findall(name)
            humps[rng.randrange(1, len(humps))] = rng.choice(self._humps).capitalize()
            text = text.replace(name, "".join(humps))
        return text

    def documents_for(self, chunks: int) -> int:
        """Return how many documents, from the first on, have at least so many chunks."""
        made, number = 0, 0
        while made < chunks:
            text = self.document(number)[1]
            made += sum(1 for _ in chunk(read(text.encode(), "page.md")))
            number += 1
        return number

    def write(self, folder: Path, numbers: Iterator[int] | range, edition: int = 0) -> list[str]:
        """Write documents below a folder; return their paths."""
        paths = []
        for number in numbers:
            path, text = self.document(number, edition)
            place = folder / path
            if not number % _IN_A_FOLDER or not place.parent.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            paths.append(path)
        return paths


def _cross(rng: random.Random, paragraph: str, spare: Sequence[str]) -> str:
    """Return prose in another order, now and then with a sentence of another page."""
    if "\n" in paragraph or not spare:  # code, lists and tables stay as they are
        return paragraph
    sentences = _SENTENCE.split(paragraph)
    rng.shuffle(sentences)
    other = rng.choice(spare)
    if rng.random() < 0.5 and "\n" not in other:
        sentences[rng.randrange(len(sentences))] = rng.choice(_SENTENCE.split(other))
    return " ".join(sentences)
