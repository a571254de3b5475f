"""Filters that a query states in words: file types, years, folders and collections.

By rules, without a model. These are careful: a word that may be what somebody looks for stays a
word. Quoted phrases and exclusions are never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from bookwheel.query import Filters, Place
from bookwheel.search.negation import ends_negated

_SLIDES = (".pptx", ".ppt", ".odp")
_SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_MAIL = (".eml", ".msg", ".mbox")
_MARKDOWN = (".md", ".markdown", ".mdx")
_EXTENSIONS: dict[str, tuple[str, ...]] = {
    "ppt": (".pptx", ".ppt"),
    "xls": (".xlsx", ".xls"),
    "doc": (".docx", ".doc"),
    "md": (".md", ".markdown"),
    **{
        name: (f".{name}",)
        for name in (
            *("pptx", "odp", "xlsx", "xlsm", "xlsb", "ods", "csv", "tsv"),
            *("docx", "odt", "rtf", "pdf", "epub", "eml", "mbox", "ipynb", "txt"),
        )
    },
}
"""Names of types that are no words otherwise; each may have a dot before it or an s behind."""
_KINDS: dict[str, tuple[str, ...]] = {
    "slides": _SLIDES,
    "slide deck": _SLIDES,
    "deck": _SLIDES,
    "presentation": _SLIDES,
    "powerpoint presentation": _SLIDES,
    "powerpoint file": _SLIDES,
    "powerpoint": _SLIDES,
    "spreadsheet": (*_SHEETS, ".csv"),
    "excel file": _SHEETS,
    "excel sheet": _SHEETS,
    "excel spreadsheet": _SHEETS,
    "excel workbook": _SHEETS,
    "word document": (".docx", ".doc"),
    "word doc": (".docx", ".doc"),
    "word file": (".docx", ".doc"),
    "email": _MAIL,
    "e-mail": _MAIL,
    "mail": _MAIL,
    "email message": _MAIL,
    "mail message": _MAIL,
    "notebook": (".ipynb",),
    "jupyter notebook": (".ipynb",),
    "ebook": (".epub",),
    "e-book": (".epub",),
    **{f"markdown {each}": _MARKDOWN for each in ("file", "document", "doc", "page", "note")},
    "asciidoc file": (".adoc", ".asciidoc"),
    "rst file": (".rst",),
    "org file": (".org",),
}
"""Words for types that mean other things too: they count as types in fewer places."""
_PAGES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("html page", "html file", "html document"), (".html", ".htm")),
    **dict.fromkeys(("web page", "webpage"), (".html", ".htm")),
    **dict.fromkeys(("text file", "plain text file"), (".txt",)),
}
"""Words for types that many texts are about: they count where a topic follows, else are tried."""


def _any(names: Iterable[str]) -> str:
    """Return a pattern for any of some names; the longest is tried first."""
    longest = sorted(names, key=lambda name: (-len(name), name))
    return "(?:" + "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest) + ")"


_GAP = r"[\s\x01]"
"""A space, or what was taken out."""
_PLAIN = rf"\.?{_any(_EXTENSIONS)}s?(?![\w-]|\.\w)(?:\s+(?:files?|documents?|docs)\b)?"
_PAGE = rf"(?<![\w.-]){_any(_PAGES)}s?\b"
_KIND = rf"(?:{_any(_KINDS)}s?\b|excel(?=\s+(?:or|and)\s))"
_ONE = rf"(?<![\w.-])(?:{_PLAIN}|{_KIND})"
_JOIN = r"(?:\s*,\s*(?:or\s+|and\s+)?|\s*/\s*|\s+(?:or|and)\s+|\s+)"
_RUN = rf"{_ONE}(?:{_JOIN}{_ONE})*"
_PLAIN_RUN = rf"(?<![\w.-]){_PLAIN}(?:{_JOIN}(?<![\w.-]){_PLAIN})*"
_MANY = rf"(?:{_any(each + 's' for each in _KINDS if not each.endswith('s'))}|slides)\b"
_PROGRAMS = {"word": (".docx", ".doc"), "excel": _SHEETS}
_PROGRAM = r"(?:word|excel|powerpoint)\b"
"""Names of programs, which are types beside others and before `files` or the like."""
_OR_PROGRAM = rf"(?:{_PLAIN}|{_MANY}|{_PROGRAM})"
_IN_RUN = (
    rf"(?:(?:{_PLAIN}|{_MANY})(?:{_JOIN}{_OR_PROGRAM})*"
    rf"|{_PROGRAM}(?:\s+(?:or|and)\s+{_OR_PROGRAM})+)"
)
_ABOUT = r"(?:about|on|regarding|concerning|mentioning|containing|covering)\b"
_GOES_ON = r"(?:in|from|since|between|before|after|under|last|this|by|with|that|which|where)\b"
_LEAD = (
    r"(?:find|show|list|get|give|search|look|for|me|us|all|any|a|an|the|my|our|some|please|need|want|"
    r"i)"
)
_TYPES = (
    # type:pdf, only slides, slides only
    re.compile(rf"(?<!\S)(?:file)?type:(?P<run>{_PLAIN})", re.I),
    re.compile(rf"\b(?:only|just){_GAP}+(?:in\s+)?(?P<run>{_RUN})", re.I),
    re.compile(rf"(?P<run>{_RUN})\s+only\b", re.I),
    # ... in ppt or docx
    re.compile(
        rf"\b(?:in|as)\s+(?:the\s+|my\s+|our\s+)?(?P<run>{_IN_RUN})"
        rf"(?={_GAP}*(?:$|[,.;?!)]|{_GOES_ON}|{_ABOUT})|\s*\x01)",
        re.I,
    ),
    # slides about ..., find all spreadsheets from ...
    re.compile(
        rf"\A{_GAP}*(?:{_LEAD}\s+)*(?P<run>{_RUN})"
        rf"(?:{_GAP}+{_ABOUT}|(?={_GAP}*(?:$|\x01|[,.;?!]))|(?=\s+{_GOES_ON}))",
        re.I,
    ),
    # web pages about ..., but not on ...
    re.compile(
        rf"\A{_GAP}*(?:{_LEAD}\s+)*(?P<run>{_PAGE}(?:{_JOIN}{_PAGE})*){_GAP}+(?!on\b){_ABOUT}(?=\s)",
        re.I,
    ),
    # excel files zebra
    re.compile(
        rf"\A{_GAP}*(?:{_LEAD}\s+)*(?P<run>{_PROGRAM}\s+"
        r"(?:files|documents|docs|sheets|spreadsheets|presentations|slides))(?=\s)",
        re.I,
    ),
)
_OF_PROGRAMS = re.compile("spread|excel|power|word|slide deck")
_OF_TEXTS = re.compile("markdown|html|web|text|plain|asciidoc|rst|org")
_LAST = rf"(?:{_PLAIN_RUN}|{_any(filter(_OF_PROGRAMS.match, _KINDS))}s?\b)"
"""What is a type as the last word too; an e-mail, a presentation or slides may be the topic."""
_LAST_TYPE = re.compile(rf"(?P<before>\S*)\s+(?P<run>{_LAST}){_GAP}*\Z", re.I)
_NO_TYPE_AFTER = frozenset(
    {"to", "into", "a", "an", "the", "of", "with", "or", "and", "as", "in", "from", "is", "are"}
    | {"what", "for", "than", "like", "not", "between", "versus", "vs"}
)
_WORK = re.compile(
    r"\b(?:how|convert\w*|merg\w*|pars\w*|read\w*|open\w*|export\w*|import\w*|creat\w*|writ\w*|"
    r"generat\w*|print\w*|extract\w*|edit\w*|sav\w*|split\w*|render\w*|support\w*|format\w*)\b",
    re.I,
)
"""Somebody who works on files of a type looks for texts about the type."""
_MAKER = r"(?:(?:ms|microsoft)\s+)?"
_FILE = r"(?:files?|documents?|docs?|sheets?|spreadsheets?|workbooks?|presentations?|slides|decks?)"
_FILES = rf"(?:{_any(each + 's' for each in _KINDS | _PAGES if _OF_TEXTS.match(each))})\b"
_NAMED = rf"(?:{_MAKER}{_PROGRAM}\s+{_FILE}|{_PLAIN}|powerpoints?|spreadsheets?|slide\s+decks?)\b"
_TRIED = (
    # ... in Word, as a PDF, in a spreadsheet, in Excel format
    re.compile(
        rf"\b(?:in|as)\s+(?:an?\s+|the\s+|my\s+|our\s+)?"
        rf"(?P<run>{_NAMED}|(?<!a\s){_MAKER}{_PROGRAM})(?:\s+(?:format|form))?"
        rf"(?={_GAP}*(?:$|[,.;?!)]|{_GOES_ON}|{_ABOUT})|\s*\x01)",
        re.I,
    ),
    # pdf of ..., a Word version of ..., the Excel with ...
    re.compile(
        rf"\A{_GAP}*(?:{_LEAD}\s+)*(?P<run>{_NAMED}|(?:{_MAKER}{_PROGRAM}|{_PLAIN})"
        rf"(?=\s+(?:version|copy)\b)|excel(?=\s+(?:with|about|containing)\b))"
        rf"(?:\s+(?:version|copy))?{_GAP}+(?:of|for|with|{_ABOUT})(?=\s)",
        re.I,
    ),
    # Word document zebra
    re.compile(rf"\A{_GAP}*(?:{_LEAD}\s+)*(?P<run>{_MAKER}{_PROGRAM}\s+{_FILE})(?=\s)", re.I),
    # markdown files zebra, zebra slides, zebra web pages
    re.compile(rf"\A{_GAP}*(?:{_LEAD}\s+)*(?P<run>{_FILES})(?=\s)", re.I),
    re.compile(rf"(?<=[^\s\x01])\s+(?P<run>slides|{_FILES}){_GAP}*\Z", re.I),
)
"""Where a word may name a type or be looked for itself: only a search can tell."""

_YEAR = r"(?P<{}>(?:19|20)\d\d)(?![\w.,]*\w)"
_NO_UNIT = (
    r"(?!\s*(?:[%$€£°]|(?:users?|people|words?|times|days?|hours?|minutes?|seconds?|steps?|rows?|"
    r"lines?|pages?|items?|dollars?|euros?|usd|eur|bytes?|[kmg]b|k?m|meters?|metres?|feet|ms|rpm|"
    r"calories|points?|records?|requests?|employees|customers)\b))"
)
_Range = tuple[int | None, int | None]
_TO = r"\s*(?:-|–|—|\bto\b|\buntil\b|\btill\b|\bthrough\b)\s*"


def _year(name: str) -> str:
    return _YEAR.format(name) + _NO_UNIT


_YEARS: tuple[tuple[re.Pattern[str], Callable[[int, int], _Range]], ...] = tuple(
    (re.compile(pattern, re.I), span)
    for pattern, span in (
        (rf"\bbetween\s+{_year('a')}\s+and\s+{_year('b')}", lambda a, b: (a, b)),
        (
            rf"\b(?:(?:from|in|of)\s+)?(?<![\w-]){_year('a')}{_TO}{_year('b')}(?!-)",
            lambda a, b: (a, b),
        ),
        (rf"\bsince\s+{_year('a')}", lambda a, _: (a, None)),
        (rf"\bfrom\s+{_year('a')}\s+(?:on|onwards?)\b", lambda a, _: (a, None)),
        (rf"\bafter\s+{_year('a')}", lambda a, _: (a + 1, None)),
        (rf"\bbefore\s+{_year('a')}", lambda a, _: (None, a - 1)),
        (rf"\b(?:until|up\s+to)\s+{_year('a')}", lambda a, _: (None, a)),
        (rf"\b(?:from|in|during|dated)\s+{_year('a')}(?!-)", lambda a, _: (a, a)),
    )
)
_RELATIVE_YEAR = re.compile(r"\b(?:from\s+|in\s+)?(?P<which>last|this)\s+year\b(?!['’])", re.I)
_OLDEST = 1900
_TOPICAL = 1990
"""A year before it that merely stands behind `in` is more likely history than a file's date."""
_MOST_YEARS = 100
_LONGEST = 500
"""A longer text is no question that states filters."""

_FOLDER = re.compile(
    r"\b(?:in|under|below|inside)\s+(?:the\s+)?(?:(?:folder|directory)\s+)?"
    r"(?P<name>[\w./-]*[\w/])(?P<noun>\s+(?:folder|directory)\b)?",
    re.I,
)
_TOKEN = re.compile(r"[\w./\\-]+")
"""A word with whatever is joined to it, as in the name of a file or a path."""
_TYPE = rf"(?:\.?{_any(_EXTENSIONS)}|{_any(_KINDS)}|{_PROGRAM})s?"
_TYPES_ALONE = re.compile(rf"{_TYPE}(?:/{_TYPE})*\.*", re.I)
_TYPE_WITHIN = re.compile(rf"(?<![^\W_]){_TYPE}(?![^\W_])", re.I)
_KEPT_AS_IT_IS = re.compile(r'-?"[^"]*"|-?[“„][^”“]*[”“]|(?<!\S)-\S+')


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
        self.seen = _KEPT_AS_IT_IS.sub(lambda found: "\0" * len(found[0]), text.replace("\1", " "))
        self.notes: list[str] = []
        self.kinds: list[str] = []
        self.removed: list[str] = []

    def hide_names(self) -> None:
        """Hide names of files that hold a word for a type, as `mail.eml` does: it is none there."""
        self.seen = _TOKEN.sub(_hide_type_in_name, self.seen)

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
    is_name = not _TYPES_ALONE.fullmatch(found[0]) and _TYPE_WITHIN.search(found[0])
    return "\0" * len(found[0]) if is_name else found[0]


def _find_years(reading: _Reading, today: date) -> _Range:
    """Take the first span of years out, in whichever of the known ways it is put."""
    for pattern, span in _YEARS:
        for found in pattern.finditer(reading.seen):
            numbers = [int(number) for number in found.groupdict().values()]
            first, last = span(numbers[0], numbers[-1])
            if _is_date(found[0], numbers, today) and reading.is_wish(found.start()):
                reading.take(found, "years", _describe(first, last))
                return first, last
    relative = _RELATIVE_YEAR.search(reading.seen)
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
    for found in _FOLDER.finditer(reading.seen):
        name = found["name"].strip("/").casefold()
        whole = [place for place in places if not place[1] and place[0].casefold() == name]
        same = [place for place in places if place[1] and place[1].casefold() == name]
        same = same or [place for place in places if place[1].casefold().endswith(f"/{name}")]
        said = found["noun"] or re.search(r"folder|directory|under|below", found[0], re.I)
        if name.lstrip(".").removesuffix("s") in _EXTENSIONS and not said:
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
    rest = rf"{_GAP}*(?:\Z|[,.;?!\x01]|{_GOES_ON}|{_ABOUT})"
    return re.match(rest, text[place:], re.I) is not None


def _find_types(reading: _Reading) -> tuple[str, ...]:
    """Take the first words for types out that can be nothing else where they stand."""
    for pattern in _TYPES:
        found = pattern.search(reading.seen)
        if found and _is_wanted(reading, found):
            return _take_types(reading, found)
    found = _LAST_TYPE.search(reading.seen)
    if (
        found
        and found["before"].lower() not in _NO_TYPE_AFTER
        and not _WORK.search(reading.seen)
        and _is_wanted(reading, found)
    ):
        start = re.compile(rf"(?P<run>{_LAST}){_GAP}*\Z", re.I)
        last = start.search(reading.seen, found.start("run"))
        return _take_types(reading, last) if last else ()
    return ()


def _guess_types(reading: _Reading) -> tuple[str, ...]:
    """Take words out that may be for types, unless somebody works on such files."""
    for pattern in _TRIED:
        found = pattern.search(reading.seen)
        if found and _is_wanted(reading, found):
            beside = f"{reading.seen[: found.start()]} {reading.seen[found.end() :]}"
            return () if _WORK.search(beside) else _take_types(reading, found)
    return ()


def _is_wanted(reading: _Reading, found: re.Match[str]) -> bool:
    return reading.is_wish(found.start()) and reading.is_wish(found.start("run"))


def _take_types(reading: _Reading, found: re.Match[str]) -> tuple[str, ...]:
    types = _types_of(found["run"])
    reading.take(found, "types", f"the type {' or '.join(types)}")
    return types


def _types_of(run: str) -> tuple[str, ...]:
    """Return the extensions of words for types; `ppt slides` is what is both."""
    types: list[str] = []
    for part in re.split(r",|/|\bor\b|\band\b", run, flags=re.I):
        sets = [_of(one[0]) for one in re.finditer(rf"{_ONE}|{_PROGRAM}|{_PAGE}", part, re.I)]
        every = [each for some in sets for each in some]
        both = [each for each in every if all(each in some for some in sets)]
        types += both or every
    return tuple(dict.fromkeys(types))


def _of(word: str) -> tuple[str, ...]:
    """Return the extensions of one word for a type."""
    name = " ".join(word.casefold().lstrip(".").split())
    for each in (name, name.removesuffix("s")):
        if named := (_KINDS | _PROGRAMS | _PAGES).get(each):
            return named
    first = name.split()[0]
    return _EXTENSIONS.get(first) or _EXTENSIONS.get(first.removesuffix("s")) or _SHEETS
