"""Tests of numbers as word processors write them."""

from __future__ import annotations

import pytest

from bookwheel.formats.numerals import write_number


@pytest.mark.parametrize(
    ("number", "format", "written"),
    [
        (1994, "upperRoman", "MCMXCIV"),
        (49, "lowerRoman", "xlix"),
        (5000, "lowerRoman", "5000"),
        (0, "upperRoman", "0"),
        (26, "lowerLetter", "z"),
        (28, "upperLetter", "BB"),
        (781, "upperLetter", "781"),
        (7, "decimalZero", "07"),
        (7, "thaiCounting", "7"),
    ],
)
def test_numbers_are_written_as_their_format_says(number: int, format: str, written: str) -> None:
    assert write_number(number, format) == written
