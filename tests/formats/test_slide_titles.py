"""Titles of presentations that are none."""

from __future__ import annotations

import pytest

from bookwheel.formats.composing import About
from bookwheel.formats.slide_titles import with_title


@pytest.mark.parametrize(
    "title",
    [
        "",
        "PowerPoint Presentation",
        "PowerPoint-Präsentation",
        "PowerPoint-presentatie",
        "PowerPoint プレゼンテーション",
        "PowerPoint 演示文稿",
        "Présentation PowerPoint",
        "Presentazione standard di PowerPoint",
        "Apresentação do PowerPoint",
        "Prezentacja programu PowerPoint",
        "Slide 1",
        "スライド 1",
        "Diapositive 1",
        "No Slide Title",
        "Aucun titre de diapositive",
    ],
)
def test_what_programs_write_is_no_title(title: str) -> None:
    assert with_title(About(title=title), "The plan") == About(title="The plan")


@pytest.mark.parametrize(
    "title", ["PowerPoint for beginners", "Slide 12", "Bild 1 von 3", "Dialog 1"]
)
def test_what_an_author_wrote_stays(title: str) -> None:
    assert with_title(About(title=title), "The plan") == About(title=title)
