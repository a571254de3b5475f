"""How values of settings are written: readers of texts, whose docstrings say what they take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ENDPOINT, CLIENT, NO_MODEL = "endpoint", "client", "none"
"""Where a language model may be asked."""


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers between two."""

    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"must lie between {low} and {high}")
        return number

    parse.__doc__ = f"a whole number from {low} to {high}"
    return parse


def one_of(*names: str) -> Callable[[str], str]:
    """Return a reader of one of some names."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    parse.__doc__ = " or ".join(names)
    return parse


def networks(text: str) -> str:
    """IP addresses or networks, separated by commas"""
    from ipaddress import ip_network

    for each in text.split(","):
        ip_network(each.strip())
    return text


def regions(text: str) -> str:
    """two-letter codes of countries, separated by commas"""
    regions = [each.strip().upper() for each in text.split(",")]
    if not all(len(each) == 2 and each.isascii() and each.isalpha() for each in regions):
        raise ValueError("must be countries by their two letters, as US,GB,DE")
    return ",".join(regions)


def flag(text: str) -> bool:
    """true or false"""
    lowered = text.strip().lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("must be true or false")


def text(text: str) -> str:
    """a text"""
    return text


def sendable(text: str) -> str:
    """a text of letters, digits and signs of ASCII"""
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must consist of characters that can be sent: printable ASCII")
    return text


def embedder(text: str) -> str:
    """static, minilm, http, none, or a kind and a model"""
    kind, _, model = text.partition(":")
    is_named = kind in ("model2vec", "fastembed", "sentence-transformers") and model.strip()
    if text not in ("static", "minilm", "http", "none") and not is_named:
        raise ValueError("must be static, minilm, http, none, or a kind such as model2vec:MODEL")
    return text


def address(text: str) -> str:
    """an address that begins with http:// or https://"""
    if not text.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return text


def engine(text: str) -> str:
    """an address that begins with opensearch+https:// or opensearch+http://"""
    if not text.startswith(("opensearch+https://", "opensearch+http://")):
        raise ValueError("must begin with opensearch+https:// or opensearch+http://")
    return text


def order(text: str) -> str:
    """endpoint and client, separated by a comma, or none"""
    names = [name.strip() for name in text.split(",")]
    if names != [NO_MODEL] and (not {*names} <= {ENDPOINT, CLIENT} or len({*names}) < len(names)):
        raise ValueError("must be endpoint, client, both in either order by a comma, or none")
    return ",".join(names)


def path(text: str) -> str:
    """a path"""
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        return str(Path(text).expanduser())
    except RuntimeError:
        raise ValueError("must not begin with the home folder of an unknown user") from None


def audit(text: str) -> str:
    """a path, or off"""
    return text if text == "off" else path(text)


class Rate(NamedTuple):
    """So many in so many seconds; 0 means any number."""

    number: int
    seconds: int


_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


def read_rate(text: str) -> Rate:
    """Return a rate that is written as 60/minute; ValueError for anything else."""
    number, _, unit = text.partition("/")
    if not number.strip().isdecimal() or unit.strip() not in _UNITS or len(number) > 9:
        raise ValueError(f"must be written as 60/minute, by {', '.join(_UNITS)}")
    return Rate(int(number), _UNITS[unit.strip()])


def read_rates(text: str) -> dict[str, Rate] | None:
    """Return the rates of tools by their names; None for `off`."""
    if text.strip().lower() == "off":
        return None
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    return {name.strip(): read_rate(rate) for name, _, rate in pairs}


def tool_limits(text: str) -> str:
    """off, or rates such as NAME=60/minute,OTHER=5/second"""
    read_rates(text)
    return text


def base_path(text: str) -> str:
    """a path that begins with /"""
    from urllib.parse import quote

    steps = {".", ".."} & set(text.split("/"))
    if not text.startswith("/") or quote(text) != text or "//" in text or steps:
        raise ValueError("must begin with / and hold plain characters only")
    return text.rstrip("/")


def always(_: str) -> bool:
    """Tell that every value does."""
    return True


def names_a_service(embedder: str) -> bool:
    """Tell whether texts or a model would go over the network."""
    return embedder == "http" or ":" in embedder
