"""A cluster in trouble: every trouble has its error, says what to do, and shows no password."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.engines.base import WritableEngine
from bookwheel.engines.choice import open_cluster
from bookwheel.engines.opensearch import cluster as door
from bookwheel.engines.opensearch.address import read_address
from bookwheel.engines.opensearch.cluster import Cluster
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.engines.opensearch.refusals import Missing, Refused
from bookwheel.errors import (
    BookwheelError,
    IndexUnreachable,
    IndexUnusable,
    RateLimited,
)
from tests.cluster.nodes import free_port
from tests.engines.opensearch.pretender import Pretender, pretending

LOGIN = "ada:S3CRET@"


@pytest.fixture
def pretender(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pretender]:
    monkeypatch.setattr(door, "pause", lambda attempt: None)
    monkeypatch.setattr("opensearchpy.helpers.actions.time.sleep", lambda seconds: None)
    with pretending() as made:
        yield made


def engine_of(pretender: Pretender, *, key: str | None = None) -> WritableEngine:
    return open_cluster(pretender.address(LOGIN), Path("/nowhere/catalog.db"), key)


def trouble_of(pretender: Pretender) -> BookwheelError:
    """Return what an engine says of the cluster when it is asked anything."""
    engine = engine_of(pretender)
    with pytest.raises(BookwheelError) as raised:
        engine.generation  # noqa: B018 - reading it is the question
    engine.close()
    assert "S3CRET" not in raised.value.advice
    return raised.value


def test_a_cluster_that_does_not_answer_is_out_of_reach(caplog: pytest.LogCaptureFixture) -> None:
    address = f"opensearch+http://{LOGIN}127.0.0.1:{free_port()}/zoo"
    engine = open_cluster(address, Path("/nowhere"), None)
    with pytest.raises(IndexUnreachable, match="does not answer") as raised:
        engine.collections()
    assert "S3CRET" not in raised.value.advice
    assert "S3CRET" not in caplog.text


def test_a_cluster_that_hangs_is_out_of_reach_and_not_waited_for_twice(
    pretender: Pretender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_MEETING_SECONDS", 0.05)
    hangs = threading.Event()
    pretender.hold = hangs
    engine = engine_of(pretender)
    for _ in range(3):
        with pytest.raises(IndexUnreachable, match="did not answer in time"):
            engine.note("readers")
    assert pretender.asked == ["GET /"]
    hangs.set()
    monkeypatch.setattr(door, "_MISSED_SECONDS", 0.0)
    assert engine.generation == 0
    engine.close()


def test_a_wrong_password_is_named_and_not_shown(
    pretender: Pretender, caplog: pytest.LogCaptureFixture
) -> None:
    pretender.welcome = (401, {"error": "Unauthorized"})
    trouble = trouble_of(pretender)
    assert isinstance(trouble, IndexUnusable)
    assert not isinstance(trouble, IndexUnreachable)
    assert "does not know this user or password" in trouble.message
    assert "S3CRET" not in caplog.text


def test_a_user_without_rights_is_told_which(pretender: Pretender) -> None:
    pretender.say(403, "security_exception")
    assert "zoo-*" in trouble_of(pretender).advice


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ({"distribution": "opensearch", "number": "2.19.1"}, "opensearch 2.19.1"),
        ({"number": "9.1.0"}, "another program 9.1.0"),
        ({}, "another program"),
    ],
)
def test_another_version_or_program_is_refused_before_anything_is_written(
    pretender: Pretender, version: dict[str, str], shown: str
) -> None:
    pretender.welcome = (200, {"version": version})
    trouble = trouble_of(pretender)
    assert shown in trouble.message
    assert pretender.asked == ["GET /"]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_red_cluster_is_out_of_reach_until_it_comes_back(
    pretender: Pretender, status: int
) -> None:
    pretender.say(status, "no_shard_available_action_exception")
    engine = engine_of(pretender)
    with pytest.raises(IndexUnreachable, match="cannot answer"):
        engine.note("readers")
    pretender.answer = lambda method, path, body: (404, {"found": False})
    assert engine.generation == 0
    engine.close()


def _error(kind: str, reason: str) -> dict[str, object]:
    cause = {"type": kind, "reason": reason}
    return {"error": {**cause, "root_cause": [cause]}}


_GAP = _error("search_phase_execution_exception", "Partial shards failure")
_GAPS = [
    (500, {**_GAP, "status": 500}),
    (200, {"responses": [{"hits": {}, "status": 200}, {**_GAP, "status": 500}]}),
    (200, {"docs": [{"_id": "1", **_error("node_disconnected_exception", "disconnected")}]}),
    (200, {"count": 7, "_shards": {"total": 2, "successful": 1, "failed": 1}}),
    (200, {"count": 7, "_shards": {"total": 2, "successful": 1, "failed": 0}}),
]


@pytest.mark.parametrize("gap", _GAPS)
def test_an_answer_that_a_part_of_the_index_is_missing_from_is_asked_for_again(
    pretender: Pretender, gap: tuple[int, object]
) -> None:
    whole = {"count": 9, "_shards": {"total": 2, "successful": 2, "failed": 0}}
    answers = [gap, (200, whole)]
    pretender.answer = lambda method, path, body: answers.pop(0)
    cluster = Cluster(read_address(pretender.address()))
    assert cluster.ask_all("POST", "/zoo-pages/_count") == whole
    cluster.close()


@pytest.mark.parametrize("gap", _GAPS)
def test_an_answer_that_stays_incomplete_is_none(
    pretender: Pretender, gap: tuple[int, object]
) -> None:
    pretender.answer = lambda method, path, body: gap
    cluster = Cluster(read_address(pretender.address()))
    with pytest.raises(IndexUnreachable, match="a part of the index is missing"):
        cluster.ask_all("POST", "/zoo-pages/_count")
    cluster.close()


def test_a_library_is_whole_unless_an_index_of_it_is_red(pretender: Pretender) -> None:
    health = ["green", "yellow", "red", "green"]

    def answer(method: str, path: str, body: bytes) -> tuple[int, object]:
        if path.startswith("/_cluster/health/"):
            status = health.pop(0)
            return (408 if status == "red" else 200), {"status": status}
        return 404, {"found": False}

    pretender.answer = answer
    engine = engine_of(pretender)
    engine.require_whole()
    engine.require_whole()
    with pytest.raises(IndexUnreachable, match="a part of the index is missing"):
        engine.require_whole()
    engine.require_whole()
    engine.close()
    asked = pretender.asked[-1].partition("?")[0].rpartition("/")[2]
    kinds = ("state", "documents", "texts", "pages", "passages", "words")
    assert asked.split(",") == [f"zoo-{kind}" for kind in kinds]


def test_without_a_leader_nothing_is_begun_and_none_is_waited_for_twice(
    pretender: Pretender, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretender.say(503, "cluster_manager_not_discovered_exception")
    engine = engine_of(pretender)
    for ask in (engine.begin_writing, engine.facts, engine.begin_writing):
        with pytest.raises(IndexUnreachable, match="has no leader just now"):
            ask()
    asked = pretender.asked[1:]
    assert len(asked) == 2, "once more than there are hosts"
    for each in asked:
        assert each.startswith("GET /_cluster/health?")
        assert "cluster_manager_timeout=9s" in each
    engine.close()


def test_an_index_that_is_not_there_leaves_no_gap(pretender: Pretender) -> None:
    nothing = {"docs": [{"_id": "1", **_error("index_not_found_exception", "no such index")}]}
    pretender.answer = lambda method, path, body: (200, nothing)
    cluster = Cluster(read_address(pretender.address()))
    assert cluster.ask_all("POST", "/zoo-documents/_mget") == nothing
    cluster.close()


def test_a_full_disk_of_the_cluster_is_named(pretender: Pretender) -> None:
    pretender.say(403, "cluster_block_exception")
    assert "takes no changes" in trouble_of(pretender).message


def test_a_busy_cluster_is_asked_again_and_again_but_not_for_ever(pretender: Pretender) -> None:
    pretender.say(429, "opensearch_rejected_execution_exception")
    trouble = trouble_of(pretender)
    assert isinstance(trouble, RateLimited)
    assert len(pretender.asked) == 1 + 5


def test_a_busy_cluster_that_recovers_has_answered(pretender: Pretender) -> None:
    left = [429, 429, 200]

    def answer(method: str, path: str, body: bytes) -> tuple[int, object]:
        status = left.pop(0)
        found = {"found": True, "_seq_no": 1, "_primary_term": 1}
        return status, {**found, "_source": {"data": {"generation": 7}}}

    pretender.answer = answer
    engine = engine_of(pretender)
    assert engine.generation == 7
    engine.close()


def test_what_was_written_at_length_may_take_its_time_to_be_found(
    pretender: Pretender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_ANSWER_SECONDS", 0.2)
    release = threading.Event()

    def answer(method: str, path: str, body: bytes) -> tuple[int, object]:
        if path.partition("?")[0].endswith("_refresh"):
            release.wait(1)
        return 200, {}

    pretender.answer = answer
    engine = engine_of(pretender)
    assert isinstance(engine, OpenSearchEngine)
    engine._refresh_indices("pages")
    engine.close()
    assert [each.partition("?")[0] for each in pretender.asked[1:]] == ["POST /zoo-pages/_refresh"]


def test_a_refusal_that_nobody_expected_is_an_error_for_the_operator(pretender: Pretender) -> None:
    pretender.say(400, "strict_dynamic_mapping_exception", "mapping set to strict")
    trouble = trouble_of(pretender)
    assert isinstance(trouble, Refused)
    assert isinstance(trouble, IndexUnusable)
    assert "mapping set to strict" in trouble.message


def test_what_all_shards_refuse_alike_is_no_missing_part(pretender: Pretender) -> None:
    cause = {"type": "illegal_argument_exception", "reason": "Text fields are not optimised"}
    error = {"reason": "all shards failed", "type": "search_phase", "root_cause": [cause]}
    pretender.answer = lambda method, path, body: (400, {"error": error, "status": 400})
    cluster = Cluster(read_address(pretender.address()))
    with pytest.raises(Refused, match="Text fields are not optimised"):
        cluster.ask_all("POST", "/zoo-documents/_search")
    cluster.close()


def test_nothing_is_written_to_a_name_that_is_no_alias(pretender: Pretender) -> None:
    reason = "no such index [zoo-state] and [require_alias] request flag is [true]"
    error = {"type": "index_not_found_exception", "reason": reason}
    item = {"_index": "zoo-pages", "_id": "1", "status": 404, "error": error}
    answers = {
        "GET": (404, {"found": False}),
        "PUT": (404, {"error": error, "status": 404}),
        "POST": (200, {"errors": True, "items": [{"index": item}]}),
    }
    pretender.answer = lambda method, path, body: answers[method]
    engine = engine_of(pretender)
    assert isinstance(engine, OpenSearchEngine)
    action = {"_op_type": "index", "_index": "zoo-pages", "_id": "1", "_source": {}}
    with pytest.raises(Missing, match="zoo-state"):
        engine.set_note("readers", "1")
    with pytest.raises(Missing, match="An index of the library"):
        engine._cluster.bulk([action])
    engine.close()
    written = [each for each in pretender.asked if not each.startswith("GET")]
    assert ["require_alias=true" in each for each in written] == [True, True]


def test_what_was_to_be_deleted_from_an_index_that_is_gone_is_gone(pretender: Pretender) -> None:
    error = {"type": "index_not_found_exception", "reason": "no such index [zoo-vectors-1]"}
    item = {"_index": "zoo-vectors-1", "_id": "1", "status": 404, "error": error}
    pretender.answer = lambda method, path, body: (
        200,
        {"errors": True, "items": [{"delete": item}]},
    )
    cluster = Cluster(read_address(pretender.address()))
    failures = cluster.bulk([{"_op_type": "delete", "_index": "zoo-vectors-1", "_id": "1"}])
    cluster.close()
    assert [each.status for each in failures] == [404]


def test_an_api_key_is_sent_instead_of_the_password(pretender: Pretender) -> None:
    engine = engine_of(pretender, key="K3Y")
    assert engine.generation == 0
    assert set(pretender.keys) == {"ApiKey K3Y"}
    engine.close()


def test_of_many_changes_the_refused_are_named_and_the_postponed_sent_again(
    pretender: Pretender,
) -> None:
    seen: list[list[str]] = []

    def answer(method: str, path: str, body: bytes) -> tuple[int, object]:
        lines = [json.loads(line) for line in body.splitlines()]
        ids = [line["index"]["_id"] for line in lines if "index" in line]
        seen.append(ids)
        return 200, {"errors": True, "items": [_item(each, len(seen)) for each in ids]}

    pretender.answer = answer
    cluster = Cluster(read_address(pretender.address()))
    failures = cluster.bulk(
        {"_op_type": "index", "_index": "zoo", "_id": each, "_source": {}}
        for each in ("good", "bad", "late")
    )
    cluster.close()

    assert seen == [["good", "bad", "late"], ["late"], ["late"]]
    assert [(each.entry, each.status) for each in failures] == [("bad", 400)]
    assert "does not fit" in failures[0].reason


@pytest.mark.parametrize(
    ("status", "kind", "trouble", "asked"),
    [
        (429, "rejected_execution_exception", RateLimited, 9),
        (503, "unavailable_shards_exception", IndexUnreachable, 5),
        (403, "cluster_block_exception", IndexUnreachable, 1),
        (429, "cluster_block_exception", IndexUnreachable, 9),
        (403, "security_exception", IndexUnusable, 1),
    ],
)
def test_of_many_changes_none_is_to_blame_for_the_trouble_of_the_cluster(
    pretender: Pretender, status: int, kind: str, trouble: type[BookwheelError], asked: int
) -> None:
    error = {"type": kind, "reason": "because"}
    item = {"index": {"_index": "zoo", "_id": "1", "status": status, "error": error}}
    pretender.answer = lambda method, path, body: (200, {"errors": True, "items": [item]})
    cluster = Cluster(read_address(pretender.address()))
    with pytest.raises(trouble):
        cluster.bulk([{"_op_type": "index", "_index": "zoo", "_id": "1", "_source": {}}])
    cluster.close()
    assert len(pretender.asked) == 1 + asked


def _item(name: str, attempt: int) -> dict[str, object]:
    status = {"good": 200, "bad": 400, "late": 200 if attempt == 3 else 429}[name]
    item: dict[str, object] = {"_index": "zoo", "_id": name, "status": status}
    if status != 200:
        item["error"] = {"type": "trouble", "reason": "it does not fit"}
    return {"index": item}
