"""Tests of telling what a file is by its bytes."""

from __future__ import annotations

import random
from contextlib import suppress
from zipfile import ZIP_LZMA, ZIP_STORED

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.identify import OLE, ZIP, identify, is_html, is_late_pdf
from bookwheel.formats.registry import FORMATS, SUPPORTED, _choose
from bookwheel.model import Status
from tests.formats.making_ole import make_ole
from tests.formats.making_zips import CONTENT_TYPES, make_zip, office, set_flag

PDF = b"%PDF-1.7\n%%EOF"
RTF = rb"{\rtf1\ansi hello}"
HTML = b"<!DOCTYPE html><title>x</title>"
NOISE = b"\x08" + random.Random(1).randbytes(1_999)
OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
OPEN_XML = "application/vnd.openxmlformats-officedocument"


def mimetype(text: str) -> bytes:
    return make_zip({"mimetype": text}, first="mimetype")


def late(text: str) -> bytes:
    return make_zip({"a": "", "mimetype": text})


def typed(text: str) -> bytes:
    return office("x/y.xml", {}, types=text)


ZIPS = {
    "epub by its first member": (mimetype("application/epub+zip"), "epub"),
    "odt by its first member": (mimetype(f"{OPEN_DOCUMENT}.text"), "odt"),
    "odp packed and not first": (late(f"{OPEN_DOCUMENT}.presentation\n"), "odp"),
    "ods template": (late(f"{OPEN_DOCUMENT}.spreadsheet-template"), "ods"),
    "epub without a mimetype": (make_zip({"META-INF/container.xml": "<a/>"}), "epub"),
    "docx by its types": (typed(f"{OPEN_XML}.wordprocessingml.document.main+xml"), "docx"),
    "dotx": (typed(f"{OPEN_XML}.wordprocessingml.template.main+xml"), "docx"),
    "docm": (typed("application/vnd.ms-word.document.macroEnabled.main+xml"), "docx"),
    "pptx by its types": (typed(f"{OPEN_XML}.presentationml.presentation.main+xml"), "pptx"),
    "ppsx": (typed(f"{OPEN_XML}.presentationml.slideshow.main+xml"), "pptx"),
    "xlsx by its types": (typed(f"{OPEN_XML}.spreadsheetml.sheet.main+xml"), "xlsx"),
    "xlsb": (typed("application/vnd.ms-excel.sheet.binary.macroEnabled.main"), "xlsx"),
    "docx by its parts": (make_zip({"Word/document.xml": "<a/>"}), "docx"),
    "pptx by its parts": (make_zip({"/ppt/presentation.xml": "<a/>"}), "pptx"),
    "xlsx by its parts": (make_zip({"xl/workbook.xml": "<a/>"}), "xlsx"),
    "some other zip": (make_zip({"readme.txt": "hello"}), ZIP),
    "an empty zip": (make_zip({}), ZIP),
    "a damaged zip": (make_zip({"word/document.xml": "<a/>"})[:-8], ZIP),
    "docx with a password": (set_flag(make_zip({"word/a.xml": "x"})), "docx"),
    "types packed by other means": (make_zip({CONTENT_TYPES: "x"}, compression=ZIP_LZMA), ZIP),
}

OLES = {
    "doc": (make_ole({"WordDocument": b"x", "1Table": b"y"}), "doc"),
    "ppt": (make_ole({"PowerPoint Document": b"x"}), "ppt"),
    "xls": (make_ole({"Workbook": b"x"}), "xls"),
    "old xls": (make_ole({"Book": b"x"}), "xls"),
    "msg": (make_ole({"__properties_version1.0": b"x"}), "msg"),
    "something else": (make_ole({"Contents": b"x"}), OLE),
    "nothing": (make_ole({}), OLE),
    "only a head": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(20), OLE),
    "the name of a file": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/etc/passwd", OLE),
}


@pytest.mark.parametrize(("data", "kind"), ZIPS.values(), ids=ZIPS)
def test_a_zip_is_told_by_what_it_holds(data: bytes, kind: str) -> None:
    assert identify(data) == kind


@pytest.mark.parametrize(("data", "kind"), OLES.values(), ids=OLES)
def test_an_ole_file_is_told_by_its_streams(data: bytes, kind: str) -> None:
    assert identify(data) == kind


@pytest.mark.parametrize("stream", ["EncryptedPackage", "EncryptionInfo"])
def test_an_office_file_with_a_password_is_encrypted(stream: str) -> None:
    with pytest.raises(Unreadable) as refused:
        identify(make_ole({stream: b"x"}))
    assert refused.value.status is Status.ENCRYPTED


@pytest.mark.parametrize(
    ("data", "name", "reader"),
    [
        (PDF, "a.txt", "pdf"),
        (PDF, "a.docx", "pdf"),
        (PDF, "a", "pdf"),
        (b"\n\n" + PDF, "a.pdf", "pdf"),
        (HTML, "a.pdf", "html"),
        (b"\xef\xbb\xbf <!-- saved -->\n<HTML lang=en>", "a.doc", "html"),
        (RTF, "a.doc", "rtf"),
        (RTF, "a.txt", "rtf"),
        (ZIPS["docx by its parts"][0], "a.doc", "docx"),
        (ZIPS["xlsx by its parts"][0], "a.xls", "spreadsheet"),
        (OLES["doc"][0], "a.docx", "doc"),
        (OLES["xls"][0], "a.doc", "spreadsheet"),
        (b"a,b\n1,2\n", "a.csv", "csv"),
        (b"print(1)\n", "a.py", "code"),
        (b"all: test\n", "Makefile", "code"),
        (b"\n\n" + PDF, "a.txt", "text"),
    ],
)
def test_the_reader_is_chosen_by_the_bytes_before_the_name(
    data: bytes, name: str, reader: str
) -> None:
    extension = name[name.rindex(".") :] if "." in name else ""
    assert _choose(data, extension) == f"bookwheel.formats.{reader}"


@pytest.mark.parametrize(
    ("data", "extension", "status", "reason"),
    [
        (b"plain text", ".pdf", Status.UNREADABLE, "text named .pdf, not PDF"),
        (b"plain text", ".docx", Status.UNREADABLE, "text named .docx, not Word"),
        ("prose".encode("utf-16-le"), ".pdf", Status.UNREADABLE, "text named .pdf, not PDF"),
        (NOISE, ".pdf", Status.UNREADABLE, "binary data named .pdf, not PDF"),
        (NOISE, ".xls", Status.UNREADABLE, "binary data named .xls, not Excel"),
        (bytes(2_000), ".docx", Status.UNREADABLE, "binary data named .docx, not Word"),
        (ZIPS["some other zip"][0], ".docx", Status.UNREADABLE, "a zip archive named .docx"),
        (ZIPS["some other zip"][0], ".md", Status.BINARY, "a zip archive named .md"),
        (OLES["nothing"][0], ".xls", Status.UNREADABLE, "an OLE file named .xls"),
        (b"\x1f\x8b\x08\0", "", Status.BINARY, "a gzip archive without an extension"),
    ],
)
def test_what_has_no_reader_is_refused_by_what_it_is(
    data: bytes, extension: str, status: Status, reason: str
) -> None:
    with pytest.raises(Unreadable) as refused:
        _choose(data, extension)
    assert (refused.value.status, refused.value.reason) == (status, reason)


def test_web_pages_and_late_headers_are_told_from_prose() -> None:
    assert is_html(b"<!-- x --> <!doctype HTML>")
    assert not is_html(b"<htmlx>")
    assert not is_html(b"see <html>")
    assert is_late_pdf(b"x" * 900 + PDF)
    assert not is_late_pdf(b"x" * 1_100 + PDF)


def test_every_kind_has_one_reader_and_every_extension_one_format() -> None:
    kinds = [kind for row in FORMATS for kind in row.kinds]
    extensions = [extension for row in FORMATS for extension in row.extensions]
    assert len(kinds) == len(set(kinds))
    assert len(extensions) == len(set(extensions)) == len(SUPPORTED)
    assert all(extension == extension.lower() and extension[0] == "." for extension in extensions)


SEEDS = [data for data, _ in (*ZIPS.values(), *OLES.values())]


@settings(max_examples=300)
@given(st.sampled_from(SEEDS), st.integers(0, 2**32))
def test_changed_bytes_are_something_or_refused(data: bytes, seed: int) -> None:
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        changed[chance.randrange(8, len(changed))] = chance.choice(
            (0, 1, 255, chance.randrange(256))
        )
    size = chance.choice((len(changed), chance.randrange(9, 5_000)))
    with suppress(Unreadable):  # of one that claims to be encrypted
        assert identify(bytes(changed[:size]))


def test_a_first_member_that_is_not_packed_needs_no_directory() -> None:
    whole = make_zip({"mimetype": "application/epub+zip"}, compression=ZIP_STORED, first="mimetype")
    assert identify(whole[:-30]) == "epub"
