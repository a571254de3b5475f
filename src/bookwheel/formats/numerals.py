"""Numbers as word processors write them before headings: digits, letters, Roman ones."""

from __future__ import annotations

from string import ascii_lowercase

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_ROMAN = 5_000
_MOST_LETTERS = 780
"""Thirty times through the alphabet: as far as Word goes."""


def write_number(number: int, format: str) -> str:
    """Return a number in one of Word's formats; in digits where the format is another."""
    if format in ("upperRoman", "lowerRoman") and 0 < number < _MOST_ROMAN:
        return _in_case(_write_roman(number), format)
    if format in ("upperLetter", "lowerLetter") and 0 < number <= _MOST_LETTERS:
        times, letter = divmod(number - 1, len(ascii_lowercase))
        return _in_case(ascii_lowercase[letter] * (times + 1), format)
    return f"{number:02}" if format == "decimalZero" else str(number)


def _in_case(text: str, format: str) -> str:
    return text.upper() if format.startswith("upper") else text


def _write_roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        times, number = divmod(number, value)
        written += letters * times
    return written
