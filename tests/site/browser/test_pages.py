"""The pages as people use them: typing, keys, filters, jumps, dark, small, safe, for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from bookwheel.library import Library
from tests.conftest import Shelf
from tests.serve.conftest import Site
from tests.site.browser.conftest import Visit, Watched
from tests.site.conftest import TOKEN, site_of
from tests.site.payloads import PAYLOADS, TAGS

PAGES = (
    "/",
    "/?q=walrus",
    "/?q=zzzyx",
    "/docs",
    "/docs/notes/",
    "/docs/notes/guides/setup.md?line=14",
    "/docs/notes/readme.txt",
    "/docs/notes/nothing.md",
    "/graph",
    "/status",
    "/api/docs",
    "/login",
)
_TOGETHER = 40


@pytest.fixture
def seen(visit: Visit, site: Site) -> Iterator[Watched]:
    """The site on a screen; whatever a test does, nothing foreign is loaded and nothing breaks."""
    watched = visit(site)
    yield watched
    assert (watched.foreign, watched.dialogs, watched.errors) == ([], [], [])


def titles(watched: Watched) -> list[str]:
    return watched.page.locator(".hit > a").all_inner_texts()


def test_results_come_while_typing_and_the_address_can_be_shared(seen: Watched) -> None:
    page = seen.open("/")
    seen.type("tiles")
    expect(page.locator(".hit > a")).to_have_text(["Dry floors"])
    expect(page).to_have_url(f"{seen.site.url}/?q=tiles")
    page.locator("[name=q]").fill("arrived")
    expect(page.locator(".hit > a")).to_have_text(["News"])
    page.reload()
    expect(page.locator(".hit > a")).to_have_text(["News"])
    expect(page.locator("[name=q]")).to_have_value("arrived")


def test_an_answer_that_comes_too_late_is_not_shown(seen: Watched) -> None:
    page = seen.open("/")
    held = []
    page.route("**/api/search?q=tiles*", lambda route: held.append(route))
    with page.expect_request("**/api/search?q=tiles*"):
        seen.type("tiles")
    page.locator("[name=q]").fill("arrived")
    expect(page.locator(".hit > a")).to_have_text(["News"])
    for route in held:
        route.abort()
    page.wait_for_timeout(100)
    assert titles(seen) == ["News"]


def test_filters_narrow_the_results_and_come_off_again(seen: Watched) -> None:
    page = seen.open("/")
    seen.type("walrus")
    expect(page.locator("[name=folder]")).to_have_count(3)
    before = len(titles(seen))
    page.get_by_label("guides").check()
    expect(page.locator(".hit")).to_have_count(2)
    expect(page).to_have_url(f"{seen.site.url}/?q=walrus&folder=guides")
    page.get_by_label("guides").uncheck()
    expect(page.locator(".hit")).to_have_count(before)
    page.get_by_label("2019").check()
    expect(page.locator(".hit > a")).to_have_text(["News"])


def test_words_only_is_a_choice(seen: Watched) -> None:
    page = seen.open("/?q=walrus")
    if page.locator("[name=mode]").count():
        page.locator("[name=mode]").select_option("lexical")
        expect(page).to_have_url(f"{seen.site.url}/?q=walrus&mode=lexical")
    expect(page.locator(".hit").first).to_be_visible()


def test_everything_is_done_with_keys(seen: Watched) -> None:
    page = seen.open("/?q=walrus")
    page.locator(".hit > a").first.wait_for()
    page.locator("body").click(position={"x": 5, "y": 700})
    page.keyboard.press("/")
    expect(page.locator("[name=q]")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.locator(".hit > a").nth(1)
    expect(second).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    expect(page.locator("[name=q]")).to_be_focused()
    title = second.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_title(f"{title} · notes")
    page.wait_for_load_state()
    page.keyboard.press("/")
    expect(page.locator("[data-finder]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-finder]")).not_to_be_focused()


def test_escape_clears_what_was_asked(seen: Watched) -> None:
    page = seen.open("/")
    seen.type("tiles")
    page.locator(".hit").first.wait_for()
    page.keyboard.press("Escape")
    expect(page.locator(".welcome")).to_be_visible()
    expect(page).to_have_url(f"{seen.site.url}/")


def test_escape_clears_a_question_that_came_with_the_address_too(seen: Watched) -> None:
    page = seen.open("/?q=tiles")
    expect(page.locator("[name=q]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".hit")).to_have_count(0)
    expect(page.locator(".welcome")).to_be_visible()


def test_enter_opens_the_first_hit(seen: Watched) -> None:
    page = seen.open("/")
    seen.type("tiles")
    page.locator(".hit").first.wait_for()
    page.keyboard.press("Enter")
    expect(page).to_have_title("Dry floors · notes")


def test_a_hit_leads_to_its_line_with_the_words_marked(seen: Watched) -> None:
    page = seen.open("/?q=feed+walrus")
    page.locator(".hit > a").first.click()
    target = page.locator("#bw-target")
    expect(target).to_be_in_viewport()
    expect(target).to_have_text("Feed the walrus.")
    assert page.evaluate("CSS.highlights.get('found').size") > 1


def test_the_contents_follow_the_scroll(visit: Visit, shelf: Shelf) -> None:
    parts = [f"## Part {n}\n\n{'A long walk. ' * 200}" for n in range(1, 60)]
    shelf.put("long.md", "# Long\n\n" + "\n\n".join(parts))
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        page = visit(site).open("/docs/notes/long.md")
        page.locator("#part-54").scroll_into_view_if_needed()
        page.locator("#part-54").evaluate("each => each.scrollIntoView({behavior: 'instant'})")
        current = page.locator("[data-toc] a[aria-current]")
        expect(current).to_have_text("Part 54")
        expect(current).to_be_in_viewport()
        page.get_by_role("link", name="Part 2", exact=True).click()
        expect(page).to_have_url(f"{site.url}/docs/notes/long.md#part-2")
        expect(page.locator("#part-2")).to_be_in_viewport()


def test_the_graph_is_moved_through_and_leads_to_documents(seen: Watched) -> None:
    page = seen.open("/graph")
    svg = page.locator(".graph svg")
    whole = svg.get_attribute("viewBox")
    page.locator(".graph").hover()
    page.mouse.wheel(0, -400)
    expect(svg).not_to_have_attribute("viewBox", whole or "")
    page.locator(".graph").press("0")
    expect(svg).to_have_attribute("viewBox", whole or "")
    box = page.locator(".graph").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 80)
    page.mouse.up()
    expect(svg).not_to_have_attribute("viewBox", whole or "")
    page.locator(".graph").press("0")
    node = svg.locator("a", has_text="Dry floors")
    node.locator("circle").hover()
    expect(page.locator(".graph.pointing .near .e")).not_to_have_count(0)
    node.locator("circle").click()
    expect(page).to_have_title("Dry floors · notes")


def test_three_hundred_nodes_can_be_walked(visit: Visit, shelf: Shelf) -> None:
    for number in range(300):
        links = " ".join(f"[{n}](page-{n}.md)" for n in (number // 2, number // 3) if n != number)
        shelf.put(f"page-{number}.md", f"# Page {number}\n\n{links}")
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        watched = visit(site)
        watched.page.set_default_timeout(40_000)
        page = watched.open("/graph?most=300")
        assert page.locator(".graph a").count() == 300
        named = page.locator(".graph a:not(:has(.mute)) .l")
        boxes = [box for box in (each.bounding_box() for each in named.all()) if box]
        assert len(boxes) > 10
        assert min(box["height"] for box in boxes) >= 12
        page.locator(".graph").press("+")
        page.locator(".graph a", has_text="Page 299").focus()
        page.keyboard.press("Enter")
        expect(page).to_have_title("Page 299 · notes")
    assert watched.errors == []


def test_on_a_phone_the_labels_of_a_graph_neither_meet_nor_are_cut(
    visit: Visit, shelf: Shelf
) -> None:
    # From the hub in the middle labels go up and down.
    leaves = [f"A leaf of number {number}" for number in range(9)]
    for number, leaf in enumerate(leaves):
        shelf.put(f"leaf-{number}.md", f"# {leaf}\n\nNothing.")
    shelf.put("hub.md", "# Hub\n\n" + " ".join(f"[{n}](leaf-{n}.md)" for n in range(9)))
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        page = visit(site, viewport={"width": 390, "height": 780}).open("/graph")
        frame = page.locator(".graph").bounding_box()
        assert frame
        page.wait_for_function("document.querySelectorAll('.graph .mute').length > 0")
        labels = [
            [line.bounding_box() for line in group.locator(".l").all()]
            for group in page.locator(".graph g:is(.n, .r):not(.mute)").all()
        ]
    boxes = [[box for box in lines if box] for lines in labels]
    assert len(boxes) > 3
    for at, lines in enumerate(boxes):
        for box in lines:
            assert frame["x"] <= box["x"] + 3
            assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 3
            assert not any(_overlap(box, other) for rest in boxes[at + 1 :] for other in rest)


def _overlap(one: Any, two: Any) -> bool:
    """Say whether two boxes meet by more than the halo around letters."""
    return all(
        min(one[at] + one[size], two[at] + two[size]) - max(one[at], two[at]) > 6
        for at, size in (("x", "width"), ("y", "height"))
    )


def test_indexing_is_followed_while_it_goes_on(visit: Visit, documentation: Library) -> None:
    state: dict[str, Any] = {"ready": True, "indexing": {"done": 3, "total": 12}}
    with site_of(documentation, state=lambda: state) as site:
        page = visit(site).open("/status")
        expect(page.locator("progress")).to_have_js_property("value", 3)
        state["indexing"] = {"done": 9, "total": 12}
        expect(page.locator("progress")).to_have_js_property("value", 9)
        state["indexing"] = None
        expect(page.get_by_text("Everything is indexed.")).to_be_visible()
        expect(page.locator("progress")).to_be_hidden()


def test_links_between_documents_work(seen: Watched) -> None:
    page = seen.open("/docs/notes/guides/setup.md")
    page.get_by_role("link", name="dry floor", exact=True).click()
    expect(page).to_have_url(f"{seen.site.url}/docs/notes/floors/dry.md#tiles")
    expect(page.locator("#tiles")).to_be_in_viewport()


def test_address_and_page_can_be_copied(visit: Visit, site: Site) -> None:
    watched = visit(site, permissions=["clipboard-read", "clipboard-write"])
    page = watched.open("/docs/notes/floors/dry.md")
    page.get_by_role("button", name="Copy address").click()
    expect(page.locator("[data-said]")).to_have_text("The address is copied")
    assert page.evaluate("navigator.clipboard.readText()") == "docs://floors/dry.md"
    page.get_by_role("button", name="Copy page").click()
    expect(page.locator("[data-said]")).to_have_text("The page is copied as Markdown")
    assert page.evaluate("navigator.clipboard.readText()").startswith("# Dry floors\n")


def test_dark_is_the_wish_of_the_system_or_of_the_reader(visit: Visit, site: Site) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = visit(site, color_scheme="light").open("/").evaluate(ground)
    page = visit(site, color_scheme="dark").open("/")
    dark = page.evaluate(ground)
    page.locator("[data-theme-switch]").click()
    assert page.evaluate(ground) == light != dark
    page.reload()
    assert page.evaluate(ground) == light


@pytest.mark.parametrize("path", ["/?q=walrus", "/docs/notes/guides/setup.md", "/status"])
def test_on_a_phone_nothing_is_wider_than_the_screen(visit: Visit, site: Site, path: str) -> None:
    page = visit(site, viewport={"width": 360, "height": 740}).open(path)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360


def test_without_scripts_the_form_works(visit: Visit, site: Site) -> None:
    page = visit(site, java_script_enabled=False).open("/")
    page.locator("[name=q]").fill("tiles")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hit > a")).to_have_text(["Dry floors"])
    page.locator(".hit > a").first.click()
    expect(page.locator("#bw-target")).to_be_in_viewport()


def test_the_token_is_pasted_once(visit: Visit, locked: Site) -> None:
    watched = visit(locked)
    page = watched.open("/docs/notes/api.md")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("That is not the token.")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_title("API · notes")
    assert "token" not in page.evaluate("document.cookie")
    watched.open("/")
    watched.type("tiles")
    expect(page.locator(".hit > a")).to_have_text(["Dry floors"])
    page.get_by_role("link", name="Log out").click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_title(re.compile("^Log in"))
    watched.open("/")
    expect(page).to_have_title(re.compile("^Log in"))


def test_trouble_is_told_and_can_be_tried_again(seen: Watched) -> None:
    page = seen.open("/")
    page.route("**/api/search?*", lambda route: route.abort())
    seen.type("tiles")
    expect(page.get_by_role("alert")).to_contain_text("That did not work")
    page.unroute("**/api/search?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".hit > a")).to_have_text(["Dry floors"])


def faults_of(watched: Watched, path: str, **options: Any) -> list[tuple[str, list[str]]]:
    """Return the serious faults of a page by the rules of axe."""
    found = Axe().run(watched.open(path), options=options).response["violations"]
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_serious_faults_of_accessibility(visit: Visit, site: Site, path: str) -> None:
    assert faults_of(visit(site, color_scheme="light"), path) == []


def test_in_the_dark_all_colours_can_be_told_apart(visit: Visit, site: Site) -> None:
    watched = visit(site, color_scheme="dark")

    for path in ("/?q=walrus", "/docs/notes/guides/setup.md?line=14", "/status"):
        assert faults_of(watched, path, runOnly=["color-contrast"]) == []


def test_t23_five_hundred_payloads_open_no_dialog_and_load_nothing(
    visit: Visit, shelf: Shelf
) -> None:
    groups = [PAYLOADS[at : at + _TOGETHER] for at in range(0, len(PAYLOADS), _TOGETHER)]
    for number, group in enumerate(groups):
        shelf.put(f"group-{number}.md", "\n\npayload\n\n".join(("# Hostile", *group, "end")))
    for number, tag in enumerate(TAGS):
        title = tag.replace("\\", "").replace('"', '\\"')
        shelf.put(f"title-{number}.md", f'---\ntitle: "{title}"\n---\npayload {tag}\n\n## {tag}\n')
    shelf.update()
    with shelf.open() as library, site_of(library) as site:
        watched = visit(site)
        for number in range(len(groups)):
            page = watched.open(f"/docs/notes/group-{number}.md")
            expect(page.locator("article")).to_contain_text("Hostile")
        for path in ("/docs/notes/title-3.md", "/docs/notes/", "/?q=payload&limit=100"):
            watched.open(path)
        page = watched.open("/")
        watched.type("payload alert evil")
        page.locator(".hit").first.wait_for()
        page.wait_for_timeout(200)

    assert (watched.dialogs, watched.foreign) == ([], [])
