"""Tests of Outlook mail."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings

from bookwheel.formats.base import Unreadable
from bookwheel.formats.msg import read
from bookwheel.formats.msg_rtf import decompress, rtf_text
from bookwheel.formats.registry import read as read_any
from bookwheel.model import Parsed, Status
from tests.formats.making_msg import Tree, narrow, ole_file, properties, wide
from tests.formats.mutations import mutated

SENT = 133_500_000_000_000_000

INNER: Tree = {
    "__properties_version1.0": properties(24),
    **wide(x0037="Inner", x0C1A="Cy", x1000="Inner words"),
}
MESSAGE: Tree = {
    "__properties_version1.0": properties(32, x0039_8=SENT),
    **wide(
        x0037="Minutes of May",
        x0C1A="Ann Ash",
        x0C1F="/O=ORG/CN=ANN@X",
        x5D01="ann@x.org",
        x0E03="Di",
        x1000="First line, see https://x.org/a\r\n> quoted\r\n# no heading\r\n",
    ),
    "__recip_version1.0_#00000000": {
        "__properties_version1.0": properties(8, x0C15_4=1),
        **wide(x3001="Bob", x39FE="bob@x.org"),
    },
    "__attach_version1.0_#00000000": {
        "__properties_version1.0": properties(8),
        **wide(x3707="C:\\files\\budget.xlsx", x370E="application/x-sheet"),
        "__substg1.0_37010102": b"x" * 5_000,
    },
    "__attach_version1.0_#00000001": {
        "__properties_version1.0": properties(8),
        "__substg1.0_3701000D": INNER,
    },
}


def test_a_message_has_the_layout_of_mail() -> None:
    parsed = read_any(ole_file(MESSAGE), "a.msg")
    assert parsed.text == (
        "# Minutes of May\n\nFrom: Ann Ash \\<ann@x.org>\nTo: Bob \\<bob@x.org>\nCc: Di\n"
        "Date: 2024-01-17T21:20:00+00:00\n\n"
        "First line, see https://x.org/a\n> quoted\n\\# no heading\n\n"
        "Attachment: budget.xlsx (application/x-sheet, 5,000 bytes)\n\n"
        "## Forwarded message: Inner\n\nFrom: Cy\n\nInner words\n"
    )
    labels = [place.label for place in parsed.places]
    assert labels == ["message", "attachment 'budget.xlsx'", "message 2"]
    assert (parsed.title, parsed.author) == ("Minutes of May", "Ann Ash")
    assert parsed.date == "2024-01-17T21:20:00+00:00"
    assert [link.target for link in parsed.links] == ["https://x.org/a"]


@pytest.mark.parametrize(
    ("codepage", "data"),
    [
        (950, "測試".encode("cp950")),
        (1251, "тест".encode("cp1251")),
        (65001, "é ü".encode()),
        (28592, "žluť".encode("iso-8859-2")),
        (12, b"ascii"),
        (0, "Grüße, größer, schön".encode("cp1252")),
    ],
)
def test_narrow_strings_follow_the_code_page_of_the_message(codepage: int, data: bytes) -> None:
    names = {950: "cp950", 1251: "cp1251", 65001: "utf-8", 28592: "iso-8859-2"}
    tree = {
        "__properties_version1.0": properties(32, x3FFD_4=codepage),
        **narrow(x0037=b"S", x1000=data + b"\0"),
    }
    expected = data.decode(names.get(codepage, "cp1252"))
    assert read(ole_file(tree), "a.msg").text == f"# S\n\n{expected}\n"


def test_html_and_rtf_stand_in_for_a_missing_plain_body() -> None:
    html = {
        "__properties_version1.0": properties(32, x3FDE_4=1251),
        **wide(x0037="S", x1000=" \r\n"),
        "__substg1.0_10130102": "<p>Текст <b>письма</b></p>".encode("cp1251"),
    }
    assert "Текст письма" in read(ole_file(html), "a.msg").text
    stored = struct.pack("<IIII", 0, 40, 0x414C454D, 0) + b"{\\rtf1\\ansi Rich {\\b words}\\par }"
    rtf = {"__properties_version1.0": properties(32), "__substg1.0_10090102": stored}
    assert "Rich words" in read(ole_file(rtf), "a.msg").text


def test_html_that_says_much_more_than_a_plain_body_is_read_and_else_its_links() -> None:
    def message(plain: str, rich: str) -> Parsed:
        tree: Tree = {
            "__properties_version1.0": properties(32),
            **wide(x0037="S", x1000=plain),
            "__substg1.0_10130102": rich.encode(),
        }
        return read(ole_file(tree), "a.msg")

    stub = message("View online: https://x.org/" + "a1" * 200, "<p>" + "Quokkas eat leaves. " * 5)
    assert "Quokkas eat leaves." in stub.text
    linked = message("See the invoice", "<p>See the <a href='https://x.org/i'>invoice</a>")
    assert linked.text == "# S\n\nSee the invoice\n"
    assert [(link.target, link.line) for link in linked.links] == [("https://x.org/i", 3)]


def test_compressed_rtf_is_unpacked() -> None:
    # The example of [MS-OXRTFCP].
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a0072637067313235423"
        "20af32068656c090020627705b06c647d0a800fa0"
    )
    assert decompress(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert rtf_text(packed).strip() == "hello world"
    assert rtf_text(b"short") == rtf_text(b"x" * 40) == ""
    assert decompress(packed[:20]) != b""


def test_an_encrypted_message_keeps_its_headers() -> None:
    smime = {
        "__properties_version1.0": properties(32),
        **wide(x001A="IPM.Note.SMIME", x0037="Secret", x0C1A="Ann"),
    }
    text = read(ole_file(smime), "a.msg").text
    assert text == "# Secret\n\nFrom: Ann\n\n(the body is encrypted)\n"


def test_a_damaged_file_is_unreadable() -> None:
    with pytest.raises(Unreadable) as caught:
        read(ole_file(MESSAGE)[:700], "a.msg")
    assert caught.value.status is Status.UNREADABLE


@given(mutated(ole_file(MESSAGE)))
@settings(max_examples=60, deadline=None)
def test_any_mutation_is_read_or_refused(data: bytes) -> None:
    try:
        assert read_any(data, "a.msg").text
    except Unreadable:
        pass
