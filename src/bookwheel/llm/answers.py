"""What a model wrote, as it may be shown: a document may have made it write anything."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from bookwheel.errors import Upstream

_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\]]*)\]\(\s*<?([^)\s>]*)[^)]*\)")
_REFERENCE = re.compile(r"^[ \t]{0,3}\[[^\]]+\]:[ \t]*\S+.*$", re.M)
_TAG = re.compile(r"<[a-z/!][^>]*>", re.I)
_ADDRESS = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]*://|\bwww\.|\b(?:data|javascript|mailto):)[^\s<>\"')\]]+", re.I
)
_REMOVED = "[address removed]"


def without_addresses(text: str, given: Sequence[str]) -> str:
    """Return a text without images and tags, and without addresses that it was not given.

    An address that a document makes a model write can carry out what other documents say.
    """
    known = "\n".join(given)
    shown = _REFERENCE.sub("", _TAG.sub("", _IMAGE.sub(r"\1", text)))
    shown = _LINK.sub(lambda found: found[0] if found[2] in known else found[1], shown)
    return _ADDRESS.sub(lambda found: found[0] if found[0] in known else _REMOVED, shown).strip()


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text holds, whatever stands around it."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Upstream("The model's answer is not of the form that was asked for.")
    return value
