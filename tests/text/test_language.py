"""Which language a text is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.text.language import base_language, detect_language, filler_words

SAMPLES = {
    "en": "The index is kept on disk, and it is not read again when nothing in the folder changed.",
    "de": "Der Index liegt auf der Platte, und die Dateien werden nicht noch einmal gelesen, "
    "wenn sich im Ordner nichts geändert hat und das Programm mit den Daten auskommt.",
    "fr": "Le fichier est sur le disque et les pages ne sont pas relues par le serveur quand il "
    "est lancé pour la première fois dans la journée avec les mêmes options.",
    "es": "El índice se guarda en el disco y los documentos no se leen de nuevo por el servidor "
    "que se ejecuta con las mismas opciones para el usuario.",
    "ru": "Индекс хранится на диске, и файлы не читаются заново.",
    "zh": "索引保存在磁盘上，没有更改时不会再次读取。",
    "ja": "索引はディスクに保存され、変更がなければ再び読み込まれません。",
    "th": "ดัชนีถูกเก็บไว้ในดิสก์",
    "hi": "सूचकांक डिस्क पर रखा जाता है।",
    "el": "Το ευρετήριο φυλάσσεται στον δίσκο.",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_a_paragraph_tells_its_language(language: str) -> None:
    assert detect_language(SAMPLES[language]) == language


SHORT = {
    "de": "Jeder Mitarbeiter hat 30 Tage Urlaub im Jahr. Der Antrag geht an die Personalabteilung.",
    "fr": "Les congés sont demandés au service du personnel deux semaines avant le départ.",
    "es": "Las vacaciones se piden al departamento de personal con dos semanas de antelación.",
    "it": "Le ferie si chiedono al personale due settimane prima della partenza, con il modulo.",
    "nl": "Vakantie wordt aangevraagd bij de afdeling personeel, twee weken voor het vertrek.",
    "en": "There was no way to do a thing as a user in Las Vegas or El Paso.",
}


@pytest.mark.parametrize("language", SHORT)
def test_a_sentence_or_two_tell_their_language(language: str) -> None:
    assert detect_language(SHORT[language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "Home\nContact\nde en fr es it pt nl",
        "Hans Müller, Am Markt 3, 10115 Berlin",
        "i in range(n): a[i] = o[i]; e = se + da",
    ],
)
def test_single_letters_and_names_tell_no_language(text: str) -> None:
    assert detect_language(text) == "en"


@pytest.mark.parametrize("text", ["", "x = y + 1", "o a de en", "```\n{}\n```", "La la la."])
def test_too_little_to_tell_by_is_taken_for_the_default(text: str) -> None:
    assert detect_language(text) == "en"
    assert detect_language(text, default="de") == "de"


def test_a_foreign_name_does_not_change_the_language() -> None:
    assert detect_language(SAMPLES["en"] + " Достоевский 東京") == "en"


@pytest.mark.parametrize(
    ("code", "base"),
    [
        ("pt-BR", "pt"),
        ("EN_us", "en"),
        ("de", "de"),
        ("", None),
        (None, None),
        ("x", None),
        ("12", None),
    ],
)
def test_region_and_case_of_a_language_code_do_not_matter(
    code: str | None, base: str | None
) -> None:
    assert base_language(code) == base


def test_question_words_are_filler_and_content_words_are_not() -> None:
    assert {"how", "do", "the"} <= filler_words("en")
    assert "index" not in filler_words("en")
    assert filler_words("xx") == frozenset()


@given(st.text(max_size=500))
def test_every_text_has_a_language(text: str) -> None:
    assert detect_language(text).isalpha()
