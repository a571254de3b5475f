"""Tests of source code and other text without a format of its own."""

from __future__ import annotations

import pytest

from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.model import Status
from bookwheel.text.chunking import chunk


@pytest.mark.parametrize(
    ("name", "text", "description"),
    [
        ("a/tool.py", '#!/usr/bin/env python3\n"""Rotate keys."""\n', "Rotate keys."),
        ("tool.py", "# Rotate keys.\nimport os\n", "Rotate keys."),
        ("main.c", "/* Rotate keys. */\nint main;\n", "Rotate keys."),
        ("main.go", "// Rotate keys.\npackage main\n", "Rotate keys."),
        ("x.sql", "-- Rotate keys.\nSELECT 1;\n", "Rotate keys."),
        ("page.xml", "<!-- Rotate keys. -->\n", "Rotate keys."),
        ("Makefile", "\n\nall: test\n", "all: test"),
        ("data.dat", "1 2 3\n4 5 6\n", ""),
    ],
)
def test_code_is_named_by_its_file_and_described_by_its_first_words(
    name: str, text: str, description: str
) -> None:
    parsed = read(text.encode(), name)
    assert (parsed.title, parsed.description) == (name.rpartition("/")[2], description)
    assert parsed.text == text
    assert not parsed.sections


def test_a_comment_in_code_is_no_heading_and_lines_are_its_pointers() -> None:
    parsed = read(b"# not a heading\nx = 1\r\n\ty = 2\n", "a.py")
    assert parsed.text == "# not a heading\nx = 1\n\ty = 2\n"
    assert [part.pointer for part in chunk(parsed)] == ["lines 1-3"]


def test_code_may_be_in_any_encoding() -> None:
    german = "# Die Größe der Schlüssel, wie sie über Nacht geändert wird.\ngröße = 1\n"
    assert read(german.encode("latin-1"), "a.py").text == german
    assert read("größe = 1\n".encode("utf-16"), "a.ps1").text == "größe = 1\n"


def test_a_binary_without_a_known_extension_is_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        read(bytes(range(256)) * 9, "a.o")
    assert refused.value.status is Status.BINARY
