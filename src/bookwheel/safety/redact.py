"""The one door for text: whatever a caller is shown of a document passes here."""

from __future__ import annotations

import re

from bookwheel.model import SafeText

# Characters that steer or hide text without being seen: tags, bidirectional controls, invisible
# operators, byte order marks, other controls. Joiners stay: Persian, Indic and emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_ZERO_WIDTH_SPACE = "\u200b"
_CONTROLS = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])
"""Those of them that ASCII has, as a table: most texts have no others."""


def make_safe(text: str) -> SafeText:
    """Return the text without characters that are invisible yet act on a reader or a model."""
    if text.isascii():
        return SafeText(text if text.isprintable() else text.translate(_CONTROLS))
    return SafeText(_INVISIBLE.sub("", text.replace(_ZERO_WIDTH_SPACE, " ")))
