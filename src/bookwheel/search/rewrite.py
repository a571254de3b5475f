"""A question as an expression for search, by rules: `vendor NEAR/5 contract AND (2021)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from bookwheel.search.wishes import filters_in_words, years_in_words
from bookwheel.text.language import filler_words

LONGEST_EXPRESSION = 1000
_GAP = 5
_MOST_NEAR = 3
"""So many words that follow each other are looked for near each other; of more, each by itself."""
_MOST_ASKED = 6
"""Of more pieces than this, hardly a document has all."""
_MOST_YEARS = 10
"""Of more years than this, an expression says nothing; the filter does."""
_MOST_FILTERED = 100
_PIECE = re.compile(
    r'(?<!\S)(?P<sign>-?)(?:["“”„](?P<quoted>[^"“”„]*)["“”„](?=[.,;:!?)]*(?:\s|$))|(?P<word>\S+))'
)
_EDGES = "\"'“”„’.,;:!?()[]{}<>*`…«»"
_OPERATOR = re.compile(r"(?<!\S)\(*(?:AND|OR|NOT|NEAR(?:/\d+)?)(?!\S)")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
"""A year dates a document as a whole: it need not stand near the words."""
_UNWANTED_YEAR = re.compile(
    r"(?<!\S)(?:but\s+)?(?:not|except|without|excluding|other\s+than)\s+(?:(?:for|the|those|ones)\s+)*"
    r"(?:(?:from|in|of|dated)\s+)?(?P<year>(?:19|20)\d\d)(?=[.,;?!]?(?:\s|$))(?!\s*(?:-|–|to\b))",
    re.I,
)
_RESERVED = frozenset({"and", "or", "not", "near"})
_LEADS = frozenset(
    {"find", "show", "list", "get", "give", "search", "look", "for", "me", "us", "all", "any"}
    | {"the", "my", "our", "some", "please", "need", "want", "i", "can", "could", "you", "we"}
    | {"would", "like", "every", "which", "where", "what", "are", "is"}
)
_KINDS = frozenset(["document", "documents", "file", "files", "doc", "docs"])
_LINKS = frozenset(
    ["about", "on", "regarding", "concerning", "mentioning", "containing", "covering", "with"]
)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Rewritten(NamedTuple):
    """An expression, the filters that the question stated, and what was done."""

    expression: str
    extensions: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Group(NamedTuple):
    """Pieces that follow each other in the question."""

    pieces: list[str]

    def join(self) -> str:
        if len(self.pieces) <= _MOST_NEAR:
            return f" NEAR/{_GAP} ".join(self.pieces)
        return " AND ".join(self.pieces)


def rewrite(text: str, today: date, language: str = "en") -> Rewritten:
    """Return a question as an expression; never raises, and never gives an empty one for words."""
    clean = " ".join(_UNSEEN.sub(" ", text).split())[:LONGEST_EXPRESSION]
    wishes = filters_in_words(clean, today)
    notes = list(wishes.notes)
    years = years_in_words(wishes, today)[-_MOST_FILTERED:]
    if _OPERATOR.search(wishes.text):
        expression = tidy(wishes.text)
        notes.append("the query is an expression already")
    else:
        said_plainly = _UNWANTED_YEAR.sub(r"-\g<year>", wishes.text)
        expression, said = _express(said_plainly, language)
        notes += said
    if wishes.removed and 0 < len(years) <= _MOST_YEARS:
        first = f"({expression})" if " OR " in expression else expression
        expression = f"{first} AND ({' OR '.join(years)})"
    return Rewritten(expression, wishes.filters.extensions, years, tuple(notes))


def tidy(expression: str) -> str:
    """Return an expression without quotes and brackets that have no other half."""
    line = " ".join(_UNSEEN.sub(" ", expression).split())
    if len(line) > LONGEST_EXPRESSION:
        line = line[:LONGEST_EXPRESSION].rpartition(" ")[0]
    if len(re.findall('["“”„]', line)) % 2:
        line = re.sub('["“”„]', "", line)
    depth, lowest = 0, 0
    for letter in re.sub('["“”„][^"“”„]*["“”„]', "", line):
        depth += (letter == "(") - (letter == ")")
        lowest = min(lowest, depth)
    if depth or lowest < 0:
        line = line.replace("(", " ").replace(")", " ")
    return " ".join(line.split())


def _express(text: str, language: str) -> tuple[str, list[str]]:
    groups, excluded = _groups(text, language)
    joined = [group.join() for group in groups]
    pairs = [group.pieces for group in groups if 2 <= len(group.pieces) <= _MOST_NEAR]
    notes = [f"NEAR/{_GAP} pairs {_listed(pieces)}" for pieces in pairs]
    pieces = [piece for group in groups for piece in group.pieces]
    if len(pieces) > _MOST_ASKED:
        joined = [" OR ".join(pieces)]
        notes = [f"OR, since few documents have all {len(pieces)} words"]
    made = " AND ".join(joined)
    if excluded and len(pieces) > _MOST_ASKED:
        made = f"({made})"
    return " ".join([made, *(f"NOT {piece}" for piece in excluded)]).strip(), notes


def _groups(text: str, language: str) -> tuple[list[_Group], list[str]]:
    """Return what is asked for, in groups between empty words, and what must not be there."""
    pieces = list(_PIECE.finditer(text))
    empty = _LINKS | filler_words(language)
    telling = [
        each for each in _after_lead(pieces) if not _is_empty(each, empty) and _written(each)
    ]
    groups: list[_Group] = []
    excluded: list[str] = []
    last = -2
    for at, found in enumerate(pieces):
        piece = _written(found)
        if not piece or found not in (telling or pieces):
            continue
        if found["sign"]:
            excluded.append(piece)
        elif groups and at == last + 1 and found["word"] and not _YEAR.fullmatch(piece):
            groups[-1].pieces.append(piece)
        else:
            groups.append(_Group([piece]))
        joins = found["word"] and not found["sign"] and not _YEAR.fullmatch(piece)
        last = at if joins else -2
    return groups, excluded


def _after_lead(pieces: Sequence[re.Match[str]]) -> Sequence[re.Match[str]]:
    """Return what follows words such as `find me all documents about`."""
    at = 0
    while at < len(pieces) and _bare(pieces[at]) in _LEADS:
        at += 1
    if at < len(pieces) - 1 and _bare(pieces[at]) in _KINDS and _bare(pieces[at + 1]) in _LINKS:
        at += 2
    return pieces[at:]


def _is_empty(found: re.Match[str], empty: frozenset[str]) -> bool:
    return bool(found["word"]) and not found["sign"] and _bare(found) in empty


def _bare(found: re.Match[str]) -> str:
    return (found["word"] or "").strip(_EDGES).lower()


def _written(found: re.Match[str]) -> str:
    """Return a piece as an expression has it: a word, or in quotes what is more or less."""
    if found["quoted"] is not None:
        quoted = " ".join(found["quoted"].split())
        return f'"{quoted}"' if any(map(str.isalnum, quoted)) else ""
    word = re.sub('["“”„]', "", found["word"]).strip(_EDGES)
    if not any(map(str.isalnum, word)):
        return ""
    if _PLAIN_WORD.fullmatch(word) and word.lower() not in _RESERVED:
        # In capitals on both sides of it, AND would be taken for one more word that is shouted.
        return word.lower() if word.isupper() and len(word) > 1 else word
    return f'"{word}"'


def _listed(pieces: Sequence[str]) -> str:
    quoted = [f"'{piece}'" if piece[0] != '"' else piece for piece in pieces]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
