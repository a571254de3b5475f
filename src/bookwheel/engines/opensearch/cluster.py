"""The door to the cluster: every request goes through it."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bookwheel.engines.opensearch.address import Address
from bookwheel.engines.opensearch.refusals import (
    AWAY,
    NO_INDEX,
    Blocked,
    Incomplete,
    Refusals,
    reason_of,
)
from bookwheel.errors import IndexUnreachable, IndexUnusable, RateLimited
from bookwheel.safety.stopping import go_on

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

OLDEST_VERSION = (3, 0)
_ANSWER_SECONDS = 30
PATIENCE_SECONDS = 300
"""For so long it may make searchable or delete what was written at length."""
_MEETING_SECONDS = 10
"""For so long its first answer, which costs it nothing, is waited for."""
_LEADER_SECONDS = 9
"""For so long a cluster may look for its leader."""
_MISSED_SECONDS = 5.0
"""For so long a cluster that was not met is not tried again: a command asks several times."""
_ATTEMPTS = 5
_ATTEMPTS_AT_ALL = 3
"""So often an answer is asked for until all parts of the index have a share in it."""
_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE = 5.0
_BULK_BYTES = 5_000_000
_BULK_ACTIONS = 1_000
_BULK_ATTEMPTS = 8
_CONNECTIONS = 32
_OF_THE_CLUSTER = (403, 429, *AWAY)
"""Answers that say nothing about what was asked."""
Body = Mapping[str, Any]
_Answer = TypeVar("_Answer")


class Failure(NamedTuple):
    """One action of many that was not done."""

    entry: str
    status: int
    reason: str
    is_deletion: bool = False


class Cluster:
    """A cluster, connected to when it is first asked."""

    def __init__(self, address: Address, *, api_key: str | None = None) -> None:
        self.address = address
        self.refusals = Refusals(address)
        self._api_key = api_key
        self._is_known = False
        self._missed: dict[str, tuple[IndexUnreachable, float]] = {}
        """Why it, or its leader, was not met when that was last tried, and when that was."""

    @cached_property
    def _client(self) -> OpenSearch:
        try:
            from opensearchpy import OpenSearch

            from bookwheel.engines.opensearch.transport import Transport
        except ModuleNotFoundError:
            raise IndexUnusable(
                "The index lies in a cluster, and the client for it is not installed.",
                hint="`pip install 'bookwheel[opensearch]'` brings it.",
            ) from None
        # It logs every request, and a stack of calls for each that fails; we say what is wrong.
        logging.getLogger("opensearch").setLevel(logging.CRITICAL)
        at = self.address
        headers = {"Authorization": _stated(self._api_key)} if self._api_key else {}
        login = (at.user, at.password) if at.user and not self._api_key else None
        tls: dict[str, Any] = {"verify_certs": True, "ca_certs": _checked(at.ca) or None}
        return OpenSearch(
            hosts=[{"host": host, "port": port} for host, port in at.hosts],
            http_auth=login,
            headers=headers,
            use_ssl=at.is_secure,
            http_compress=False,
            timeout=_ANSWER_SECONDS,
            transport_class=Transport,
            max_retries=0,
            retry_on_timeout=False,
            pool_maxsize=_CONNECTIONS,
            **(tls if at.is_secure else {}),
        )

    def close(self) -> None:
        """Let go of the connections; the next request makes new ones."""
        client: OpenSearch | None = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    # Asking

    def ask(
        self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the answer to one request; raises Refused for one that can be acted upon."""
        go_on()
        if not self._is_known:
            self._meet()
        return self._patiently(lambda: self._request(method, path, body, params))

    def ask_all(
        self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Return an answer in which every part of the index has its share; raises Incomplete.

        When a node is lost, the cluster says what the others know, and that something is missing.
        """
        for attempt in range(_ATTEMPTS_AT_ALL):
            try:
                answer = self.ask(method, path, body, params)
                self._look_for_gaps(answer)
                return answer
            except Incomplete:
                if attempt == _ATTEMPTS_AT_ALL - 1:
                    raise
                pause(attempt)
        raise AssertionError("unreachable")

    def _look_for_gaps(self, answer: Any) -> None:
        for part in answer.get("responses", ()):
            if "error" in part:
                raise self.refusals.refusal(part["status"], part)
        for entry in answer.get("docs", ()):
            if "error" in entry and NO_INDEX not in reason_of(entry):
                raise self.refusals.incomplete()
        shards = answer.get("_shards", {})
        if shards.get("successful", 0) < shards.get("total", 0):  # one that is gone has not failed
            raise self.refusals.incomplete()

    def _meet(self) -> None:
        """Look once whether this is a cluster that we know how to talk to."""
        answer = self._once("cluster", "/", {})
        stated = answer.get("version", {}) if isinstance(answer, dict) else {}
        number = str(stated.get("number", ""))
        found = tuple(int(part) for part in number.split(".")[:2] if part.isdecimal())
        if stated.get("distribution") != "opensearch" or found < OLDEST_VERSION:
            what = f"{stated.get('distribution') or 'another program'} {number}".strip()
            raise IndexUnusable(
                f"The cluster at {self.address.shown} is {what}.",
                hint=f"OpenSearch {OLDEST_VERSION[0]}.{OLDEST_VERSION[1]} or newer is needed.",
            )
        self._is_known = True

    def require_leader(self) -> None:
        """Raise IndexUnreachable, sooner than a request that needs a leader, where there is none.

        Searches go on without one, changes wait.
        """
        go_on()
        if not self._is_known:
            self._meet()
        params = {"cluster_manager_timeout": f"{_LEADER_SECONDS}s", "filter_path": "status"}
        self._once("leader", "/_cluster/health", params)

    def _once(self, whom: str, path: str, params: Mapping[str, Any]) -> Any:
        """Return an answer that costs nothing; who did not give it is not asked at once again."""
        error, at = self._missed.get(whom, (None, 0.0))
        if error is not None and time.monotonic() - at < _MISSED_SECONDS:
            raise error
        sent = {**params, "request_timeout": _MEETING_SECONDS}
        try:
            return self._patiently(lambda: self._request("GET", path, None, sent))
        except IndexUnreachable as error:
            self._missed[whom] = error, time.monotonic()
            raise

    def _patiently(self, request: Callable[[], _Answer]) -> _Answer:
        """Ask again, a little later each time, while the cluster has too much to do."""
        for attempt in range(_ATTEMPTS):
            try:
                return request()
            except RateLimited:
                if attempt == _ATTEMPTS - 1:
                    raise
                pause(attempt)
        raise AssertionError("unreachable")

    def _request(self, method: str, path: str, body: Any, params: Mapping[str, Any] | None) -> Any:
        client = self._client  # says what is missing where it is not installed
        from opensearchpy import OpenSearchException

        try:
            return client.transport.perform_request(
                method, path, params=dict(params or {}), body=body
            )
        except OpenSearchException as error:
            raise self.refusals.explain(error) from error

    # Many changes at once

    def bulk(
        self,
        actions: Iterable[Body],
        *,
        may_go_on: Callable[[], None] = lambda: None,
        by_alias: bool = True,
    ) -> list[Failure]:
        """Do many changes; return those that were refused for good, each with the reason.

        Names are those of aliases, or all are of indices: the cluster would make an index of any
        other name.

        What the cluster has no room for is sent again, a little later each time. Before anything
        is sent `may_go_on` is called, which raises where it must not be.
        """
        go_on()
        if not self._is_known:
            self._meet()
        every = list(actions)
        for attempt in range(_ATTEMPTS):
            try:
                return self._bulk(every, may_go_on, by_alias=by_alias)
            except IndexUnreachable as error:
                # A node was lost, or a new leader is being found: others soon take its place.
                if attempt == _ATTEMPTS - 1 or isinstance(error, Blocked):
                    raise
                pause(attempt + 1)
        raise AssertionError("unreachable")

    def _bulk(
        self, actions: Iterable[Body], may_go_on: Callable[[], None], *, by_alias: bool
    ) -> list[Failure]:
        client = self._client
        from opensearchpy import OpenSearchException
        from opensearchpy.helpers import streaming_bulk

        failures: list[Failure] = []
        backoff: dict[str, Any] = {
            "initial_backoff": random.uniform(_PAUSE_SECONDS, 3 * _PAUSE_SECONDS),
            "max_backoff": _LONGEST_PAUSE,
        }
        done: Iterator[tuple[bool, dict[str, Any]]] = streaming_bulk(
            client,
            _each_if(actions, may_go_on),
            chunk_size=_BULK_ACTIONS,
            max_chunk_bytes=_BULK_BYTES,
            raise_on_error=False,
            raise_on_exception=True,
            max_retries=_BULK_ATTEMPTS,
            require_alias=by_alias,
            **backoff,
        )
        try:
            for is_done, answer in done:
                if not is_done:
                    failures.append(_failure(*next(iter(answer.items()))))
        except OpenSearchException as error:
            raise self.refusals.explain(error) from error
        self._look_for_trouble(failures)
        return failures

    def _look_for_trouble(self, failures: Iterable[Failure]) -> None:
        """Raise what is wrong with the cluster itself: no entry is to blame for that."""
        for each in failures:
            if NO_INDEX in each.reason and not each.is_deletion:  # what is gone is deleted
                raise self.refusals.missing(each.reason)
            if each.status in _OF_THE_CLUSTER:
                raise self.refusals.refusal(each.status, {"error": each.reason})


def _checked(authority: str) -> str:
    """Return the file of an authority; IndexUnusable, which names it, for one that is none."""
    if not authority:
        return ""
    import ssl

    try:
        ssl.create_default_context(cafile=authority)
    except OSError as error:  # what is no certificate is one too
        raise IndexUnusable(
            f"The certificates of {authority} cannot be used ({error.strerror or error}).",
            hint="It must be a file with one certificate or more, in the form PEM.",
        ) from None
    return authority


def _stated(api_key: str) -> str:
    """Return a key as it is sent; one that says what it is, as `Bearer TOKEN`, as it stands."""
    return api_key if " " in api_key else f"ApiKey {api_key}"


def pause(attempt: int) -> None:
    """Wait a little, longer after each attempt, and never just as long as all others."""
    time.sleep(random.uniform(0.5, 1.5) * min(_LONGEST_PAUSE, _PAUSE_SECONDS * 2**attempt))


def _each_if(actions: Iterable[Body], may_go_on: Callable[[], None]) -> Iterator[Body]:
    for action in actions:
        may_go_on()
        yield action


def _failure(operation: str, item: dict[str, Any]) -> Failure:
    error = item.get("error")
    said = f"{error.get('type')}: {error.get('reason')}" if isinstance(error, dict) else str(error)
    status = item.get("status")
    return Failure(
        str(item.get("_id")),
        status if isinstance(status, int) else 0,
        said[:300],
        operation == "delete",
    )
