"""Telling a secret from what only stands in its place: a placeholder, a type, a piece of code."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from bookwheel.safety.words import PASSWORDS, STAND_INS

_NOT_GIVEN = re.compile(
    # nothing but filling, in brackets of some kind, or an address
    r"[xX*.•●_\-#?…0/\\ ]*|(.)\1*|(?:foo|bar|baz|xyz)+|"
    r"<[^<>]*>?|\{\{?.*|\$\{.*|\$\(.*|%[A-Za-z_]\w*%?|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|#\{.*|@@?\w+@|"
    r"\[[^\[\]]*\]|\([^()]*\)|:\w+|&#?\w+;?.*|!\w+ .*|!vault.*|%\(.*|%[sdr]|__\w+__|"
    r"--?[A-Za-z][\w-]*|v?\d+(?:\.\d+)+|"
    r"(?:https?|ftp|file)://.*|\[redacted:.*",
    re.DOTALL,
)
_FILLED_LATER = re.compile(
    r"change[-_]?(?:me|it|this)|replace[-_]?(?:me|this|with)|placeholder|redacted|your[-_. ]|"
    r"(?:^|[-_ ])(?:goes|put|insert|enter|add|paste|type|set)[-_ ]|[-_]here$|"
    r"^(?:your|my|the|some|a|an)[-_ ]?(?:own[-_ ]?)?(?:secret|super|strong|secure|api|access|auth|"
    r"private|token|password|passwort|passwd|pass|key|client)[a-z_ -]*$|"
    r"x{4}|\*{3}|\.\.\.|…|•{3}|^to[-_ ]?do\b|^(?:required|nullable|min|max|string|optional)[|:]|"
    r"^(?:enc|vault|sops|op|ssm|arn|secretref|file|env|aws|gcp|akv)[:(\[]|"
    r"^(?:example|sample|dummy|fake|demo)(?:[-_ ]?[a-z])*$"
)
_FILLED_WORDS = (
    *("change", "replace", "placeholder", "redacted", "your", "put", "insert", "enter", "add"),
    *(
        "paste",
        "type",
        "set",
        "here",
        "goes",
        "my",
        "the",
        "some",
        "xxxx",
        "***",
        "...",
        "…",
        "•••",
    ),
    *("todo", "to-do", "to_do", "|", ":", "(", "[", "example", "sample", "dummy", "fake", "demo"),
    *("a_", "a-", "an_", "an-", "apassword", "asecret"),
)
"""One of them stands in whatever the pattern above finds; looking for them is quicker."""
_REFERENCE = re.compile(
    r"(?i)\$[a-z_]{0,30}(?:token|key|secret|password|passwd|pwd|credentials?|id)[,;)]{0,2}|"
    r"[\w./:-]{0,12}\$\{[^{}\n]{1,40}\}[\w./:-]{0,12}"
)
"""What a program puts there: `$accessToken`, `user-${id}`."""
_SAYS_SOMETHING = re.compile(r"[a-z]{3}|[-_.*:(\[|…•]")
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*\s*[(\[].*|"
    r"(?:self|this|os|sys|env|process|config|cfg|conf|settings|options|opts|args|params|request|req|"
    r"res|user|data|form|body|ctx|context|app|state|props|event|secrets|vars|var|local|module|input|"
    r"credentials|creds|auth|account|session|client|values|inputs|github|steps|needs|\$\w+)"
    r"(?:(?:\.|->|::|\?\.)[\w$]+)+[;,)]*|"
    r"[A-Za-z_]\w*(?:(?:->|::|\?\.)\w+)+|(?:new|await|lambda|function|async|not|if)\b.*|"
    r"(?:f|r|b|u|rb|br)?[\"'].*",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*[-_.]?v?\d{0,2}")
_CAMEL = re.compile(r"[A-Za-z][a-z]+(?:[A-Z][a-z]+)+\d?")
_WORDY = re.compile(
    r"(?:[a-z]+|[A-Z][a-z]*|[A-Z]+|\d{1,4})(?:[-_. /:](?:[a-z]+|[A-Z][a-z]*|[A-Z]+|\d{1,4}))*"
)
_TOKEN = re.compile(r"[\w\-+/=.~:%@!#$^&*,]+")
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:|)(?:[/\\]{1,2}[\w.@%+-]+)+[/\\]?|[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+|"
    r"[\w-]+\.(?:json|ya?ml|toml|txt|pem|key|crt|env|ini|conf|md|py|js|ts|properties|xml)"
)
_KNOWN = re.compile(
    r"(?i)(?:sha-?\d+(?:-[a-z]+)?|sha3-\d+|md5|base-?(?:16|32|58|64)[-\w]*|utf-?(?:8|16)|oauth-?[12](?:\.0)?|"
    r"argon2(?:id|i|d)?|pbkdf2\w*|bcrypt|scrypt|aes-?\d+.*|aws4-.*|rsa-?\d+|hs256|rs256|es256|ed25519|x509|"
    r"x25519|2fa|mfa|v?\d+(?:\.\d+)*|[a-z]?\d+[a-z]?|\d+[-+](?:[a-z]+)?|\d+(?:\.\d+)?[kmgt]?i?b?|"
    r"iso-?\d+|rfc-?\d+|http/?[123]|s3|ec2|k8s|windows-?\d+|[a-z]+-\d{1,2}|p?\d+%|(?:\d+[dhms]){1,4}|u\+[0-9a-f]+|"
    r"\d{1,2}:\d{2}.*|\d{4}-\d{2}.*|[a-z]+\d{1,2}[a-z]?\)|@[a-z/_-]+)"
)
_LONG = 64
"""Characters by which a long value is judged."""
_JUMBLED = re.compile("[a-z][A-Z]+[a-z]*[A-Z]|[A-Z]{2}[a-z]+[A-Z]")
_RUNS = re.compile("[a-z]+|[A-Z]+")
_LONGEST_RUN = 2.2
"""Letters of one case in a row, on average, of what is jumbled."""
_SEVERAL_WORDS = re.compile(
    r"(?:[A-Za-z]{3,9}[-_.]){3,}\d{1,4}|(?:[A-Z][a-z]{2,11}[-_.]){2,}\d{1,4}"
)
"""What makers of passwords that can be remembered give: words and a number."""
_WORDS = STAND_INS.union(PASSWORDS)
_SYMBOL = re.compile(r"[!@#$%^&*~+=?\\]")
_SENTENCE = re.compile(r"\s")
_EAST_ASIAN = re.compile(
    "[0-9~-]{0,5}[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af，。！？；：（）]+"
    "(?:[0-9~-]{1,5}[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af，。！？；：（）]+)?"
)
"""A password is typed: what no key of a keyboard has goes on with the sentence."""


@lru_cache(maxsize=4096)
def is_stand_in(value: str) -> bool:
    """Tell whether a value is a placeholder, a common word for one, or a reference."""
    lowered = value.lower()
    return (
        len(value) < 3
        or lowered.strip("\"'`*_.,;:!()[]<>{}") in _WORDS
        or _NOT_GIVEN.fullmatch(value) is not None
        or ("$" in value and _REFERENCE.fullmatch(value) is not None)
        or (
            _SAYS_SOMETHING.search(lowered) is not None
            and any(word in lowered for word in _FILLED_WORDS)
            and _FILLED_LATER.search(lowered) is not None
        )
    )


def is_random(value: str, least: int) -> bool:
    """Tell whether a value has no meaning: long, letters and digits mixed, not a name."""
    return len(value) >= least and _has_no_meaning(value[:_LONG])


@lru_cache(maxsize=4096)
def _has_no_meaning(value: str) -> bool:
    if not _TOKEN.fullmatch(value) or _CODE.fullmatch(value):
        return False
    if _NAME.fullmatch(value) or _WORDY.fullmatch(value) or _KNOWN.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    mixed = digits >= 2 and letters >= 2
    cased = letters >= 16 and value != value.lower() and value != value.upper()
    return (mixed or (cased and not _CAMEL.fullmatch(value))) and len(set(value)) > 4


def is_jumbled(value: str) -> bool:
    """Tell whether capitals stand among small letters as chance has it and no name does."""
    runs = _RUNS.findall(value)
    return (
        sum(map(len, runs)) >= max(8, len(value) - 3)
        and len(runs) * _LONGEST_RUN >= sum(map(len, runs))
        and not _CAMEL.fullmatch(value)
    )


def is_password(value: str, *, marked: bool) -> bool:
    """Tell whether what stands after a word for password is one.

    `marked`: it stands in quotes, or is all that a line of a settings file says.
    """
    if is_stand_in(value) or len(value) < 4 or _SENTENCE.search(value):
        return False
    if _CODE.fullmatch(value) or _EAST_ASIAN.fullmatch(value):
        return False
    if marked:
        return not (_PATH.fullmatch(value) and value.count("/") > 1) and not _names_it(value)
    if _KNOWN.fullmatch(value) or _PATH.fullmatch(value):
        return False
    if is_jumbled(value) or _SEVERAL_WORDS.fullmatch(value):
        return True
    if _NAME.fullmatch(value):
        plain = "_" not in value and "-" not in value
        return value[-1].isdigit() and (plain or _JUMBLED.search(value) is not None)
    return has_mark_of_choice(value)


def _names_it(value: str) -> bool:
    """Tell whether a value is made of the very words that stand for secrets."""
    return (
        bool(_CAMEL.fullmatch(value) or "_" in value)
        and any(word in value.lower() for word in ("password", "passwd", "secret", "token"))
        and not any(map(str.isdigit, value))
    )


def has_mark_of_choice(value: str) -> bool:
    """Tell whether a word has what ordinary words lack: digits among letters, or symbols."""
    inner = value.strip(".,;:!?()[]{}\"'")
    digits = any(map(str.isdigit, inner))
    letters = any(map(str.isalpha, inner))
    return (digits and (letters or len(inner) >= 6)) or bool(letters and _SYMBOL.search(inner))


def has_digits_and_letters(value: str) -> bool:
    """Tell whether a word has both, and is no name of something known."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and len(value) >= 5 and _KNOWN.fullmatch(value) is None


def _changes_case_often(value: str) -> bool:
    """Tell letters thrown together from a name in camel case: their case changes all the time."""
    value = value.replace("-", "").replace("_", "")
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(value))
    return value.isalpha() and len(value) >= 12 and changes > 0.36 * len(value)


def is_key(value: str, *, marked: bool) -> bool:
    """Tell whether what stands after a word for a key or token is one."""
    if is_stand_in(value) or len(value) < 8 or _SENTENCE.search(value):
        return False
    if _PATH.fullmatch(value) or _CODE.fullmatch(value) or _KNOWN.fullmatch(value):
        return False
    if value.isdigit():
        return len(value) >= 10
    if marked and _changes_case_often(value):
        return True
    if _NAME.fullmatch(value) or _CAMEL.fullmatch(value) or _WORDY.fullmatch(value):
        return marked and len(value) >= 24 and is_random(value, 24)
    return has_mark_of_choice(value) or is_random(value, 16)


_ATTRIBUTE = re.compile(r"[\w.:-]+=")
_SENTENCE_WORDS = re.compile(
    r"(?i)\b(?:password|passwort|must|should|least|characters?|your|enter|the|is|are|was|required|please|and|or|"
    r"cannot|can|not|zeichen|mindestens|bitte|ihr|votre|caract\w+|saisir|su|invalid|incorrect)\b|"
    r"[.?:]$|^[A-Z][a-z]+ [a-z]+$"
)


def is_passphrase(value: str) -> bool:
    """Tell whether several words in quotes are a secret and not a sentence or label."""
    words = value.split(" ")
    if is_stand_in(value) or len(value) > 120 or _SENTENCE_WORDS.search(value):
        return False
    return 3 <= len(words) <= 12 or any(has_mark_of_choice(word) for word in words)


_TELLS = re.compile(
    r"(?i)^(?:see|ask|use|stored|kept|same|siehe|steht|liegt|in|im|bei|from|an?|any|text|some|voir|"
    r"demander|ver|pedir|this|secret|default|empty|none|no|as|wie|leave)\b|"
    r"\b(?:(?:en|de)crypt\w*|\w*phrase|keys?|vault|keepass\w*|tresor|safe|unlock\w*|option\w*|string|used|using|"
    r"for|when|if|with|by|value|file)\b|[,;:()<>/@{}$.=]"
)


def is_phrase(value: str) -> bool:
    """Tell whether the rest of a line after `passphrase:` is one, of several words."""
    return (
        value.count(" ") >= 2
        and _TELLS.search(value) is None
        and value[:1].isalnum()
        and is_passphrase(value)
    )


_STRONG = re.compile(r"(?=.*\d)(?=.*[A-Za-z])(?=.*[!@#$%^&*?])[^/.:_()\[\]{}<>=]{6,64}")


def is_strong(value: str) -> bool:
    """Tell whether a word has letters, digits and a sign in it, and none of those of code."""
    return _STRONG.fullmatch(value) is not None and is_named_in_prose(value)


def is_named_in_prose(value: str) -> bool:
    """Tell whether a word that follows `password` in running text or a table is one."""
    return (
        len(value) >= 5
        and is_password(value, marked=False)
        and (has_mark_of_choice(value) or is_jumbled(value))
        and any(map(str.isalpha, value))
        and not _ATTRIBUTE.fullmatch(value)
        and "](" not in value
    )
