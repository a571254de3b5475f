"""What is taken for a filter in a question: words for types, spans of years, names of folders.

Vocabulary and patterns only; how a question is read with them is in `wishes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_SLIDES = (".pptx", ".ppt", ".odp")
_SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_MAIL = (".eml", ".msg")
_MARKDOWN = (".md", ".markdown", ".mdx")
EXTENSIONS: dict[str, tuple[str, ...]] = {
    "ppt": (".pptx", ".ppt"),
    "xls": (".xlsx", ".xls"),
    "doc": (".docx", ".doc"),
    "md": (".md", ".markdown"),
    **{
        name: (f".{name}",)
        for name in (
            *("pptx", "odp", "xlsx", "xlsm", "xlsb", "ods", "csv", "tsv"),
            *("docx", "odt", "rtf", "pdf", "epub", "eml", "ipynb", "txt"),
        )
    },
}
"""Names of types that are no words otherwise; each may have a dot before it or an s behind."""
KINDS: dict[str, tuple[str, ...]] = {
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
PAGES: dict[str, tuple[str, ...]] = {
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
_PLAIN = rf"\.?{_any(EXTENSIONS)}s?(?![\w-]|\.\w)(?:\s+(?:files?|documents?|docs)\b)?"
_PAGE = rf"(?<![\w.-]){_any(PAGES)}s?\b"
_KIND = rf"(?:{_any(KINDS)}s?\b|excel(?=\s+(?:or|and)\s))"
_ONE = rf"(?<![\w.-])(?:{_PLAIN}|{_KIND})"
_JOIN = r"(?:\s*,\s*(?:or\s+|and\s+)?|\s*/\s*|\s+(?:or|and)\s+|\s+)"
_RUN = rf"{_ONE}(?:{_JOIN}{_ONE})*"
_PLAIN_RUN = rf"(?<![\w.-]){_PLAIN}(?:{_JOIN}(?<![\w.-]){_PLAIN})*"
_MANY = rf"(?:{_any(each + 's' for each in KINDS if not each.endswith('s'))}|slides)\b"
PROGRAMS = {"word": (".docx", ".doc"), "excel": _SHEETS}
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
TYPES = (
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
_LAST = rf"(?:{_PLAIN_RUN}|{_any(filter(_OF_PROGRAMS.match, KINDS))}s?\b)"
"""What is a type as the last word too; an e-mail, a presentation or slides may be the topic."""
LAST_TYPE = re.compile(rf"(?P<before>\S*)\s+(?P<run>{_LAST}){_GAP}*\Z", re.I)
LAST_RUN = re.compile(rf"(?P<run>{_LAST}){_GAP}*\Z", re.I)
NO_TYPE_AFTER = frozenset(
    {"to", "into", "a", "an", "the", "of", "with", "or", "and", "as", "in", "from", "is", "are"}
    | {"what", "for", "than", "like", "not", "between", "versus", "vs"}
)
WORK = re.compile(
    r"\b(?:how|convert\w*|merg\w*|pars\w*|read\w*|open\w*|export\w*|import\w*|creat\w*|writ\w*|"
    r"generat\w*|print\w*|extract\w*|edit\w*|sav\w*|split\w*|render\w*|support\w*|format\w*)\b",
    re.I,
)
"""Somebody who works on files of a type looks for texts about the type."""
_MAKER = r"(?:(?:ms|microsoft)\s+)?"
_FILE = r"(?:files?|documents?|docs?|sheets?|spreadsheets?|workbooks?|presentations?|slides|decks?)"
_FILES = rf"(?:{_any(each + 's' for each in KINDS | PAGES if _OF_TEXTS.match(each))})\b"
_NAMED = rf"(?:{_MAKER}{_PROGRAM}\s+{_FILE}|{_PLAIN}|powerpoints?|spreadsheets?|slide\s+decks?)\b"
TRIED = (
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
Span = tuple[int | None, int | None]
_TO = r"\s*(?:-|–|—|\bto\b|\buntil\b|\btill\b|\bthrough\b)\s*"


def _year(name: str) -> str:
    return _YEAR.format(name) + _NO_UNIT


YEARS: tuple[tuple[re.Pattern[str], Callable[[int, int], Span]], ...] = tuple(
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
RELATIVE_YEAR = re.compile(r"\b(?:from\s+|in\s+)?(?P<which>last|this)\s+year\b(?!['’])", re.I)
END = re.compile(rf"{_GAP}*(?:\Z|[,.;?!\x01]|{_GOES_ON}|{_ABOUT})", re.I)
"""What stands where a part of a question ends."""
FOLDER = re.compile(
    r"\b(?:in|under|below|inside)\s+(?:the\s+)?(?:(?:folder|directory)\s+)?"
    r"(?P<name>[\w./-]*[\w/])(?P<noun>\s+(?:folder|directory)\b)?",
    re.I,
)
TOKEN = re.compile(r"[\w./\\-]+")
"""A word with whatever is joined to it, as in the name of a file or a path."""
_TYPE = rf"(?:\.?{_any(EXTENSIONS)}|{_any(KINDS)}|{_PROGRAM})s?"
TYPES_ALONE = re.compile(rf"{_TYPE}(?:/{_TYPE})*\.*", re.I)
TYPE_WITHIN = re.compile(rf"(?<![^\W_]){_TYPE}(?![^\W_])", re.I)
KEPT_AS_IT_IS = re.compile(r'-?"[^"]*"|-?[“„][^”“]*[”“]|(?<!\S)-\S+')


def types_of(run: str) -> tuple[str, ...]:
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
        if named := (KINDS | PROGRAMS | PAGES).get(each):
            return named
    first = name.split()[0]
    return EXTENSIONS.get(first) or EXTENSIONS.get(first.removesuffix("s")) or _SHEETS
