"""AsciiDoc: headings, blocks, links, lists and tables as Markdown."""

from __future__ import annotations

import re

from bookwheel.formats import text
from bookwheel.formats.adoc_text import attribute_lines, inline, table_text
from bookwheel.formats.base import require_length
from bookwheel.formats.composing import About, Composer, fenced, parsed
from bookwheel.formats.decoding import decode
from bookwheel.model import Parsed

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_AUTHOR = re.compile(
    r"[^\W\d_][^<>:=|*]*<[^<>\s]+@[^<>\s]+>(?:;.*)?$|[A-Z]\w+(?: [A-Z][\w.]*){1,2}$"
)
_REVISION = re.compile(r"(?:v\d[\w.]*,?\s*)?(\d{4}-\d\d-\d\d)?(?:[:;].*)?$")
_SETTINGS = re.compile(r"\[(.*)\][ \t]*$")
_STYLE = re.compile(r"[A-Za-z]+")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(.*)$")
_ITEM = re.compile(r"[ \t]*(\*{1,6}|-|\.{1,6}|\d{1,9}\.|<\d+>|<\.>)[ \t]+(\S.*)$")
_TERM = re.compile(r"[ \t]*(\S.*?)(?:::|;;)(?:[ \t]+(.*))?$")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```[\w.+-]*)[ \t]*$")
_TABLE = re.compile(r"[|,:!]={3,}[ \t]*$")
_DROPPED = re.compile(r"(?:ifn?def|ifeval|endif|include|toc)::|<<<[ \t]*$|//(?!/)")
_ATTRIBUTE = re.compile(r":!?[\w-]+!?:(?:\s|$)")
_RULE = re.compile(r"(?:'{3,}|-{3}|\*{3})[ \t]*$")
_MAX_DEPTH = 20

Lines = list[str]


def read(data: bytes, path: str) -> Parsed:
    """Read an AsciiDoc file."""
    source = require_length(decode(data))
    attributes = attribute_lines(source)
    scanner = _Scanner(source.split("\n"), attributes, 0)
    scanner.head()
    blocks = [block for block in scanner.run() if block.strip()]
    if not blocks:  # nothing but comments or settings: they are what there is to read
        return text.read(data, path)
    composer = Composer()
    for block in blocks:
        composer.add(block)
    keywords = attributes.get("keywords", "").split(",")
    about = About(
        title=attributes.get("doctitle", ""),
        description=attributes.get("description", ""),
        author=attributes.get("author", "").partition("<")[0].strip(),
        date=attributes.get("revdate", ""),
        language=attributes.get("lang", ""),
        tags=tuple(word.strip() for word in keywords if word.strip()),
    )
    return parsed(composer, path, about)


class _Scanner:
    """Turns lines into blocks of Markdown; `at` is the line that comes next."""

    def __init__(self, lines: Lines, attributes: dict[str, str], depth: int) -> None:
        self.lines = lines
        self.attributes = attributes
        self.depth = depth
        self.at = 0
        self.settings = ""

    def head(self) -> None:
        """Take the author and the revision under the title out of the text, and note them."""
        for number, line in enumerate(self.lines[:50]):
            if line.startswith("= "):
                author, revision = (*(row.strip() for row in self.lines[number + 1 :][:2]), "", "")[
                    :2
                ]
                if _AUTHOR.match(author):
                    self.attributes.setdefault("author", author)
                    self.lines[number + 1] = ""
                    self.take_revision(revision, number + 2)
                return

    def take_revision(self, revision: str, number: int) -> None:
        found = _REVISION.match(revision) if revision else None
        if found:
            self.lines[number] = ""
            if found[1]:
                self.attributes.setdefault("revdate", found[1])

    def run(self) -> Lines:
        found: Lines = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
                continue
            found += self.block(line)
        return found

    def block(self, line: str) -> Lines:
        """Return the blocks of what begins with this line."""
        if fence := _FENCE.match(line):
            return self.delimited(fence[1])
        self.at += 1
        if heading := _HEADING.match(line):
            self.settings = ""
            return [f"{'#' * len(heading[1])} {self.inline(heading[2])}"]
        if _DROPPED.match(line) or _ATTRIBUTE.match(line):
            return []
        if line.startswith("[") and (found := _SETTINGS.match(line)):
            self.settings = found[1]
            return []
        if _TABLE.match(line):
            return [self.table(line.strip())]
        if line.startswith(".") and line[1:2] not in (" ", ".", ""):
            return [f"**{self.inline(line[1:].strip())}**"]
        if line.strip() == "+":
            return []
        if _RULE.match(line):
            return ["---"]
        self.at -= 1
        return self.text()

    def inline(self, text: str) -> str:
        return inline(text, self.attributes)

    def label(self) -> str:
        """Return the label that the settings of the next block ask for, and forget them."""
        found = _STYLE.match(self.settings)
        self.settings = ""
        if found and found[0] in ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"):
            return f"**{found[0].capitalize()}:** "
        return ""

    def delimited(self, mark: str) -> Lines:
        """Return what stands between two lines of marks."""
        start = self.at + 1
        closing = "```" if mark.startswith("```") else mark
        end = start
        while end < len(self.lines) and self.lines[end].rstrip() != closing:
            end += 1
        inside = self.lines[start:end]
        self.at = end + 1
        if mark[0] in "-.+`" and mark != "--":
            parts = [part.strip() for part in self.settings.split(",")]
            named = mark[3:] if mark[0] == "`" else ""
            language = named or (parts[1] if parts[0] in ("source", "") and parts[1:] else "")
            self.settings = ""
            return [fenced("\n".join(inside), language)]
        if mark[0] == "/" or self.depth >= _MAX_DEPTH:
            return []
        label = self.label().strip()
        blocks = _Scanner(inside, self.attributes, self.depth + 1).run()
        if mark[0] == "_":
            text = "\n\n".join(blocks)
            blocks = ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))]
        return [label, *blocks] if label else blocks

    def table(self, mark: str) -> str:
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip() != mark:
            self.at += 1
        inside = self.lines[start : self.at]
        self.at += 1
        settings, self.settings = self.settings, ""
        if mark[0] != "|":
            return fenced("\n".join(inside))
        return table_text(inside, settings, self.attributes)

    def text(self) -> Lines:
        """Return a paragraph, a list, or lines of code that are only indented."""
        label = self.label()
        line = self.lines[self.at]
        marked = _ITEM.match(line) or _TERM.match(line)
        if line.startswith((" ", "\t")) and not marked:
            return [fenced("\n".join(self.paragraph()))]
        shown: Lines = []
        indent = ""
        for line in self.paragraph():
            if item := _ITEM.match(line):
                depth = len(item[1]) - 1 if item[1][0] in "*." else 0
                indent = "  " * (depth + 1) if item[1][0] in "*-" else "   " * (depth + 1)
                mark = "- " if item[1][0] in "*-" else "1. "
                shown.append(indent[: len(indent) - len(mark)] + mark + self.inline(item[2]))
            elif admonition := _ADMONITION.match(line):
                shown.append(f"**{admonition[1].capitalize()}:** {self.inline(admonition[2])}")
            elif (term := _TERM.match(line)) and "://" not in term[1] and "`::" not in line:
                shown.append(
                    f"{indent}{self.inline(term[1])}: {self.inline(term[2] or '')}".rstrip()
                )
            else:
                shown.append(indent + self.inline(line.strip().removesuffix(" +")))
        return [label + "\n".join(shown)]

    def paragraph(self) -> Lines:
        start = self.at
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or line.strip() == "+" or _FENCE.match(line) or _TABLE.match(line):
                break
            if (line[0] == "[" and _SETTINGS.match(line)) or _ATTRIBUTE.match(line):
                break
            self.at += 1
        return [line for line in self.lines[start : self.at] if not _DROPPED.match(line)]
