"""Tests of properties that come from a library's template."""

from __future__ import annotations

from bookwheel.formats.composing import About
from bookwheel.formats.templates import without_template


def test_what_every_document_of_a_library_says_is_told_of_none() -> None:
    made = About(title="Plan", author="python-docx", date="2013-12-23T23:15:00Z")
    assert without_template(made) == About(title="Plan")


def test_what_an_author_says_is_kept() -> None:
    own = About(author="Ann", date="2013-12-23T23:15:01Z")
    assert without_template(own) == own
