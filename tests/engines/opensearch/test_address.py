"""The address of a cluster: what it may say, and what of it may be shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.engines.choice import open_cluster
from bookwheel.engines.opensearch.address import Address, read_address
from bookwheel.errors import BadRequest
from bookwheel.settings import load

SECRET = "p@ss:w/rd"
WHOLE = "opensearch+https://ada:p%40ss%3Aw%2Frd@one.example:9201,two.example/team-a?ca=/etc/ca.pem"


def test_an_address_names_hosts_user_prefix_and_certificates() -> None:
    assert read_address(WHOLE) == Address(
        (("one.example", 9201), ("two.example", 9200)),
        is_secure=True,
        prefix="team-a",
        user="ada",
        password=SECRET,
        ca="/etc/ca.pem",
    )


def test_what_is_left_out_has_a_sensible_value() -> None:
    address = read_address("opensearch+http://localhost")
    assert (address.hosts, address.is_secure) == ((("localhost", 9200),), False)
    assert (address.prefix, address.user, address.shards, address.replicas) == (
        "bookwheel",
        "",
        2,
        1,
    )


def test_the_shards_of_new_indices_are_the_operators_choice() -> None:
    address = read_address("opensearch+http://[::1]:9200/x?shards=12&replicas=0")
    assert (address.hosts, address.shards, address.replicas) == ((("::1", 9200),), 12, 0)
    assert address.shown == "opensearch+http://[::1]:9200/x"


def test_no_way_of_showing_an_address_shows_who_asks() -> None:
    address = read_address(WHOLE)
    for shown in (address.shown, repr(address), str(address), f"{address}"):
        assert "ada" not in shown
        assert "p@ss" not in shown
    engine = open_cluster(WHOLE, Path("/nowhere/catalog.db"), None)
    assert engine.location == "opensearch+https://one.example:9201,two.example:9200/team-a"


@pytest.mark.parametrize(
    "address",
    [
        "opensearch+https://",
        "opensearch+https://ada:S3CRET@/x",
        "opensearch+https://:S3CRET@host/x",
        "opensearch+https://ada:S3CRET@host:port/x",
        "opensearch+https://ada:S3CRET@host:99999/x",
        "opensearch+https://ada:S3CRET@host/Upper",
        "opensearch+https://ada:S3CRET@host/a/b",
        "opensearch+https://ada:S3CRET@host/x?shards=none",
        "opensearch+https://ada:S3CRET@host/x?replicas=99",
        "opensearch+https://ada:S3CRET@host/x?colour=red",
    ],
)
def test_a_bad_address_is_refused_without_repeating_the_password(address: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        open_cluster(address, Path("/nowhere"), None)
    assert "S3CRET" not in refusal.value.advice


@pytest.mark.parametrize("letter", ["#", "?", "/", "[", "]"])
@pytest.mark.parametrize("before", ["4711", "quiet"])
def test_a_password_that_would_end_the_host_is_refused_and_told_how_to_write(
    letter: str, before: str
) -> None:
    address = f"opensearch+http://joe:{before}{letter}S3CRET@127.0.0.1:9200/x"
    with pytest.raises(BadRequest, match="%23 for #") as refusal:
        open_cluster(address, Path("/nowhere"), None)
    for part in ("S3CRET", "joe", before):
        assert part not in refusal.value.message


@pytest.mark.parametrize("address", ["joe:S3CRET\u2100@host/x", "[::1/x", "host/x#S3CRET"])
def test_what_cannot_be_split_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        open_cluster(f"opensearch+http://{address}", Path("/nowhere"), None)
    assert "S3CRET" not in refusal.value.message


def test_a_password_may_have_any_character_in_another_writing() -> None:
    address = read_address("opensearch+http://joe:4711%23%3F%2F%5B%5D%40%25@host/x")
    assert (address.password, address.hosts) == ("4711#?/[]@%", (("host", 9200),))


def test_a_setting_that_is_no_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(BadRequest, match="engine is set, but it must begin with") as refusal:
        load({"engine": "https://ada:S3CRET@host/x"}, use_start_folder=False, environment={})
    assert "S3CRET" not in refusal.value.advice


@settings(max_examples=50)
@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = read_address(f"opensearch+https://{text}")
    except ValueError:
        return
    assert address.hosts
    assert address.prefix
