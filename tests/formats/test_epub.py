"""Tests of e-books."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from bookwheel.formats.base import Unreadable
from bookwheel.formats.epub import read
from bookwheel.formats.registry import read as read_any
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk
from tests.formats.making_epub import CONTAINER, book, pack, package_document, page
from tests.formats.mutations import mutated

CHAPTERS: dict[str, str | bytes] = {
    "one.xhtml": page("<p>Low water, see <a href='two.xhtml#x'>the flow</a>.</p>", "<title/>"),
    "cover.xhtml": page('<img src="c.png" alt="Cover"/>'),
    "two.xhtml": page('<h2>High</h2><p><a id="x"/>Rising <b>t</b>ide.</p><h3>Spring</h3><p>Moon'),
    "three.xhtml": page("<script src='x.js'/><ul><li>buoy</li></ul><p>a < b &amp; <![CDATA[c<d]]>"),
}
ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
 xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>
<e:EncryptionMethod Algorithm="{method}"/><e:CipherData>
<e:CipherReference URI="{path}"/></e:CipherData></e:EncryptedData></encryption>"""


def part(parsed: Parsed, label: str) -> str:
    """Return the text at a place."""
    data = parsed.text.encode()
    ends = [place.start for place in parsed.places[1:]] + [len(data)]
    spans = zip(parsed.places, ends, strict=True)
    return "".join(data[p.start : end].decode() for p, end in spans if p.label == label)


def refusal(data: bytes) -> tuple[Status, str]:
    with pytest.raises(Unreadable) as caught:
        read(data, "a.epub")
    return caught.value.status, caught.value.reason


@pytest.mark.requirement("X-028")
def test_chapters_are_places_in_the_order_of_reading() -> None:
    parsed = read_any(book(CHAPTERS), "shelf/a.epub")
    assert [place.label for place in parsed.places] == ["chapter 1", "chapter 2", "chapter 3"]
    assert part(parsed, "chapter 2") == "## High\n\nRising tide.\n\n### Spring\n\nMoon\n\n"
    assert {found.pointer for found in chunk(parsed)} == {"chapter 1", "chapter 2", "chapter 3"}


@pytest.mark.requirement("X-028")
def test_a_book_is_described_by_its_properties() -> None:
    parsed = read(book(CHAPTERS), "a.epub")
    assert (parsed.title, parsed.author) == ("The Sea", "Ann Ash, Bob Birch")
    assert (parsed.language, parsed.date) == ("en-GB", "2001-02-03")
    assert parsed.description == "About water."
    assert parsed.tags == ("Tides", "Ships")


def test_a_chapter_without_a_heading_has_its_title_from_the_contents() -> None:
    parsed = read(book(CHAPTERS), "a.epub")
    assert [(s.level, s.heading) for s in parsed.sections] == [
        (2, "Ebb"),
        (2, "High"),
        (3, "Spring"),
        (2, "Last"),
    ]


def test_links_between_chapters_lead_to_chapters() -> None:
    body = (
        "<p><a href='./two.xhtml'>a</a> <a href='#here'>b</a> <a href='gone.xhtml'>c</a> "
        "<a href='https://x.org/two.xhtml'>d</a> <a href='t%77o.xhtml'>e</a></p>"
    )
    parsed = read(book({"one.xhtml": page(body), "two.xhtml": page("<p>2")}), "a.epub")
    assert [link.target for link in parsed.links] == [
        "#chapter-2",
        "#here",
        "gone.xhtml",
        "https://x.org/two.xhtml",
        "#chapter-2",
    ]


def test_empty_tags_and_cdata_of_xhtml_swallow_nothing() -> None:
    text = part(read(book(CHAPTERS), "a.epub"), "chapter 3")
    assert "- buoy" in text
    assert "c\\<d" in text or "c<d" in text


def test_the_table_of_contents_is_no_chapter_unless_there_is_nothing_else() -> None:
    assert "Flow" not in read(book(CHAPTERS), "a.epub").text
    assert "Flow" in read(book({}), "a.epub").text


def test_missing_and_damaged_chapters_are_passed_over_and_named() -> None:
    members = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package_document(["one.xhtml", "two.xhtml"]),
        "OEBPS/text/two.xhtml": page("<p>Second"),
    }
    parsed = read(pack(members), "a.epub")
    assert [place.label for place in parsed.places] == ["chapter 1"]
    assert "(2 of its files cannot be read: OEBPS/nav.xhtml, OEBPS/text/one.xhtml)" in parsed.text
    del members["OEBPS/text/two.xhtml"]
    assert refusal(pack(members)) == (Status.UNREADABLE, "none of its chapters can be read")


def test_a_book_without_container_is_read_by_its_package_document() -> None:
    members = {
        "OEBPS/book.opf": package_document(["one.xhtml"]),
        "OEBPS/text/one.xhtml": page("<p>First"),
    }
    assert "First" in read(pack(members), "a.epub").text
    assert refusal(pack({"x": "y"}))[0] is Status.UNREADABLE


def test_slightly_wrong_xml_is_forgiven() -> None:
    opf = package_document(["one.xhtml"], metadata="<dc:title>Salt & Sun</dc:title>")
    doctype = '<!DOCTYPE package [<!ENTITY a "b">]>'
    members = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": "\n" + doctype + opf,
        "OEBPS/text/one.xhtml": page("<p>First"),
    }
    assert read(pack(members), "a.epub").title.startswith("Salt")


@pytest.mark.parametrize(
    ("method", "path", "locked"),
    [
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/text/one.xhtml", True),
        ("http://www.idpf.org/2008/embedding", "OEBPS/font.otf", False),
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/film.mp4", False),
    ],
)
def test_only_locked_chapters_make_a_book_encrypted(method: str, path: str, locked: bool) -> None:
    encryption = ENCRYPTION.format(method=method, path=path)
    data = book(CHAPTERS, **{"META-INF/encryption.xml": encryption})
    if locked:
        assert refusal(data) == (Status.ENCRYPTED, "it is protected against copying")
    else:
        assert read(data, "a.epub").title == "The Sea"


def test_names_with_underscores_stand_as_they_are() -> None:
    data = book({"one.xhtml": page("<p>Call my_function_name.</p>")})
    assert "Call my_function_name." in read(data, "a.epub").text


def test_a_book_of_pictures_has_no_text() -> None:
    members = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package_document(["one.xhtml"]),
        "OEBPS/nav.xhtml": page(""),
        "OEBPS/text/one.xhtml": page('<img src="p.png" alt="cover"/>'),
    }
    assert refusal(pack(members))[0] is Status.NO_TEXT


def test_entities_that_multiply_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><p>x&b;&b;'
    data = book({"one.xhtml": bomb}, **{"OEBPS/toc.ncx": bomb + "<navPoint/>"})
    assert len(read(data, "a.epub").text) < 100


@given(mutated(book(CHAPTERS)))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read(data, "a.epub").text
    except Unreadable:
        pass


def test_text_before_the_first_heading_stands_under_the_title_from_the_contents() -> None:
    chapters: dict[str, str | bytes] = {
        "one.xhtml": page("<p>Low water.</p><h3>Later</h3><p>More.</p>"),
        "two.xhtml": page("<p>II</p><h2>Flow</h2><p>Rising.</p>"),
    }
    parsed = read(book(chapters), "a.epub")
    assert part(parsed, "chapter 1") == "## Ebb\n\nLow water.\n\n### Later\n\nMore.\n\n"
    assert part(parsed, "chapter 2") == "II\n\n## Flow\n\nRising.\n"
