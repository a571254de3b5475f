"""Field instructions of word processors: what a field points at or shows."""

from __future__ import annotations

import re

_MAX_INSTRUCTION = 4_096
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|(\\[A-Za-z])|(\S+)')


def link_target(instruction: str) -> str:
    """Return the address or `#bookmark` of a HYPERLINK field, nothing for other fields."""
    parts = _PART.finditer(instruction.strip()[:_MAX_INSTRUCTION])
    name = next(parts, None)
    if name is None or name[0].upper() != "HYPERLINK":
        return ""
    address = anchor = switch = ""
    for part in parts:
        value = (part[1] if part[1] is not None else part[3] or "").replace("\\\\", "\\")
        if part[2]:
            switch = part[2].lower()
        elif switch == r"\l":
            anchor, switch = value, ""
        elif switch in (r"\o", r"\t"):
            switch = ""
        elif not address:
            address = value
    return f"{address}#{anchor}" if anchor else address


def button_text(instruction: str) -> str:
    """Return what a MACROBUTTON field shows, which has no result; nothing for other fields."""
    parts = instruction.split(maxsplit=2)
    return parts[2] if len(parts) == 3 and parts[0].upper() == "MACROBUTTON" else ""
