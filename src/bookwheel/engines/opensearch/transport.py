"""One request to one of several hosts: the next is asked where one is lost, in the time it has.

Imported only where a cluster is asked: the client is an extra.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from opensearchpy import ConnectionError, ConnectionTimeout, TransportError
from opensearchpy import Transport as _Transport

_LEAST_SECONDS = 0.5
"""With less time left another host is not asked."""


class Transport(_Transport):
    """Gives a request its time as a whole; by itself the client gives it to every attempt anew."""

    def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        timeout: float | None = None,
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the answer of the first host that gives one; raise what tells most of why not."""
        sent = dict(params or {})
        patience = timeout or sent.pop("request_timeout", None) or self.kwargs["timeout"]
        until = time.monotonic() + patience
        told: TransportError | None = None
        for _ in range(len(self.hosts) + 1):
            left = until - time.monotonic()
            if told is not None and left < _LEAST_SECONDS:
                break
            try:
                return super().perform_request(method, url, dict(sent), body, left, ignore, headers)
            except TransportError as error:
                told = _plainer(told, error)
                if not self._is_of_the_host(error):
                    break
        assert told is not None
        raise told

    def _is_of_the_host(self, error: TransportError) -> bool:
        """Tell whether another host may do better."""
        if isinstance(error, ConnectionError):
            return not isinstance(error, ConnectionTimeout)
        return error.status_code in self.retry_on_status


def _plainer(told: TransportError | None, error: TransportError) -> TransportError:
    """Return the error that tells more: a host that answers knows more than one that does not."""
    return told if told is not None and isinstance(error, ConnectionError) else error
