"""Reading in a browser: pages, folders, short addresses, Markdown, links and places."""

from __future__ import annotations

import re

import pytest

from bookwheel.serve.site.parts import LONGEST_PART, split_text
from tests.conftest import Shelf
from tests.formats.making_pdf import Page, make_pdf
from tests.serve.conftest import Site
from tests.site.conftest import SETUP, site_of, text_of


def page(site: Site, path: str, status: int = 200) -> str:
    answer = site.ask("GET", path)
    assert (answer.status, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    return answer.body.decode()


@pytest.mark.requirement("P-072")
def test_every_document_is_a_page(site: Site) -> None:
    listed = site.ask("GET", "/api/documents?collection=notes").value["documents"]

    for each in listed:
        shown = page(site, each["url"])
        assert f"<title>{each['title']} · notes</title>" in shown
    assert len(listed) == 7


def test_a_page_shows_the_text_its_contents_and_what_is_like_it(site: Site) -> None:
    shown = page(site, "/docs/notes/guides/setup.md")

    assert shown.count("<h1") == 1
    assert '<h2 id="install">Install</h2>' in shown
    assert '<a href="#install-1">Install</a>' in shown
    assert "title: Setting up" not in shown
    assert 'data-copy="docs://guides/setup.md"' in shown
    assert '<span class="tag">start</span>' in shown
    assert 'aria-labelledby="bw-related"' in shown


def test_links_between_documents_lead_to_their_pages(site: Site) -> None:
    shown = page(site, "/docs/notes/guides/setup.md")

    assert '<a href="/docs/notes/floors/dry.md#tiles"' in shown
    assert '<a href="/docs/notes/api.md"' in shown
    assert '<span class="broken">gone</span>' in shown
    assert '<a href="https://walrus.example/" rel="noopener noreferrer nofollow"' in shown
    assert "<img" not in shown.partition("<article")[2].partition("</article>")[0]


def test_each_link_to_one_document_leads_to_its_own_section(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\n[whole](b) [first](b#one) [second](./b.md#two%20a) [no](b.pdf)")
    shelf.put("b.md", "# B\n\n## One\n\n## Two a")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        shown = page(site, "/docs/notes/a.md")

    assert re.findall(r'href="/docs/notes/b\.md([^"?]*)" rel', shown) == ["", "#one", "#two%20a"]
    assert '<span class="broken">no</span>' in shown


def test_links_lead_to_other_collections_and_to_folders_too(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\n[b](docs://more/b%20c.md#x) [f](deep) [n](/nothing) [up](../../x.md)")
    shelf.put("deep/d.md", "# D")
    more = shelf.place / "more"
    more.mkdir()
    (more / "b c.md").write_text("# B")
    shelf.update(shelf.folder, more)
    with shelf.open(shelf.folder, more) as library, site_of(library) as site:
        shown = page(site, "/docs/notes/a.md")

    assert '<a href="/docs/more/b%20c.md#x"' in shown
    assert '<a href="/docs/notes/deep/"' in shown
    assert '<span class="broken">n</span>' in shown
    assert '<span class="broken">up</span>' in shown


def test_who_cites_a_document_stands_beside_it(site: Site) -> None:
    shown = page(site, "/docs/notes/floors/dry.md")

    cited = shown.partition('id="bw-cited"')[2].partition("</section>")[0]
    assert 'href="/docs/notes/guides/setup.md?line=7#bw-target"' in cited
    assert "Setting up" in cited
    assert 'href="/graph?document=floors%2Fdry.md&amp;collection=notes"' in shown
    assert 'id="bw-cited"' not in page(site, "/docs/notes/food.csv")


def test_the_graph_is_drawn_without_styles_of_its_own(site: Site) -> None:
    shown = page(site, "/graph?document=guides/setup.md")

    assert "<style" not in shown
    assert '<a href="/docs/notes/floors/dry.md">' in shown
    assert "3 nodes and 2 citations" in text_of(shown.encode())
    assert "Nothing was found" in page(site, "/graph?q=zzzyx")


def test_the_graph_of_what_was_found_keeps_the_filters_of_the_search(site: Site) -> None:
    link = "/graph?q=tiles&amp;type=.md&amp;folder=floors&amp;mode=lexical"
    assert f'href="{link}"' in page(site, "/?q=tiles&folder=floors&type=.md&mode=lexical")

    shown = page(site, link.replace("&amp;", "&"))
    assert '<input type="hidden" name="folder" value="floors">' in shown
    assert '<input type="hidden" name="mode" value="lexical">' in shown
    assert "/docs/notes/guides/setup.md" not in page(site, "/graph?q=tiles&folder=floors&depth=0")


def test_a_line_or_pointer_is_marked_where_it_stands(site: Site) -> None:
    by_line = page(site, "/docs/notes/guides/setup.md?line=14&mark=feed")
    by_pointer = page(site, "/docs/notes/food.csv?pointer=rows%202-2")

    assert '<li id="bw-target" class="target">Feed the walrus.</li>' in by_line
    assert "data-marked=" in by_line
    assert '<tr id="bw-target" class="target"><td>fish</td>' in by_pointer


def test_the_pages_of_a_pdf_are_marked_and_listed(shelf: Shelf) -> None:
    pages = [Page(["The walrus sleeps."]), Page(["It wakes & eats."]), Page(["It sleeps again."])]
    shelf.put("walrus.pdf", make_pdf(pages))
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        shown = page(site, "/docs/notes/walrus.pdf?pointer=page%202")

    text = shown.partition("<article")[2].partition("</article>")[0]
    assert re.findall(r">([^<>\s][^<>]*)<", text) == [
        *("Page 1", "The walrus sleeps.", "Page 2", "It wakes &amp; eats."),
        *("Page 3", "It sleeps again."),
    ]
    assert '<h2 class="page" id="page-2">' in text
    assert '<p id="bw-target" class="target">It wakes' in text
    assert '<a href="#page-3">Page 3</a>' in shown


def test_a_place_that_is_not_there_is_a_plain_answer(site: Site) -> None:
    shown = page(site, "/docs/notes/food.csv?pointer=page%209", 404)

    assert "page 9" in text_of(shown.encode())
    assert '<a href="/docs/notes/food.csv">Read it from the beginning</a>' in shown


def test_texts_that_are_no_markdown_keep_their_lines(site: Site) -> None:
    shown = page(site, "/docs/notes/readme.txt")

    assert "A walrus\n  &lt;b&gt;keeps&lt;/b&gt; its\n\tindents." in shown


def test_the_markdown_of_a_page_is_sent_as_it_is(site: Site) -> None:
    answer = site.ask("GET", "/raw/notes/guides/setup.md")

    assert answer.body.decode() == SETUP
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_with_one_collection_pages_have_short_addresses(site: Site) -> None:
    assert "Feed the walrus" in page(site, "/guides/setup.html?line=14")
    assert site.ask("GET", "/guides/setup.md").body.decode() == SETUP
    assert site.ask("GET", "/guides/setup.md").headers["content-type"].startswith("text/markdown")
    assert site.ask("GET", "/guides").headers["location"] == "/docs/notes/guides/"
    assert "How the walrus is kept" in page(site, "/guides/index.html")
    page(site, "/guides/nothing.html", 404)


def test_with_several_collections_there_are_none(pair: Site) -> None:
    page(pair, "/guides/setup.html", 404)
    assert "Feed the walrus" in page(pair, "/docs/notes/guides/setup.md")


def test_folders_list_their_documents(site: Site) -> None:
    shown = text_of(page(site, "/docs/notes/guides/").encode())

    assert "2 documents" in shown
    assert "Setting up setup.md" in shown
    assert site.ask("GET", "/docs/notes/guides").headers["location"] == "/docs/notes/guides/"
    page(site, "/docs/notes/nothing/", 404)


def test_a_page_that_is_not_there_names_those_that_are_near(site: Site) -> None:
    shown = text_of(page(site, "/docs/notes/guides/setpu.md", 404).encode())

    assert '"guides/setup.md"' in shown


@pytest.mark.parametrize(
    "path",
    [
        "/docs/notes/../../etc/passwd",
        "/docs/notes/%2e%2e/%2e%2e/etc/passwd",
        "/docs/notes//etc/passwd",
        "/docs/notes/guides/setup.md%00",
        "/raw/notes/..%2f..%2fetc%2fpasswd",
        "/..%2f..%2fetc/passwd.html",
        "/docs/notes/docs://guides/setup.md",
        "/docs/nothing/x.md",
        "/static/x/../../pages.py",
        "/static/x/..%2f..%2fpages.py",
    ],
)
def test_t01_paths_outside_lead_nowhere(site: Site, path: str) -> None:
    assert site.ask("GET", path).status == 404


@pytest.mark.parametrize("query", ["line=x", "line=-1", "line=99999999999", "part=0x1", "part=7"])
def test_places_that_are_no_numbers_are_refused(site: Site, query: str) -> None:
    assert site.ask("GET", f"/docs/notes/api.md?{query}").status in (200, 400)
    assert site.ask("GET", f"/docs/notes/api.md?{query}").status != 500


@pytest.mark.requirement("X-038")
def test_t26_of_a_collection_for_previews_the_page_explains_and_withholds(pair: Site) -> None:
    shown = page(pair, "/docs/papers/tusks.md")

    assert "Only previews of this document may be read here" in shown
    assert '<a href="/?collection=papers">Search in papers</a>' in shown
    assert shown.count("It grows.") < 50
    assert pair.ask("GET", "/raw/papers/tusks.md").status == 403
    assert "It grows. It grows." not in pair.ask("GET", "/llms-full.txt").body.decode()


def test_sidebar_and_topbar_stand_beside_every_page(shelf: Shelf) -> None:
    shelf.put(
        "sidebar.md",
        "# Guide\n\n- [First](one.md)\n- [Second](deep/two)\n- [Out](https://x.example)",
    )
    shelf.put("topbar.md", "- [Home](one.md)\n- <script>alert(1)</script>")
    shelf.put("one.md", "# One\n\nSee [two](deep/two.md).")
    shelf.put("deep/two.md", "# Two")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        shown = page(site, "/docs/notes/deep/two.md")

    beside = text_of(b"<body" + shown.partition("<aside")[2].encode())
    assert beside == "Cited by One Walk its citations Related One"
    assert '<a href="/docs/notes/one.md" rel=' in shown
    assert '<a aria-current="page" href="/docs/notes/deep/two.md"' in shown
    assert '<nav class="topbar"' in shown
    assert "<script>alert" not in shown


def test_without_a_sidebar_the_folders_on_the_way_are_shown(site: Site) -> None:
    side = page(site, "/docs/notes/guides/setup.md").partition('<nav aria-label="Pages">')[2]
    side = side.partition("</nav>")[0]

    assert re.findall(r">([^<>]+)</a>", side) == [
        "floors",
        "guides",
        "Guides",
        "Setting up",
        "old",
        "API",
        "food",
        "A walrus",
    ]
    assert side.count('aria-current="page"') == 1


def test_long_documents_are_shown_part_by_part(shelf: Shelf) -> None:
    lines = [f"## Part {n}\n\n{'word ' * 30}{n}\n" for n in range(1, 2500)]
    shelf.put("long.md", "# Long\n\n" + "\n".join(lines))
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        first = page(site, "/docs/notes/long.md")
        last = page(site, "/docs/notes/long.md?part=2")
        found = page(site, "/docs/notes/long.md?line=9999")
        none = site.ask("GET", "/docs/notes/long.md?part=9")

    assert "part 1 of 3" in first
    assert "part 2 of 3" in last
    assert "part 3 of 3" in found
    assert 'id="bw-target"' in found
    assert none.status == 404


def test_parts_lose_nothing_and_know_their_lines() -> None:
    text = "\n".join(f"line {n} {'x' * 90}" for n in range(9000))
    parts = split_text(text, {5000})

    assert "\n".join(part for _, part in parts) == text
    assert all(text.split("\n")[first - 1] == part.split("\n")[0] for first, part in parts)
    assert all(len(part) <= LONGEST_PART for _, part in parts)


def test_the_operators_styles_come_last(shelf: Shelf) -> None:
    shelf.put("one.md", "# One")
    shelf.update()
    styles = shelf.place / "own.css"
    styles.write_text("body { color: teal }")
    named = {"custom_css": str(styles), "site_title": "Our docs"}
    with shelf.open(**named) as library, site_of(library) as site:
        shown = page(site, "/docs/notes/one.md")
        sent = site.ask("GET", "/custom.css")

    assert shown.index("site.css") < shown.index('href="/custom.css"')
    assert "<title>One · Our docs</title>" in shown
    assert (sent.body, sent.headers["content-type"]) == (
        b"body { color: teal }",
        "text/css; charset=utf-8",
    )


def test_the_list_of_a_crowded_folder_has_the_page_that_is_read(shelf: Shelf) -> None:
    for number in range(160):
        shelf.put(f"many/{number:03}/index.md", f"# Number {number}")
        shelf.put(f"{number:03}.md", f"# Plain {number}")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        deep = page(site, "/docs/notes/many/159/index.md")
        plain = page(site, "/docs/notes/159.md")

    assert '<a href="/docs/notes/many/159/index.md" aria-current="page">Number 159</a>' in deep
    assert '<a href="/docs/notes/159.md" aria-current="page">Plain 159</a>' in plain
    assert "155" not in deep.partition("</nav>")[0]


def test_a_title_that_does_not_come_first_is_shown_once(shelf: Shelf) -> None:
    shelf.put("badge.md", "[badge](https://x.example)\n\n# A badge\n\nWords.")
    shelf.put("none.md", "")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        assert page(site, "/docs/notes/badge.md").count("<h1") == 1
        assert "This document has no text." in page(site, "/docs/notes/none.md")


def test_mail_keeps_its_lines_and_text_may_run_from_right_to_left(shelf: Shelf) -> None:
    shelf.put("a.eml", "From: a@example.com\nTo: b@example.com\nSubject: Hi\n\nBest regards,\nA\n")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        assert '<article class="text kept" dir="auto"' in page(site, "/docs/notes/a.eml")
