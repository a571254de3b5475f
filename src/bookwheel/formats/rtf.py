"""RTF files: one document with its notes, comments, headers and footers."""

from __future__ import annotations

from bookwheel.formats.composing import About, split_keywords
from bookwheel.formats.manuscript import Manuscript
from bookwheel.formats.rtf_reader import Reader
from bookwheel.model import Parsed

_MAX_PROPERTY = 2_048


def read(data: bytes, path: str) -> Parsed:
    """Read an RTF file."""
    reader = Reader()
    manuscript = Manuscript(reader.read(data.decode("latin-1")))
    manuscript.append("Footnotes", reader.footnotes)
    manuscript.append("Endnotes", reader.endnotes)
    manuscript.append("Comments", reader.comments)
    manuscript.append("", list(reader.margins))
    manuscript.append("Embedded documents", reader.embedded)
    return manuscript.finish(path, _about(reader))


def _about(reader: Reader) -> About:
    found = {name: text.strip()[:_MAX_PROPERTY] for name, text in reader.properties.items()}
    return About(
        title=found.get("title", ""),
        description=found.get("doccomm") or found.get("subject", ""),
        author=found.get("author", ""),
        date=_date(reader.created),
        tags=split_keywords(found.get("keywords", "")),
    )


def _date(created: dict[str, int]) -> str:
    year, month, day = (created.get(unit, 0) for unit in ("yr", "mo", "dy"))
    if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31):
        return ""
    hour, minute = created.get("hr", 0), created.get("min", 0)
    time = f"T{hour:02}:{minute:02}:00" if "hr" in created else ""
    return f"{year:04}-{month:02}-{day:02}{time}"
