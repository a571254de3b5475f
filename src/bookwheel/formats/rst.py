"""reStructuredText: its own scanner turns adornments, directives and lists into Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

from bookwheel.formats import text
from bookwheel.formats.base import require_length
from bookwheel.formats.composing import About, Composer, fenced, link, parsed
from bookwheel.formats.decoding import decode
from bookwheel.formats.rst_inline import Names, document
from bookwheel.formats.rst_lines import (
    Lines,
    dedent,
    indented,
    item_end,
    item_marker,
    line_at,
    list_item,
    literal_block,
    options_of,
    paragraph_end,
)
from bookwheel.formats.rst_tables import (
    csv_table,
    grid_table,
    is_grid,
    is_simple,
    list_table,
    simple_table,
)
from bookwheel.model import Parsed

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_SHORT_ADORNMENT = re.compile(r"([=\-~^\"'`#*+.:_])\1\s*")
_BULLET = re.compile(r"[-*+\u2022](?:\s+|$)")
_NUMBER = re.compile(
    r"(?:\(?(?:\d{1,9}|#|[A-Za-z]|[ivxlcIVXLC]{1,7})\)|(?:\d{1,9}|#|[A-Za-z])\.)\s+"
)
_FIELD = re.compile(r":(?![: ])((?:\\:|[^:\n])+):(?:\s+|$)")
_DIRECTIVE = re.compile(r"\.\.\s+(?:\|[^|]+\|\s+)?([A-Za-z][\w:+.-]*)\s*::(?:\s+|$)(.*)")
_NOTE = re.compile(r"\.\.\s+\[([^\]]+)\]\s*(.*)")
_ENTRY = re.compile(r"(.*?)\s*<([^<>]+)>$")
_CODE = frozenset(
    {
        "code",
        "code-block",
        "sourcecode",
        "code-cell",
        "literal",
        "parsed-literal",
        "math",
        "doctest",
        "testcode",
        "testoutput",
        "testsetup",
        "ipython",
        "prompt",
        "console",
        "graphviz",
        "digraph",
        "mermaid",
        "productionlist",
        "raw",
        "plot",
    }
)
_LABELLED = frozenset(
    {
        "note",
        "warning",
        "tip",
        "important",
        "caution",
        "danger",
        "error",
        "hint",
        "attention",
        "seealso",
        "admonition",
        "todo",
        "topic",
        "sidebar",
        "versionadded",
        "versionchanged",
        "versionremoved",
        "deprecated",
    }
)
_SILENT = frozenset(
    {
        "include",
        "literalinclude",
        "contents",
        "highlight",
        "default-role",
        "currentmodule",
        "only-if",
        "tabularcolumns",
        "sectnum",
        "section-numbering",
        "role",
        "unicode",
        "replace",
    }
)
_LABELS = {"seealso": "See also", "versionadded": "Added in", "versionchanged": "Changed in"} | {
    "deprecated": "Deprecated since",
    "versionremoved": "Removed in",
    "admonition": "",
    "topic": "",
    "sidebar": "",
}
_PROPERTIES = {"author": "author", "authors": "author", "date": "date", "language": "language"} | {
    "description": "description",
    "keywords": "tags",
    "tags": "tags",
    "title": "title",
}
_MAX_DEPTH = 30


def read(data: bytes, path: str) -> Parsed:
    """Read a reStructuredText file."""
    source = require_length(decode(data))
    scanner = _Scanner(source)
    blocks = scanner.blocks(source.expandtabs(8).split("\n"))
    if not blocks:  # nothing but comments: they are what there is to read
        return text.read(data, path)
    composer = Composer()
    for block in blocks:
        composer.add(block)
    found = scanner.properties
    tags = [tag.strip() for tag in found.get("tags", "").split(",")]
    about = About(
        title=found.get("title", ""),
        description=found.get("description", ""),
        author=found.get("author", ""),
        date=found.get("date", ""),
        language=found.get("language", ""),
        tags=tuple(tag for tag in tags if tag),
    )
    return parsed(composer, path, about)


class _Scanner:
    """Turns lines into blocks of Markdown; `at` is the line that comes next."""

    def __init__(self, text: str) -> None:
        self.names = Names(text)
        self.styles: list[tuple[str, bool]] = []
        self.properties: dict[str, str] = {}
        self.depth = 0

    def blocks(self, lines: Lines) -> list[str]:
        """Return the blocks of these lines."""
        if self.depth > _MAX_DEPTH:
            return [fenced("\n".join(lines))]
        self.depth += 1
        found: list[str] = []
        at = 0
        while at < len(lines):
            if lines[at].strip():
                block, at = self.block(lines, at)
                found += (part for part in block if part.strip())
            else:
                at += 1
        self.depth -= 1
        return found

    def block(self, lines: Lines, at: int) -> tuple[list[str], int]:
        """Return the blocks of what begins at this line, and the line behind it."""
        line = lines[at]
        first = line[0]
        if first == " ":
            return self.quote(lines, at)
        if (heading := self.heading(lines, at)) is not None:
            return heading
        if first == "." and line.startswith("..") and line[2:3] in ("", " "):
            return self.explicit(lines, at)
        if first == "_" and line.startswith("__ "):
            return [], at + 1
        if is_grid(line) or is_simple(line):
            return self.table(lines, at)
        if first == ":" and _FIELD.match(line):
            return self.field(lines, at)
        if first == ">" and line.startswith(">>>"):
            end = paragraph_end(lines, at)
            return [fenced("\n".join(lines[at:end]), "python")], end
        if first == "|" and line[1:2] in ("", " "):
            return self.line_block(lines, at)
        if marker := (_BULLET.match(line) or _NUMBER.match(line)):
            return self.item(lines, at, marker)
        return self.paragraph(lines, at)

    def heading(self, lines: Lines, at: int) -> tuple[list[str], int] | None:
        """Return a heading, known by the line of marks under it or around it."""
        line, following = lines[at].rstrip(), line_at(lines, at + 1).rstrip()
        if _ADORNMENT.fullmatch(line):
            if following and line_at(lines, at + 2).rstrip() == line:
                return [self.title(following, line[0], True)], at + 3
            return (["---"], at + 1) if not following else None
        if not following or following[0].isalnum() or following[0] == " ":
            return None
        if _ADORNMENT.fullmatch(following):
            fits = len(following) >= min(len(line), 4)
        else:
            fits = bool(_SHORT_ADORNMENT.fullmatch(following)) and len(line) <= 2
        if not fits or (is_grid(line) or is_simple(following) or line.endswith("::")):
            return None
        return [self.title(line, following[0], False)], at + 2

    def title(self, text: str, mark: str, over: bool) -> str:
        style = (mark, over)
        if style not in self.styles:
            self.styles.append(style)
        level = min(self.styles.index(style) + 1, 6)
        return f"{'#' * level} {self.names.convert(text.strip())}"

    def quote(self, lines: Lines, at: int) -> tuple[list[str], int]:
        inside, end = indented(lines, at)
        text = "\n\n".join(self.blocks(inside))
        return ["\n".join(f"> {line}" if line else ">" for line in text.split("\n"))], end

    def paragraph(self, lines: Lines, at: int) -> tuple[list[str], int]:
        """Return a paragraph, a term with its definition, or a text with the code under it."""
        end = paragraph_end(lines, at)
        if end > at + 1 and lines[at + 1].startswith(" "):
            if not lines[at].rstrip().endswith("::"):
                inside, end = indented(lines, at + 1)
                return [self.names.convert(lines[at].strip()), *self.blocks(inside)], end
            end = at + 1
        text = "\n".join(line.strip() for line in lines[at:end])
        if not text.endswith("::"):
            return [self.names.convert(text)], end
        shown = text[:-1] if text[:-2].strip() == text[:-2] else text[:-2].rstrip()
        code, end = literal_block(lines, end)
        return [self.names.convert("" if text == "::" else shown), fenced(code)], end

    def item(self, lines: Lines, at: int, marker: re.Match[str]) -> tuple[list[str], int]:
        """Return a list, from this item to the last one of its kind."""
        pattern = marker.re
        items: list[str] = []
        while at < len(lines) and (found := pattern.match(lines[at])):
            width = len(found[0])
            end = item_end(lines, at, found[0])
            body = [lines[at][width:], *dedent(lines[at + 1 : end])]
            items.append(list_item(item_marker(found[0], len(items)), self.blocks(body)))
            at = end
            while at < len(lines) and not lines[at].strip():
                at += 1
        return ["\n".join(items)], at

    def field(self, lines: Lines, at: int) -> tuple[list[str], int]:
        """Return fields, each on a line; those that describe the document are noted."""
        shown: list[str] = []
        while at < len(lines) and (found := _FIELD.match(lines[at])):
            inside, end = indented(lines, at + 1)
            value = " ".join([lines[at][found.end() :].strip(), *map(str.strip, inside)]).strip()
            name = _PROPERTIES.get(found[1].strip().lower())
            if name and self.depth == 1 and value:
                self.properties.setdefault(name, value)
            if value:
                shown.append(f"- {self.names.convert(found[1])}: {self.names.convert(value)}")
            elif " " in found[1]:  # one word alone is a switch for a program
                shown.append(f"- {self.names.convert(found[1])}")
            at = end
        return ["\n".join(shown)], at

    def line_block(self, lines: Lines, at: int) -> tuple[list[str], int]:
        end = paragraph_end(lines, at)
        texts = (line.lstrip("| ").rstrip() for line in lines[at:end])
        return ["  \n".join(self.names.convert(text) for text in texts if text)], end

    def table(self, lines: Lines, at: int) -> tuple[list[str], int]:
        draw: Callable[[Lines, Callable[[str], str]], str]
        if is_grid(lines[at]):
            draw, end = grid_table, paragraph_end(lines, at)
        else:
            draw, end = simple_table, at + 1
            while end < len(lines):
                end += 1
                if is_simple(lines[end - 1]) and not line_at(lines, end).strip():
                    break
        return [draw([line.rstrip() for line in lines[at:end]], self.names.convert)], end

    def explicit(self, lines: Lines, at: int) -> tuple[list[str], int]:
        """Return a directive or a footnote; targets and comments show nothing."""
        line = lines[at]
        inside, end = indented(lines, at + 1)
        if found := _DIRECTIVE.match(line):
            return self.directive(found[1].lower(), found[2], inside), end
        if found := _NOTE.match(line):
            blocks = self.blocks([found[2], *inside])
            return [f"[{found[1]}] " + "\n\n".join(blocks)], end
        return [], end

    def directive(self, name: str, argument: str, inside: Lines) -> list[str]:
        options, content, argument = options_of(inside, argument.strip())
        if name in _SILENT:
            return []
        if name in _CODE:
            first = "" if name in ("code", "code-block", "sourcecode", "raw") else argument
            language = "math" if name == "math" else argument
            text = "\n".join([first, *content] if first else content)
            return [self.caption(options), fenced(text, language.split(" ")[0])]
        if name == "toctree":
            return [self.caption(options), *self.entries(content)]
        if name == "csv-table":
            rows = csv_table(content, options.get("header", ""), self.names.convert)
            return [self.names.convert(argument), rows]
        if name in ("list-table", "table"):
            rows = list_table(content, self.names.convert) if name == "list-table" else ""
            return [self.names.convert(argument), *([rows] if rows else self.blocks(content))]
        if name in ("image", "figure"):
            return [self.names.convert(options.get("alt", "")), *self.blocks(content)]
        if name == "meta":
            self.note_properties(options)
            return []
        return [*self.labelled(name, argument, options), *self.blocks(content)]

    def labelled(self, name: str, argument: str, options: dict[str, str]) -> list[str]:
        """Return what a directive says before its content."""
        text = self.names.convert(argument)
        if name == "rubric":
            return [f"**{text}**"]
        if name not in _LABELLED:
            told = [
                f"- {key}: {self.names.convert(value)}" for key, value in options.items() if value
            ]
            return [text, "\n".join(told) if not name.startswith("auto") else ""]
        label = _LABELS.get(name, name.capitalize())
        if not label:
            return [f"**{text}**" if text else ""]
        return [f"**{label}:** {text}".rstrip()]

    def caption(self, options: dict[str, str]) -> str:
        return self.names.convert(options.get("caption", ""))

    def note_properties(self, options: dict[str, str]) -> None:
        for name, value in options.items():
            if name in _PROPERTIES and value:
                self.properties.setdefault(_PROPERTIES[name], value)

    def entries(self, content: Lines) -> list[str]:
        """Return the pages of a table of contents as links."""
        links: list[str] = []
        for line in map(str.strip, content):
            found = _ENTRY.fullmatch(line)
            text, target = found.groups() if found else (line, line)
            if line and not line.startswith(".. "):
                links.append(f"- {link(text, document(target))}" if target != "self" else "")
        return ["\n".join(filter(None, links))]
