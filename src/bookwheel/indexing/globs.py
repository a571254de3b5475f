r"""Wildcards of gitignore patterns as regular expressions, as git reads them (wildmatch.c).

No pattern can make a match slow: ignore files lie among the documents and are not to be trusted.
Every library we tried translates to a backtracking regex (dulwich: 81 s for `*a*a*a*a*a*a*a*a*b`
against 60 letters; wcmatch: 16 s for six `**/a/`) or differs from git. Here each stretch after a
star is an atomic group, which is exact because all that stands between two stars has one length.
"""

from __future__ import annotations

import re

SPECIAL = re.compile(rb"[*?\[\\]")
"""What makes a pattern more than a name."""
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
