"""Known-item quality: does a page come back for its own title, misspelt title, rare word, words?

A page counts when its lower-cased title is unique and has at least two words of three letters.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.S)
_MACRO = re.compile(r"\{\{.*?\}\}", re.S)
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_LETTERS = re.compile(r"[A-Za-z]+")
_LONG_WORDS = re.compile(r"\b[a-z]{5,}\b")


@dataclass(frozen=True, slots=True)
class Page:
    """A page with what queries are made from."""

    document: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """How often the page was first, among the first ten, and how many answers were empty."""

    queries: int
    hit1: float
    hit10: float
    mrr: float
    empty: int


def eligible(pages: Iterable[Page]) -> list[Page]:
    """Return the pages with a unique title of at least two words of three letters."""
    every = list(pages)
    titles = Counter(page.title.lower() for page in every)
    return [
        page
        for page in every
        if titles[page.title.lower()] == 1
        and sum(len(word) >= 3 for word in _LETTERS.findall(page.title)) >= 2
    ]


def exact_title(page: Page, _: random.Random) -> str:
    """The title as it stands."""
    return page.title


def swapped_letter(page: Page, _: random.Random) -> str:
    """The title with two letters swapped in the middle of its longest word."""
    word = max(_LETTERS.findall(page.title), key=len)
    return page.title.replace(word, swap_middle(word), 1)


def swap_middle(word: str) -> str:
    """The word with two neighbours swapped that differ, as near to its middle as there are any."""
    places = sorted(range(1, len(word)), key=lambda at: abs(at - len(word) // 2))
    at = next((at for at in places if word[at] != word[at - 1]), 0)
    return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] if at else word


def one_edit(word: str, rng: random.Random) -> str:
    """The word with one letter inserted, deleted, replaced or swapped, anywhere."""
    edited = word
    while edited == word:
        edited = _edit(word, rng)
    return edited


def _edit(word: str, rng: random.Random) -> str:
    letter = rng.choice(string.ascii_lowercase)
    at = rng.randrange(len(word))
    kind = rng.choice(("insert", "delete", "replace", "swap"))
    if kind == "insert":
        return word[:at] + letter + word[at:]
    if kind == "delete":
        return word[:at] + word[at + 1 :]
    if kind == "replace":
        return word[:at] + letter + word[at + 1 :]
    at = min(at, len(word) - 2)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def rare_words(pages: Sequence[Page]) -> dict[str, str]:
    """Return for each page that has one its rarest title word of five letters or more."""
    titles = Counter(word for page in pages for word in set(_LETTERS.findall(page.title.lower())))
    rare = {}
    for page in pages:
        words = [w for w in _LETTERS.findall(page.title.lower()) if len(w) >= 5 and titles[w] == 1]
        if words:
            rare[page.document] = max(words, key=len)
    return rare


def six_words(page: Page, rng: random.Random) -> str | None:
    """Six words of five letters or more out of the first 3,000 characters of prose."""
    prose = _FRONT_MATTER.sub("", page.text)
    prose = _LINK_TARGET.sub("]", _MACRO.sub(" ", _CODE.sub(" ", prose)))[:3000]
    words = sorted(set(_LONG_WORDS.findall(prose)))
    return " ".join(rng.sample(words, 6)) if len(words) >= 6 else None


def measure(search: Callable[[str], Sequence[str]], queries: Iterable[tuple[str, str]]) -> Score:
    """Ask each query and look where its page stands in the answer."""
    ranks = [rank(search(query), document) for query, document in queries]
    return score(ranks)


def rank(answer: Sequence[str], document: str) -> int | None:
    """Return where a document stands in an answer, 0 where it does not; None for no answer."""
    if not answer:
        return None
    return answer.index(document) + 1 if document in answer else 0


def score(ranks: Sequence[int | None]) -> Score:
    """Return how good ranks are, each as `rank` gives it."""
    total = max(1, len(ranks))
    found = [rank for rank in ranks if rank and rank <= 10]
    return Score(
        len(ranks),
        sum(rank == 1 for rank in found) / total,
        len(found) / total,
        sum(1 / rank for rank in found) / total,
        sum(rank is None for rank in ranks),
    )


def queries(pages: Sequence[Page], count: int, seed: int = 7) -> dict[str, list[tuple[str, str]]]:
    """Return the four kinds of queries, each with the page that it must find."""
    rng = random.Random(seed)
    sample = rng.sample(pages, min(count, len(pages)))
    rare = rare_words(pages)
    having = [page for page in pages if page.document in rare]
    edited = rng.sample(having, min(count, len(having)))
    worded = ((six_words(page, rng), page.document) for page in rng.sample(pages, len(pages)))
    return {
        "exact title": [(exact_title(page, rng), page.document) for page in sample],
        "one swapped letter": [(swapped_letter(page, rng), page.document) for page in sample],
        "rare word, one edit": [
            (one_edit(rare[page.document], rng), page.document) for page in edited
        ],
        "six body words": [(query, page) for query, page in worded if query][:count],
    }
