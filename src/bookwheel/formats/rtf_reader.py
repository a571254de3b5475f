"""What the control words of RTF mean: paragraphs, styles, fields, notes and properties."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bookwheel.formats.docx_styles import BODY_TEXT, level_by_name
from bookwheel.formats.manuscript import FORMULAS, PAGE_BREAK, Piece, flatten
from bookwheel.formats.rtf_tokens import SKIPPED, Tokens
from bookwheel.formats.rtf_words import Font, codec_of_page, set_charset
from bookwheel.formats.story import Format, Story

_MODES = ("fonttbl", "stylesheet", "info", "creatim")
_PROPERTIES = ("title", "author", "subject", "keywords", "doccomm")
_TIME = ("yr", "mo", "dy", "hr", "min")
_MARGINS = ("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf")


class Reader(Tokens):
    """One pass over a file, and what it has found so far."""

    def __init__(self) -> None:
        super().__init__()
        self.words = self._handlers()
        self.footnotes: list[str] = []
        self.endnotes: list[str] = []
        self.comments: list[str] = []
        self.margins: dict[str, None] = {}
        self.embedded: list[str] = []
        self.properties: dict[str, str] = {}
        self.created: dict[str, int] = {}
        self._fonts: dict[int, Font] = {}
        self._font_id = 0
        self._levels: dict[int, int] = {}
        self._style_id = 0
        self._is_endnote = False
        self._instruction = ""
        self._author = ""

    def read(self, text: str) -> list[Piece]:
        """Read the bytes of a file, each given as one letter, and return its text."""
        self.run(text)
        return self.story.end(self.format)

    def _handlers(self) -> dict[str, Callable[[int], None]]:
        handlers: dict[str, Callable[[int], None]] = {
            "par": lambda _: self.story.end_paragraph(self.format),
            "sect": lambda _: self.story.end_paragraph(self.format),
            "cell": lambda _: self.story.end_cell(self.format),
            "nestcell": lambda _: self.story.end_paragraph(self.format._replace(in_table=True)),
            "row": lambda _: self.story.end_row(),
            "page": lambda _: self.out.append(PAGE_BREAK),
            "pard": lambda _: self._reformat(Format()),
            "intbl": lambda on: self._reformat(self.format._replace(in_table=on != 0)),
            "pagebb": lambda on: self._reformat(self.format._replace(breaks_page=on != 0)),
            "ilvl": lambda depth: self._reformat(self.format._replace(depth=max(0, depth))),
            "outlinelevel": self._outline,
            "s": self._style,
            "deleted": self._delete,
            "f": self._choose_font,
            "fcharset": self._charset,
            "ansicpg": lambda page: self._encode(codec_of_page(page)),
            "mac": lambda _: self._encode("mac_roman"),
            "pc": lambda _: self._encode("cp437"),
            "pca": lambda _: self._encode("cp850"),
            "uc": self._count,
            "u": self.put_code,
            "fldinst": lambda _: self._capture(self._instruct),
            "fldrslt": self._result,
            "listtext": lambda _: self._capture(self._label),
            "pntext": lambda _: self._capture(self._label),
            "atnauthor": lambda _: self._capture(self._name_author),
            "footnote": lambda _: self._apart(self._note),
            "ftnalt": self._mark_endnote,
            "objclass": lambda _: self._capture(self._embed),
            "annotation": lambda _: self._apart(self._comment),
            "shptxt": lambda _: self._apart(self._box),
            "dptxbxtext": lambda _: self._apart(self._box),
        }
        handlers |= {name: partial(self._enter_mode, name) for name in _MODES}
        handlers |= {name: partial(self._property, name) for name in _PROPERTIES}
        handlers |= {name: partial(self._time, name) for name in _TIME}
        handlers |= {name: lambda _: self._apart(self._margin) for name in _MARGINS}
        return handlers

    def _count(self, letters: int) -> None:
        self.letters_per_code = min(max(0, letters), 16)

    def _encode(self, codec: str) -> None:
        self.codec = codec

    def _choose_font(self, number: int) -> None:
        self._font_id = number
        if self.mode != "fonttbl":
            self.font = self._fonts.get(number, Font())

    def _charset(self, charset: int) -> None:
        if self.mode == "fonttbl":
            font = self._fonts.get(self._font_id, Font())
            self._fonts[self._font_id] = set_charset(font, charset)

    def define(self, text: str) -> None:
        """Take the name of a font or a style."""
        name = text.strip().rstrip(";")
        if self.mode == "fonttbl" and name:
            font = self._fonts.get(self._font_id, Font())
            self._fonts[self._font_id] = font._replace(name=font.name + name)
        elif self.mode == "stylesheet":
            level = level_by_name(name)
            if level is not None:
                self._levels.setdefault(self._style_id, level)

    def _style(self, number: int) -> None:
        self._style_id = number
        if not self.mode:
            self._reformat(self.format._replace(level=self._levels.get(number, 0)))

    def _outline(self, outline: int) -> None:
        level = (min(max(0, outline), BODY_TEXT) + 1) % (BODY_TEXT + 1)
        if self.mode == "stylesheet":
            self._levels[self._style_id] = level
        else:
            self._reformat(self.format._replace(level=level))

    def _reformat(self, format: Format) -> None:
        self.format = format

    def _delete(self, on: int) -> None:
        if on:
            self.mode = SKIPPED

    def _enter_mode(self, name: str, _: int) -> None:
        self.mode = name

    def _property(self, name: str, _: int) -> None:
        if self.mode == "info":
            self.mode = ""
            self._capture(partial(self.properties.__setitem__, name))

    def _time(self, unit: str, number: int) -> None:
        if self.mode == "creatim":
            self.created[unit] = number

    def _capture(self, use: Callable[[str], object]) -> None:
        """Keep the letters of this group out of the text, and use them when it ends."""
        letters: list[str] = []
        self.out = letters
        self.close = lambda: use("".join(letters))

    def _instruct(self, instruction: str) -> None:
        self._instruction = instruction

    def _result(self, _: int) -> None:
        self.story.begin_link(self._instruction)
        self._instruction = ""
        self.close = self.story.end_link

    def _label(self, label: str) -> None:
        self.story.label = label

    def _name_author(self, author: str) -> None:
        self._author = author.strip()

    def _apart(self, use: Callable[[list[Piece]], None]) -> None:
        """Read this group as a text of its own, and use that when it ends."""
        outer, self.story = self.story, Story()
        self.out = self.story.out
        self.format = Format()

        def close() -> None:
            pieces = self.story.end(self.format)
            self.story = outer
            use(pieces)

        self.close = close

    def _mark_endnote(self, _: int) -> None:
        self._is_endnote = True

    def _note(self, pieces: list[Piece]) -> None:
        notes = self.endnotes if self._is_endnote else self.footnotes
        mark = f"[^{'e' if self._is_endnote else ''}{len(notes) + 1}]"
        self._is_endnote = False
        self.story.out.append(mark)
        notes.append(f"{mark} {flatten(pieces)}")

    def _embed(self, program: str) -> None:
        if (name := program.strip()) and not name.startswith(FORMULAS):
            self.embedded.append(name)

    def _comment(self, pieces: list[Piece]) -> None:
        text = flatten(pieces)
        if text:
            self.comments.append(f"{self._author}: {text}" if self._author else text)
        self._author = ""

    def _margin(self, pieces: list[Piece]) -> None:
        if text := flatten(pieces):
            self.margins[text] = None

    def _box(self, pieces: list[Piece]) -> None:
        self.story.boxes += pieces
