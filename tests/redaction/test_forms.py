"""Forms in which secrets and numbers stand, class by class, and what only looks like them."""

from __future__ import annotations

import pytest

from bookwheel.model import Redact
from bookwheel.safety.finding import find_spans, redact_text
from tests.redaction.random_text import Dice

KEY = Dice(5).w(32)
LETTERS = "AcMrFU-vjJGVCoJaIEmxfBmLTch-zZqU"
CELLS = "<tr><td>bob</td><td>{}</td></tr>"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f'var token string = "{KEY}"', 'var token string = "[redacted:api key]"'),
        (f'let secret: &str = "{KEY}";', 'let secret: &str = "[redacted:api key]";'),
        ("password: str = 'Xk9#mQ2z'", "password: str = '[redacted:password]'"),
        ('char password[] = "Xk9#mQ2z";', 'char password[] = "[redacted:password]";'),
        (f'"clientSecret": "{LETTERS}"', '"clientSecret": "[redacted:api key]"'),
        (f"The secret key is `{KEY}`.", "The secret key is `[redacted:api key]`."),
        ("PGPASSWORD=Tiger#837 psql -h db", "PGPASSWORD=[redacted:password] psql -h db"),
        ("password for guests is Blue-Tram-47.", "password for guests is [redacted:password]."),
        ('getConnection(url, "sa", "Xk9#mQ2z")', 'getConnection(url, "sa", "[redacted:password]")'),
        ('mysqli("db", "root", "Xk9#mQ2z")', 'mysqli("db", "root", "[redacted:password]")'),
        ("Use admin / c#mI2L1M6 to sign in.", "Use admin / [redacted:password] to sign in."),
        ("Use admin / 5AHkipi5cM98 to sign in.", "Use admin / [redacted:password] to sign in."),
    ],
)
def test_secrets_go_by_their_name_whatever_type_or_quotes_they_have(text: str, shown: str) -> None:
    assert redact_text(text, Redact.ALL) == shown


@pytest.mark.parametrize(
    "head",
    ["host;user;pwd", "host;user;initial password", "host;user;Passwort (neu)", "a;b;wifi pwd"],
)
def test_a_column_is_known_by_the_last_word_of_its_head(head: str) -> None:
    assert (
        redact_text(f"{head}\nx;y;Xk9mQ2z#\n", Redact.ALL) == f"{head}\nx;y;[redacted:password]\n"
    )


@pytest.mark.parametrize("tag", ["th", "td"])
def test_the_column_of_a_table_in_html_is_read_by_its_head(tag: str) -> None:
    head = f"<table><tr><{tag}>User</{tag}><{tag} class='x'><b>Password</b></{tag}></tr>"
    text = head + CELLS.format("Xk9mQ2z#") + CELLS.format("<code>Hd7?kk2p</code>") + "</table>"
    hidden = "[redacted:password]"
    expected = head + CELLS.format(hidden) + CELLS.format(f"<code>{hidden}</code>") + "</table>"
    assert redact_text(text, Redact.ALL) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<tr><td>Password</td><td>required</td></tr><tr><td>Hostname</td><td>srv1</td></tr>",
        "<tr><th>Password</th><td>yes</td></tr><tr><th>Hostname</th><td>srv1</td></tr>",
        "<table><tr><th>Role</th><th>Password age</th></tr>" + CELLS.format("90 days"),
        "token: string = getToken()",
        "password: str = None",
        'char password[] = "";',
        "use TCP/IP to sign in",
        "with and/or without a password",
        "host;user;password policy\nx;y;Strong2024\n",
        "secret key is required",
        "Set it with the --password option.",
        'getConnection(url, "sa", password)',
    ],
)
def test_tables_types_and_sentences_without_a_secret_stay(text: str) -> None:
    assert not find_spans(text)


@pytest.mark.parametrize(
    "number",
    ["(030) 90 18 21", "08-508 290 00", "(11) 98765-4321", "8 (495) 777-77-77", "138 1234 5678"],
)
def test_numbers_go_that_look_like_those_of_one_country_alone(number: str) -> None:
    assert redact_text(f"Bob, {number}, Ann", Redact.ALL) == "Bob, [redacted:phone], Ann"


@pytest.mark.parametrize(
    "address", ["lijie@126.com", "e30 (arobase) acme.fr", "gina arroba acme punto es"]
)
def test_addresses_go_as_other_countries_have_them(address: str) -> None:
    assert redact_text(f"联系：{address}。", Redact.ALL) == "联系：[redacted:email]。"


@pytest.mark.parametrize("between", ["\n\n", " \n\n", "<br>\n", "\u034f", "\u3164", "\u115f"])
def test_a_token_goes_that_a_page_or_something_unseen_parts(between: str) -> None:
    token = "ghp_" + "k3J9x2Q7wB" * 4
    text = f"The token {token[:20]}{between}{token[20:]} expires."
    assert redact_text(text, Redact.ALL).replace("\n", "") == (
        "The token [redacted:github token] expires."
    )


@pytest.mark.parametrize(
    "text", ["Tokens begin with ghp_\n\nThey are long.", "ghp_<br>\nNext 2024"]
)
def test_paragraphs_about_tokens_stay(text: str) -> None:
    assert not find_spans(text)


def test_in_a_long_list_of_one_look_no_number_is_shown_for_the_hurry() -> None:
    dice = Dice(9)
    lines = [f"020 7{dice.d(3)} {dice.d(4)} x\n" for _ in range(2000)]
    assert redact_text("".join(lines), Redact.ALL) == "[redacted:phone] x\n" * 2000


@pytest.mark.parametrize(
    "text",
    [
        "password: |\n  {}\nhost: a\n",
        "password: |-\n  {}\n",
        "  db_password: >\n      {}\n",
        "password: >-  # of the shop\n  {}",
        "password: |2+\r\n  {}\r\n",
        "password: &shop {}\nhost: a\n",
        "password: &shop '{}'\n",
        "password: &shop |\n  {}\n",
        "password: !text '{}'\n",
        "password: !!str &shop {}\n",
        "- name: DB_PASSWORD\n  value: |-\n    {}\n",
    ],
)
def test_values_of_yaml_go_whatever_stands_before_them(text: str) -> None:
    assert redact_text(text.format("Xk9#mQ2z"), Redact.ALL) == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "password: |\n  The password of the shop, of 12 signs.\n",
        "password: >-\nhost: srv-1x#2\n",
        "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6632\n",
        "password: !Ref DbPassword1\n",
        "password: !Sub '${Stack}-pass1'\n",
        "password: !secret db_pass_2\n",
        "fn login(password: &mut String, b: i32)",
        "| password | a |\n|---|---|\n",
    ],
)
def test_what_yaml_only_tells_about_a_password_stays(text: str) -> None:
    assert not find_spans(text)


@pytest.mark.parametrize(
    "text",
    [
        "<password><![CDATA[{}]]></password>",
        "<password>\n  <![CDATA[\n{}\n]]>\n</password>",
        '<setting name="Password"><value>{}</value></setting>',
        '<setting name="Password" serializeAs="String">\n  <value>{}</value>\n</setting>',
        "<key>password</key>\n\t<string>{}</string>",
        'password = """{}"""',
        "password = r'''{}'''",
        'password = """\n{}\n"""',
    ],
)
@pytest.mark.parametrize("value", ["Xk9#mQ2z", "Xk9|mQ]2z"])
def test_values_go_in_elements_of_their_own_and_in_long_quotes(text: str, value: str) -> None:
    assert redact_text(text.format(value), Redact.ALL) == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "<key>password</key>\n<string>required</string>",
        "<key>password</key>\n<true/>",
        '<setting name="Password"><value></value></setting>',
        '<data name="Password.Text"><value>Password</value></data>',
        "<password><![CDATA[]]></password>",
        "<password><![CDATA[${db.password}]]></password>",
        'password = """\nThe password of user1 of the shop.\n"""',
        'password = """"""',
    ],
)
def test_elements_and_long_quotes_without_a_password_stay(text: str) -> None:
    assert not find_spans(text)


@pytest.mark.parametrize(
    "text",
    [
        "Password\n{}",
        "## Password\n\n{}\n\nText\n",
        "## Password\r\n\r\n`{}`\r\n",
        "### Kennwort\n**{}**\n",
        "Passwort\n--------\n\n{}\n",
        "**Password:**\n\n```text\n{}\n```\n",
        "<dt>password</dt><dd>{}</dd>",
    ],
)
@pytest.mark.parametrize("value", ["Xk9#mQ2z", "tram47Blue", "b1ue-tr*am"])
def test_a_password_below_its_heading_goes(text: str, value: str) -> None:
    assert redact_text(text.format(value), Redact.ALL) == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "## Password\n\nChoose one of 12 signs.\n",
        "Password\nUsername\n",
        "## Password\n\n`resetPassword()`\n",
        "## Password\n\nREQUIRED-2024\n",
        "Password\n\n![A1b2](shot.png)\n",
        "## Change password\n\nhttps://srv.example/A1?b=c\n",
        "Password\n\n```js\nconst a1B = 2;\n```\n",
        "Enter the password\nOAuth2 is better.\n",
        "password\nPasswordInput.v2\n",
    ],
)
def test_what_is_told_below_a_heading_about_passwords_stays(text: str) -> None:
    assert not find_spans(text)


@pytest.mark.parametrize(
    "text",
    ["Pass**word**: {}", "**Pass**word: {}", "Pass<b>word</b> = '{}'", "pass<!-- x -->word: {}"],
)
def test_a_password_goes_whose_name_is_split_by_marks(text: str) -> None:
    assert redact_text(text.format("Xk9#mQ2z"), Redact.ALL) == text.format("[redacted:password]")


@pytest.mark.parametrize("text", ["Pass**word**: required", "Pass**word**: see [x](a1)"])
def test_a_name_that_marks_split_hides_no_plain_word(text: str) -> None:
    assert not find_spans(text)
