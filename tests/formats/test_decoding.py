"""Tests of bytes to text."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.decoding import decode

PROSE = "Grüße aus Köln, wo der Käse „reif“ ist – und die Straße naß. Über allen Gipfeln ist Ruh.\n"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация.\n" * 3
JAPANESE = "日本語の文章です。これは文字コードの判定を確かめるためのものです。検索は速い。\n" * 3
CHINESE = "这是一个用来检查编码识别的中文文本。我们希望它能够被正确地识别出来。\n" * 3


@pytest.mark.requirement("F-015")
@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + PROSE.encode(),
        codecs.BOM_UTF16_LE + PROSE.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + PROSE.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + PROSE.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + PROSE.encode("utf-32-be"),
        PROSE.encode("utf-16-le"),
        PROSE.encode("utf-16-be"),
        PROSE.encode(),
        PROSE.encode("cp1252"),
    ],
)
def test_german_is_read_in_every_encoding_it_comes_in(data: bytes) -> None:
    assert decode(data) == PROSE


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "utf-16-le"),
        (JAPANESE, "utf-16-be"),
        (CHINESE, "gbk"),
    ],
)
def test_other_scripts_are_told_by_their_bytes(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Name;Ort;Preis\nMüller;Köln;5,30 €\n", "cp1252"),
        ("Grüße aus Köln, Straße", "latin-1"),
        ("año,ciudad\n2020,León\n", "latin-1"),
        ("¿Dónde está la niña? ¡Qué día!", "latin-1"),
        ("L\u2019élève a déçu, à côté du cœur: «très naïf»", "cp1252"),
        ("A situação é má, não há soluções", "latin-1"),
        ("Perché la città è più bella", "latin-1"),
        ("Smørrebrød på bordet, blåbær", "latin-1"),
        ("Größe", "latin-1"),
        ("Tea £5, coffee £4", "latin-1"),
    ],
)
def test_short_western_texts_are_read_as_such(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Imię;Miasto\nŁukasz;Kraków\n", "cp1250"),
        ("Łódź jest ładna, dziś świeci słońce", "cp1250"),
        ("Łódź jest ładna, dziś świeci słońce", "iso-8859-2"),
        ("Árvíztűrő tükörfúrógép", "cp1250"),
        ("İstanbul'da güneşli bir gün, ağaç", "cp1254"),
        ("дом и сад", "cp1251"),
        ("с а и", "cp1251"),
        ("Ελλάδα", "cp1253"),
        ("日本", "shift_jis"),
        ("Müller Köln", "cp437"),
        ("Müller Köln", "mac_roman"),
    ],
)
def test_other_short_texts_are_not_taken_for_western(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_one_wrong_byte_in_utf8_is_shown_as_such_and_the_rest_kept() -> None:
    data = PROSE.encode() + b"here \xff there\n" + PROSE.encode()
    assert decode(data) == PROSE + "here \ufffd there\n" + PROSE


def test_utf8_cut_in_the_middle_of_a_letter_keeps_the_rest() -> None:
    assert decode(PROSE.encode() + b"\xe2\x82") == PROSE + "\ufffd"


def test_a_smart_quote_of_windows_in_plain_english_is_that_quote() -> None:
    text = "It\u2019s the reader\u2019s choice, isn\u2019t it? " * 5
    assert decode(text.encode("cp1252")) == text


def test_encoded_lone_surrogates_become_replacement_characters() -> None:
    assert decode(b"before \xed\xa0\x80 after") == "before \ufffd after"


def test_surrogate_pairs_encoded_one_by_one_become_their_letter() -> None:
    assert decode(b"smile \xed\xa0\xbd\xed\xb8\x80") == "smile 😀"


def test_a_stray_zero_in_prose_is_replaced_and_not_the_end_of_the_text() -> None:
    assert decode((PROSE * 5).encode() + b"a\0b") == PROSE * 5 + "a\ufffdb"


def test_zeros_in_a_short_file_make_it_binary() -> None:
    with pytest.raises(Unreadable):
        decode(b"\1\0\2\0\3\3\0")


def test_line_ends_of_every_system_become_newlines_and_nothing_else_does() -> None:
    mixed = "a\r\nb\rc\nd\u2028e\x0bf\x0cg\x85h"
    assert decode(mixed.encode()) == "a\nb\nc\nd\u2028e\x0bf\x0cg\x85h"


def test_decomposed_letters_zero_width_and_bidi_marks_are_left_alone() -> None:
    text = "e\u0301 \u200b \u202e abc \u202c \ufeff"
    assert decode(text.encode()) == text


def test_a_high_byte_far_into_an_ascii_file_is_still_looked_at() -> None:
    text = "plain text\n" * 20_000 + "caf\u00e9 cr\u00e8me br\u00fbl\u00e9e na\u00efve\n" * 5
    assert decode(text.encode("cp1252")) == text


@given(st.binary(max_size=400))
def test_any_bytes_give_storable_text_or_are_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except Unreadable:
        return
    text.encode()
    assert not set("\0\r") & set(text)


@given(st.text(max_size=100))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    text = text.replace("\r", "").replace("\0", "").removeprefix("\ufeff")
    assert decode(text.encode()) == text
