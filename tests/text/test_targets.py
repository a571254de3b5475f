"""Links and documents meet by their keys: how a target may be spelt, and what it must not reach."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.registry import SUPPORTED
from bookwheel.text.choosing import Candidate, likeliest
from bookwheel.text.targets import (
    PAGE_EXTENSIONS,
    WIKILINK,
    Origin,
    canonical,
    confidence,
    document_names,
    is_inside,
    link_keys,
    same_anchor,
    url_keys,
)

HERE = Origin("notes", "guides/setup.md")


def leads_to(
    target: str,
    path: str,
    *,
    kind: str = "inline",
    origin: Origin = HERE,
    collection: str = "notes",
    title: str = "",
    url: str | None = None,
    aliases: tuple[str, ...] = (),
) -> bool:
    """Tell whether a link meets a document."""
    names = document_names(Origin(collection, path, url), title, aliases)
    return not set(link_keys(kind, target, origin)).isdisjoint(names)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("install.md", "guides/install.md"),
        ("./install.md#step-2", "guides/install.md"),
        ("install", "guides/install.md"),
        ("install.html", "guides/install.md"),
        ("install.md?plain=1", "guides/install.md"),
        ("INSTALL.md", "guides/install.md"),
        ("install", "guides/Install.MD"),
        ("../api/", "api/index.md"),
        ("../api", "api/README.md"),
        ("../api/index.html", "api/_index.md"),
        ("..", "readme.md"),
        ("two%20words.md", "guides/two words.md"),
        ("two words.md", "guides/two words.md"),
        ("caf%C3%A9.md", "guides/café.md"),
        ("cafe\u0301.md", "guides/café.md"),
        ("..\\api\\a.docx", "api/a.docx"),
        ("../api/paper", "api/paper.pdf"),
        ("v1.2", "guides/v1.2.md"),
        ("C%23.md", "guides/C#.md"),
        ("../../saved/a.html", "../saved/a.html"),
        ("../keys", "guides/keys.md"),  # published as `guides/setup/`
        ("/guides/install", "guides/install.md"),
        ("/docs/guides/install", "guides/install.md"),
        ("/guides/install", "content/guides/install.md"),
        ("/en/docs/glossary", "en/glossary/index.md"),
        ("/faq", "faq.md"),
        ("docs://notes/guides/install.md", "guides/install.md"),
        ("docs://guides/install.md", "guides/install.md"),
        ("docs://notes/two%20words", "two words.md"),
    ],
)
def test_a_path_may_be_spelt_in_many_ways(target: str, path: str) -> None:
    collection, path = ("saved", path[9:]) if path.startswith("../saved") else ("notes", path)
    assert leads_to(target, path, collection=collection)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("install.md", "install.md"),
        ("report.pdf", "guides/report.md"),
        ("install.md", "guides/install/setup.md"),
        ("v1.2", "guides/v1.md"),
        ("/other/install", "guides/install.md"),
        ("https://guides/install.md", "guides/install.md"),
    ],
)
def test_what_only_looks_alike_is_not_met(target: str, path: str) -> None:
    assert not leads_to(target, path)


@pytest.mark.parametrize(
    "target",
    ["", "#top", "?page=2", "mailto:a@b.c", "javascript:x()", "tel:1", "C:\\x.md", "data:,x"],
)
def test_what_cites_nothing_has_no_keys(target: str) -> None:
    assert link_keys("inline", target, HERE) == ()


@pytest.mark.parametrize(
    ("target", "path", "title"),
    [
        ("Chain two", "x/chain-two.md", ""),
        ("chain_two", "Chain Two.md", ""),
        ("Chain two#Part|shown"[:14], "x/chain two.md", ""),
        ("x/Chain two", "x/chain two.md", ""),
        ("The whole title", "a.md", "The Whole  Title"),
        ("TCP/IP", "nets.md", "TCP/IP"),
        ("paper", "papers/paper.pdf", ""),
        ("paper.pdf", "papers/paper.pdf", ""),
        ("api", "guides/api/index.md", ""),
    ],
)
def test_a_wikilink_names_a_file_or_a_title(target: str, path: str, title: str) -> None:
    assert leads_to(target, path, kind=WIKILINK, title=title)
    assert leads_to(target, path, kind=WIKILINK, title=title, collection="elsewhere")


def test_a_wikilink_names_an_alias() -> None:
    assert leads_to("Other name", "a.md", kind=WIKILINK, aliases=("other-name",))


ADDRESS = "https://example.com/a/page"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a/page",
        "https://www.example.com/a/page/",
        "//example.com/a/page",
        "www.example.com/a/page",
        "HTTPS://EXAMPLE.com:443/a/page#part",
        "https://example.com/a/page?utm_source=x&fbclid=1",
        "https://example.com/a/page/index.html",
        "https://user@example.com/a/p%61ge",
    ],
)
def test_a_web_address_may_be_spelt_in_many_ways(url: str) -> None:
    assert url_keys(url) == url_keys(ADDRESS)
    assert leads_to(url, "saved/page.html", url=ADDRESS)
    assert leads_to(ADDRESS, "saved/page.html", url=url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a/Page",
        "https://example.com/a/page?id=2",
        "https://example.com:8080/a/page",
        "https://example.org/a/page",
        "https://example.com/#/a/page",
        "https://[half",
    ],
)
def test_other_addresses_are_others(url: str) -> None:
    assert url_keys(url) != url_keys(ADDRESS)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("doi", "10.1000/ABC.def"),
        ("inline", "https://doi.org/10.1000/abc.DEF"),
        ("bare", "http://dx.doi.org/10.1000/abc.def"),
        ("inline", "doi:10.1000/abc.def"),
        ("inline", "https://journal.example/doi/full/10.1000/abc.def?x=1"),
    ],
)
def test_a_doi_is_met_however_it_is_led(kind: str, target: str) -> None:
    assert leads_to(target, "p.pdf", kind=kind, aliases=("doi:10.1000/abc.def",))
    assert leads_to(target, "p.pdf", kind=kind, url="https://doi.org/10.1000/abc.def")
    assert not leads_to(target, "p.pdf", kind=kind, aliases=("doi:10.1000/abc.de",))


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("arxiv", "1706.03762v5"),
        ("inline", "https://arxiv.org/abs/1706.03762"),
        ("bare", "http://www.arxiv.org/pdf/1706.03762v2.pdf"),
        ("doi", "10.48550/arXiv.1706.03762"),
        ("inline", "arxiv:1706.03762"),
    ],
)
def test_a_paper_of_arxiv_is_met_in_each_version(kind: str, target: str) -> None:
    assert leads_to(target, "p.md", kind=kind, aliases=("arxiv:1706.03762",))
    assert leads_to(target, "p.md", kind=kind, aliases=("arxiv:arXiv:1706.03762v1",))
    assert leads_to(target, "papers/1706.03762v3.pdf", kind=kind)


@pytest.mark.parametrize("target", ["../", "..", "../#top", "./.."])
def test_a_page_at_the_top_may_link_to_what_lies_above(target: str) -> None:
    assert link_keys("inline", target, Origin("notes", "page.md", folder="notes"))


def test_a_link_of_a_saved_page_is_seen_from_where_it_was_saved() -> None:
    saved = Origin("saved", "2025/page.html", "https://example.com/a/page")
    assert leads_to("other", "x.md", origin=saved, url="https://example.com/a/other")
    assert leads_to("/top", "x.md", origin=saved, url="https://example.com/top")
    assert leads_to("other.html", "2025/other.html", origin=saved, collection="saved")


@pytest.mark.parametrize(
    ("target", "paths", "meant"),
    [
        ("a.md", ["guides/A.md", "guides/a.md"], "guides/a.md"),
        ("a.html", ["guides/a.md", "guides/a.html"], "guides/a.html"),
        ("a", ["guides/a/index.md", "guides/a.md"], "guides/a.md"),
        ("a/", ["guides/a/README.md", "guides/a/index.md"], "guides/a/index.md"),
        ("/x/a", ["deep/x/a.md", "x/a.md", "y/x/a.md"], "x/a.md"),
        ("/fr/x/a", ["en/x/a.md", "fr/x/a.md"], "fr/x/a.md"),
    ],
)
def test_of_several_the_one_spelt_like_the_link_is_meant(
    target: str, paths: list[str], meant: str
) -> None:
    among = [Candidate(at, "notes", path) for at, path in enumerate(paths)]
    assert likeliest("inline", target, HERE, among).path == meant
    assert likeliest("inline", target, HERE, among[::-1]).path == meant


def test_of_several_the_nearest_is_meant_by_a_wikilink() -> None:
    paths = ["far/off/a.md", "guides/a.md", "a.md"]
    among = [Candidate(at, "notes", path) for at, path in enumerate(paths)]
    other = Candidate(9, "another", "guides/a.md")
    assert likeliest(WIKILINK, "a", HERE, [other, *among]).path == "guides/a.md"
    assert likeliest(WIKILINK, "off/a", HERE, [other, *among]).path == "far/off/a.md"


@pytest.mark.parametrize(
    ("anchor", "heading"),
    [
        ("set-up-the-server", "Set up the server"),
        ("Set_up_the_server", "Set up the server"),
        ("c-and-c", "C and C"),
        ("caf%C3%A9", "Café"),
        ("什么", "什么"),
    ],
)
def test_an_anchor_is_met_by_the_heading_it_was_made_of(anchor: str, heading: str) -> None:
    assert same_anchor(heading, anchor)
    assert not same_anchor(heading + " more", anchor)
    assert not same_anchor(heading, "---")


def test_links_to_the_library_are_told_from_those_to_the_web() -> None:
    assert is_inside("inline", "a.md")
    assert is_inside(WIKILINK, "https: a title")
    assert is_inside("inline", "docs://notes/a.md")
    for target in ("https://a.b", "//a.b", "www.a.b", "doi:10.1/2"):
        assert not is_inside("inline", target)


@pytest.mark.requirement("A-026")
def test_explicit_links_are_surest() -> None:
    explicit = {confidence(kind) for kind in ("inline", "reference", "autolink", "annotation")}
    assert explicit | {confidence(WIKILINK)} == {1.0}
    assert 1.0 > confidence("bare") > confidence("doi") == confidence("arxiv") > 0


def test_pages_may_be_called_without_their_extension() -> None:
    named = ("md", "markdown", "mdx", "html", "htm", "txt", "rst")
    assert {f".{each}" for each in named} <= set(SUPPORTED)
    assert set(named) <= PAGE_EXTENSIONS


_TEXT = st.text(max_size=40)


@settings(max_examples=200, deadline=None)
@given(kind=st.sampled_from(["inline", "bare", WIKILINK, "doi", "arxiv"]), target=_TEXT)
def test_any_target_has_at_most_two_keys_always_the_same(kind: str, target: str) -> None:
    saved = Origin("notes", "x/y.md", "https://[half")
    for origin in (HERE, saved):
        keys = link_keys(kind, target, origin)
        assert len(keys) <= 2
        assert keys == link_keys(kind, target, origin)


@settings(max_examples=200, deadline=None)
@given(path=st.text(alphabet="aB./ %é_-", max_size=30))
def test_the_one_form_of_a_path_is_its_own(path: str) -> None:
    once = canonical(f"x/{path}")
    assert canonical(once) in (once, canonical(canonical(once)))
    assert document_names(Origin("notes", path), path, (path,))
