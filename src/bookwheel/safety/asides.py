"""What stands between a word for a password and the password: what it is for, and whose it is.

`Passwort Gäste-WLAN: x`, `mot de passe provisoire est x`, `pw for the vpn x`.
"""

from __future__ import annotations

import re

from bookwheel.safety.values import is_named_in_prose, is_strong

_WORD = rb"[^\s:=|<>\"'`]{1,24}"
_SAID = (
    rb"(?: ?(?:[:=]|\xef\xbc\x9a|[=-]>|\xe2\x86\x92) ?| - |"
    rb" (?:is|ist|lautet|est|es|c'est|\xc3\xa8|\xc3\xa9)"
    rb"(?: now| still| jetzt| noch)?:? )"
)
_FOR = rb"(?:for|of|on|f\xc3\xbcr|von|zum|zur|pour|du|de|del|para|da|van|do) "
_ASIDE = re.compile(
    rb"(?:- |(?:%b ){0,4}?%b%b|%b(?:the |den |das |der |la |le |el )?%b )[\"'`]?"
    % (_WORD, _WORD, _SAID, _FOR, _WORD)
)
_UNSAID = re.compile(rb"(?:%b ){1,2}?(?=[^\s\"'`<>]*[!@#$%%^&*?])" % _WORD)
"""Words with no sign after them: what follows must be one to see."""
_VALUE = re.compile(rb"[^\s\"'`<>/][^\s\"'`<>]{4,63}")
_ABOUT_IT = re.compile(
    rb"(?i)\b(?:hash|polic|length|expir|last|age\b|algo|type|field|files?\b|manag|histor|version|"
    rb"link|url|date|min|max|strength|generat|stor|format|encod|rule|protect|auth|must|should|can|"
    rb"will|may|not|hint|example|regex|pattern|class|func|method|error|fail|change|update|and\b|"
    rb"or\b|column|table|flow|grant|ticket|case\b|issue|request|id\b|nr\b|no\b|forgot|vergessen|"
    rb"l\xc3\xa4nge|ablauf|richtlinie|zur\xc3\xbcck|require|oubli|perdu|olvid|manual|guide|docs?\b|"
    rb"see|siehe|voir|ver\b|test|step|count|score|level|entropy|char|zeichen|line|page|seite|release)"
)
"""Words that tell of passwords and give none."""


def find_after_aside(data: bytes, at: int) -> tuple[int, int] | None:
    """Return where the password stands, if some words about it stand at `at` first."""
    for pattern, judge in ((_ASIDE, is_named_in_prose), (_UNSAID, is_strong)):
        aside = pattern.match(data, at)
        if aside is None or _ABOUT_IT.search(aside[0]):
            continue
        value = _VALUE.match(data, aside.end())
        text = value[0].rstrip(b".,;:)]}|*_/") if value else b""
        if judge(text.decode("utf-8", "replace")):
            return aside.end(), aside.end() + len(text)
    return None
