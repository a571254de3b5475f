"""Markup within a line of reStructuredText: roles, links, literals and substitutions."""

from __future__ import annotations

import re

from bookwheel.formats.composing import convert_marks, link, plain

_SPECIAL = re.compile(r"[`|_\\]")
_INLINE = re.compile(
    r"``(?P<literal>.+?)``(?!`)"
    r"|(?::(?P<role>[A-Za-z][\w:+.-]*):)?`(?P<body>[^`]+)`(?P<tail>__?(?!\w)|:[A-Za-z][\w:+.-]*:)?"
    r"|\|(?P<name>[^|\s](?:[^|\n]*[^|\s])?)\|(?:__?(?!\w))?"
    r"|\[(?P<note>[\w.#*-]+)\]_(?!\w)"
    r"|(?<![\w/:.@#-])(?P<word>[A-Za-z0-9](?:[\w.+-]*[A-Za-z0-9])?)__?(?![\w/])"
    r"|(?P<escape>\\(?:\s|(?=[`|_:<>\w])))",
    re.S,
)
_TARGET = re.compile(r"(?s)(.*?)\s*<([^<>]+)>\s*$")
_TARGETS = re.compile(
    r"^[ \t]*\.\. _(?!_:)(?P<name>`[^`]+`|(?!`)(?:\\:|[^:\n])+):"
    r"(?P<url>(?:[ \t]+\S.*)?(?:\n[ \t]+[^\s:].*)*)$"
    r"|^[ \t]*(?:\.\. __:|__)[ \t]+(?P<next>\S+)[ \t]*$",
    re.M,
)
_REPLACED = re.compile(r"^[ \t]*\.\. \|([^|\n]+)\|[ \t]+replace::[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.M)
_PLAIN_ROLES = frozenset(
    {
        "term",
        "abbr",
        "sup",
        "sub",
        "kbd",
        "guilabel",
        "menuselection",
        "emphasis",
        "strong",
        "title",
        "issue",
        "pr",
        "user",
        "dfn",
    }
)
_MAX_DEPTH = 5


class Names:
    """What the document gives names to: links by name, links in order, replaced texts."""

    def __init__(self, text: str) -> None:
        self.links: dict[str, str] = {}
        self.unnamed: list[str] = []
        for found in _TARGETS.finditer(text):
            if found["next"]:
                self.unnamed.append(found["next"])
            else:
                target = "".join(found["url"].split()).strip("`")
                self.links.setdefault(_normal(found["name"].strip("`")), target)
        self.unnamed.reverse()
        self.texts = {_normal(name): " ".join(t.split()) for name, t in _REPLACED.findall(text)}
        for name, target in self.links.items():
            if target.endswith("_"):  # one name for another
                other = self.links.get(_normal(target.strip("_`")), "")
                self.links[name] = other if not other.endswith("_") else ""

    def convert(self, text: str, depth: int = 0) -> str:
        """Return the text of a paragraph as Markdown."""
        if not _SPECIAL.search(text):
            return plain(text)
        return convert_marks(text, _INLINE, lambda found: self._shown(found, depth))

    def _shown(self, found: re.Match[str], depth: int) -> str | None:
        kind = found.lastgroup
        if kind == "literal":
            return _code(found["literal"])
        if found["body"] is not None:
            return self._reference(found["role"] or "", found["body"], found["tail"] or "")
        if kind == "note":
            return f"[{found['note']}]"
        if kind == "escape":
            return ""
        return self._named(found, depth)

    def _named(self, found: re.Match[str], depth: int) -> str | None:
        """Return what a name stands for; None when the document never gave it."""
        if found["name"]:
            text = self.texts.get(_normal(found["name"]))
            if text is None:
                return found["name"]
            return self.convert(text, depth + 1) if depth < _MAX_DEPTH else text
        target = self.links.get(_normal(found["word"]))
        return link(found["word"], target) if target else None

    def _reference(self, role: str, body: str, tail: str) -> str:
        if tail.startswith(":"):
            role, tail = tail.strip(":"), ""
        body = body.replace("\\ ", "").replace("\\", "")
        split = _TARGET.fullmatch(body)
        text, target = (split[1].strip(), split[2].strip()) if split else (body, "")
        if role:
            return _role(role.rpartition(":")[2], " ".join(text.split()), "".join(target.split()))
        if target and (tail or "://" in target):
            named = self.links.get(_normal(target.rstrip("_"))) if target.endswith("_") else None
            return link(text, named or "".join(target.split()))
        if tail == "__" and self.unnamed:
            return link(text, self.unnamed.pop())
        if tail:
            return link(text, self.links.get(_normal(text), "")) or text
        return plain(body)


def _normal(name: str) -> str:
    return " ".join(name.replace("\\", "").lower().split())


def _code(text: str) -> str:
    """Return inline code; its line ends are blanks."""
    text = " ".join(text.split("\n"))
    if "`" not in text:
        return f"`{text}`"
    return f"`` {text} ``"


def _role(role: str, text: str, target: str) -> str:
    if role == "doc":
        return link(text or target, document(target or text))
    if role in ("ref", "numref", "any", "keyword", "option"):
        return link(text or target, "#" + (target or text).strip("!~"))
    if role == "download" and target:
        return link(text, target)
    if role in ("pep", "rfc"):
        return f"{role.upper()} {text}"
    if role in _PLAIN_ROLES or "://" in target:
        return link(text, target) if "://" in target else plain(text)
    return _code((text or target).lstrip("~!"))


def document(target: str) -> str:
    """Return the file that a document's name without its extension stands for."""
    name = target.rpartition("/")[2]
    if "://" in target or "." in name or not name:
        return target
    return target + ".rst"
