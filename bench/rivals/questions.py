"""What all programs are asked: known items drawn from the Markdown files of a folder.

Titles are read here, by no program of the comparison: from the front matter, else the first
heading, else the name of the file.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from bench.known_items import Page, eligible, queries

IDENTIFIERS = "identifier"
KINDS = ("exact title", "one swapped letter", "six body words", IDENTIFIERS)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)
_HEADING = re.compile(r"^#\s+(.+?)\s*#*$", re.M)
_IDENTIFIER = re.compile(
    r"@?\b[A-Za-z]\w*(?:(?:\.|::|-|_)\w+)+(?:\(\))?"  # tabs.get(), text-indent, std::sort
    r"|\b[a-z]+[A-Z]\w+(?:\(\))?"  # camelCase
)
_ADDRESS = re.compile(
    r"(?<=\])\([^)\s]*(?:\s[^)]*)?\)"  # of a link
    r"|^\[[^\]]+\]:\s.*$"  # of links that stand apart
    r"|\b(?:href|src)\s*=\s*[\"'][^\"']*[\"']"
    r"|\bhttps?://[^\s>)\"'`]+",
    re.M,
)
_COMPOUND = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_PLAIN = set("abcdefghijklmnopqrstuvwxyz0123456789.-")
_MACRO = re.compile(r"\{\{.*?\}\}", re.S)
_SHORTEST, _LONGEST = 6, 40

Asked = tuple[str, str]
"""A query and the document that it must find."""


def read_pages(docs: Path) -> list[Page]:
    """Return the Markdown files of a folder with their titles."""
    found = []
    for path in sorted(docs.rglob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = path.relative_to(docs).as_posix()
        found.append(Page(name, title_of(text) or path.stem, text))
    return found


def title_of(text: str) -> str:
    """Return the title that a Markdown file gives itself; empty when it has none."""
    if front := _FRONT_MATTER.match(text):
        try:
            fields = yaml.safe_load(front[1])
        except yaml.YAMLError:
            fields = None
        if isinstance(fields, dict) and fields.get("title"):
            return str(fields["title"]).strip()
    heading = _HEADING.search(text)
    return heading[1] if heading else ""


def draw(pages: Sequence[Page], count: int, seed: int) -> dict[str, list[Asked]]:
    """Return so many queries of each kind; the same for the same folder and seed."""
    known = queries(eligible(pages), count, seed)
    known[IDENTIFIERS] = _draw_identifiers(pages, count, random.Random(seed))
    return {kind: known[kind] for kind in KINDS}


def _draw_identifiers(pages: Sequence[Page], count: int, rng: random.Random) -> list[Asked]:
    """Return identifiers, each of another page, that are no part of what other pages hold."""
    texts = [page.text.lower() for page in pages]
    named = sorted(identifiers(pages).items())
    drawn: list[Asked] = []
    for document, names in rng.sample(named, len(named)):
        name = rng.choice(names)
        bare = name.removesuffix("()").lower()
        if sum(bare in text for text in texts) == 1:
            drawn.append((name, document))
        if len(drawn) == count:
            break
    return drawn


def identifiers(pages: Sequence[Page]) -> dict[str, list[str]]:
    """Return for each page the identifiers that stand in no other page, in any case of letters.

    They are taken from text and code; where links lead, and the front matter, is read by some
    programs and not by others.
    """
    whole = (page.text for page in pages)
    pages_with = Counter(key for text in whole for key in dict(_named(text)))
    only: dict[str, list[str]] = {}
    for page in pages:
        for key, name in sorted(dict(_named(visible(page.text))).items()):
            if pages_with[key] == 1 and not _is_words(name):
                only.setdefault(page.document, []).append(name)
    return only


def visible(text: str) -> str:
    """Return the text of a page without its front matter, macros and addresses."""
    return _ADDRESS.sub(" ", _MACRO.sub(" ", _FRONT_MATTER.sub("", text)))


def _named(text: str) -> Iterator[tuple[str, str]]:
    for name in _IDENTIFIER.findall(text):
        # A mark of emphasis that follows a full stop is no part of a name.
        if _SHORTEST <= len(name) <= _LONGEST and not name.endswith("_"):
            yield name.removesuffix("()").lower(), name


def _is_words(name: str) -> bool:
    """Whether it is rather prose or a file: `CPU-intensive`, `example.com`, `photo.png`."""
    return bool(_COMPOUND.fullmatch(name)) or (name.islower() and set(name) <= _PLAIN)
