"""The limit of requests: so many in any window, each client by itself."""

from __future__ import annotations

from bookwheel.serve.limits import RateLimit


def test_a_client_waits_until_its_oldest_request_leaves_the_window() -> None:
    now = [100.0]
    limit = RateLimit(2, 60, clock=lambda: now[0])

    assert [limit.take("a"), limit.take("a"), limit.take("a")] == [0, 0, 60]
    now[0] = 159.5
    assert limit.take("a") == 1
    now[0] = 160.0
    assert [limit.take("a"), limit.take("a"), limit.take("a")] == [0, 0, 60]


def test_clients_do_not_use_up_each_others_requests() -> None:
    limit = RateLimit(1, 60, clock=lambda: 0.0)

    assert [limit.take("a"), limit.take("b"), limit.take("a")] == [0, 0, 60]


def test_no_limit_is_any_number() -> None:
    limit = RateLimit(0, 60, clock=lambda: 0.0)

    assert {limit.take("a") for _ in range(1000)} == {0}
