"""Gitignore patterns, read and matched as git does it (gitignore(5))."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bookwheel.errors import BadRequest
from bookwheel.indexing.globs import SPECIAL, translate

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_WILD_RULES = 1000
"""Compiling costs some 0.2 ms a pattern; beyond this a hostile file would hold up the scan."""

MAX_PATTERN = 8192
"""Bytes; longer than any path, and no person wrote it."""

SHOWN = 80


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file."""

    text: str
    negated: bool
    folders_only: bool
    whole_path: bool
    literal: str | None
    ending: str | None
    regex: bytes | None

    def matches(self, path: str, name: str, *, is_folder: bool) -> bool:
        """Tell whether the rule speaks about this path, given relative to the rule's folder."""
        if self.folders_only and not is_folder:
            return False
        subject = path if self.whole_path else name
        if self.literal is not None:
            return subject == self.literal
        if self.ending is not None:
            return subject.endswith(self.ending)
        return self.regex is not None and re.match(self.regex, to_bytes(subject)) is not None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of one ignore file, for paths below the folder it stands in."""

    rules: tuple[Rule, ...]
    origin: str
    base: int = 0
    """How many leading characters of a path name the rules' own folder."""
    _literals: frozenset[str] = field(init=False, repr=False)
    _endings: tuple[str, ...] = field(init=False, repr=False)
    _names: re.Pattern[bytes] | None = field(init=False, repr=False)
    _paths: re.Pattern[bytes] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rules = self.rules
        put = object.__setattr__  # the way a frozen value fills the fields it derives
        put(self, "_literals", frozenset(r.literal for r in rules if r.literal is not None))
        put(self, "_endings", tuple({r.ending for r in rules if r.ending is not None}))
        put(self, "_names", join_patterns(r.regex for r in rules if not r.whole_path))
        put(self, "_paths", join_patterns(r.regex for r in rules if r.whole_path))

    def find(self, path: str, name: str, *, is_folder: bool) -> Rule | None:
        """Return the last rule that matches: the one that decides."""
        relative = path[self.base :]
        if not self._may_match(relative, name):
            return None
        for rule in reversed(self.rules):
            if rule.matches(relative, name, is_folder=is_folder):
                return rule
        return None

    def _may_match(self, relative: str, name: str) -> bool:
        """Rule out most paths at once: a scan asks this for every name it meets."""
        return (
            name in self._literals
            or relative in self._literals
            or name.endswith(self._endings)
            or (self._names is not None and self._names.match(to_bytes(name)) is not None)
            or (self._paths is not None and self._paths.match(to_bytes(relative)) is not None)
        )


def parse_rules(data: bytes) -> tuple[Rule, ...]:
    """Read an ignore file; lines that cannot match anything are left out."""
    rules: list[Rule] = []
    wild = 0
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        rule = parse_line(line.removesuffix(b"\r"))
        if rule is None:
            continue
        wild += rule.regex is not None
        if wild > MAX_WILD_RULES:
            raise BadRequest(f"There are more than {MAX_WILD_RULES:,} wildcard patterns.")
        rules.append(rule)
    return tuple(rules)


def parse_line(line: bytes) -> Rule | None:
    """Read one line, or return nothing for a comment, a blank or a malformed pattern."""
    line = trim_spaces(line.split(b"\0", 1)[0])
    if not line or line.startswith(b"#") or len(line) > MAX_PATTERN:
        return None
    negated = line.startswith(b"!")
    pattern = line[1:] if negated else line
    folders_only = pattern.endswith(b"/")
    pattern = pattern[:-1] if folders_only else pattern
    whole_path = b"/" in pattern
    pattern = pattern.removeprefix(b"/")
    literal = ending = regex = None
    if not SPECIAL.search(pattern):
        literal = to_text(pattern)
    elif not whole_path and pattern.startswith(b"*") and not SPECIAL.search(pattern, 1):
        ending = to_text(pattern[1:])
    else:
        regex = translate(pattern)
    if not literal and ending is None and regex is None:
        return None
    return Rule(for_people(line), negated, folders_only, whole_path, literal, ending, regex)


def trim_spaces(line: bytes) -> bytes:
    """Drop trailing spaces, but for those that a backslash keeps."""
    bare = line.rstrip(b" ")
    slashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if slashes % 2 and len(bare) < len(line) else bare


def join_patterns(regexes: Iterable[bytes | None]) -> re.Pattern[bytes] | None:
    """Make one pattern out of many, to rule out most names with a single look."""
    present = [regex for regex in regexes if regex is not None]
    return re.compile(b"|".join(present)) if present else None


def for_people(line: bytes) -> str:
    """Show a line of an ignore file: short, and without control characters."""
    text = line.decode("utf-8", "replace")
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…"


def to_bytes(text: str) -> bytes:
    """Return the bytes of a name; git counts bytes, so `?` is not `ä`."""
    return text.encode("utf-8", "surrogateescape")


def to_text(data: bytes) -> str:
    """Return a name's bytes as the file system module spells them."""
    return data.decode("utf-8", "surrogateescape")
