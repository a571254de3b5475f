"""Filters that a query states in words: file types, years, folders and collections.

By rules, without a model. These are careful: a word that may be what somebody looks for stays a
word. Quoted phrases and exclusions are never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from datetime import date
from typing import NamedTuple

from bookwheel.query import Filters, Place
from bookwheel.search.negation import ends_negated
from bookwheel.search.wish_words import (
    END,
    EXTENSIONS,
    FOLDER,
    KEPT_AS_IT_IS,
    LAST_RUN,
    LAST_TYPE,
    NO_TYPE_AFTER,
    RELATIVE_YEAR,
    TOKEN,
    TRIED,
    TYPE_WITHIN,
    TYPES,
    TYPES_ALONE,
    WORK,
    YEARS,
    Span,
    types_of,
)

_OLDEST = 1900
_TOPICAL = 1990
"""A year before it that merely stands behind `in` is more likely history than a file's date."""
_MOST_YEARS = 100
_LONGEST = 500
"""A longer text is no question that states filters."""


class Wishes(NamedTuple):
    """What a query states as filters, and what is left of it to look for."""

    filters: Filters
    text: str
    notes: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    """The years named, one by one, where both ends of the span are."""
    removed: tuple[str, ...] = ()
    """The parts of the query that are not in `text` any more."""
    kinds: tuple[str, ...] = ()
    """What each note is about: years, folders or types."""
    is_all: bool = False
    """Whether nothing else is said: `text` is then the whole query, which may be its own topic."""

    def notes_beside(self, given: Container[str]) -> list[str]:
        """Return the notes; those of a kind that the request itself gives say so."""
        return [
            f"{note}, but the request itself names {kind}" if kind in given else note
            for note, kind in zip(self.notes, self.kinds, strict=True)
        ]


def filters_in_words(text: str, today: date, places: Sequence[Place] = ()) -> Wishes:
    """Return the filters that a query states; `places` are those there are. Never raises."""
    return _read(text, today, places, _find_types)


def guess_filters(text: str, today: date, places: Sequence[Place] = ()) -> Wishes | None:
    """Return the same with a type that may be meant (`budget in Excel`, `budget slides`), if any.

    Only where the above finds none: it may as well be what is looked for, which a search can tell.
    """
    wishes = _read(text, today, places, _guess_types)
    return wishes if wishes.filters.extensions else None


def _read(
    text: str,
    today: date,
    places: Sequence[Place],
    find_types: Callable[[_Reading], tuple[str, ...]],
) -> Wishes:
    if len(text) > _LONGEST:
        return Wishes(Filters(), text)
    reading = _Reading(text)
    span = _find_years(reading, today)
    folders, within = _find_places(reading, places)
    reading.hide_names()
    types = find_types(reading)
    filters = Filters(
        extensions=types,
        folders=folders,
        within=within,
        date_from=f"{span[0]:04}-01-01" if span[0] else None,
        date_to=f"{span[1]:04}-12-31" if span[1] else None,
    )
    first, last = span
    years = tuple(range(first, last + 1)[:_MOST_YEARS]) if first and last else ()
    left = reading.left()
    if not reading.removed or not any(map(str.isalnum, left)):  # nothing else to look for
        is_all = bool(reading.removed)
        return Wishes(filters, text, tuple(reading.notes), years, (), tuple(reading.kinds), is_all)
    removed, kinds = tuple(reading.removed), tuple(reading.kinds)
    return Wishes(filters, left, tuple(reading.notes), years, removed, kinds)


def add_wishes(explicit: Filters, wished: Filters) -> Filters:
    """Return filters that were given, and of those in words what they leave open."""
    dated = explicit.date_from or explicit.date_to
    within = tuple(
        place
        for place in wished.within
        if not explicit.collections or place[0] in explicit.collections
    )
    return explicit._replace(
        extensions=explicit.extensions or wished.extensions,
        folders=explicit.folders or wished.folders,
        within=explicit.within or (within if not explicit.folders else ()),
        years=explicit.years or (() if dated else wished.years),
        date_from=explicit.date_from if dated else wished.date_from,
        date_to=explicit.date_to if dated else wished.date_to,
    )


def years_in_words(wishes: Wishes, today: date) -> tuple[str, ...]:
    """Return every year of the span that a query states, this year being the last."""
    since, until = wishes.filters.date_from, wishes.filters.date_to
    if not since and not until:
        return ()
    first = int(since[:4]) if since else _OLDEST
    last = int(until[:4]) if until else max(first, today.year)
    return tuple(str(year) for year in range(first, last + 1))


def with_years_written(wishes: Wishes, today: date) -> Filters:
    """Return the filters of a query, its years as those that a file's name or text has."""
    years = years_in_words(wishes, today)
    return wishes.filters._replace(years=years, date_from=None, date_to=None)


class _Reading:
    """A query from which parts are taken; what must stay as it is cannot be seen."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.seen = KEPT_AS_IT_IS.sub(lambda found: "\0" * len(found[0]), text.replace("\1", " "))
        self.notes: list[str] = []
        self.kinds: list[str] = []
        self.removed: list[str] = []

    def hide_names(self) -> None:
        """Hide names of files that hold a word for a type, as `mail.eml` does: it is none there."""
        self.seen = TOKEN.sub(_hide_type_in_name, self.seen)

    def take(self, found: re.Match[str], kind: str, meaning: str) -> None:
        """Take a part out, and note what it is taken for."""
        start, end = found.span()
        part = " ".join(self.text[start:end].split())
        self.removed.append(self.text[start:end].replace("\1", " "))
        self.seen = self.seen[:start] + "\1" * (end - start) + self.seen[end:]
        self.text = self.text[:start] + "\1" * (end - start) + self.text[end:]
        self.kinds.append(kind)
        self.notes.append(f"{' '.join(part.replace(chr(1), ' ').split())!r} taken as {meaning}")

    def is_wish(self, start: int) -> bool:
        """Tell whether what begins here is wanted: turned round, it would hide what is."""
        return not ends_negated(self.seen[:start])

    def left(self) -> str:
        """Return what was not taken."""
        return " ".join(self.text.replace("\1", " ").split())


def _hide_type_in_name(found: re.Match[str]) -> str:
    is_name = not TYPES_ALONE.fullmatch(found[0]) and TYPE_WITHIN.search(found[0])
    return "\0" * len(found[0]) if is_name else found[0]


def _find_years(reading: _Reading, today: date) -> Span:
    """Take the first span of years out, in whichever of the known ways it is put."""
    for pattern, span in YEARS:
        for found in pattern.finditer(reading.seen):
            numbers = [int(number) for number in found.groupdict().values()]
            first, last = span(numbers[0], numbers[-1])
            if _is_date(found[0], numbers, today) and reading.is_wish(found.start()):
                reading.take(found, "years", _describe(first, last))
                return first, last
    relative = RELATIVE_YEAR.search(reading.seen)
    if relative is None or not reading.is_wish(relative.start()):
        return None, None
    year = today.year - (relative["which"].lower() == "last")
    reading.take(relative, "years", _describe(year, year))
    return year, year


def _is_date(part: str, years: Sequence[int], today: date) -> bool:
    """Tell years that files can have from other numbers, and from history."""
    oldest = _TOPICAL if part.lower().startswith("in") and len(years) == 1 else _OLDEST
    return all(oldest <= year <= today.year + 1 for year in years) and years[0] <= years[-1]


def _describe(first: int | None, last: int | None) -> str:
    if first == last:
        return f"the year {first}"
    if first and last:
        return f"the years {first} to {last}"
    return f"from {first} on" if first else f"up to {last}"


def _find_places(
    reading: _Reading, places: Sequence[Place]
) -> tuple[tuple[str, ...], tuple[Place, ...]]:
    """Take the first place out that there is; one without the word `folder` needs an end behind it.

    Return its folders; where a collection has the name too, that and these as places instead.
    """
    for found in FOLDER.finditer(reading.seen):
        name = found["name"].strip("/").casefold()
        whole = [place for place in places if not place[1] and place[0].casefold() == name]
        same = [place for place in places if place[1] and place[1].casefold() == name]
        same = same or [place for place in places if place[1].casefold().endswith(f"/{name}")]
        said = found["noun"] or re.search(r"folder|directory|under|below", found[0], re.I)
        if name.lstrip(".").removesuffix("s") in EXTENSIONS and not said:
            continue  # a type, though a folder is called after it
        if not reading.is_wish(found.start()):
            continue
        if (whole or same) and (said or _ends(reading.seen, found.end())):
            folders = tuple(dict.fromkeys(folder for _, folder in same))
            meant = [f"the collection {collection}" for collection, _ in whole]
            meant += [f"the folder {', '.join(folders)}"] * bool(folders)
            reading.take(found, "folders", " or ".join(meant))
            return ((), (*whole, *same)) if whole else (folders, ())
    return (), ()


def _ends(text: str, place: int) -> bool:
    """Tell whether a part of the question ends here."""
    return END.match(text, place) is not None


def _find_types(reading: _Reading) -> tuple[str, ...]:
    """Take the first words for types out that can be nothing else where they stand."""
    for pattern in TYPES:
        found = pattern.search(reading.seen)
        if found and _is_wanted(reading, found):
            return _take_types(reading, found)
    found = LAST_TYPE.search(reading.seen)
    if (
        found
        and found["before"].lower() not in NO_TYPE_AFTER
        and not WORK.search(reading.seen)
        and _is_wanted(reading, found)
    ):
        last = LAST_RUN.search(reading.seen, found.start("run"))
        return _take_types(reading, last) if last else ()
    return ()


def _guess_types(reading: _Reading) -> tuple[str, ...]:
    """Take words out that may be for types, unless somebody works on such files."""
    for pattern in TRIED:
        found = pattern.search(reading.seen)
        if found and _is_wanted(reading, found):
            beside = f"{reading.seen[: found.start()]} {reading.seen[found.end() :]}"
            return () if WORK.search(beside) else _take_types(reading, found)
    return ()


def _is_wanted(reading: _Reading, found: re.Match[str]) -> bool:
    return reading.is_wish(found.start()) and reading.is_wish(found.start("run"))


def _take_types(reading: _Reading, found: re.Match[str]) -> tuple[str, ...]:
    types = types_of(found["run"])
    reading.take(found, "types", f"the type {' or '.join(types)}")
    return types
