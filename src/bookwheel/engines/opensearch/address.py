"""The address of a cluster: `opensearch+https://user:password@host:9200,other:9200/prefix`."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

SCHEMES = ("opensearch+https", "opensearch+http")
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DEFAULT_PREFIX = "bookwheel"
_PORT = 9200
_ESCAPED = (
    "has a character that must be written otherwise in a user or password: "
    "%23 for #, %3F for ?, %2F for /, %5B and %5D for brackets, %25 for %, %40 for @"
)
_NUMBERS = {"shards": (1, 1024), "replicas": (0, 10)}


class Address(NamedTuple):
    """Where a cluster is asked, as whom, and which of its indices are meant."""

    hosts: tuple[tuple[str, int], ...]
    is_secure: bool
    prefix: str
    user: str = ""
    password: str = ""
    ca: str = ""
    """The file with the certificates that those of the hosts are checked against."""
    shards: int = 2
    replicas: int = 1
    """Of an index that has to be made; one that is there stays as it is."""

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def shown(self) -> str:
        """The address without who asks: fit for people and logs."""
        hosts = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.hosts)
        return f"{SCHEMES[not self.is_secure]}://{hosts}/{self.prefix}"


def read_address(text: str) -> Address:
    """Return an address; ValueError, which repeats no password, for what is none."""
    parts = _split(text)
    if parts.scheme not in SCHEMES:
        raise ValueError(f"must begin with {SCHEMES[0]}:// or {SCHEMES[1]}://")
    login, at, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    if at and not user:
        raise ValueError("must name a user before the password")
    prefix = parts.path.strip("/") or _DEFAULT_PREFIX
    if not _PREFIX.fullmatch(prefix):
        raise ValueError("must end with a prefix of small letters, digits, - and _")
    options = dict(parse_qsl(parts.query))
    unknown = options.keys() - _NUMBERS.keys() - {"ca"}
    if unknown:
        raise ValueError(f"has an unknown option {sorted(unknown)[0]}")
    return Address(
        tuple(_read_host(each) for each in hosts.split(",")),
        parts.scheme == SCHEMES[0],
        prefix,
        unquote(user),
        unquote(password),
        options.get("ca", ""),
        **{name: _read_number(name, value) for name, value in options.items() if name != "ca"},
    )


def _split(text: str) -> SplitResult:
    """Return the parts of an address; a password that would end the host is none of them."""
    login, at, _ = text.partition("://")[2].rpartition("@")
    if "#" in text or (at and any(letter in login for letter in "?/[]")):
        raise ValueError(_ESCAPED)
    try:
        return urlsplit(text)
    except ValueError:  # which may repeat the password
        raise ValueError("must name hosts as host:port, separated by commas") from None


def _read_number(name: str, text: str) -> int:
    low, high = _NUMBERS[name]
    if not text.isdecimal() or not low <= int(text) <= high:
        raise ValueError(f"must have {name} from {low} to {high}")
    return int(text)


def _read_host(text: str) -> tuple[str, int]:
    try:
        host = urlsplit(f"//{text}")
        port = _PORT if host.port is None else host.port
    except ValueError:
        raise ValueError("must name hosts as host:port, separated by commas") from None
    if not host.hostname:
        raise ValueError("must name a host")
    return host.hostname, port
