"""Mail files: headers, the body that says most, messages inside, and names of attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from email.utils import parseaddr, parsedate_to_datetime

from bookwheel.formats import text
from bookwheel.formats.base import Unreadable
from bookwheel.formats.decoding import decode
from bookwheel.formats.mail import (
    ENCRYPTED,
    MAX_FORWARDED,
    MAX_HEADER,
    TOO_DEEP,
    Attachment,
    Mail,
    choose_body,
    compose,
    decode_as,
    decode_header,
    html_body,
    plain_body,
)
from bookwheel.model import Link, Parsed

_KNOWN = frozenset(
    {"from", "to", "cc", "subject", "date", "message-id", "received", "return-path"}
    | {"mime-version", "content-type", "delivered-to", "reply-to", "sender", "x-mailer"}
)
_SHOWN = ("From", "To", "Cc", "Date")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MAX_DEPTH = 30
_UUENCODED = re.compile(r"^begin [0-7]{3,4} (\S[^\n]*)\n((?:[ -`]{1,90}\n)*)(?:`|end)\s*?$", re.M)
_SIGNED_ONLY = ("signed-data", "certs-only", "compressed-data")


def read(data: bytes, path: str) -> Parsed:
    """Read a mail file; one without headers is plain text."""
    source = _narrow(data).removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    try:
        message = message_from_bytes(source, policy=compat32)
    except RecursionError:
        message = BytesHeaderParser(policy=compat32).parsebytes(source)
        message.set_payload(TOO_DEEP)
        del message["content-type"], message["content-transfer-encoding"]
    if not _KNOWN & {name.lower() for name in message.keys()}:  # noqa: SIM118 - no mapping
        return text.read(data, path)
    return compose(_read_message(message, 1), path)


def _narrow(data: bytes) -> bytes:
    """Return mail that was saved in UTF-16 in the way that mail is sent."""
    if data[:2] not in _WIDE_MARKS and b"\0" not in data[:64]:
        return data
    try:
        return decode(data).encode()
    except Unreadable:  # stray zeros
        return data


def _read_message(message: Message, depth: int) -> Mail:
    raw = _raw_headers(message)
    found = _Found(depth)
    found.collect(message)
    bodies = [body for body in map(found.render, found.parts) if body.strip()]
    sender = decode_header(parseaddr(raw.get("from", ""))[0])
    return Mail(
        subject=decode_header(raw.get("subject", "")),
        headers=tuple((name, decode_header(raw.get(name.lower(), ""))) for name in _SHOWN),
        body="\n\n".join(body.strip("\n") for body in bodies),
        attachments=tuple(found.attachments),
        forwarded=tuple(found.forwarded),
        author=sender or decode_header(raw.get("from", "")),
        date=_date(raw.get("date", "")),
        links=tuple(found.links),
    )


def _raw_headers(message: Message) -> dict[str, str]:
    """Return the first header of each name; the policy would change those with stray bytes."""
    headers: dict[str, str] = {}
    for name, value in message.raw_items():
        headers.setdefault(name.lower(), str(value)[:MAX_HEADER])
    return headers


def _date(value: str) -> str:
    for parse in (parsedate_to_datetime, datetime.fromisoformat):  # some programs write the latter
        try:
            return parse(value.strip()).isoformat() if value.strip() else ""
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return ""


class _Found:
    """What one message holds: the parts of its body in order, attachments, messages inside."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.parts: list[Message | str] = []
        self.attachments: list[Attachment] = []
        self.forwarded: list[Mail] = []
        self.links: list[Link] = []

    def collect(self, part: Message, level: int = 0) -> None:
        """Sort a part and those in it."""
        kind = part.get_content_type()
        if level > _MAX_DEPTH:
            self.parts.append(TOO_DEEP)
        elif kind == "multipart/encrypted" or _is_enveloped(part, kind):
            self.parts.append(ENCRYPTED)
        elif not part.is_multipart():
            self.collect_leaf(part)
        elif kind == "multipart/alternative":
            self.collect_best(_children(part), level + 1)
        elif kind == "message/delivery-status":
            blocks = (block.raw_items() for block in _children(part))
            lines = (
                "\n".join(f"{name}: {decode_header(str(value))}" for name, value in block)
                for block in blocks
            )
            self.parts.append(plain_body("\n\n".join(lines)))
        elif kind.startswith("message/"):
            self.collect_message(part)
        else:
            for child in _children(part):
                self.collect(child, level + 1)

    def collect_leaf(self, part: Message) -> None:
        if _is_file(part):
            self.attachments.append(_attachment(part))
        else:
            self.parts.append(part)

    def collect_message(self, part: Message) -> None:
        if self.depth >= MAX_FORWARDED:
            self.parts.append(TOO_DEEP)
            return
        for child in _children(part):
            self.forwarded.append(_read_message(_unpacked(part, child), self.depth + 1))

    def collect_best(self, children: list[Message], level: int) -> None:
        """Keep one of several forms of the same text: the plain one unless it says too little."""
        choices: list[tuple[str, list[Message | str]]] = []
        for child in children:
            inner = _Found(self.depth)
            inner.collect(child, level)
            self.attachments += inner.attachments
            self.forwarded += inner.forwarded
            self.links += inner.links
            if inner.parts:
                choices.append((child.get_content_type(), inner.parts))
        plain = [parts for kind, parts in choices if kind == "text/plain"]
        rich = [parts for kind, parts in choices if kind != "text/plain"]
        rich.sort(key=_is_calendar)
        shown = self.render_all(plain[0]) if plain else ""
        if shown and rich and any(map(_is_page, rich[0])):
            body, links = choose_body(shown, self.render_all(rich[0]))
            self.parts.append(body)
            self.links += links
        elif shown or not rich:
            self.parts.append(shown)
        else:
            self.parts += rich[0]

    def render_all(self, parts: list[Message | str]) -> str:
        """Return parts of the body as Markdown; nothing for what is too long to be one."""
        try:
            bodies = [body.strip("\n") for body in map(self.render, parts) if body.strip()]
        except Unreadable:
            return ""
        return "\n\n".join(bodies)

    def render(self, part: Message | str) -> str:
        """Return a part of the body as Markdown."""
        if isinstance(part, str):
            return part
        data = _payload(part)
        charset = _parameter(part, "charset")
        if part.get_content_type() == "text/html":
            return html_body(data, charset)
        body = _without_files(decode_as(data, charset), self.attachments)
        if _parameter(part, "format").lower() == "flowed":
            body = _unflow(body, _parameter(part, "delsp").lower() == "yes")
        return plain_body(body)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if payload else []


def _unpacked(part: Message, child: Message) -> Message:
    """Return a message inside; some programs encode it as if it were a file."""
    encoding = str(part.get("content-transfer-encoding", "")).strip().lower()
    if encoding not in ("base64", "quoted-printable") or list(child.raw_items()):
        return child
    child["Content-Transfer-Encoding"] = encoding
    try:
        return message_from_bytes(_payload(child), policy=compat32)
    except RecursionError:
        return child


def _payload(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _length(part: Message | str) -> int:
    return len(part if isinstance(part, str) else _payload(part))


def _parameter(part: Message, name: str) -> str:
    try:
        value = part.get_param(name, "")
    except (ValueError, TypeError, LookupError):
        return ""
    return str(value[2]) if isinstance(value, tuple) else str(value or "")


def _is_page(part: Message | str) -> bool:
    return isinstance(part, Message) and part.get_content_type() == "text/html"


def _is_calendar(parts: list[Message | str]) -> bool:
    return any(isinstance(p, Message) and p.get_content_type() == "text/calendar" for p in parts)


def _is_enveloped(part: Message, kind: str) -> bool:
    if kind not in ("application/pkcs7-mime", "application/x-pkcs7-mime"):
        return False
    return _parameter(part, "smime-type").lower() not in _SIGNED_ONLY


def _is_file(part: Message) -> bool:
    if part.get_content_maintype() not in ("text", "multipart", "message"):
        return True
    disposition = str(part.get("content-disposition", "")).partition(";")[0].strip().lower()
    return disposition == "attachment" or (disposition != "inline" and bool(_file_name(part)))


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename()
    except (ValueError, TypeError, LookupError):
        return ""
    return decode_header(name or "")


def _attachment(part: Message) -> Attachment:
    name = _file_name(part) or decode_header(str(part.get("content-id", ""))).strip("<>")
    return Attachment(name, part.get_content_type(), _size(part))


def _size(part: Message) -> int:
    """Return the bytes of a file; base64 is counted, not decoded."""
    if str(part.get("content-transfer-encoding", "")).strip().lower() != "base64":
        return _length(part)
    try:
        packed = str(part.get_payload())
    except (LookupError, ValueError):
        return _length(part)
    letters = len(packed) - sum(map(packed.count, "\r\n \t="))
    return letters * 3 // 4


def _without_files(body: str, attachments: list[Attachment]) -> str:
    """Take files that old programs wrote into the text out of it, and name them."""
    if "\nbegin " not in f"\n{body}":
        return body

    def note(found: re.Match[str]) -> str:
        size = sum((ord(line[0]) - 32) & 63 for line in found[2].split("\n") if line)
        attachments.append(Attachment(found[1], "application/octet-stream", size))
        return ""

    return _UUENCODED.sub(note, body)


def _unflow(body: str, delsp: bool) -> str:
    """Join the lines of paragraphs that were only wrapped for the way."""
    return "\n".join(_joined_lines(body.split("\n"), delsp))


def _joined_lines(lines: list[str], delsp: bool) -> Iterator[str]:
    waiting, waiting_depth = "", -1
    for line in lines:
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        if waiting_depth >= 0 and (depth != waiting_depth or content == "-- "):
            yield _quoted(waiting.rstrip(), waiting_depth)
            waiting, waiting_depth = "", -1
        if content.endswith(" ") and content != "-- ":
            waiting += content[:-1] if delsp else content
            waiting_depth = depth
        else:
            yield _quoted(waiting + content, depth)
            waiting, waiting_depth = "", -1
    if waiting_depth >= 0:
        yield _quoted(waiting.rstrip(), waiting_depth)


def _quoted(line: str, depth: int) -> str:
    return f"{'>' * depth} {line}" if depth else line
