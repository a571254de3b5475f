"""Finding what must not be seen in a text."""

from __future__ import annotations

import re
from typing import NamedTuple

from bookwheel.model import Redact, Span
from bookwheel.settings import Settings

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_PASSWORD = re.compile(r"(?<=password: )\S+|sk_live_\w+")


class Rules(NamedTuple):
    version: str


OWN_RULES = Rules("0")


def make_rules(settings: Settings) -> Rules:
    return Rules("0")


def find_spans(text: str, rules: Rules | None = None) -> tuple[Span, ...]:
    spans = [Span(*found.span(), "email") for found in _EMAIL.finditer(text)]
    spans += [Span(*found.span(), "password") for found in _PASSWORD.finditer(text)]
    return tuple(sorted(spans))


def is_secret(kind: str) -> bool:
    return kind not in ("email", "phone")


def redact_text(text: str, level: Redact, rules: Rules | None = None) -> str:
    parts, done = [], 0
    for span in find_spans(text, rules):
        if level is Redact.ALL or is_secret(span.kind):
            parts += [text[done : span.start], f"[redacted:{span.kind}]"]
            done = span.end
    return "".join((*parts, text[done:]))
