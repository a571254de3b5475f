"""What the cluster says instead of an answer, in words for the operator."""

from __future__ import annotations

from typing import Any

from bookwheel.engines.opensearch.address import Address
from bookwheel.errors import BookwheelError, IndexUnreachable, IndexUnusable, RateLimited

_GAPS = ("no_shard_available", "all shards failed", "Partial shards failure", "Shard failures")
NO_INDEX = "index_not_found"
_NO_LEADER = "not_discovered"
AWAY = (502, 503, 504)


class Refused(IndexUnusable):
    """The cluster refused one request; `status` and `kind` are its own words for why."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(
            f"The cluster refused a request ({status} {reason or kind}).",
            hint="Its indices may have been made by another version, or changed by hand.",
        )
        self.status = status
        self.kind = kind
        self.reason = reason


class Incomplete(IndexUnreachable):
    """A part of the index did not answer; another copy of it may, a moment later."""


class Blocked(IndexUnreachable):
    """The cluster takes no changes until its operator has done something."""


class Missing(IndexUnusable):
    """An index that is to be there is not; the next indexer makes it anew."""


class Refusals:
    """The errors of the cluster at one address."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def explain(self, error: Exception) -> BookwheelError:
        """Return what went wrong in words for the operator; Refused where the caller may act."""
        import opensearchpy as client

        match error:
            case client.ConnectionTimeout():
                return IndexUnreachable(
                    f"The cluster at {self._address.shown} did not answer in time.",
                    hint="Try again; `bookwheel doctor` shows how it is.",
                )
            case client.ConnectionError():
                return self._unreachable(error)
            case client.AuthenticationException() | client.AuthorizationException():
                return self._unwelcome(error)
            case client.TransportError() if isinstance(error.status_code, int):
                return self.refusal(error.status_code, error.info, str(error.error))
        return IndexUnusable(f"The cluster at {self._address.shown} gave no sensible answer.")

    def _unreachable(self, error: Exception) -> IndexUnreachable:
        what = "does not answer"
        hint = "Check that it runs and that the address is right. No document is lost."
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            what = "shows a certificate that is not trusted"
            hint = "Name the file of its authority: add ?ca=FILE to the address."
        elif "SSL" in type(error).__name__ or "SSL" in str(error):
            what = "does not speak TLS"
            hint = "Where it is not meant to, the address begins with opensearch+http."
        return IndexUnreachable(f"The cluster at {self._address.shown} {what}.", hint=hint)

    def _unwelcome(self, error: Any) -> BookwheelError:
        if error.status_code == 401:
            return IndexUnusable(
                f"The cluster at {self._address.shown} does not know this user or password.",
                hint="Check the user and password in the address, or the API key.",
            )
        return self.refusal(error.status_code, error.info, str(error.error))

    def _unpermitted(self) -> IndexUnusable:
        return IndexUnusable(
            f"This user may not do that in the cluster at {self._address.shown}.",
            hint=f"Give the user all rights on the indices {self._address.prefix}-*.",
        )

    def refusal(self, status: int, info: Any, kind: str = "") -> BookwheelError:
        """Return the error for what the cluster said instead of an answer."""
        reason = reason_of(info)
        if status in (403, 429) and "cluster_block" in f"{kind} {reason}":
            return Blocked(
                f"The cluster at {self._address.shown} takes no changes just now.",
                hint="Its disks may be full; `bookwheel doctor` shows how it is.",
            )
        if status == 403:
            return self._unpermitted()
        if status == 429:
            return RateLimited("The cluster has too much to do.", retry_after=5)
        if NO_INDEX in f"{kind} {reason}":
            return self.missing(reason)
        if _NO_LEADER in f"{kind} {reason}":
            return Incomplete(
                f"The cluster at {self._address.shown} has no leader just now.",
                hint="It may be starting, or lack the nodes that may lead: look at its log.",
            )
        # All shards fail as well at what cannot be asked of them, and say so with 400.
        if status in AWAY or (status >= 500 and any(gap in reason for gap in _GAPS)):
            return self.incomplete()
        return Refused(status, kind, reason)

    def missing(self, reason: str) -> Missing:
        """Return the error for an index that is not there."""
        return Missing(
            f"An index of the library {self._address.shown} is missing ({reason}).",
            hint="`bookwheel doctor` says which. `bookwheel index FOLDER --full` makes it anew.",
        )

    def incomplete(self) -> Incomplete:
        """Return the error for an index of which a part cannot be read."""
        return Incomplete(
            f"The cluster at {self._address.shown} cannot answer: a part of the index is "
            "missing, or it has no leader.",
            hint="It may be starting, or a node lost; `bookwheel doctor` shows how it is.",
        )


def reason_of(info: Any) -> str:
    """Return what the cluster says is wrong, in its own words."""
    if not isinstance(info, dict):
        return str(info)[:500]
    error = info.get("error")
    if not isinstance(error, dict):
        return str(error or info.get("result") or "")[:500]
    causes = [error, *error.get("root_cause", ())]
    return "; ".join(f"{each.get('type')}: {each.get('reason')}" for each in causes)[:1000]
