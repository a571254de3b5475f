"""What YAML has between a name and its value: a tag, an anchor, the head of a block."""

from __future__ import annotations

import re

_PROPERTIES = re.compile(
    rb"(?:&(?!(?:mut|dyn)\b)[\w.-]{1,40}[ \t]+(?=[^\s=&])|"
    rb"!(?:!?(?:str|string|binary)|unsafe)[ \t]+(?=\S)|"
    # other tags may name where the value is to be had; in quotes it is the value more often
    rb"!(?!(?i:vault|ref|sub|getatt|import|join|select|if|find|env|secret|include|file|read|load|"
    rb"lookup|split|transform|config|ssm|resolve|get|path|from|base64|opt|var|param))"
    rb"[\w./:-]{1,60}[ \t]+(?=[\"'])){1,2}"
)
_BLOCK = re.compile(rb"[|>][0-9+-]{0,2}[ \t]*(?:[ \t]#[^\n]*)?\r?\n(?:[ \t]*\r?\n)?[ \t]+")


def skip_properties(data: bytes, at: int) -> tuple[int, bool]:
    """Return where a value begins of which `at` is the first sign, and whether it is a block."""
    properties = _PROPERTIES.match(data, at)
    at = properties.end() if properties else at
    block = _BLOCK.match(data, at)
    return (block.end(), True) if block else (at, False)
