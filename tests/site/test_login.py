"""The token in a browser: asked for once, hidden from scripts, of no use to other sites."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from bookwheel.library import Library
from bookwheel.serve.guard import LARGEST_BODY
from tests.serve.conftest import Answer, Site
from tests.site.conftest import TOKEN, site_of, text_of

FORM = {"Content_Type": "application/x-www-form-urlencoded"}


def log_in(site: Site, token: str = TOKEN, wanted: str = "/", **headers: str) -> Answer:
    body = urlencode({"token": token, "next": wanted}).encode()
    return site.ask("POST", "/login", body, **{**FORM, **headers})


def cookie_of(site: Site) -> str:
    return log_in(site).headers["set-cookie"].partition(";")[0]


def test_pages_lead_to_the_login_and_back(locked: Site) -> None:
    first = locked.ask("GET", "/docs/notes/api.md?line=3", Accept="text/html")
    entered = log_in(locked, wanted="/docs/notes/api.md?line=3")

    assert (first.status, first.headers["location"]) == (
        303,
        "/login?next=/docs/notes/api.md%3Fline%3D3",
    )
    assert (
        'name="next" value="/docs/notes/api.md?line=3"'
        in locked.ask("GET", first.headers["location"]).body.decode()
    )
    assert (entered.status, entered.headers["location"]) == (303, "/docs/notes/api.md?line=3")


def test_the_cookie_is_hidden_from_scripts_and_other_sites(locked: Site) -> None:
    cookie = log_in(locked).headers["set-cookie"].lower()

    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert locked.ask("GET", "/", Cookie=cookie_of(locked)).status == 200
    assert locked.ask("GET", "/api/search?q=walrus", Cookie=cookie_of(locked)).status == 200


def test_t07_the_cookie_never_counts_for_what_is_sent(locked: Site) -> None:
    answer = locked.ask("POST", "/mcp", b"{}", Cookie=cookie_of(locked))

    assert answer.status == 401


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + " x", "ünïcode"])
def test_t08_a_wrong_token_is_refused(locked: Site, token: str) -> None:
    answer = log_in(locked, token)

    assert answer.status == 401
    assert "set-cookie" not in answer.headers


def test_t08_nobody_can_try_many_tokens(documentation: Library) -> None:
    with site_of(documentation, token=TOKEN) as site:
        tried = [log_in(site, "wrong").status for _ in range(31)]
        right = log_in(site)

    assert tried == [401] * 30 + [429]
    assert (right.status, "set-cookie" in right.headers) == (429, False)


def test_t12_a_form_that_is_too_large_is_refused_though_it_names_no_length(locked: Site) -> None:
    large = iter([b" " * (LARGEST_BODY + 1)])

    assert locked.ask("POST", "/login", large, **FORM).status == 413


def test_t07_forms_of_other_sites_are_refused(locked: Site) -> None:
    assert log_in(locked, Origin="http://evil.example").status == 403
    assert log_in(locked, Sec_Fetch_Site="cross-site").status == 403
    assert locked.ask("POST", "/logout", Sec_Fetch_Site="cross-site").status == 403


@pytest.mark.parametrize(
    "wanted", ["//evil.example", "https://evil.example", "/\\evil.example", "%2f%2fevil", "x"]
)
def test_the_login_leads_to_no_other_site(locked: Site, wanted: str) -> None:
    page = locked.ask("GET", "/login?" + urlencode({"next": wanted})).body.decode()

    assert 'name="next" value="/"' in page


def test_programs_are_told_to_send_the_token(locked: Site) -> None:
    for path in ("/api/search?q=a", "/llms.txt", "/mcp"):
        answer = locked.ask("GET", path)
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    assert locked.ask("GET", "/llms.txt", Authorization=f"Bearer {TOKEN}").status == 200


def test_t08_who_sends_a_wrong_token_is_told_so_and_the_api_tells_it_in_its_own_way(
    locked: Site,
) -> None:
    wrong = locked.ask("POST", "/mcp", b"{}", Authorization="Bearer wrong")
    api = locked.ask("GET", "/api/search?q=a", Authorization="Bearer wrong")

    assert wrong.status == api.status == 401
    assert wrong.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert "no good" in wrong.value["error"]["message"]
    assert api.value["error"] == {
        "code": "FORBIDDEN",
        "message": wrong.value["error"]["message"],
        "hint": None,
    }


def test_leaving_forgets_the_token(locked: Site) -> None:
    answer = locked.ask("POST", "/logout", Cookie=cookie_of(locked))

    assert answer.status == 303
    assert 'bookwheel_token=""' in answer.headers["set-cookie"]


def test_without_a_token_there_is_nothing_to_log_out_of(site: Site, locked: Site) -> None:
    assert "Log out" not in text_of(site.ask("GET", "/").body)
    assert "Log out" in text_of(locked.ask("GET", "/", Cookie=cookie_of(locked)).body)
