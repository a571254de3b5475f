"""How what stands in a notation is judged: a secret, or something in its place."""

from __future__ import annotations

import binascii
import re
from itertools import pairwise

from bookwheel.safety.values import (
    has_mark_of_choice,
    is_jumbled,
    is_key,
    is_named_in_prose,
    is_password,
    is_random,
    is_stand_in,
)


def is_given(value: str) -> bool:
    return not is_stand_in(value)


def is_chosen(value: str) -> bool:
    return is_password(value, marked=True)


def is_likely_password(value: str) -> bool:
    return len(value) >= 4 and not is_stand_in(value) and not value.startswith(("-", "/"))


def is_credentials(value: str) -> bool:
    """Tell whether a text is `name:password` in base64."""
    if is_stand_in(value):
        return False
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


_ASKED = re.compile(r"(?:(?:realm|charset|scope|error(?:_\w+)?)=\"[^\"]*\"[, ]*)+", re.IGNORECASE)
"""What a server asks for, and no answer to it."""


def is_header(value: str) -> bool:
    if _ASKED.fullmatch(value):
        return False
    first = value.split()[0].rstrip(",;")
    return not is_stand_in(first) and (
        len(value.split()) > 1 or is_key(first, marked=True) or is_random(first, 8)
    )


def is_bearer(value: str) -> bool:
    return not is_stand_in(value) and is_random(value.rstrip("."), 12)


def is_random_with_digits(value: str) -> bool:
    return not is_stand_in(value) and is_random(value, 8) and any(map(str.isdigit, value))


def is_chosen_in_query(value: str) -> bool:
    chosen = has_mark_of_choice(value) or is_jumbled(value)
    return len(value) >= 4 and not is_stand_in(value) and chosen


def is_beside_its_name(value: str) -> bool:
    """Tell whether the second of two quoted texts is a secret, not the next of many names."""
    return is_named_in_prose(value) and not re.search("(?i)pass|secret|token|key", value)


def is_below_its_name(value: str) -> bool:
    """Tell whether a word alone below a heading is a password: three sorts of signs, no code."""
    sorts = (str.islower, str.isupper, str.isdigit, "!@#$%^&*?+~=".__contains__)
    several = sum(any(map(is_of, value)) for is_of in sorts) >= 3
    is_code = re.search(r"[/\\(){}\[\]:<>;,|]|[.][a-z]|^[a-z_]+=", value)
    return several and is_named_in_prose(value) and not is_code


def is_key_material(value: str) -> bool:
    return not re.fullmatch("[0-9a-fA-F]+|[a-zA-Z/]+", value)


def is_cookie(value: str) -> bool:
    values = (pair.partition("=")[2].strip() for pair in value.split(";"))
    return any(is_random(each, 10) and not is_stand_in(each) for each in values)


def is_recovery_key(value: str) -> bool:
    """Tell whether groups of digits are those of BitLocker: each a multiple of 11."""
    groups = [int(group) for group in re.findall(r"\d+", value)]
    return any(groups) and all(group % 11 == 0 and group < 11 << 16 for group in groups)


_CODE = re.compile(r"(?m)^[ \t]*(?:[-*] |\d{1,2}[.)] )?[`*]*([A-Za-z0-9-]+)")


def is_code_list(value: str) -> bool:
    """Tell whether all lines are codes of one shape, with digits in nearly all of them."""
    codes = _CODE.findall(value)
    shapes = {re.sub("[A-Za-z0-9]", "a", code) for code in codes}
    with_digits = sum(any(map(str.isdigit, code)) for code in codes)
    return len(shapes) == 1 and 5 * with_digits >= 4 * len(codes)


_SYMBOLS = "+/=_-"


def is_in_plain_sight(value: str) -> bool:
    """Tell whether a word of a command line that has other uses too is a password."""
    return is_likely_password(value) and is_named_in_prose(value)


def is_mixed(value: str) -> bool:
    """Tell whether small and capital letters and digits take turns as only chance has it."""
    plain = value.strip(_SYMBOLS)
    if is_stand_in(value) or len(set(plain)) < 6:
        return False
    sorts = ["d" if each.isdigit() else "u" if each.isupper() else "l" for each in plain]
    turns = sum(one != other for one, other in pairwise(sorts))
    often = 8 * turns >= 3 * len(plain) if len(plain) >= 20 else 2 * turns > len(plain)
    return often and set(sorts) == {"d", "u", "l"} and sorts.count("d") >= 2
