"""Secrets of several lines: private keys, also cut off, and Kubernetes' Secret objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.patterns import compiled
from bookwheel.safety.values import is_stand_in

_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = re.compile(rb"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_HEADLESS = r"(?:MI[IGH][A-Za-z0-9+/]{0,3}(?:IBA|CAQ|AgE)|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{24,}"
_PRIVATE_DER = re.compile(
    rb"MII[A-Za-z0-9+/]{2,3}IBA(?:AKC|AKB|DANBgk|DALBgk)|MIG[A-Za-z0-9+/]AgEA|MHcCAQEE|MIG[kl]AgEB|"
    rb"b3BlbnNzaC1rZXktdjE"
)
_BODY = re.compile(
    # what stands around a line of a key: its break, escaped or not, quotes, marks of a comment
    rb"(?:(?:\\r|\\n|[\s\"'`,+|>#*;]|//|<br ?/?>|&#10;|&#xA;)*"
    # the line itself
    rb"(?:[A-Za-z0-9+/=_]{16,}|[A-Za-z0-9+/]+={1,2}|=[A-Za-z0-9+/]{4}\b|"
    rb"(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|MessageID|Subject|x-[\w-]+)"
    rb": ?[^\n\\]{0,200}))*"
)
_LAST = re.compile(
    rb"(?:\\r|\\n|[\s\"'`,+|>#*;])*[A-Za-z0-9+/]{1,63}={0,2}(?=\\[nr]|\r?\n|[\"'`]|$)"
)
_PUTTY = r"Private-Lines: ?[0-9]{1,5}\r?\n"
_SECRET = r"(?m)^[ \t-]*[\"']?kind[\"']?: ?[\"']?Secret[\"']?,?[ \t]*$"
_DATA = re.compile(rb"^([ \t]*)[\"']?(?:data|stringData)[\"']?:[ \t]*+(?:\{[ \t]*+)?\r?\n", re.M)
_PAIR = re.compile(rb"([ \t]*)[\"']?[\w.\-]+[\"']?:[ \t]*[\"']?([^\s\"',]*)[^\n]*(?:\n|$)")
_ANY = f"(?:{_BEGIN})|(?:{_HEADLESS})|(?:{_PUTTY})|(?:{_SECRET})"
_LONGEST_LINES = 4000
_LONGEST_OBJECT = 20_000


def find_blocks(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield the secrets of several lines."""
    if compiled(_ANY).search(data) is None:
        return
    dense = Stretches(allowance)
    yield from _find_keys(data, dense)
    yield from _find_headless(data, dense)
    yield from _find_putty(data, dense)
    yield from _find_cluster_secrets(data, dense)
    yield from dense.let_go()


def _find_keys(data: bytes, dense: Stretches) -> Iterator[Found]:
    """Yield each key from its head line to its foot line, or as far as it goes."""
    done = 0
    for match in places(_BEGIN, data, dense):
        start, at = match.span()
        if start < done:
            continue
        end = _key_end(data, at)
        if end - at >= 20:
            done = end
            yield start, end, "private key"


def _key_end(data: bytes, at: int) -> int:
    end = _BODY.match(data, at).end()  # type: ignore[union-attr]  # matches always
    if end == at:
        return at
    last = _LAST.match(data, end)
    end = last.end() if last is not None else end
    # A line of a key that is no plain base64 must not show what follows it.
    limit = data.find(b"BEGIN", end, end + _LONGEST_LINES)
    at = data.find(b"END ", end, limit if limit >= 0 else end + _LONGEST_LINES)
    foot = _END.search(data, max(end, at - 6), at + 80) if at >= 0 else None
    if foot is None or data[end : foot.start()].strip().count(b" ") > 8:
        return end
    return foot.end()


def _find_headless(data: bytes, dense: Stretches) -> Iterator[Found]:
    done = 0
    for match in places(_HEADLESS, data, dense):
        start = match.start()
        if start >= done and _PRIVATE_DER.match(data, start):
            done = _key_end(data, start)
            yield start, max(done, match.end()), "private key"


def _find_putty(data: bytes, dense: Stretches) -> Iterator[Found]:
    for match in places(_PUTTY, data, dense):
        body = _BODY.match(data, match.end())
        if body is not None and body.end() > match.end():
            yield match.end(), body.end(), "private key"


def _find_cluster_secrets(data: bytes, dense: Stretches) -> Iterator[Found]:
    """Yield the values under data and stringData of Kubernetes' objects of kind Secret."""
    done = 0
    for match in places(_SECRET, data, dense):
        if match.end() <= done:
            continue
        first = max(
            done, data.rfind(b"\n---", max(0, match.start() - _LONGEST_OBJECT), match.start())
        )
        last = data.find(b"\n---", match.end(), match.end() + _LONGEST_OBJECT)
        last = last if last >= 0 else min(len(data), match.end() + _LONGEST_OBJECT)
        done = last
        for block in _DATA.finditer(data, max(0, first), last):
            yield from _values_below(data, block.end(), last, len(block[1]))


def _values_below(data: bytes, at: int, last: int, indent: int) -> Iterator[Found]:
    while at < last:
        pair = _PAIR.match(data, at, last)
        if pair is None or len(pair[1]) <= indent:
            return
        if len(pair[2]) >= 4 and not is_stand_in(pair[2].decode("utf-8", "replace")):
            yield *pair.span(2), "secret"
        at = pair.end()
