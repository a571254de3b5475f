"""Tests of mail files."""

from __future__ import annotations

from base64 import b64encode
from textwrap import dedent

import pytest
from hypothesis import given, settings

from bookwheel.formats.base import Unreadable
from bookwheel.formats.eml import read
from bookwheel.formats.mail import decode_as, decode_header
from bookwheel.formats.registry import read as read_any
from bookwheel.model import Parsed
from bookwheel.text.chunking import chunk
from tests.formats.mutations import mutated

HEAD = "From: Ann Ash <ann@x.org>\nTo: bob@x.org\nSubject: Tides\n"
DATE = "Date: Tue, 20 Feb 2024 10:15:00 +0100\n"

MIXED = (
    HEAD
    + DATE
    + dedent("""\
    Cc: =?utf-8?q?J=C3=BCrgen?= <j@x.org>
    MIME-Version: 1.0
    Content-Type: multipart/mixed; boundary=AA

    preamble
    --AA
    Content-Type: multipart/alternative; boundary=BB

    --BB
    Content-Type: text/plain; charset=utf-8
    Content-Transfer-Encoding: quoted-printable

    High water, s=C3=A9e https://x.org/tides.
    > # quoted
    # no heading
    --BB
    Content-Type: text/html

    <h1>Rich</h1>
    --BB--
    --AA
    Content-Type: application/pdf; name="plan.pdf"
    Content-Transfer-Encoding: base64
    Content-Disposition: attachment; filename="=?utf-8?b?cGzDpG4ucGRm?="

    JVBERi0xLjQ=
    --AA
    Content-Type: message/rfc822

    From: Cy <cy@x.org>
    Subject: Inner

    Inner words
    --AA
    Content-Type: image/png
    Content-ID: <logo@x>

    x
    --AA--
    """)
)


def mail(body: str, head: str = "Subject: S\n") -> Parsed:
    return read(f"{head}{dedent(body)}".encode(), "dir/file.eml")


def body_of(parsed: Parsed) -> str:
    return parsed.text.partition("\n\n")[2].strip("\n")


@pytest.mark.requirement("X-028")
def test_headers_body_and_attachments_are_places() -> None:
    parsed = read_any(MIXED.encode(), "a.eml")
    assert parsed.text == (
        "# Tides\n\nFrom: Ann Ash \\<ann@x.org>\nTo: bob@x.org\nCc: Jürgen \\<j@x.org>\n"
        "Date: Tue, 20 Feb 2024 10:15:00 +0100\n\n"
        "High water, sée https://x.org/tides.\n> \\# quoted\n\\# no heading\n\n"
        "Attachment: plän.pdf (application/pdf, 8 bytes)\n\n"
        "Attachment: logo@x (image/png, 1 bytes)\n\n"
        "## Forwarded message: Inner\n\nFrom: Cy \\<cy@x.org>\n\nInner words\n"
    )
    labels = [place.label for place in parsed.places]
    assert labels == ["message", "attachment 'plän.pdf'", "attachment 'logo@x'", "message 2"]
    assert {found.pointer for found in chunk(parsed)} == set(labels)


@pytest.mark.requirement("X-028")
def test_a_message_is_described_by_its_headers() -> None:
    parsed = read(MIXED.encode(), "a.eml")
    assert (parsed.title, parsed.author) == ("Tides", "Ann Ash")
    assert parsed.date == "2024-02-20T10:15:00+01:00"
    assert parsed.description.startswith("High water, sée")
    assert [link.target for link in parsed.links] == ["https://x.org/tides"]


@pytest.mark.parametrize("date", ["", "Date: yesterday\n", "Date: 99999\n", "Date: \xff\n"])
def test_a_missing_or_wrong_date_is_no_harm(date: str) -> None:
    assert mail("\nwords", f"Subject: S\n{date}").date is None


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("=?utf-8?b?4pyT?= =?utf-8?Q?_a?= b", "✓ a b"),
        ("=?utf-8?b?4py?= =?utf-8?b?kw==?=", "✓"),
        ("a =?windows-950?b?tPq41Q==?= b", "a 測試 b"),
        ("=?no-such-thing?q?a=20b?=", "a b"),
        ("=?utf-8*en?q?x?=", "x"),
        ("=?utf-7?q?a+2AA-b?=", "a\ufffdb"),
        ("=?punycode?q?x-y?=", "x-y"),
        ("=?utf-8?b?!!!?= x", "x"),
        ("Gr\udcc3\udcbc\udcc3\udc9fe", "Grüße"),
        ("a\n\tb \x01c", "a b c"),
        ("=?open", "=?open"),
    ],
)
def test_headers_are_decoded(raw: str, shown: str) -> None:
    assert decode_header(raw) == shown


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("windows-950", "測試"),
        ("CP-1251", "тест"),
        ("ks_c_5601-1987", "똠방각하"),
        ("x-sjis", "日本①"),
        ("gb2312", "測試"),
        ("'utf-8'", "é"),
        ("utf-16", "é"),
    ],
)
def test_odd_names_of_charsets_are_understood(charset: str, text: str) -> None:
    codecs = {"windows-950": "cp950", "CP-1251": "cp1251", "x-sjis": "cp932", "gb2312": "gb18030"}
    codec = codecs.get(charset, {"ks_c_5601-1987": "cp949"}.get(charset, charset.strip("'")))
    assert decode_as(text.encode(codec), charset) == text


def test_a_wrong_or_unknown_charset_is_guessed() -> None:
    text = "Viele Grüße aus Köln, wir hören später von Ihnen."
    assert decode_as(text.encode("cp1252"), "utf-8") == text
    assert decode_as(text.encode(), "x-unknown") == text
    assert decode_as(b"\0\1\2\3" * 9, "\0")


def test_html_is_read_where_there_is_no_plain_text() -> None:
    page = '<p>Dear <b>all</b>, <a href="https://x.org">see</a>.&nbsp;</p><style>p{}</style>'
    parsed = mail(f"Content-Type: text/html\n\n{page}")
    assert body_of(parsed) == "Dear all, [see](https://x.org)."
    both = """\
        Content-Type: multipart/alternative; boundary=B

        --B
        Content-Type: text/plain

        {plain}
        --B
        Content-Type: text/html

        <p>{rich}</p>
        --B--
        """
    assert body_of(mail(both.format(plain=" ", rich="kept"))) == "kept"
    assert body_of(mail(both.format(plain="kept", rich="dropped"))) == "kept"
    stub = both.format(plain="Please view in HTML.", rich="real words " * 40)
    assert body_of(mail(stub)).startswith("real words")


BOTH = """\
    Content-Type: multipart/alternative; boundary=B

    --B
    Content-Type: text/plain

    {plain}
    --B
    Content-Type: text/html

    <p>{rich}</p>
    --B--
    """


def test_a_plain_part_that_is_long_by_its_addresses_gives_way_to_html() -> None:
    address = "https://click.x.org/?q=" + "a1b2c3" * 60
    stub = f"View this mail in your browser: {address} Unsubscribe: {address}u"
    words = "The quokka eats leaves. " * 8
    assert body_of(mail(BOTH.format(plain=stub, rich=words))) == words.strip()
    told = ("The numbat eats termites. " * 8).strip()
    assert body_of(mail(BOTH.format(plain=told, rich=words))) == told


def test_links_of_the_html_part_are_kept_with_the_plain_one() -> None:
    rich = "Hello, see the <a href='https://x.org/i'>invoice</a>, <a href='https://x.org'>home</a>."
    parsed = mail(BOTH.format(plain="Hello,\n    see the invoice, https://x.org/.", rich=rich))
    assert body_of(parsed) == "Hello,\nsee the invoice, https://x.org/."
    assert [link[:5] for link in parsed.links] == [
        ("bare", "https://x.org/", "https://x.org/", "Hello, see the invoice, https://x.org/.", 4),
        ("inline", "https://x.org/i", "invoice", "Hello, see the invoice, home.", 4),
    ]


def test_flowed_lines_are_joined() -> None:
    head = "Subject: S\nContent-Type: text/plain; format=flowed; delsp={}\n\n"
    source = "One \ntwo\n> quoted \n> on\n>> deep \nnew \n-- \nAnn\n"
    text = body_of(mail(source, head.format("no")))
    assert text == "One two\n> quoted on\n>> deep\nnew\n\\-- \nAnn"
    assert body_of(mail("日 \n本\n", head.format("yes"))) == "日本"


def test_uuencoded_files_in_the_text_are_attachments() -> None:
    source = "\nSee below.\n\nbegin 644 a.bin\n#0V%T\n`\nend\n\nBye"
    parsed = mail(source)
    assert "#0V" not in parsed.text
    assert "Attachment: a.bin (application/octet-stream, 3 bytes)" in parsed.text
    assert "Bye" in parsed.text


@pytest.mark.parametrize(
    "source",
    [
        "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIAG",
        "Content-Type: multipart/encrypted; boundary=B\n\n--B\n\nVersion: 1\n--B--\n",
        "\n-----BEGIN PGP MESSAGE-----\n\nhQEM\n-----END PGP MESSAGE-----\n",
    ],
)
def test_an_encrypted_body_is_said_to_be_one(source: str) -> None:
    assert mail(source).text == "# S\n\n(the body is encrypted)\n"


def test_text_files_are_attachments_and_inline_texts_are_not() -> None:
    source = """\
        Content-Type: multipart/mixed; boundary=B

        --B
        Content-Type: text/plain; name=notes.txt

        in a file
        --B
        Content-Type: text/plain; name=part.txt
        Content-Disposition: inline

        in the text
        --B
        Content-Type: text/plain
        Content-Disposition: attachment

        nameless
        --B--
        """
    text = mail(source).text
    assert "in the text" in text
    assert "in a file" not in text
    assert "Attachment: notes.txt (text/plain, 9 bytes)" in text
    assert "Attachment: unnamed" in text


def test_reports_and_encoded_messages_inside_are_read() -> None:
    inner = b64encode(b"Subject: Packed\n\nInside").decode()
    source = f"""\
        Content-Type: multipart/report; boundary=B

        --B
        Content-Type: message/delivery-status

        Reporting-MTA: dns; x.org

        Status: 5.1.1
        Reason: Grüße
        --B
        Content-Type: message/rfc822
        Content-Transfer-Encoding: base64

        {inner}
        --B--
        """
    text = mail(source).text
    assert "Reporting-MTA: dns; x.org\n\nStatus: 5.1.1\nReason: Grüße" in text
    assert "## Forwarded message: Packed\n\nInside" in text


def test_messages_inside_messages_end_somewhere() -> None:
    source = "words"
    for number in range(9):
        source = f"Subject: {number}\nContent-Type: message/rfc822\n\n{source}"
    parsed = read(source.encode(), "a.eml")
    assert [place.label for place in parsed.places][-1] == "message 5"
    assert "(parts that are nested too deeply are left out)" in parsed.text


def test_thousands_of_nested_parts_leave_the_headers() -> None:
    parts = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3_000)
    )
    parsed = read(f"{HEAD}{parts}".encode(), "a.eml")
    assert parsed.title == "Tides"
    assert parsed.text.endswith("(parts that are nested too deeply are left out)\n")
    fewer = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(60))
    assert "nested too deeply" in read(f"{HEAD}{fewer}".encode(), "a.eml").text


def test_an_endless_subject_is_bounded() -> None:
    subject = "=?utf-8?q?word?= " * 80_000
    parsed = read(f"Subject: {subject}\n\nbody".encode(), "a.eml")
    assert len(parsed.text) < 20_000
    assert len(parsed.title) <= 200


def test_a_text_without_headers_is_plain_text() -> None:
    parsed = read(b"Dear diary\n\nToday: rain\n", "a.eml")
    assert (parsed.title, parsed.text) == ("Dear diary", "Dear diary\n\nToday: rain\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf\r\n" + HEAD.encode() + b"\nwords",
        (HEAD + "\nwords").encode("utf-16"),
        (HEAD + "\nwords").encode("utf-16-be"),
        b"From x@y Tue Feb 20 10:15:00 2024\n" + HEAD.encode() + b"\nwords",
        HEAD.encode().replace(b"\n", b"\r\n") + b"\r\nwords",
        HEAD.encode() + b"Content-Type: multipart/mixed\n\nwords",
        HEAD.encode() + b"Content-Type: text/plain; charset=\xff\n\nwords",
    ],
)
def test_odd_beginnings_are_mail_all_the_same(data: bytes) -> None:
    parsed = read(data, "a.eml")
    assert parsed.title == "Tides"
    assert body_of(parsed).endswith("words")


@given(mutated(MIXED.encode()))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read(data, "a.eml").text
    except Unreadable:
        pass


def test_mail_without_a_subject_is_not_called_by_a_message_in_it() -> None:
    inner = "--A\nContent-Type: message/rfc822\n\nSubject: Inner\n\nwords\n--A--\n"
    assert (
        mail(f"Content-Type: multipart/mixed; boundary=A\n\n{inner}", "From: a@x.org\n").title
        == "file"
    )


@pytest.mark.parametrize(
    ("date", "iso"),
    [
        ("2025-07-29T12:42:06.000Z", "2025-07-29T12:42:06+00:00"),
        ("Tue, 29 Jul 2025 12:42:06 +0000", "2025-07-29T12:42:06+00:00"),
        ("some day", None),
    ],
)
def test_dates_are_read_as_mail_and_as_iso_writes_them(date: str, iso: str | None) -> None:
    assert read(f"Subject: x\nDate: {date}\n\ntext\n".encode(), "a.eml").date == iso
