r"""Gitignore patterns, read and matched as git does it (gitignore(5), wildmatch.c).

No pattern can make a match slow: ignore files lie among the documents and are not to be trusted.
Every library we tried translates to a backtracking regex (dulwich: 81 s for `*a*a*a*a*a*a*a*a*b`
against 60 letters; wcmatch: 16 s for six `**/a/`) or differs from git. Here each stretch after a
star is an atomic group, which is exact because all that stands between two stars has one length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_WILD_RULES = 1000
"""Compiling costs some 0.2 ms a pattern; beyond this a hostile file would hold up the scan."""

MAX_PATTERN = 8192
"""Bytes; longer than any path, and no person wrote it."""

SHOWN = 80
SPECIAL = re.compile(rb"[*?\[\\]")
CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb"\t ",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb"\t\n\r ",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
"""Git's own, ASCII only (sane-ctype.h): no form feed or vertical tab in `space`."""

STAR = b"*"
GLOBSTAR = b"**"
GLOBSTAR_SLASH = b"**/"
SLASH = b"/"


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


def translate(pattern: bytes) -> bytes | None:
    """Turn a pattern into a regex for the whole of a relative path; nothing if it is malformed."""
    first = SPECIAL.search(pattern)
    literal = first.start() if first else len(pattern)
    tokens = tokenize(pattern[literal:])
    if tokens is None:
        return None
    groups = split_at(tokens, (GLOBSTAR, GLOBSTAR_SLASH))
    result = re.escape(pattern[:literal]) + join_segments(groups[0][1])
    for index, (joint, group) in enumerate(groups[1:], start=2):
        body = join_segments(group)
        skip = rb"(?:[^/]*/)*" if joint == GLOBSTAR_SLASH else rb".*"
        result += skip + body if index == len(groups) else rb"(?>" + skip + b"?" + body + b")"
    return rb"(?s:" + result + rb")\Z"


def split_at(tokens: list[bytes], joints: tuple[bytes, ...]) -> list[tuple[bytes, list[bytes]]]:
    """Split tokens into groups, each with the joint that stands before it."""
    groups: list[tuple[bytes, list[bytes]]] = [(b"", [])]
    for token in tokens:
        if token in joints:
            groups.append((token, []))
        else:
            groups[-1][1].append(token)
    return groups


def join_segments(tokens: list[bytes]) -> bytes:
    """Write out what stands between two `**`: path parts, with single stars within them."""
    parts = []
    for slash, segment in split_at(tokens, (SLASH,)):
        pieces = [b"".join(piece) for _, piece in split_at(segment, (STAR,))]
        text = pieces[0]
        for piece in pieces[1:-1]:
            text += rb"(?>[^/]*?" + piece + rb")"
        if len(pieces) > 1:
            text += rb"[^/]*" + pieces[-1]
        parts.append(slash + text)
    return b"".join(parts)


def tokenize(pattern: bytes) -> list[bytes] | None:
    """Cut a pattern into regexes of one byte each, stars and slashes; nothing if malformed."""
    tokens: list[bytes] = []
    at, end = 0, len(pattern)
    while at < end:
        char = pattern[at : at + 1]
        if char == b"*":
            token, at = read_stars(pattern, at)
        elif char == b"[":
            found = read_bracket(pattern, at + 1)
            if found is None:
                return None
            token, at = found
        elif char == b"\\":
            if at + 1 == end:
                return None
            escaped = pattern[at + 1 : at + 2]
            token, at = (SLASH if escaped == SLASH else re.escape(escaped)), at + 2
        else:
            token, at = {b"?": b"[^/]", b"/": SLASH}.get(char) or re.escape(char), at + 1
        tokens.append(token)
    return tokens


def read_stars(pattern: bytes, at: int) -> tuple[bytes, int]:
    """Read a run of stars: two or more that fill a path part cross slashes, others do not.

    A run at the very start counts as filling its part even after literal letters (`a**/b`):
    git strips the literal prefix before it looks.
    """
    after = at
    while pattern[after : after + 1] == b"*":
        after += 1
    alone = at == 0 or pattern[at - 1 : at] == b"/"
    if after - at < 2 or not alone:
        return STAR, after
    if pattern[after : after + 1] == b"/":
        return GLOBSTAR_SLASH, after + 1
    closed = after == len(pattern) or pattern[after : after + 2] == b"\\/"
    return (GLOBSTAR if closed else STAR), after


def read_bracket(pattern: bytes, at: int) -> tuple[bytes, int] | None:
    """Read a bracket expression from just after its `[`; nothing if git would give up on it."""
    negated = pattern[at : at + 1] in (b"!", b"^") and at < len(pattern)
    start = at = at + negated
    members: set[int] = set()
    previous = 0
    while at == start or pattern[at : at + 1] != b"]":
        found = read_member(pattern, at, previous)
        if found is None:
            return None
        added, previous, at = found
        members |= added
    # Bytes that no name holds are left out, and so is the slash: git never matches it here.
    allowed = (set(range(1, 256)) - members if negated else members) - {0, ord("/")}
    if not allowed:
        return None
    return b"[" + b"".join(b"\\x%02x" % value for value in sorted(allowed)) + b"]", at + 1


def read_member(pattern: bytes, at: int, previous: int) -> tuple[set[int], int, int] | None:
    """Read one member: its bytes, the byte a range could start from, and where to go on."""
    char = pattern[at : at + 1]
    if char == b"-" and previous and pattern[at + 1 : at + 2] not in (b"", b"]"):
        last = at + 1 + (pattern[at + 1 : at + 2] == b"\\")
        if last >= len(pattern):
            return None
        return set(range(previous, pattern[last] + 1)), 0, last + 1
    if char == b"[" and pattern[at + 1 : at + 2] == b":":
        return read_class(pattern, at)
    at += char == b"\\"
    return ({pattern[at]}, pattern[at], at + 1) if at < len(pattern) else None


def read_class(pattern: bytes, at: int) -> tuple[set[int], int, int] | None:
    """Read `[:name:]`; without its `:]` the bracket is an ordinary member."""
    close = pattern.find(b"]", at + 2)
    if close < 0:
        return None
    if close == at + 2 or pattern[close - 1 : close] != b":":
        return {ord("[")}, ord("["), at + 1
    ranges = CLASSES.get(pattern[at + 2 : close - 1])
    if ranges is None:
        return None
    inside = re.compile(b"[" + ranges + b"]")
    return {value for value in range(256) if inside.match(bytes([value]))}, 0, close + 1


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
