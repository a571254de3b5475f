"""E-mail addresses, also those written so that machines should not see them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.values import is_stand_in

_LOCAL = r"(?:[\pL\pN\pM._%+\-!#$&'’*/=?^{|}~]|\\[._*+\-])"
_NAME = r"[\pL\pN\pM._%+\-]"
_LABEL = r"[\pL\pN](?:[\pL\pN\pM_-]*[\pL\pN\pM])?"
_TOP = r"(?:xn--[A-Za-z0-9-]+|\pL[\pL\pM]+)"
_AT = r"(?:[@＠﹫]|%40|&#0?64;|&#x40;|&commat;|\\u0040|\\@)(?:\r?\n[ \t]{0,12})?"
_DOT = (
    r"(?:\\?\.|&#0?46;|&#x2e;|&period;|\[\.\]|\(\.\)|。|%2E|"
    r" ?[\[({<](?:dot|punkt|point|punto)[\])}>] ?)"
)
_SEVERAL = r"\{[A-Za-z0-9_.+,;| -]{1,120}\}"  # {ann,bob}@example.edu, as papers have it
_PLAIN = (
    rf"(?:{_LOCAL}+|{_SEVERAL}|\"(?:[^\"\n\\]|\\[^\n]){{1,64}}\"){_AT}"
    rf"(?:(?:{_LABEL}{_DOT})+{_TOP}|\[(?:IPv6:)?[0-9A-Fa-f.:]{{7,45}}\])"
)
_SPELT_TOP = r"(?:com|org|net|edu|gov|mil|int|info|biz|io|co|ai|app|dev|eu|[a-z]{2})\b"
_SPELT = (
    rf"(?i)(?:{_NAME}+ ?[\[({{<] ?(?:dot|punkt) ?[\])}}>] ?){{0,3}}"
    rf"{_NAME}+(?: ?[\[({{<] ?(?:at|@|ät|æt|arroba|arobase|chiocciola|chez) ?[\])}}>] ?)(?:{_LABEL}"
    rf"(?:\.| ?[\[({{<] ?(?:dot|\.|punkt|point|punto|ponto) ?[\])}}>] ?| dot | punkt ))+{_TOP}"
    rf"|(?:{_NAME}+ (?:dot|punkt) ){{0,3}}"
    rf"{_NAME}+ (?:at|AT|@|arroba|arobase|chiocciola) "
    rf"(?:(?:[\pL\pN-]+ (?:dot|punkt|punto|ponto) )+{_SPELT_TOP}"
    # "at any point in", "at this point it" are prose
    r"|(?:[\pL\pN-]+ point )+(?:com|org|net|edu|info|eu|fr|ch|ca|lu)\b)"
    rf"|[\pL\pN.]+[_-]at[_-](?:[\pL\pN]+[_-]dot[_-])+{_SPELT_TOP}"
    rf"|[\pL\pN]+[._][\pL\pN._]+ ?[@＠] ?(?:{_LABEL}\.)+{_TOP}"
    rf"|\pL[\pL\pN_-]+ [@＠] (?:{_LABEL}\.)+{_SPELT_TOP}"
)
_NO_NAME = re.compile(
    rb"(?i)(?:met|meet|look|be|is|are|was|were|am|been|arrive|stay|live|work|stop|sit|stand|point|aim|"
    rb"laugh|start|buy|sold|order|sale|price|pcs|me|us|you|it|him|them|here|there|page|site|shop|"
    rb"store|home|read|visit|find|found|only|now|today|more|out|available|online|hosted|jobs?|"
    rb"lunch|dinner|talk|music|live|fish|free|cheap|kg|st\xc3\xbcck|each|account|up|all|and|or|not|"
    rb"\w+(?:ing|ed)|looks|works|starts|lives) (?:@|at) "
)
"""Words before a spelt @ that are the name of nobody."""
_FILES = frozenset(
    b"png jpg jpeg gif svg webp avif bmp ico tif tiff psd heic mp3 mp4 mov avi wav ogg webm "
    b"pdf doc docx xls xlsx ppt pptx odt ods odp rtf txt csv tsv json jsonl yaml yml toml ini "
    b"cfg conf xml html htm css scss less js mjs cjs jsx ts tsx vue svelte java kt go rb php "
    b"swift cpp hpp lua sql log lock bak tmp zip tar gz tgz bz2 xz rar iso img dmg exe dll "
    b"dylib jar war whl deb rpm apk bin dat db sqlite pem crt key service socket timer target "
    b"mount slice scope device path swap automount localhost plist woff woff2 ttf otf "
    b"eot map snap ipynb rst adoc tex bib proto wasm patch diff ".split()
)
"""Endings of files and units, none of which ends a host's name on the Internet."""
_ENDS_A_HOST = re.compile(
    rb"[@;0][\w-]{0,64}[A-Za-z][\w.-]{0,250}"
    rb"\.(?:com|org|net|edu|gov|mil|int|info|biz|app|dev|[a-z]{2})$",
    re.I,
)
_LOGIN = re.compile(rb"(?:ssh|scp|sftp|rsync|mosh|login|connect|host)\b[^\n@]{0,40}$", re.I)
"""What stands before `pi@raspberrypi.local`, which is the place of a machine."""
_ALGORITHMS = re.compile(rb"(?i)[\w-]+@(?:openssh\.com|libssh\.org|lysator\.liu\.se)$")
_WITH_SIZE = re.compile(
    rb"\d{2,5}\b.*@|(?:zlib|hmac|umac|cert|hostkeys?)\b.*@|-(?:etm|gcm|ctr|cbc)@", re.I
)
_REMOTE = re.compile(rb"(?:git|hg|svn|ssh)@")
_BEFORE_NAME = re.compile(
    rb"(?:[\w.\[\]-]*(?i:mail)\w{0,9}=(?=[^@=]+@)|"
    rb"(?=[^@\"]*//|/|[^@\"]*\?)[^@\"]*[/=?&](?=[^@/=?&]+(?:@|%40|&#|&c|\\)))?['*|{.\-]*"
)
"""What may stand in a name before @ but rather belongs to an address on the web around it."""
_IN_AUTHORITY = re.compile(rb"://[^\s/@:]{1,64}:$")
_ENDS_IN_DIGITS = re.compile(rb"\..*\.|^\d{2,4}\.(?:com|cn|net|org)$", re.I)
_SCALE = re.compile(rb"[@]\d+(?:\.\d+)?x\b", re.IGNORECASE)


def find_emails(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield the e-mail addresses of a text."""
    dense = Stretches(allowance)
    for match in places(_PLAIN, data, dense):
        start, end = match.span()
        start += _BEFORE_NAME.match(data[start:end]).end()  # type: ignore[union-attr]
        end = _without_file_ending(data, start, end)
        if _is_address(data, start, end):
            yield start, end, "email"
    for match in places(_SPELT, data, dense):
        start, end = match.span()
        if not _NO_NAME.match(data, start):
            yield start, end, "email"
    for start, end in dense:
        yield start, end, "email"


def _without_file_ending(data: bytes, start: int, end: int) -> int:
    """Return where the address ends that a file is called after: `ann@example.com.txt`."""
    name, _, ending = data[start:end].rpartition(b".")
    while ending.lower() in _FILES:
        if _ENDS_A_HOST.search(name):
            return start + len(name)
        name, _, ending = name.rpartition(b".")
    return end


def _is_no_password(found: bytes) -> bool:
    """Tell whether what stands before the @ of `scheme://name:...@host` only holds a place."""
    return is_stand_in(found.partition(b"@")[0].decode("utf-8", "replace"))


def _is_login(data: bytes, start: int, end: int) -> bool:
    """Tell whether somebody logs in there, or a prompt says that he has."""
    return data[end : end + 1] in (b":", b"/", b"$", b"#") or (
        _LOGIN.search(data, max(0, start - 60), start) is not None
    )


def _is_address(data: bytes, start: int, end: int) -> bool:
    found = data[start:end]
    ending = found.rpartition(b".")[2].lower()
    if ending in _FILES or _SCALE.search(found):
        return False
    if ending == b"local" and _is_login(data, start, end):
        return False
    if _ALGORITHMS.match(found) and _WITH_SIZE.search(found):  # chacha20-poly1305@openssh.com
        return False
    if data[end : end + 1] == b"(" and not _ENDS_A_HOST.search(found):  # x@weights.mean()
        return False
    if _IN_AUTHORITY.search(data, max(0, start - 80), start) and _is_no_password(found):
        return False
    if _REMOTE.match(found):  # git@host:owner/repository names a place, not a person
        return False
    domain = re.split(b"@|%40|;", found)[-1]
    # The mail of half of China ends on 163.com, 126.com or 189.cn.
    return not domain.split(b".")[0].isdigit() or _ENDS_IN_DIGITS.search(domain) is not None
