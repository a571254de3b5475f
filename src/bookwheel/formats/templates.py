"""Properties that come from a library's template: they tell of the library, not of a document."""

from __future__ import annotations

from bookwheel.formats.composing import About

_AUTHORS = frozenset({"python-docx", "python-pptx"})
_DATES = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z"})
"""When the templates of these two were made, which each document made from them says too."""


def without_template(about: About) -> About:
    """Return properties without those that every document of a library has."""
    return about._replace(
        author="" if about.author in _AUTHORS else about.author,
        date="" if about.date in _DATES else about.date,
    )
