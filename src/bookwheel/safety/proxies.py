"""Through which proxy a request leaves: one to this machine through none, whatever is set."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import BaseHandler, ProxyHandler


def proxies_for(url: str) -> tuple[BaseHandler, ...]:
    """Return what keeps a request from the proxy of the environment, where it must not go there."""
    return (ProxyHandler({}),) if is_on_this_machine(url) else ()


def is_on_this_machine(url: str) -> bool:
    """Tell an address that no other machine answers at."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:  # a name, or no address at all
        return False
