"""/llms.txt, /llms-full.txt and /sitemap.xml."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bookwheel.serve.site import feeds
from tests.conftest import Shelf
from tests.serve.conftest import Site
from tests.site.conftest import site_of


def text(site: Site, path: str) -> str:
    answer = site.ask("GET", path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    return answer.body.decode()


@pytest.mark.requirement("P-071")
def test_llms_txt_lists_every_document_below_a_title_and_a_summary(site: Site) -> None:
    lines = text(site, "/llms.txt").splitlines()

    assert lines[0] == "# notes"
    assert lines[2].startswith("> ")
    assert f"- [Setting up]({site.url}/raw/notes/guides/setup.md): Install the" in "\n".join(lines)
    assert [line for line in lines if line.startswith("## ")] == [
        "## Documents",
        "## floors",
        "## guides",
        "## old",
    ]
    assert sum(line.startswith("- [") for line in lines) == 7


@pytest.mark.requirement("P-071")
def test_llms_full_txt_has_the_texts(site: Site) -> None:
    full = text(site, "/llms-full.txt")

    assert "2. Feed the walrus." in full
    assert "A walrus likes tiles." in full
    assert full.count("Source: http") == 7


def test_its_addresses_can_be_read(site: Site) -> None:
    place = f"{site.url}/raw/notes/floors/dry.md"

    assert place in text(site, "/llms.txt")
    assert site.ask("GET", "/raw/notes/floors/dry.md").body.startswith(b"# Dry floors")


def test_both_go_on_page_by_page_without_loss(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_LINKS", 3)
    monkeypatch.setattr(feeds, "LONGEST_FEED", 700)

    links = [text(site, f"/llms.txt?page={n}") for n in (1, 2, 3)]
    assert sum(page.count("/raw/notes/") for page in links) == 7
    assert site.ask("GET", "/llms.txt?page=4").status == 404
    assert f"{site.url}/llms.txt?page=2" in links[0]
    texts, place = "", "/llms-full.txt"
    while place:
        answer = site.ask("GET", place)
        texts += answer.body.decode()
        following = answer.headers.get("link", "").partition(">")[0].lstrip("<")
        place = following.removeprefix(site.url)
    assert texts.count("Source: http") == 7
    assert site.ask("GET", "/llms-full.txt?page=99").status == 404
    assert site.ask("GET", "/llms-full.txt?page=x").status == 400


def test_a_list_of_the_collections_own_is_sent_as_it_is(shelf: Shelf) -> None:
    shelf.put("llms.txt", "# Ours\n\n> By hand.\n")
    shelf.put("a.md", "# A")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        assert text(site, "/llms.txt") == "# Ours\n\n> By hand.\n"


def test_the_sections_are_those_of_the_sidebar(shelf: Shelf) -> None:
    shelf.put("sidebar.md", "## First steps\n\n- [A](a.md)\n\n## More\n\n- [B](b.md)")
    shelf.put("a.md", "# A")
    shelf.put("b.md", "# B")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        listed = text(site, "/llms.txt")

    assert "## First steps" in listed
    assert "sidebar.md" not in listed


def test_as_many_documents_are_told_of_as_are_listed(shelf: Shelf) -> None:
    shelf.put("sidebar.md", "# API\n\n- [Calls](api/calls.md)\n")
    shelf.put("api/calls.md", "# Calls")
    shelf.put("api/other.md", "# Other")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        lines = text(site, "/llms.txt").splitlines()

    assert any(line.startswith("2 documents, each as Markdown") for line in lines)
    assert sum(line.startswith("- [") for line in lines) == 2
    assert [line for line in lines if line.startswith("## ")] == ["## API"]


def test_the_sitemap_has_the_page_of_every_document(site: Site) -> None:
    answer = site.ask("GET", "/sitemap.xml")
    root = ElementTree.fromstring(answer.body)

    places = [each.text for each in root.findall(".//{*}loc")]
    assert len(places) == 7
    assert f"{site.url}/docs/notes/guides/setup.md" in places
    assert "/sitemap.xml" in site.ask("GET", "/robots.txt").body.decode()
