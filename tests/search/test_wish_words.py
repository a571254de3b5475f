"""Words for types of files: each is of files that can be indexed."""

from __future__ import annotations

import pytest

from bookwheel.formats.registry import SUPPORTED
from bookwheel.search.wish_words import EXTENSIONS, KINDS, PAGES, PROGRAMS


@pytest.mark.parametrize("words", [EXTENSIONS, KINDS, PAGES, PROGRAMS])
def test_no_type_is_offered_that_cannot_be_indexed(words: dict[str, tuple[str, ...]]) -> None:
    assert {each for extensions in words.values() for each in extensions} <= SUPPORTED
