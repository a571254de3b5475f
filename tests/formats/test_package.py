"""Tests of zip packages: what is refused beforehand, and how names are found."""

from __future__ import annotations

import random
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from bookwheel.formats import package as packages
from bookwheel.formats.base import Unreadable
from bookwheel.formats.package import Package, parse_xml
from bookwheel.model import Status
from tests.formats.making_zips import claim_size, make_zip, set_flag, spoil, zip_of_zeros

SMALL = make_zip({"a.xml": "<a>one</a>", "b/c.xml": "<b/>"})
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


def refusal(data: bytes, name: str = "a.xml") -> tuple[Status, str]:
    """Return how a package, or the reading of one of its members, is refused."""
    with pytest.raises(Unreadable) as refused:
        Package(data).read(name)
    return refused.value.status, refused.value.reason


def test_members_are_read_by_name() -> None:
    package = Package(SMALL)
    assert package.names == ["a.xml", "b/c.xml"]
    assert package.read("a.xml") == b"<a>one</a>"
    assert package.read_xml("b/c.xml").tag == "b"


@pytest.mark.parametrize("name", ["B/C.XML", "/b/c.xml", "b\\c.xml", "\\B\\c.xml"])
def test_names_are_found_without_regard_to_case_and_kind_of_slash(name: str) -> None:
    assert Package(SMALL).has(name)
    assert Package(SMALL).read(name) == b"<b/>"
    assert Package(make_zip({name: "x"})).read("b/c.xml") == b"x"


def test_a_missing_member_is_named() -> None:
    assert refusal(SMALL, "x" * 300) == (Status.UNREADABLE, f"its part {'x' * 100} is missing")


def test_t17_a_package_that_unpacks_to_a_hundred_times_its_size_is_refused() -> None:
    status, reason = refusal(zip_of_zeros("a.xml", 64 << 20))
    assert status is Status.TOO_LARGE
    assert reason.startswith("unpacks to 67,108,864 bytes from ")


def test_a_small_package_may_be_packed_as_tightly_as_it_likes() -> None:
    assert len(Package(zip_of_zeros("a.xml", 32 << 20)).read("a.xml")) == 32 << 20


def test_t17_a_package_of_too_many_members_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_MEMBERS", 1)
    assert refusal(SMALL) == (Status.TOO_LARGE, "packs more than 1 files")


def test_t17_a_package_that_is_large_as_a_whole_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_TOTAL", 12)
    assert refusal(SMALL) == (Status.TOO_LARGE, f"unpacks to 14 bytes from {len(SMALL)}")


def test_t17_a_package_with_a_large_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_MEMBER", 9)
    assert refusal(SMALL) == (Status.TOO_LARGE, "has a part of more than 9 bytes")


@pytest.mark.parametrize("size", [0, 3])
def test_a_member_that_is_larger_than_it_claims_is_damaged(size: int) -> None:
    status, reason = refusal(claim_size(SMALL, size))
    assert status is Status.UNREADABLE
    assert reason.startswith("a damaged zip package (")


def test_t17_no_member_is_read_beyond_the_size_it_claims() -> None:
    data = claim_size(zip_of_zeros("a.xml", 64 << 20), 1_000)
    assert refusal(data)[0] is Status.UNREADABLE


def test_a_member_that_is_packed_otherwise_is_refused() -> None:
    data = make_zip({"a.xml": "<a/>"}, compression=ZIP_LZMA)
    assert refusal(data) == (Status.UNREADABLE, "a zip package that is not packed by deflate")


def test_a_package_with_a_password_is_encrypted() -> None:
    assert refusal(set_flag(SMALL)) == (Status.ENCRYPTED, "it is protected by a password")


@pytest.mark.parametrize(
    "data",
    [
        SMALL[:-10],
        SMALL[len(SMALL) // 2 :],
        spoil(SMALL, b"PK\x01\x02", b"PK\x01\x03"),
        spoil(make_zip({"a.xml": "one"}, compression=ZIP_STORED), b"one", b"two"),
        b"PK\x03\x04",
        b"",
    ],
    ids=["cut at the end", "cut at the start", "directory", "content", "head only", "nothing"],
)
def test_a_damaged_package_is_refused(data: bytes) -> None:
    assert refusal(data)[0] is Status.UNREADABLE


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_t16_xml_with_a_document_type_is_refused(encoding: str) -> None:
    data = LAUGHS.encode(encoding)
    with pytest.raises(Unreadable, match="declares a document type"):
        parse_xml(data)


def test_t16_entities_are_never_expanded_whatever_the_encoding() -> None:
    data = '<?xml version="1.0" encoding="UTF-32"?>' + LAUGHS
    try:
        root = parse_xml(data.encode("utf-32"))
    except Unreadable:
        return
    assert "ha" not in "".join(root.itertext(etree.Element))


@pytest.mark.parametrize("depth", [300, 100_000])
def test_t18_xml_nested_without_end_is_refused(depth: int) -> None:
    with pytest.raises(Unreadable, match="damaged XML"):
        parse_xml(b"<a>" * depth + b"</a>" * depth)


@pytest.mark.parametrize("data", [b"", b"<a>", b"text", b"<a/><b/>", b"<a>&x;</a>", b"\0"])
def test_what_is_no_xml_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="damaged XML"):
        parse_xml(data)


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2])
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_a_changed_package_is_read_or_refused(compression: int, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(make_zip({"a.xml": "<a>one</a>" * 20}, compression=compression))
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        package = Package(bytes(data))
        for name in package.names:
            package.read_xml(name)
    except Unreadable:
        pass
