"""Tests of the table of formats and of what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.formats import registry
from bookwheel.formats.base import Unreadable, title_from_path
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk

BINARIES = {
    "PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "JPEG": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "zip": b"PK\x03\x04\x14\0\0\0",
    "OLE": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 20,
    "gzip": b"\x1f\x8b\x08\0\0\0\0\0",
    "ELF": b"\x7fELF\x02\x01\x01\0",
    "SQLite": b"SQLite format 3\0",
    "no magic, but zeros": b"hello\0world\0",
    "control bytes": bytes(range(1, 32)) * 20 + b"\xff",
}


@pytest.mark.parametrize("extension", [".md", ".txt", ".html"])
@pytest.mark.parametrize("data", BINARIES.values(), ids=BINARIES)
def test_a_binary_file_with_the_name_of_a_text_is_refused(data: bytes, extension: str) -> None:
    with pytest.raises(Unreadable) as refused:
        registry.read(data, f"a/b{extension}")
    assert refused.value.status is Status.BINARY
    assert refused.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "GIF images are small",
        "%PDF is a prefix",
        "PK is a name",
        "MZ",
        "ID3 tags",
        "RIFF",
        "7z",
        "BZh",
    ],
)
def test_prose_that_begins_like_a_magic_number_is_text(text: str) -> None:
    assert registry.read(text.encode(), "a.txt").title == text


def test_a_git_lfs_pointer_is_named_as_such() -> None:
    pointer = (
        b"version https://git-lfs.github.com/spec/v1\n"
        b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
    )
    with pytest.raises(Unreadable, match="git lfs pull") as refused:
        registry.read(pointer, "a.md")
    assert refused.value.status is Status.NO_TEXT


def test_a_text_about_git_lfs_is_no_pointer() -> None:
    text = b"version https://git-lfs.github.com/spec/v1\nis the first line of a pointer."
    assert registry.read(text, "a.txt").text == text.decode()


@pytest.mark.parametrize("name", ["a.docxx", "Makefile", ".md", "a.md.bak", "dir.md/file"])
def test_text_without_a_format_of_its_own_is_read_as_it_stands(name: str) -> None:
    parsed = registry.read(b"# Ruler of\nall things", name)
    assert parsed.title == name.rpartition("/")[2]
    assert parsed.text == "# Ruler of\nall things"
    assert parsed.description == "Ruler of"
    assert not parsed.sections


def test_a_binary_without_a_reader_is_refused_by_what_it_is() -> None:
    with pytest.raises(Unreadable, match=r"a PNG image named \.xyz"):
        registry.read(BINARIES["PNG"], "a.xyz")


TEXTS = sorted(extension for row in registry.FORMATS if row.is_text for extension in row.extensions)


@pytest.mark.parametrize("extension", TEXTS)
def test_an_empty_text_is_a_document_with_its_name_for_title(extension: str) -> None:
    parsed = registry.read(b"", f"notes/To do{extension}")
    assert parsed == Parsed(title="To do", description="", text="")
    assert chunk(parsed) == []


@pytest.mark.parametrize("extension", sorted(registry.SUPPORTED.difference(TEXTS)))
def test_an_empty_file_of_another_format_has_no_text(extension: str) -> None:
    with pytest.raises(Unreadable, match="0 bytes") as refused:
        registry.read(b"", f"a{extension}")
    assert refused.value.status is Status.NO_TEXT


@pytest.mark.parametrize("extension", TEXTS)
def test_a_blank_text_is_a_document_with_its_name_for_title(extension: str) -> None:
    parsed = registry.read(b" \r\n\t\n", f"blank{extension.upper()}")
    assert (parsed.title, parsed.description) == ("blank", "")
    assert chunk(parsed) == []


@pytest.mark.parametrize("extension", sorted(registry.SUPPORTED.difference(TEXTS)))
def test_blanks_with_the_name_of_another_format_are_refused(extension: str) -> None:
    with pytest.raises(Unreadable, match=rf"text named \{extension}, not ") as refused:
        registry.read(b" \r\n\t\n", f"blank{extension.upper()}")
    assert refused.value.status is Status.UNREADABLE


def test_text_under_the_name_of_an_office_file_is_read_as_what_it_is() -> None:
    table = registry.read(b"port;use\n443;https\n", "a.xls")
    assert table.text == "| port | use |\n| --- | --- |\n| 443 | https |\n"
    wide = registry.read("port\tuse\n443\thttps\n".encode("utf-16"), "a.xls")
    assert wide.text == table.text
    assert registry.read(b"Subject: Tides\nFrom: a@x.org\n\nHigh.\n", "a.msg").title == "Tides"
    assert registry.read(b"First line\n\nHigh water.\n", "a.doc").title == "First line"


@pytest.mark.parametrize("data", [b"<?xml version='1.0'?><Workbook/>", b"\x01\x02\0\xff" * 99])
@pytest.mark.parametrize("extension", [".xls", ".doc", ".msg"])
def test_xml_and_damage_under_the_name_of_an_office_file_are_refused(
    data: bytes, extension: str
) -> None:
    with pytest.raises(Unreadable, match=rf"text named \{extension}, not ") as refused:
        registry.read(data, f"a{extension}")
    assert refused.value.status is Status.UNREADABLE


@pytest.mark.parametrize("extension", [".md", ".txt", ".docx"])
def test_a_damaged_pdf_is_refused_as_such_whatever_its_name(extension: str) -> None:
    with pytest.raises(Unreadable) as refused:
        registry.read(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", f"a{extension}")
    assert refused.value.status is Status.UNREADABLE


@pytest.mark.requirement("F-002")
def test_the_first_formats_are_supported_and_have_their_mime_types() -> None:
    assert {".md", ".html", ".txt", ".mdx", ".markdown", ".htm"} <= registry.SUPPORTED
    assert registry.mime_type(".md") == "text/markdown"
    assert registry.mime_type(".HTM") == "text/html"
    assert registry.mime_type(".txt") == "text/plain"
    assert registry.mime_type(".xyz") == "text/plain"


def test_html_named_md_is_read_as_markdown() -> None:
    parsed = registry.read(b"<!DOCTYPE html><h1>Old &amp; new</h1>\n\nText here.", "page.md")
    assert (parsed.title, parsed.description) == ("Old & new", "Text here.")


def test_parsers_are_imported_when_their_first_file_comes() -> None:
    code = (
        "import sys; from bookwheel.formats import registry; registry.read(b'x', 'a.txt');"
        "sys.exit(any(name in sys.modules for name in ('pyromark', 'turbohtml', 'chardet')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/b.tar.md", "b.tar"),
        (".hidden.md", ".hidden"),
        ("nur\udcfc.md", "nur\ufffd"),
        ("x  y.md", "x y"),
        ("/", "untitled"),
    ],
)
def test_the_file_name_gives_a_title(path: str, title: str) -> None:
    assert title_from_path(path) == title


@given(data=st.binary(max_size=300), extension=st.sampled_from(sorted(registry.SUPPORTED)))
def test_any_bytes_are_read_or_refused(data: bytes, extension: str) -> None:
    try:
        parsed = registry.read(data, "x" + extension)
    except Unreadable:
        return
    assert parsed.title
    parsed.text.encode()
    assert "\0" not in parsed.text
    assert "\r" not in parsed.text
    chunk(parsed)
