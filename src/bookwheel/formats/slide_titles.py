"""Titles that presentation programs write into the properties when the author wrote none."""

from __future__ import annotations

import re

from bookwheel.formats.composing import About

_SHOW_AFTER = (
    "Pr[eäéæ]sentation|presentatie|presentasjon|esitys|bemutató|sunusu|プレゼンテーション|演示文稿|簡報"
    "|프레젠테이션"
)
_SHOW_BEFORE = (
    "Pr[eé]sentation|Presentaci[oó]n|Apresentação|Presentazione|Презентация|Презентація|Prezentacja"
    "|Prezentace|Prezentácia|Prezentare"
)
_SLIDE = (
    "Slide|Folie|Diapositive|Diapositiva|Dia|Bild|Lysbilde|Slajd|Snímek|Слайд|スライド|幻灯片|投影片"
    "|슬라이드"
)
_NO_TITLE = re.compile(
    rf"(?:Microsoft )?PowerPoint(?:[ -]?(?:{_SHOW_AFTER}))?"
    rf"|(?:{_SHOW_BEFORE})(?: (?:standard|di|de|do|programu|aplikace|aplikácie)){{0,2}} PowerPoint"
    rf"|(?:{_SLIDE}) (?:number )?1|Presentation"
    "|No slide title|Aucun titre de diapositive|Kein Folientitel|Sin título de diapositiva"
    "|Nessun titolo diapositiva|Geen diatitel",
    re.I,
)


def with_title(about: About, title: str) -> About:
    """Return properties with the title of a slide where theirs is none."""
    is_none = not about.title or _NO_TITLE.fullmatch(about.title.strip())
    return about._replace(title=title) if is_none else about
