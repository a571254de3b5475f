"""Tests of what all Office files share: relations between parts, and properties."""

from __future__ import annotations

import pytest

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.ooxml import Relation, find_main_part, read_about, read_relations
from bookwheel.formats.package import Package
from bookwheel.model import Status
from tests.formats.making_zips import make_zip, relations

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships"
CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
PROPERTIES = """<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc" xmlns:dcterms="dcterms">
<!-- a remark --><dc:title> Annual
report </dc:title><dc:creator>Ada</dc:creator><dc:subject>Money</dc:subject>
<dc:description></dc:description><cp:keywords>tax; law, ,2024</cp:keywords>
<dcterms:created>2024-05-06T07:08:09Z</dcterms:created><dc:language>de-DE</dc:language>
<cp:revision>7</cp:revision></cp:coreProperties>"""


def with_relations(member: str, targets: dict[str, tuple[str, str]], **parts: str) -> Package:
    return Package(make_zip({member: relations(targets), **parts}))


@pytest.mark.parametrize(
    ("target", "part"),
    [
        ("slides/slide1.xml", "ppt/slides/slide1.xml"),
        ("/ppt/slides/slide1.xml", "ppt/slides/slide1.xml"),
        ("../docProps/app.xml", "docProps/app.xml"),
        ("../../../up.xml", "up.xml"),
        ("slides\\slide1.xml", "ppt/slides/slide1.xml"),
        ("a%20b.xml", "ppt/a b.xml"),
    ],
)
def test_a_relation_leads_to_a_part(target: str, part: str) -> None:
    package = with_relations(
        "ppt/_rels/presentation.xml.rels", {"rId1": (f"{OFFICE}/slide", target)}
    )
    found = read_relations(package, "ppt/presentation.xml")
    assert found == {"rId1": Relation("slide", target, is_external=False, folder="ppt")}
    assert found["rId1"].target == part


def test_a_relation_to_the_outside_keeps_its_address() -> None:
    url = "https://x.org/a%20b?c=1"
    xml = relations({"r": (f"{OFFICE}/hyperlink", url)}, external=True)
    package = Package(make_zip({"word/_rels/document.xml.rels": xml}))
    found = read_relations(package, "word/document.xml")
    assert found == {"r": Relation("hyperlink", url, is_external=True, folder="word")}
    assert found["r"].target == url


def test_a_part_without_relations_has_none() -> None:
    assert read_relations(Package(make_zip({"a": ""})), "word/document.xml") == {}


@pytest.mark.parametrize("space", [OFFICE, STRICT])
def test_the_main_part_may_have_any_name(space: str) -> None:
    targets = {
        "r1": (f"{space}/officeDocument", "gone.xml"),
        "r2": (f"{space}/officeDocument", "odd/name.xml"),
    }
    package = with_relations("_rels/.rels", targets, **{"Odd/Name.xml": "<a/>"})
    assert find_main_part(package) == "odd/name.xml"


def test_a_package_without_a_main_part_is_refused() -> None:
    with pytest.raises(Unreadable, match="no main part") as refused:
        find_main_part(Package(make_zip({"word/document.xml": "<a/>"})))
    assert refused.value.status is Status.UNREADABLE


def test_properties_are_read_wherever_they_lie() -> None:
    package = with_relations("_rels/.rels", {"r": (CORE, "p/c.xml")}, **{"p/c.xml": PROPERTIES})
    assert read_about(package) == About(
        title="Annual\nreport",
        description="Money",
        author="Ada",
        date="2024-05-06T07:08:09Z",
        language="de-DE",
        tags=("tax", "law", "2024"),
    )


@pytest.mark.parametrize(
    "value", ["Größe", " two\nlines ", "A &amp; B", "A\r\nB", "<b/>", "C<!---->D"]
)
def test_properties_are_the_same_with_and_without_a_parser(value: str) -> None:
    written = PROPERTIES.replace("<!-- a remark -->", "").replace("Ada", value)
    plain = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{written}'
    ties = {"r": (CORE, "c.xml")}
    by_parser = with_relations("_rels/.rels", ties, **{"c.xml": f"{plain}<!-- -->"})
    assert read_about(with_relations("_rels/.rels", ties, **{"c.xml": plain})) == read_about(
        by_parser
    )


@pytest.mark.parametrize("xml", ["", "<a>", "<!DOCTYPE a><a/>", "<a/>"])
def test_properties_that_cannot_be_read_are_none(xml: str) -> None:
    package = with_relations("_rels/.rels", {"r": (CORE, "c.xml")}, **{"c.xml": xml})
    assert read_about(package) == About()


def test_endless_properties_are_cut() -> None:
    xml = f"<a><title>{'x' * 5_000}</title><keywords>{'k,' * 900}</keywords></a>"
    package = with_relations("_rels/.rels", {"r": (CORE, "c.xml")}, **{"c.xml": xml})
    about = read_about(package)
    assert (len(about.title), len(about.tags)) == (2_048, 50)
