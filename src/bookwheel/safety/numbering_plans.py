"""What the numbering plans of countries say of a row of digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_NO_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789")
THOUSANDS = re.compile(rb"\+ ?\d{1,3}(?:[ .]\d{3})+")
"""A number with its country code, or a sum with its sign."""


def count_digits(found: bytes) -> int:
    """Return how many digits a row has, without what groups them."""
    return len(_digits(found))


def _digits(found: bytes) -> bytes:
    return found.translate(None, _NO_DIGITS)


def fits_any(found: bytes, regions: tuple[str, ...]) -> bool:
    """Tell whether the plan of any country could hold a number."""
    return found[0] == 43 or _any_plan(regions).fullmatch(_digits(found)) is not None


def countries_of(found: bytes, regions: tuple[str, ...]) -> Iterator[str]:
    """Yield the countries whose plan could hold a number."""
    if found[0] == 43:
        yield "US"  # any will do: the number says its country
        return
    digits = _digits(found)
    for region, pattern in _plans(regions):
        if pattern.fullmatch(digits):
            yield region


@lru_cache(maxsize=8)
def _plans(regions: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[bytes]], ...]:
    """Return for each country a pattern that every number of it has, from the numbering plans."""
    from phonenumbers import PhoneMetadata

    plans: list[tuple[str, re.Pattern[bytes]]] = []
    for region in regions:
        plan = PhoneMetadata.metadata_for_region(region)
        if plan is not None:
            own = (plan.general_desc and plan.general_desc.national_number_pattern) or r"\d+"
            pattern = f"(?:{plan.national_prefix or ''})?(?:{own})|00\\d+|011\\d+"
            plans.append((region, re.compile(pattern.encode())))
    return tuple(plans)


@lru_cache(maxsize=8)
def _any_plan(regions: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(pattern.pattern for _, pattern in _plans(regions)) or b"(?!)")


@lru_cache(maxsize=8192)
def is_phone_number(text: str, region: str) -> bool:
    """Tell whether a text is a number of a country, grouped as numbers are there.

    With its country code it may be grouped in any way, if it is too long for thousands.
    """
    from phonenumbers import Leniency, PhoneNumberMatcher

    data = text.encode()
    is_plain = data[0] == 43 and (count_digits(data) >= 11 or not THOUSANDS.fullmatch(data))
    leniency = Leniency.VALID if is_plain else Leniency.STRICT_GROUPING
    found = PhoneNumberMatcher(text, region, leniency=leniency)
    return any(each.end - each.start >= len(text) - 1 for each in found)
