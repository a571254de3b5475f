"""What a PDF says of itself: title, author, subject, keywords, date and language."""

from __future__ import annotations

import re

import pypdfium2.raw as pdfium

from bookwheel.formats.composing import About, split_keywords
from bookwheel.formats.pdf_file import Handle, read_string
from bookwheel.formats.pdf_text import clean
from bookwheel.text.cut import squeeze

_MAX_PROPERTY = 2_048
_MAX_LANGUAGE = 35
_PROGRAM = re.compile(r"(?:Microsoft\s+(?:Office\s+)?)?(?:Word|PowerPoint|Excel|Publisher)\s+-\s+")
_FILE_NAME = re.compile(
    r"(?:[a-z]:[\\/]|file:|[/~]|\\\\).*"
    r"|.*\.(?:docx?|dot|odt|rtf|txt|pptx?|odp|xlsx?|csv|pdf|html?|tex|dvi|e?ps|indd|qxp?d?|fm|pmd"
    r"|pub|cdr|ai|psd|jpe?g|png|tiff?|svg|vsdx?|mif|book|wpd|md|ods|key|pages|exe|xml|sxw)",
    re.I | re.S,
)
_EXTENSION = re.compile(r"\.[A-Za-z]{2,5}$")
_NO_TITLE = re.compile(
    r"\W*(?:(?:untitled|unbenannt)(?: \w+)?|unnamed|no title|sans titre|title|document|dokument"
    r"|presentation|präsentation|slide|book|mappe|powerpoint[ -](?:presentation|präsentation)"
    r"|print|layout|(?:blank|cover) page|about:blank|scan(?:ned)?(?: document)?|root entry"
    r"|(?:table of )?contents|inhalt(?:sverzeichnis)?|unknown|anonymous|unspecified|none|null"
    r"|default)?[\W\d_]*",
    re.I,
)
_NOBODY = re.compile(
    r"\W*(?:unknown|anonymous|unspecified|user|owner|admin(?:istrator)?|author|none|null|root)?\W*",
    re.I,
)
_DATE = re.compile(
    r"\s*(?:D:)?(\d{4})(?:[-/.]?(\d\d)(?:[-/.]?(\d\d)"
    r"(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d))?(?:\s*(Z|[+-]\d\d)'?:?(\d\d)?)?)?)?)?"
)


def read_about(document: Handle) -> About:
    """Return the properties that the author or program has set."""
    author, subject = _property(document, b"Author"), _property(document, b"Subject")
    date = iso_date(_property(document, b"CreationDate"))
    return About(
        title=proper_title(_property(document, b"Title")),
        description=proper_title(subject),
        author="" if _NOBODY.fullmatch(author) else author,
        date=date or iso_date(_property(document, b"ModDate")),
        language=_language(document),
        tags=split_keywords(_property(document, b"Keywords")),
    )


def _property(document: Handle, name: bytes) -> str:
    value = read_string(pdfium.FPDF_GetMetaText, document, name)
    return squeeze(clean(value[:_MAX_PROPERTY]))


def _language(document: Handle) -> str:
    return squeeze(clean(read_string(pdfium.FPDFCatalog_GetLanguage, document)))[:_MAX_LANGUAGE]


def proper_title(title: str) -> str:
    """Return a title without the program's name; nothing for a file's name or a stopgap."""
    if program := _PROGRAM.match(title):
        title = _EXTENSION.sub("", title[program.end() :])
    if _NO_TITLE.fullmatch(title) or _FILE_NAME.fullmatch(title):
        return ""
    return title


def iso_date(value: str) -> str:
    """Return a PDF's date, such as `D:20240131120000+01'00'`, as ISO writes it; else nothing."""
    found = _DATE.match(value)
    if not found:
        return ""
    year, month, day, hour, minute, second, zone, zone_minutes = found.groups()
    if not "01" <= (month or "01") <= "12" or not "01" <= (day or "01") <= "31" or year < "1900":
        return ""
    date = "-".join(part for part in (year, month, day) if part)
    if hour is None or hour > "23" or minute > "59" or (second or "00") > "59":
        return date
    offset = zone if zone in (None, "Z") else f"{zone}:{zone_minutes or '00'}"
    return f"{date}T{hour}:{minute}:{second or '00'}{offset or ''}"
