"""Secrets known by the notation they stand in: headers, addresses, command lines, hashes.

One row per notation: what must occur for it to be looked for at all, its pattern, whose first
group is the secret, and how what was found is judged.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from bookwheel.safety.patterns import compiled
from bookwheel.safety.values import (
    has_mark_of_choice,
    is_key,
    is_named_in_prose,
    is_password,
    is_random,
    is_stand_in,
)

Found = tuple[int, int, str]


def _given(value: str) -> bool:
    return not is_stand_in(value)


def _chosen(value: str) -> bool:
    return is_password(value, marked=True)


def _likely_password(value: str) -> bool:
    return len(value) >= 4 and not is_stand_in(value) and not value.startswith(("-", "/"))


def _credentials(value: str) -> bool:
    """Tell whether a text is `name:password` in base64."""
    if is_stand_in(value):
        return False
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _header(value: str) -> bool:
    first = value.split()[0].rstrip(",;")
    return not is_stand_in(first) and (
        len(value.split()) > 1 or is_key(first, marked=True) or is_random(first, 8)
    )


def _bearer(value: str) -> bool:
    return not is_stand_in(value) and is_random(value.rstrip("."), 12)


def _random(value: str) -> bool:
    return not is_stand_in(value) and is_random(value, 8) and any(map(str.isdigit, value))


def _in_query(value: str) -> bool:
    return len(value) >= 4 and not is_stand_in(value) and has_mark_of_choice(value)


def _beside_its_name(value: str) -> bool:
    """Tell whether the second of two quoted texts is a secret, not the next of many names."""
    return is_named_in_prose(value) and not re.search("(?i)pass|secret|token|key", value)


def _key_material(value: str) -> bool:
    return not re.fullmatch("[0-9a-fA-F]+|[a-zA-Z/]+", value)


def _cookie(value: str) -> bool:
    values = (pair.partition("=")[2].strip() for pair in value.split(";"))
    return any(is_random(each, 10) and not is_stand_in(each) for each in values)


class Notation(NamedTuple):
    """One notation."""

    kind: str
    first: str
    """What it may begin with, in lower case."""
    hint: str
    """The pattern of its beginning."""
    rest: str
    """What follows; its one group is the secret, which is all of it where there is no group."""
    judge: Callable[[str], bool] = _given
    peek: str = ""
    """How what follows begins, where so many beginnings lead nowhere that it is worth a look."""
    needs: bytes = b""
    """What stands soon after the beginning, where a search for it is worth its while."""
    alone: bool = False
    """Others may begin within what it begins with: it is looked for by itself."""


_SOON = 200
"""Bytes after a beginning in which what a notation needs must stand."""


_QUERY_NAMES = (
    r"(?:[a-z0-9_.~\-\[\]]*(?:token|secret|password|passwd|passwort|pwd|apikey|api[_-]key|"
    r"access[_-]?key|signature|credential|session[_-]?id|auth(?:key|code)?)|sig|jwt|"
    r"subscription-key)="
)
_WEBHOOKS = (
    r"https?://(?:[\w-]+\.)*(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)|"
    r"webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|"
    r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks|hooks\.zapier\.com/hooks|"
    r"maker\.ifttt\.com/trigger|hook\.(?:\w+\.)?make\.com|oapi\.dingtalk\.com/robot|"
    r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot|qyapi\.weixin\.qq\.com/cgi-bin/webhook)/"
)
_SCHEMES = (
    r"(?:basic|bearer|token|apikey|api-key|key|bot|splunk|geniekey|sso-key|negotiate|ntlm|oauth|ssws|"
    r"zoho-oauthtoken|klaviyo-api-key|discogs|digest|hawk|aws4-hmac-sha256|signature)[ ]{1,3}"
)
NOTATIONS: tuple[Notation, ...] = (
    Notation(
        "jwt", "e", r"eyJ[A-Za-z0-9_-]{10,}\.", r"[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){0,3}"
    ),
    Notation(
        "authorization",
        "a",
        r"authorization[\"']?[ \t]{0,3}[:=]",
        rf"\s{{0,3}}[\"']?{_SCHEMES}([^\r\n\"'`]{{4,}})",
        _header,
    ),
    Notation(
        "authorization",
        "a",
        r"authorization[\"']?[ \t]{0,3}[:=]",
        r"[ ]{0,3}[\"']?([A-Za-z0-9._~+/=:-]{16,})",
        _bearer,
    ),
    Notation(
        "bearer token",
        "b",
        r"\bbearer[ :=]{1,3}[\"']?",
        r"([\w.~+/=-]{10,})",
        _bearer,
        r"[\w.~+/=-]{10}",
    ),
    Notation(
        "basic auth", "b", r"\bbasic ", r"([A-Za-z0-9+/_-]{6,}={0,2})", _credentials, r"[\w+/-]{6}"
    ),
    Notation(
        "basic auth",
        "a_",
        r"\b_?auth[\"']?[ ]{0,3}[:=]",
        r"[ ]{0,3}[\"']?([A-Za-z0-9+/]{6,}={0,2})",
        _credentials,
    ),
    Notation("token", "?&;#", rf"[?&;#]{_QUERY_NAMES}", r"([^&;\s\"'<>#`)\]|\\]+)", _in_query),
    Notation(
        "token",
        "?&;",
        r"[?&;](?:key|code|auth|sid|session|ticket|otp|pass|se?cret|hmac|k|t|s|st|tk|sign)=",
        r"([^&\s\"'<>#`)\]|\\]{12,})",
        _random,
    ),
    Notation(
        "password hash",
        "$",
        r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|md5|sha1|argon2(?:id|i|d)|p|h|s|pbkdf2(?:-\w+)?|scrypt|"
        r"bcrypt-sha256)\$",
        r"[A-Za-z0-9./+=,$*_-]{16,}",
    ),
    Notation(
        "password hash",
        "pbas",
        r"\b(?:pbkdf2_sha\d+|bcrypt_sha256|bcrypt|argon2|scrypt)\$",
        r"[^\s\"':|]{20,}",
    ),
    Notation(
        "password hash",
        "ps",
        r"\b(?:pbkdf2|scrypt):[\w:]{1,40}\$",
        r"[A-Za-z0-9./]{1,64}\$[0-9a-f]{32,}",
    ),
    Notation(
        "password hash",
        "{",
        r"\{(?:s?sha(?:256|384|512)?|s?md5|crypt|pbkdf2[\w-]*|argon2)\}",
        r"[A-Za-z0-9+/=$.]{12,}",
    ),
    Notation(
        "password",
        "md",
        r"\b(?:machine\s{1,9}[^\s]{1,200}|default)\s{1,9}(?:login|user)\s",
        r"\s{0,9}\S{1,200}\s{1,9}password\s{1,9}(\S+)",
        _likely_password,
    ),
    Notation(
        "password",
        "*l",
        r"(?:\*|\blocalhost):(?:\*|\d{2,5}):[\w*.-]{1,64}:[\w*.@-]{1,64}:",
        r"([^\s:]{3,})(?m:$)",
        _likely_password,
    ),
    Notation(
        "password",
        "-",
        r"\B-(?:u|-user|-proxy-user)(?:[ =][\"']?|[\"'])[A-Za-z0-9_.@\\+-]{1,64}:",
        r"([^\s\"']{3,})",
        _likely_password,
    ),
    Notation(
        "password",
        "m",
        r"\b(?:mysql|mariadb)",
        r"[\w-]*\b[^\n|;]{0,160}?\s-p[\"']?([^\s\"'-][^\s\"']{2,})",
        _likely_password,
        needs=b" -p",
    ),
    Notation(
        "password",
        "srdpx",
        r"\b(?:sshpass|redis-cli|(?:docker|podman) login|smbclient|xfreerdp)\b",
        r"[^\n|;]{0,160}?\s(?:-p|-a|/p:|-P)[ =]?[\"']?([^\s\"'-][^\s\"']{2,})",
        _likely_password,
    ),
    Notation(
        "password",
        ":",
        r":(?:543[0-9]|6432):[\w*.-]{1,64}:[\w*.@-]{1,64}:",
        r"([^\s:]{3,})(?m:$)",
        _likely_password,
    ),
    Notation("password", "w", r"\bWIFI:", r"(?:[THS]:[^;\n]{0,64};){0,4}P:([^;\n]{4,});", _chosen),
    Notation(
        "password",
        "abnuphc",
        r"\b(?:auth ?= ?|(?:http)?basic_?auth|networkcredential|usernamepassword\w{0,24}|"
        r"passwordauthentication|credentials?)\(\s{0,3}[\"'][^\"'\n]{1,64}[\"'],",
        r"\s{0,3}[\"']([^\"'\n]{4,})[\"']",
        _chosen,
    ),
    Notation(
        "password",
        "\"'",
        r"[\"'][a-z0-9_.-]{0,40}(?:password|passwd|secret|token|api[_-]?key|_pass|_pwd)[\"'],",
        r"\s{0,3}[\"']([^\"'\n]{5,})[\"']",
        _beside_its_name,
    ),
    Notation(
        "password",
        "j",
        r"\bjdbc:oracle:thin:[\w.-]{1,64}/",
        r"([^@\s\"']{3,})@",
        _likely_password,
    ),
    Notation(
        "password",
        "rhn",
        r"\b(?:requirepass|masterauth|htpasswd -\w*b\w* \S{1,200} \S{1,64}|"
        r"net use \S{1,9} \S{1,200})\s",
        r"\s{0,3}[\"']?([^\s\"'/*-][^\s\"']{2,})",
        _likely_password,
    ),
    Notation(
        "password",
        "o",
        r"\bopenssl\b",
        r"[^\n|;]{0,160}?\s(?:-k|-K|-(?:pass|passin|passout) pass:)[ ]?[\"']?"
        r"([^\s\"'-][^\s\"']{2,})",
        _likely_password,
    ),
    Notation(
        "password",
        "cluzi",
        r"\b(?:credentials?|log-?ins?|user(?:name)? ?/ ?pass(?:word)?|zugangsdaten|identifiants)\b"
        r"[^\n:/]{0,20}[: ]",
        r"[ ]{0,2}[\w.@-]{2,40} ?[/:|] ?([^\s\"'`/][^\s\"'`]{3,})",
        is_named_in_prose,
    ),
    Notation(
        "pin",
        "p",
        r"\bPIN(?: code| number)?[\"']?[ ]{0,2}(?::|=|is|ist|lautet)",
        r"[ ]{0,2}(\d{4})\b",
    ),
    Notation(
        "password",
        "i",
        r"\bidentified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?(?:by|as)\s",
        r"\s{0,3}(?:password\s{1,3})?[\"']([^\"'\n]+)[\"']",
        _chosen,
    ),
    Notation(
        "password",
        "c",
        r"convertto-securestring\s",
        r"\s{0,3}(?:-string\s{1,3})?[\"']([^\"'\n]+)[\"']",
        _chosen,
    ),
    Notation(
        "cookie",
        "c",
        r"\bcookie[\"']?[ ]{0,3}[:=]",
        r"[ ]{0,3}[\"']?([A-Za-z0-9_.!#$%&*+^|~-]+=[^\r\n\"'`]+)",
        _cookie,
        r"[^\r\n]{10}",
    ),
    Notation(
        "session id",
        "scpjalx",
        r"\b(?:phpsess|jsess|sess|laravel_sess|asp\.net_sess)(?:ion)?(?:[_-]?id|[_-]?token|[_-]?key)?"
        r"[\"']?[ ]{0,2}[=:]|\b(?:connect\.sid|sid|xsrf-token)[\"']?[ ]{0,2}[=:]",
        r"[ ]{0,2}[\"']?([^;&\s\"'<>,]{10,})",
        _random,
    ),
    Notation(
        "aws secret key",
        "a",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[\"'`\s,:|;]",
        r"[\s,:|;\"'`]{0,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        _key_material,
    ),
    Notation(
        "aws secret key",
        "a",
        r"(?:aws|amazon)[^\n]{0,50}?[\"'\s:=]",
        r"([a-z0-9/+]{40})(?:[^a-z0-9/+=]|$)",
        _key_material,
        alone=True,
    ),
    Notation("webhook", "h", _WEBHOOKS, r"([^\s\"'<>`]{8,})"),
    Notation("telegram token", "b", r"\bbot\d{8,10}:", r"([A-Za-z0-9_-]{35})"),
    Notation(
        "seed phrase",
        "srm",
        r"(?:seed|recovery|mnemonic)(?: phrase| words)?[\"']?\s{0,3}(?::|=|is)\s",
        r"\s{0,3}[\"']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    ),
    Notation(
        "private key",
        "pwsd",
        r"(?:priv(?:ate)?[ _-]?key|wallet|signer|deployer)[\w ]{0,24}[\"']?\s{0,3}(?:[:=]|is)",
        r"\s{0,3}[\"']?((?:0x)?[0-9a-f]{64})\b",
    ),
)


@lru_cache(maxsize=1)
def _by_letter() -> tuple[str, dict[int, tuple[tuple[str, Notation], ...]]]:
    """Return one pattern for all beginnings, and the notations by their first letters."""
    table: dict[int, list[tuple[str, Notation]]] = {}
    together = [row for row in NOTATIONS if not row.alone]
    for row in together:
        for letter in {*row.first.encode(), *row.first.upper().encode()}:
            table.setdefault(letter, []).append((_whole(row), row))
    hints = "|".join(dict.fromkeys(f"{row.hint}{row.peek}" for row in together))
    return f"(?i){hints}", {letter: tuple(rows) for letter, rows in table.items()}


def _whole(row: Notation) -> str:
    """Return the pattern of a notation, with one group."""
    has_group = "(" in row.rest.replace("(?", "")
    return f"(?i){row.hint}{row.rest}" if has_group else f"(?i)({row.hint}{row.rest})"


def find_notations(data: bytes) -> Iterator[Found]:
    """Yield the secrets that stand in one of the notations."""
    yield from _find_together(data)
    for row in NOTATIONS:
        if row.alone:
            for found in compiled(_whole(row)).finditer(data):
                if row.judge(_text(data, *found.span(1))):
                    yield *found.span(1), row.kind
    if b"://" in data:
        yield from find_in_addresses(data)


def _find_together(data: bytes) -> Iterator[Found]:
    hints, by_letter = _by_letter()
    done: dict[str, int] = {}  # by pattern: what it has read is not read by it again
    for match in compiled(hints).finditer(data):
        at = match.start()
        for pattern, row in by_letter.get(data[at], ()):
            if at < done.get(pattern, 0) or (
                row.needs and data.find(row.needs, at, at + _SOON) < 0
            ):
                continue
            found = compiled(pattern).match(data, at)
            if found is not None:
                start, end = found.span(1)
                done[pattern] = end
                if row.judge(_text(data, start, end)):
                    yield start, end, row.kind


_AUTHORITY = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@\"'<>`]*[:@]"
_REST = re.compile(rb"[^\s\"'<>`]*")
_PORT = re.compile(rb"\d{1,5}(?:[/?#]|$)")


def find_in_addresses(data: bytes) -> Iterator[Found]:
    """Yield the passwords in addresses such as scheme://name:password@host."""
    done = 0
    for match in compiled(_AUTHORITY).finditer(data):
        start, end = match.span()
        if start < done:
            continue
        user = data.find(b"://", start) + 3
        rest = _REST.match(data, user, user + 2000)
        done = rest.end() if rest else end
        yield from _in_address(data, user, done)


def _in_address(data: bytes, user: int, end: int) -> Iterator[Found]:
    stops = [at for at in (data.find(mark, user, end) for mark in (b"/", b"?", b"#")) if at >= 0]
    authority = min(stops, default=end)
    at = data.rfind(b"@", user, authority)
    colon = data.find(b":", user, authority if at < 0 else at)
    if at < 0:  # perhaps a password with a slash in it
        at = data.find(b"@", user, end)
        if colon < 0 or at < 0 or _PORT.match(data, colon + 1, end):
            return
    if colon >= 0 and _likely_password(_text(data, colon + 1, at)):
        yield colon + 1, at, "password"
    name = _text(data, user, colon if colon >= 0 else at)
    if is_random(name, 16) and not is_stand_in(name):
        yield user, user + len(name.encode()), "token"


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")
