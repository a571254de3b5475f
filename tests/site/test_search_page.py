"""The search page without scripts: a form, its answers, and help where there is none."""

from __future__ import annotations

import re

from tests.conftest import Shelf
from tests.serve.conftest import Site
from tests.site.conftest import site_of, text_of


def shown(site: Site, path: str) -> str:
    answer = site.ask("GET", path)
    assert answer.status == 200
    return answer.body.decode()


def test_the_first_page_shows_what_there_is_and_is_small(site: Site) -> None:
    first = shown(site, "/")

    assert "notes 7 documents" in text_of(first.encode())
    loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', first)
    files = {path: site.ask("GET", path).body for path in loaded}
    assert sum(map(len, files.values())) + len(first) < 100_000
    assert len(files) >= 5


def test_hits_stand_under_their_headings(shelf: Shelf) -> None:
    plenty = "One walrus after the other came to the shore and slept there. " * 40
    shelf.put("care.md", f"# Care\n\n{plenty}\n\n## Food\n\nClams. {plenty}")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        page = shown(site, "/?q=clams")

    assert "<span>Food</span><span>lines " in page


def test_hits_have_title_snippet_and_place(site: Site) -> None:
    page = shown(site, "/?q=feed+the+walrus")

    hit = page.partition('<li class="hit" dir="auto">')[2].partition("</li>")[0]
    place = "/docs/notes/guides/setup.md?line=14&amp;mark=walrus&amp;mark=feed#bw-target"
    assert place in hit
    assert ">Setting up</a>" in hit
    assert "<mark>Feed the walrus" in hit
    assert "<span>notes</span><span>guides/setup.md</span>" in hit
    assert "1 of 8 files in scope could not be read" in text_of(page.encode())


def test_filters_are_kept_and_counted(site: Site) -> None:
    page = shown(site, "/?q=walrus&type=.md&year=2019")

    assert 'value=".md" checked' in page
    assert 'name="year" value="2019" checked' in page
    assert text_of(page.encode()).count("old/news.md") == 1
    assert page.count('class="hit"') == 1


def test_what_was_relaxed_is_said(site: Site) -> None:
    assert "&#39;walrsu&#39; also as &#39;walrus&#39;" in shown(site, "/?q=walrsu")


def test_nothing_found_says_what_to_do(site: Site) -> None:
    page = text_of(shown(site, "/?q=zzzyx&type=.md").encode())

    assert "Nothing was found for “zzzyx”" in page
    assert "Search without filters" in page


def test_pages_of_results_lead_to_each_other(site: Site) -> None:
    first = shown(site, "/?q=walrus&limit=2")
    (link,) = re.findall(r'<a href="([^"]+)" rel="next"', first)
    second = shown(site, link.replace("&amp;", "&"))

    assert link == "/?q=walrus&amp;limit=2&amp;offset=2"
    assert '<ol class="hits" start="3">' in second
    assert 'rel="prev"' in second


def test_t23_words_in_the_address_cannot_become_markup(site: Site) -> None:
    page = shown(site, "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")

    assert "<script>alert" not in page


def test_a_question_that_cannot_be_asked_gets_a_page_that_says_so(site: Site) -> None:
    answer = site.ask("GET", "/?q=a&limit=9999")

    assert answer.status == 400
    assert "limit" in text_of(answer.body)


def test_while_nothing_is_indexed_the_page_says_so_and_looks_again(shelf: Shelf) -> None:
    with shelf.open() as library:
        state = {"ready": False, "indexing": {"done": 1, "total": 9}}
        with site_of(library, state=lambda: state) as site:
            first, asked = site.ask("GET", "/"), site.ask("GET", "/?q=a")

    assert first.status == 200
    assert "Nothing is indexed yet" in text_of(first.body)
    assert asked.status == 404


def test_for_a_document_that_is_not_there_its_own_name_is_offered_for_search(site: Site) -> None:
    answer = site.ask("GET", "/graph?document=guides/sea-lions.md", Accept="text/html")

    assert answer.status == 404
    assert "Search for “sea lions”" in answer.body.decode()
