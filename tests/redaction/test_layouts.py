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


def test_a_table_hides_its_secrets_whatever_other_table_follows() -> None:
    separated = f"user,password\nann,{SECRET}\nbob,walrus\n"
    ruled = "| user | password |\n|---|---|\n| cleo | tortoise |\n"

    shown = redact_text(f"{separated}\n{ruled}", Redact.SECRETS)

    assert [word for word in (SECRET, "walrus", "tortoise") if word in shown] == []


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


@pytest.mark.parametrize(
    "text",
    [
        "Meeting passcode: 542870",
        "Passcode: 542870 for the meeting",
        "passcode: 542870 (Zoom)",
        "Meeting-ID: 812 3456 7890 Kenncode: 542870",
    ],
)
def test_the_digits_that_open_a_meeting_go(text: str) -> None:
    assert "542870" not in redact_text(text, Redact.SECRETS)


@pytest.mark.parametrize(
    "text",
    ["From: Anna <anna@fabrikam.local>", "jane@corp.local", "jean arobase exemple point fr"],
)
def test_addresses_of_a_company_s_own_network_go(text: str) -> None:
    shown = redact_text(text, Redact.ALL)
    assert "[redacted:email]" in shown
    assert not any(name in shown for name in ("anna@", "jane", "jean"))


@pytest.mark.parametrize(
    "text",
    [
        "passcode: 6 digits",
        "ssh pi@raspberrypi.local",
        "scp notes pi@raspberrypi.local:/tmp",
        "Cancel at any point in time.",
        "The pressure at a point on the wing, and at each point of it.",
        "Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com",
        "KexAlgorithms curve25519-sha256@libssh.org",
        "DOI: 10.1128/jvi.02827-15",
        "DOI:10.3390/ph6020223",
        "https://doi.org/10.1016/j.cell.2020.02.052",
        "accessToken: $accessToken,",
        "sessionId: `user-${user.id}`",
    ],
)
def test_prose_machines_articles_and_variables_stay(text: str) -> None:
    assert redact_text(text, Redact.ALL) == text
