"""One request to several hosts: which is asked, for how long, and what is told of it."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import opensearchpy
import pytest

from bookwheel.engines.opensearch import transport
from bookwheel.engines.opensearch.address import read_address
from bookwheel.engines.opensearch.cluster import Cluster
from bookwheel.errors import IndexUnreachable, IndexUnusable
from tests.cluster.nodes import free_port
from tests.engines.opensearch.pretender import pretending


@pytest.mark.parametrize("is_first", [True, False])
def test_what_one_host_answers_tells_more_than_that_another_is_lost(is_first: bool) -> None:
    with pretending() as pretender:
        hosts = [f"127.0.0.1:{pretender.port}", f"127.0.0.1:{free_port()}"]
        stated = ",".join(hosts if is_first else reversed(hosts))
        cluster = Cluster(read_address(f"opensearch+http://{stated}/zoo"))
        cluster.ask("GET", "/zoo-state/_doc/1", None, {"ignore": 404})
        pretender.say(503, "no_shard_available_action_exception")
        with pytest.raises(IndexUnreachable, match="a part of the index is missing"):
            cluster.ask("GET", "/zoo-state/_doc/1")
        cluster.close()


def test_all_attempts_of_a_request_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    given: list[float] = []

    def answer_late(self: Any, *asked: Any) -> None:
        given.append(asked[4])
        now[0] += 6
        raise opensearchpy.TransportError(503, "cluster_manager_not_discovered_exception", {})

    monkeypatch.setattr(transport, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(opensearchpy.Transport, "perform_request", answer_late)
    made = transport.Transport([{"host": "a"}, {"host": "b"}, {"host": "c"}], timeout=10)
    with pytest.raises(opensearchpy.TransportError, match="not_discovered"):
        made.perform_request("GET", "/")
    assert given == [10, 4]


def test_a_request_that_another_host_would_refuse_as_well_is_made_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def refuse(self: Any, method: str, url: str, *_: Any) -> None:
        asked.append(f"{method} {url}")
        raise opensearchpy.RequestError(400, "parsing_exception", {})

    monkeypatch.setattr(opensearchpy.Transport, "perform_request", refuse)
    made = transport.Transport([{"host": "a"}, {"host": "b"}], timeout=10)
    with pytest.raises(opensearchpy.RequestError):
        made.perform_request("GET", "/")
    assert asked == ["GET /"]


def test_a_client_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opensearchpy", None)
    cluster = Cluster(read_address("opensearch+http://127.0.0.1:1/zoo"))
    with pytest.raises(IndexUnusable, match="not installed"):
        cluster.ask("GET", "/")
    with pytest.raises(IndexUnusable, match="not installed"):
        cluster.bulk([{"_index": "zoo"}])
