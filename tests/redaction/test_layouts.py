"""Secrets that layout parts from the word for them, and layouts that hold none."""

from __future__ import annotations

import pytest

from bookwheel.model import Redact
from bookwheel.safety.finding import redact_text

SECRET = "hunter2!Xy"


@pytest.mark.parametrize(
    "text",
    [
        f"user      password     host\nann       {SECRET}   db1\n",
        f"name        passwort\n--------    ---------\nanna        {SECRET}\n",
        f"+------+-----------+\n| user | password  |\n+------+-----------+\n| ann  | {SECRET} |\n",
        f"│ user │ password   │\n├──────┼────────────┤\n│ ann  │ {SECRET} │\n",
        f" user | password\n------+----------\n ann  | {SECRET}\n(1 row)\n",
        f"||User||Password||\n|ann|{SECRET}|\n",
        f'password = "{SECRET[:5]}" + "{SECRET[5:]}"',
        f'password = ("{SECRET[:5]}"\n            "{SECRET[5:]}")',
        f"password ==> {SECRET}",
        f"password({SECRET})",
        f"{SECRET} is the password for the router",
        f'unlock with "{SECRET}" (password)',
        f"<h3>Password</h3><p>{SECRET}</p>",
        f'Dim pwd As String = "{SECRET}"',
        f"wpa_passphrase HomeNet {SECRET}",
    ],
)
def test_layout_hides_no_password(text: str) -> None:
    shown = redact_text(text, Redact.SECRETS)
    assert SECRET[:5] not in shown
    assert SECRET[5:] not in shown


def test_every_code_of_a_list_goes() -> None:
    shown = redact_text("Recovery codes:\n\n- a8f3-k2m9\n- p0q7-x4z1\n", Redact.SECRETS)
    assert "k2m9" not in shown
    assert "x4z1" not in shown


def test_a_number_right_behind_its_name_goes() -> None:
    assert redact_text("TEL03-1234-5678", Redact.ALL) == "TEL[redacted:phone]"


@pytest.mark.parametrize(
    "text",
    [
        "token        meaning\nIF           keyword\nELSE         keyword\n",
        "user      password\nann       required\nbob       optional\n",
        "secret        type       age\ndb-creds      Opaque     5d\n",
        "+-------+----------+\n| token | count    |\n+-------+----------+\n| walrus | 12      |\n",
        " column   | type\n----------+------\n password | text\n",
        'msg = "password" + " is " + "required"',
        "password ==> string",
        "password (optional)",
        "password (base64)",
        'the ICE password ("ice-pwd")',
        "password == password2",
        "NTLMv2 (password)",
        "1Password is the password manager we use.",
        "SHA256 is the password hash function.",
        "<h3>Password</h3><p>Required. At least 8 characters.</p>",
        "Recovery codes:\nSee your account page.\n",
        "パスワードは必須です",
        "senha: obrigatória",
        'Authorization: Basic realm="x"',
        "1,234 555 6789",
        "HOTEL03-1234-5678",
    ],
)
def test_layouts_that_only_look_alike_stay(text: str) -> None:
    assert redact_text(text, Redact.ALL) == text
