"""Tests of zip directories: they tell the same as zipfile, whoever reads them."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pytest

from bookwheel.formats import directory
from bookwheel.formats.directory import Member, prepend, read_directory, unpack
from tests.formats.making_zips import make_zip

SMALL = make_zip({"a.xml": "<a>one</a>" * 50, "b/c.xml": "<b/>"})


def zipped(
    name: str = "a.xml", *, extra: bytes = b"", comment: bytes = b"", method: int = 8
) -> bytes:
    """Return a package of one member."""
    file = BytesIO()
    with ZipFile(file, "w") as package:
        info = ZipInfo(name)
        info.extra, info.comment, info.compress_type = extra, comment, method
        package.writestr(info, "content " * 20)
    return file.getvalue()


def with_comment(data: bytes) -> bytes:
    file = BytesIO(data)
    with ZipFile(file, "a") as package:
        package.comment = b"of the whole"
    return file.getvalue()


ORDINARY = {
    "small": SMALL,
    "stored": zipped(method=ZIP_STORED),
    "a name in UTF-8": zipped("größe/名.xml"),
    "a time in an extra field": zipped(extra=b"UT\5\0\1\0\0\0\0"),
    "a remark on a member": zipped(comment=b"remark"),
    "no members": make_zip({}),
}
OTHER = {
    "a remark on the whole": with_comment(SMALL),
    "bytes before it": b"MZ" * 40 + SMALL,
    "a name in another code page": zipped("xyz.xml").replace(b"xyz.xml", b"x\x81z.xml"),
    "a name with a zero": zipped("xyz.xml").replace(b"xyz.xml", b"xy\0.xml"),
    "sizes in an extra field": zipped(extra=b"\1\0\0\0"),
}


@pytest.mark.parametrize("data", (ORDINARY | OTHER).values(), ids=(ORDINARY | OTHER).keys())
def test_a_directory_tells_the_same_as_zipfile(data: bytes) -> None:
    with ZipFile(BytesIO(data)) as package:
        infos = package.infolist()
    found = read_directory(data)
    assert {name: found.find(name) for name in found.entries} == {
        i.filename: Member(
            i.flag_bits, i.compress_type, i.CRC, i.compress_size, i.file_size, i.header_offset
        )
        for i in infos
    }
    assert found.sizes == [i.file_size for i in infos]
    assert found.find("another") is None


@pytest.mark.parametrize("data", ORDINARY.values(), ids=ORDINARY.keys())
def test_an_ordinary_directory_is_not_read_by_zipfile(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "ZipFile", None)
    found = read_directory(data)
    for member in filter(None, map(found.find, found.entries)):
        assert len(unpack(data, member) or b"") == member.size


@pytest.mark.parametrize(
    "data",
    [
        SMALL[:-30],
        SMALL.replace(b"PK\1\2", b"PK\1\3"),
        zipped(extra=b"UT\5\0\1\0\0\0\0").replace(b"UT\5", b"UT\x7f"),
        b"PK\3\4",
    ],
)
def test_a_damaged_directory_is_refused_as_zipfile_refuses_it(data: bytes) -> None:
    with pytest.raises(BadZipFile):
        read_directory(data)


def test_a_damaged_member_is_not_unpacked() -> None:
    data = zipped(method=ZIP_DEFLATED)
    member = read_directory(data).find("a.xml")
    assert member is not None
    assert unpack(data, member._replace(checksum=1)) is None
    assert unpack(data, member._replace(start=3)) is None
    assert unpack(data, member._replace(size=5)) is None


WORDS = b'<mergeCells id="jjagatvq"/>'
"""Words whose checksum is 0."""


@pytest.mark.parametrize("data", ORDINARY.values(), ids=ORDINARY.keys())
def test_words_are_put_before_members_as_they_are_packed(data: bytes) -> None:
    found = read_directory(data)
    with ZipFile(BytesIO(data)) as before:
        names = before.namelist()[:1]
        with ZipFile(BytesIO(prepend(found, names, WORDS))) as after:
            assert after.namelist() == before.namelist()
            for name in after.namelist():
                assert after.read(name) == (WORDS if name in names else b"") + before.read(name)


@pytest.mark.parametrize("data", OTHER.values(), ids=OTHER.keys())
def test_nothing_is_put_before_members_of_a_directory_that_needs_care(data: bytes) -> None:
    found = read_directory(data)
    assert prepend(found, found.entries, WORDS) is data


def test_nothing_is_put_before_members_that_lie_over_each_other_or_nowhere() -> None:
    at = SMALL.rindex(b"PK\1\2")
    for place, number in ((20, len(SMALL)), (42, at), (42, 2**32 - 1), (10, 99)):
        data = bytearray(SMALL)
        data[at + place : at + place + 4] = number.to_bytes(4, "little")
        found = read_directory(bytes(data))
        assert prepend(found, found.entries, WORDS) is found.data
