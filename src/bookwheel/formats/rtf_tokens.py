"""Tokens of RTF: groups, control words and letters in the code pages of their fonts."""

from __future__ import annotations

import re
from collections.abc import Callable

from bookwheel.formats.rtf_words import DOUBLE_BYTE, ENTERED, LETTERS, SIGNS, UNSHOWN, Font
from bookwheel.formats.story import Format, Story
from bookwheel.formats.symbols import symbol

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?[0-9]{1,9})? ?"
    r"|\\'([0-9a-fA-F]{2})"
    r"|\\(\r\n|[^a-zA-Z])"
    r"|([{}])"
    r"|([^\\{}\r\n]+)"
)
_WORD, _NUMBER, _HEX, _SIGN, _BRACE, _TEXT = range(1, 7)
_BINARY = re.compile(r"\\bin([0-9]{1,10}) ?")
SKIPPED = "skipped"

_Close = Callable[[], object]


class Tokens:
    """The state of one pass over a file: what holds for the group that is open."""

    def __init__(self) -> None:
        self.story = Story(page=1)
        self.words: dict[str, Callable[[int], None]] = {}
        """What to do at a control word that is no mere letter."""
        self.mode = ""
        """What letters belong to: the text when empty, or a table, or nothing that is read."""
        self.codec = "cp1252"
        self.font = Font()
        self.format = Format()
        self.letters_per_code = 1
        self.close: _Close | None = None
        """What to do when the group that is open ends."""
        self.out = self.story.out
        self._to_skip = 0
        self._is_optional = False
        self._pending = bytearray()
        self._groups: list[tuple[str, Font, Format, int, list[str], _Close | None]] = []

    def run(self, text: str) -> None:
        """Read the bytes of a file, each given as one letter."""
        actions = {
            _WORD: self._word,
            _NUMBER: self._word,
            _HEX: self._hex,
            _SIGN: self._sign,
            _TEXT: self._text,
        }
        for token in _TOKEN.finditer(_without_binaries(text)):
            index = token.lastindex or _TEXT
            if self._pending and index != _HEX:
                self._decode(completing=index == _TEXT)
            if index == _BRACE:
                if token[_BRACE] == "{":
                    self._open_group()
                elif not self._close_group():
                    break
            elif self.mode != SKIPPED:
                actions[index](token)
        self._decode(completing=False)
        while self._groups:
            self._close_group()

    def define(self, text: str) -> None:
        """Take letters that belong to a table."""

    def put(self, text: str) -> None:
        """Add letters that are decoded already."""
        if not self.mode:
            self.out.append(text)

    def put_code(self, code: int) -> None:
        """Add a letter by its number; a replacement for old programs follows it."""
        if not 0 <= code < 0x110000:
            code %= 0x10000
        private = self.font.is_symbol and 0xF000 <= code < 0xF100
        self.put(symbol(self.font.name, f"{code:x}") if private else chr(code))
        self._to_skip = self.letters_per_code

    def _open_group(self) -> None:
        self._to_skip = 0
        self._is_optional = False
        self._groups.append(
            (self.mode, self.font, self.format, self.letters_per_code, self.out, self.close)
        )
        self.close = None

    def _close_group(self) -> bool:
        """End a group; False for the one that is the document."""
        self._to_skip = 0
        self._is_optional = False
        if not self._groups:
            return False
        if self.close is not None:
            self.close()
        group = self._groups.pop()
        self.mode, self.font, self.format, self.letters_per_code, self.out, self.close = group
        return bool(self._groups)

    def _word(self, token: re.Match[str]) -> None:
        if self._to_skip:
            self._to_skip -= 1
            return
        word, number = token[_WORD], token[_NUMBER]
        optional, self._is_optional = self._is_optional, False
        handler = self.words.get(word)
        if handler is not None:
            handler(1 if number is None else int(number))
        elif word in LETTERS:
            self.put(LETTERS[word])
        elif word in UNSHOWN or (optional and word not in ENTERED):
            self.mode = SKIPPED

    def _sign(self, token: re.Match[str]) -> None:
        sign = token[_SIGN]
        if self._to_skip:
            self._to_skip -= 1
        elif sign == "*":
            self._is_optional = True
        elif sign in ("\n", "\r", "\r\n"):
            self.words["par"](1)
        elif sign in SIGNS:
            self.put(SIGNS[sign])

    def _hex(self, token: re.Match[str]) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif not self.mode:
            self._pending.append(int(token[_HEX], 16))

    def _text(self, token: re.Match[str]) -> None:
        text = token[_TEXT]
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        if self.mode:
            self.define(text)
        elif text.isascii() and not self._pending:
            self.out.append(text)
        else:
            self._pending += text.encode("latin-1", "replace")
            self._decode(completing=False)

    def _decode(self, *, completing: bool) -> None:
        """Turn bytes into letters; a double-byte letter may end with the text that follows."""
        font, data = self.font, bytes(self._pending)
        codec = font.codec or self.codec
        if completing and codec in DOUBLE_BYTE and _is_incomplete(data, codec):
            return
        self._pending.clear()
        if font.is_symbol:
            self.out.append("".join(symbol(font.name or "symbol", f"{byte:x}") for byte in data))
        else:
            self.out.append(data.decode(codec, "replace"))


def _is_incomplete(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError as error:
        return error.end == len(data)
    return False


def _without_binaries(text: str) -> str:
    """Return the text without embedded bytes, which are no tokens."""
    if "\\bin" not in text:
        return text
    pieces: list[str] = []
    at = 0
    while found := _BINARY.search(text, at):
        pieces.append(text[at : found.start()])
        at = found.end() + int(found[1])
    return "".join((*pieces, text[at:]))
