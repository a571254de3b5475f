"""Labelled e-mail addresses and phone numbers."""

from __future__ import annotations

from collections.abc import Iterator

from tests.redaction.random_text import Dice
from tests.redaction.secrets import Labelled

_NAMES = ("bob", "anna.schmidt", "j.doe+news", "müller", "o'brien", "x_y-z", "user99", "李雷", "a")
_HOSTS = (
    *("example.com", "mail.example.co.uk", "bücher.de", "firma.example", "xn--bcher-kva.ch"),
    *("例子.公司", "uni-bonn.de", "a.b.c.example.org", "gmail.com", "company.museum"),
)
_MAIL_LINES = (
    *(
        "{}",
        "Write to {}.",
        "<{}>",
        "mailto:{}?subject=hi",
        '"email": "{}"',
        "({})",
        "| Bob | {} |",
    ),
    *("Bob <{}>, Anna", "**{}**", "From: {}", "[mail](mailto:{})", "a;{};b", "email={}&x=1"),
)
_PHONES = (
    *("+1 212-555-{4}", "(212) 555-{4}", "212-555-{4}", "212.555.{4}", "+1 (415) 555-{4}"),
    *("1-800-555-{4}", "+1415555{4}", "(555) 123-{4}", "555-123-{4}", "+1-555-123-{4}"),
    *("+44 20 7946 0{3}", "020 7946 0{3}", "+44 7700 900{3}", "07700 900{3}", "01632 960{3}"),
    *("+44 (0)20 7946 0{3}", "(020) 7946 0{3}", "0161 496 0{3}", "+442079460{3}"),
    *("+49 30 1234{4}", "030 1234{4}", "030/1234{4}", "+49 (0)30 1234{4}", "0171 123{4}"),
    *("+49 171 123{4}", "0049 30 1234{4}", "089 123{4}", "(089) 123{4}", "+49-89-123{4}"),
    *("+33 1 42 68 {2} {2}", "01 42 68 {2} {2}", "06.12.34.{2}.{2}", "+33 6 12 34 {2} {2}"),
    *("+33 (0)1 42 68 {2} {2}", "06 12 34 {2} {2}", "+41 44 668 {2} {2}", "044 668 {2} {2}"),
    *(
        "+43 1 58858{3}",
        "+39 06 6982 {4}",
        "+34 612 345 {3}",
        "+31 20 624 {4}",
        "+32 2 512 {2} {2}",
    ),
    *("+45 32 12 {2} {2}", "+46 8 123 {3} {2}", "+47 22 12 {2} {2}", "+48 22 123 {2} {2}"),
    *(
        "+7 495 123-{2}-{2}",
        "+81 3-1234-{4}",
        "+86 138 0013 {4}",
        "+91 98765 4{4}",
        "+61 2 9876 {4}",
    ),
    *("+55 11 91234-{4}", "+52 55 1234 {4}", "+27 21 123 {4}", "+82 2-312-{4}", "+972 3-123-{4}"),
    *("Tel. 2125550{3}", "phone: 0301234{4}", "Call 212 555 {4}", "tel:+1-201-555-{4}"),
    *("Mobile: 0412 345 {3}", "Fax 030 1234{4}", "+1 212 555 {4} ext. 12", "+1 212 555 {4} x34"),
)
_PHONE_LINES = ("{}", "Reach us: {}.", "| Bob | {} |", "({})", '"phone": "{}"', "- {}, office")


def labelled_emails(seed: int = 8) -> Iterator[Labelled]:
    """Yield the labelled e-mail addresses."""
    r = Dice(seed)
    for number, name in enumerate(_NAMES):
        for host in _HOSTS:
            address = f"{name}{r.d(2)}@{host}"
            line = _MAIL_LINES[(number + len(host)) % len(_MAIL_LINES)]
            yield Labelled(line.format(address), address)
    for pattern in (
        *("{} [at] example [dot] com", "{} (at) example.com", "{} AT example DOT com"),
        *("{} at example dot com", "{}%40example.com", "{}&#64;example.com", "{}@example[.]com"),
    ):
        address = pattern.format("anna" + r.d(2))
        yield Labelled(f"Contact: {address}, please", address)


def labelled_phones(seed: int = 9) -> Iterator[Labelled]:
    """Yield the labelled phone numbers."""
    r = Dice(seed)
    for number, pattern in enumerate(_PHONES):
        for turn in range(2):
            text = pattern
            for length in (2, 3, 4):
                while f"{{{length}}}" in text:
                    text = text.replace(f"{{{length}}}", r.d(length), 1)
            line = _PHONE_LINES[(number + turn) % len(_PHONE_LINES)]
            digits = text.split(" ", 1)[-1] if text[0].isalpha() else text
            yield Labelled(line.format(text), digits.removeprefix("tel:"))
