"""Org files: headings, blocks, links and tables as Markdown; drawers and comments left out."""

from __future__ import annotations

import re
from collections.abc import Callable

from bookwheel.formats import text
from bookwheel.formats.base import require_length
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.composing import (
    About,
    Composer,
    cell,
    convert_marks,
    fenced,
    link,
    parsed,
    table,
)
from bookwheel.formats.decoding import decode
from bookwheel.model import Parsed

_HEADING = re.compile(r"(\*+)[ \t]+(.*?)(?:[ \t]+(:[\w@#%:]+:))?[ \t]*$")
_KEYWORD = re.compile(r"[ \t]*#\+(\w+(?:\[[^\]]*\])?):[ \t]*(.*)$")
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w+)[ \t]*([\w.+#-]*)", re.I)
_DRAWER = re.compile(r"[ \t]*:[A-Za-z][\w-]*:[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-+]|\d{1,9}[.)]|(?<=[ \t])\*)[ \t]+(.*)$")
_TABLE_RULE = re.compile(r"[ \t]*\|[-+|]+[ \t]*$")
_INLINE = re.compile(
    r"\[\[(?P<target>[^\[\]]+)\](?:\[(?P<text>[^\[\]]+)\])?\]"
    r"|(?<![\w=~])(?P<mark>[=~])(?P<code>\S(?:[^\n]*?\S)??)(?P=mark)(?![\w=~])"
    r"|(?<![\w*])\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PROPERTIES = frozenset({"title", "author", "date", "language", "description", "keywords"})
_TAGS = "\n\nTags: "
_CODE = frozenset({"src", "example", "export", "html", "latex"})

Lines = list[str]


def read(data: bytes, path: str) -> Parsed:
    """Read an Org file."""
    scanner = _Scanner(require_length(decode(data)).split("\n"))
    blocks = [block for block in scanner.run() if block.strip()]
    if not blocks:  # nothing but comments: they are what there is to read
        return text.read(data, path)
    composer = Composer()
    for block in blocks:
        composer.add(block)
    found = scanner.properties
    keywords = found.get("keywords", "")
    tags = [
        *found.get("filetags", "").split(":"),
        *keywords.split("," if "," in keywords else None),
    ]
    about = About(
        title=found.get("title", ""),
        description=found.get("description", "") or _describe(blocks),
        author=found.get("author", ""),
        date=date[0] if (date := _DATE.search(found.get("date", ""))) else "",
        language=found.get("language", ""),
        tags=tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
    )
    return parsed(composer, path, about)


def _describe(blocks: Lines) -> str:
    """Return the first text, which the tags of a heading are not."""
    if not any(_TAGS in block for block in blocks):
        return ""
    bare = (block.partition(_TAGS)[0] if block[0] == "#" else block for block in blocks)
    return read_outline("\n\n".join(bare)).description


class _Scanner:
    """Turns lines into blocks of Markdown; `at` is the line that comes next."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.at = 0
        self.properties: dict[str, str] = {}
        self.missing: set[str] = set()

    def run(self) -> Lines:
        found: Lines = []
        while self.at < len(self.lines):
            found.append(self.block())
        return found

    def block(self) -> str:
        """Return what begins at the next line; nothing for what is not shown."""
        line = self.lines[self.at]
        stripped = line.lstrip()
        if line.startswith("*") and (heading := _HEADING.match(line)):
            self.at += 1
            return _heading(heading)
        if stripped.startswith("#"):
            return self.hashed(line)
        if stripped.startswith("|"):
            return self.table()
        if stripped.startswith(": ") or stripped == ":":
            rows = self.take(lambda row: row.lstrip().startswith(":"))
            return fenced("\n".join(row.lstrip()[2:] for row in rows))
        if _DRAWER.match(line) and self.skip_to(":end:"):
            return ""
        if stripped.startswith("-----") and not stripped.strip("- "):
            self.at += 1
            return "---"
        return self.text()

    def hashed(self, line: str) -> str:
        """Return a block or a keyword; what else begins with a number sign is a comment."""
        if begin := _BLOCK.match(line):
            return self.fence(begin[1].lower(), begin[2])
        self.at += 1
        found = _KEYWORD.match(line)
        if found is None:
            return "" if line.lstrip()[1:2] in ("", " ", "+") else _inline(line.strip())
        name = found[1].lower()
        if name in _PROPERTIES or name == "filetags":
            before = self.properties.get(name)
            self.properties[name] = f"{before} {found[2]}".strip() if before else found[2].strip()
        return _inline(found[2]) if name in ("caption", "subtitle") else ""

    def fence(self, kind: str, language: str) -> str:
        start = self.at + 1
        if not self.skip_to(f"#+end_{kind}"):
            self.at = start
            return ""
        inside = self.lines[start : self.at - 1]
        if kind in _CODE:
            return fenced(_dedented(inside), language)
        if kind == "comment":
            return ""
        text = "\n\n".join(filter(None, _Scanner(inside).run()))
        return (
            "\n".join(f"> {row}".rstrip() for row in text.split("\n")) if kind == "quote" else text
        )

    def skip_to(self, end: str) -> bool:
        """Go behind a line; stay where the file has no such line."""
        places = range(self.at + 1, len(self.lines)) if end not in self.missing else ()
        for at in places:
            if self.lines[at].strip().lower().startswith(end):
                self.at = at + 1
                return True
        self.missing.add(end)
        return False

    def take(self, belongs: Callable[[str], bool]) -> Lines:
        start = self.at
        while self.at < len(self.lines) and belongs(self.lines[self.at]):
            self.at += 1
        return self.lines[start : self.at]

    def table(self) -> str:
        rows = self.take(lambda row: row.lstrip().startswith("|"))
        kept = [row.strip().strip("|").split("|") for row in rows if not _TABLE_RULE.match(row)]
        return table([[cell(_inline(text)) for text in row] for row in kept]) if kept else ""

    def text(self) -> str:
        """Return a paragraph or a list; the lines of a list keep their indent."""
        shown: Lines = []
        first = self.lines[self.at].expandtabs(4)
        base = len(first) - len(first.lstrip())
        in_list = False
        while self.at < len(self.lines):
            line = self.lines[self.at].expandtabs(4)
            if not line.strip() or (shown and _begins_other(line)):
                break
            in_list = in_list or _ITEM.match(line) is not None
            shown.append(_text_line(line, base) if in_list else _inline(line.strip()))
            self.at += 1
        if not shown:
            self.at += 1
        return "\n".join(shown)


def _text_line(line: str, base: int) -> str:
    """Return a line of a list, with its indent seen from the list's own."""
    item = _ITEM.match(line)
    indent = " " * max(0, len(line) - len(line.lstrip()) - base)
    if item is None:
        return indent + _inline(line.strip())
    return f"{indent}{item[2] if item[2][0].isdigit() else '-'} {_inline(item[3])}"


def _begins_other(line: str) -> bool:
    start = line.lstrip()
    return start.startswith(("|", "#+", ": ")) or bool(
        _DRAWER.match(line) or (line.startswith("*") and _HEADING.match(line))
    )


def _dedented(lines: Lines) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents, default=0)
    return "\n".join(line[least:] for line in lines)


def _heading(found: re.Match[str]) -> str:
    heading = f"{'#' * min(len(found[1]), 6)} {_inline(found[2])}".rstrip()
    tags = ", ".join(filter(None, (found[3] or "").split(":")))
    return f"{heading}{_TAGS}{tags}" if tags else heading


def _inline(text: str) -> str:
    """Return links, code and bold text as Markdown."""
    return convert_marks(text, _INLINE, _shown)


def _shown(found: re.Match[str]) -> str:
    if found["code"]:
        code = found["code"]
        return f"`` {code} ``" if "`" in code else f"`{code}`"
    if found["bold"]:
        return f"**{found['bold']}**"
    target = found["target"].removeprefix("file:").replace("::*", "#").replace("::", "#")
    target = "#" + target.lstrip("*#") if target.startswith(("*", "#")) else target
    return link(found["text"] or target, target)
