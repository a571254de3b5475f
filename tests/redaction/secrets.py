"""Labelled secrets: each a text with the part that must not be seen."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.redaction.random_text import BASE58, Dice


class Labelled(NamedTuple):
    """A text and what must be gone from it."""

    text: str
    secret: str


TOKENS: dict[str, Callable[[Dice], str]] = {
    "aws id": lambda r: "AKIA" + r.u(16),
    "aws temporary id": lambda r: "ASIA" + r.u(16),
    "google": lambda r: "AIza" + r.s(35),
    "google oauth": lambda r: "ya29." + r.s(60),
    "google client": lambda r: "GOCSPX-" + r.s(28),
    "azure client": lambda r: r.w(3) + "8Q~" + r.w(34),
    "github classic": lambda r: "ghp_" + r.w(36),
    "github oauth": lambda r: "gho_" + r.w(36),
    "github user": lambda r: "ghu_" + r.w(36),
    "github server": lambda r: "ghs_" + r.w(36),
    "github refresh": lambda r: "ghr_" + r.w(76),
    "github fine": lambda r: "github_pat_" + r.w(22) + "_" + r.w(59),
    "gitlab": lambda r: "glpat-" + r.s(20),
    "gitlab deploy": lambda r: "gldt-" + r.s(20),
    "gitlab runner": lambda r: "glrt-" + r.s(20),
    "gitlab trigger": lambda r: "glptt-" + r.h(40),
    "slack bot": lambda r: f"xoxb-{r.d(12)}-{r.d(12)}-{r.w(24)}",
    "slack user": lambda r: f"xoxp-{r.d(11)}-{r.d(11)}-{r.d(12)}-{r.h(32)}",
    "slack app": lambda r: f"xapp-1-A{r.u(10)}-{r.d(13)}-{r.h(64)}",
    "stripe live": lambda r: "sk_live_" + r.w(24),
    "stripe restricted": lambda r: "rk_live_" + r.w(99),
    "stripe test": lambda r: "sk_test_" + r.w(24),
    "stripe hook": lambda r: "whsec_" + r.w(32),
    "twilio": lambda r: "SK" + r.h(32),
    "sendgrid": lambda r: f"SG.{r.s(22)}.{r.s(43)}",
    "mailgun": lambda r: "key-" + r.h(32),
    "mailchimp": lambda r: r.h(32) + "-us12",
    "openai": lambda r: "sk-" + r.w(48),
    "openai project": lambda r: "sk-proj-" + r.s(100),
    "anthropic": lambda r: "sk-ant-api03-" + r.s(93) + "AA",
    "hugging face": lambda r: "hf_" + r.w(34),
    "replicate": lambda r: "r8_" + r.w(37),
    "groq": lambda r: "gsk_" + r.w(52),
    "perplexity": lambda r: "pplx-" + r.w(48),
    "npm": lambda r: "npm_" + r.w(36),
    "pypi": lambda r: "pypi-AgEIcHlwaS5vcmc" + r.s(150),
    "rubygems": lambda r: "rubygems_" + r.h(48),
    "docker": lambda r: "dckr_pat_" + r.s(27),
    "digitalocean": lambda r: "dop_v1_" + r.h(64),
    "databricks": lambda r: "dapi" + r.h(32),
    "new relic": lambda r: "NRAK-" + r.u(27),
    "grafana": lambda r: f"glsa_{r.w(32)}_{r.h(8)}",
    "sentry": lambda r: "sntrys_" + r.w(80),
    "linear": lambda r: "lin_api_" + r.w(40),
    "notion": lambda r: "ntn_" + r.w(46),
    "notion old": lambda r: "secret_" + r.w(43),
    "airtable": lambda r: f"pat{r.w(14)}.{r.h(64)}",
    "atlassian": lambda r: "ATATT3xFfGF0" + r.s(180),
    "shopify": lambda r: "shpat_" + r.h(32),
    "shopify shared": lambda r: "shpss_" + r.h(32),
    "square": lambda r: "sq0atp-" + r.s(22),
    "square new": lambda r: "EAAA" + r.s(60),
    "telegram": lambda r: f"{r.d(10)}:AA{r.s(33)}",
    "discord": lambda r: f"M{r.w(23)}.{r.s(6)}.{r.s(27)}",
    "facebook": lambda r: "EAA" + r.w(120),
    "twitter": lambda r: "AAAAAAAAAAAAAAAAAAAAA" + r.w(80),
    "dropbox": lambda r: "sl." + r.s(130),
    "okta": lambda r: "00" + r.s(40),
    "vault": lambda r: "hvs." + r.s(90),
    "vault old": lambda r: "s." + r.w(24),
    "terraform": lambda r: f"{r.w(14)}.atlasv1.{r.s(67)}",
    "pulumi": lambda r: "pul-" + r.h(40),
    "doppler": lambda r: "dp.pt." + r.w(43),
    "age": lambda r: "AGE-SECRET-KEY-1" + r.u(58),
    "postman": lambda r: f"PMAK-{r.h(24)}-{r.h(34)}",
    "sonar": lambda r: "squ_" + r.h(40),
    "supabase": lambda r: "sbp_" + r.h(40),
    "planetscale": lambda r: "pscale_tkn_" + r.s(43),
    "mapbox": lambda r: f"sk.eyJ1{r.w(60)}.{r.w(22)}",
    "figma": lambda r: "figd_" + r.s(40),
    "sourcegraph": lambda r: f"sgp_{r.h(16)}_{r.h(40)}",
    "tailscale": lambda r: f"tskey-auth-{r.w(12)}-{r.w(32)}",
    "hubspot": lambda r: "pat-na1-" + r.uuid(),
    "contentful": lambda r: "CFPAT-" + r.s(43),
    "typeform": lambda r: "tfp_" + r.s(44),
    "alibaba": lambda r: "LTAI" + r.w(20),
    "tencent": lambda r: "AKID" + r.w(32),
    "yandex": lambda r: "AQVN" + r.s(36),
    "adobe": lambda r: "p8e-" + r.low(32),
    "fly": lambda r: "fo1_" + r.s(43),
    "flutterwave": lambda r: "FLWSECK_TEST-" + r.h(32) + "-X",
    "razorpay": lambda r: "rzp_live_" + r.w(14),
    "easypost": lambda r: "EZAK" + r.w(54),
    "dynatrace": lambda r: f"dt0c01.{r.u(24)}.{r.u(64)}",
    "heroku": lambda r: "HRKU-" + r.uuid(),
    "netlify": lambda r: "nfp_" + r.w(36),
    "clojars": lambda r: "CLOJARS_" + r.low(60),
    "xai": lambda r: "xai-" + r.w(80),
    "bitcoin": lambda r: "5" + r.of(BASE58, 50),
    "xprv": lambda r: "xprv" + r.of(BASE58, 107),
    "jwt": lambda r: r.jwt(),
    "webhook path": lambda r: f"T{r.u(8)}/B{r.u(8)}/{r.w(24)}",
}
"""Tokens by vendor, composed from the vendors' documentation and not from our table."""

AROUND = (
    "{}",
    "Use {} for now.",
    'token = "{}"',
    "TOKEN={}",
    "`{}`",
    "| ci | {} |",
    '{{"value": "{}", "n": 1}}',
    "({})",
    "https://api.example.com/v1?x=1&y={}",
    "curl -H 'X-Key: {}' https://api.example.com",
    "- **key**: {}.",
    "<td>{}</td>",
    "text:\\n{}\\nmore",
    "“{}”, he wrote",
)

PASSWORD_LINES = (
    "password: {}",
    "Password = {}",
    'password = "{}"',
    '"password": "{}",',
    "DB_PASSWORD={}",
    "export PGPASSWORD='{}'",
    "spring.datasource.password={}",
    "the password is {}",
    "The password for the staging box is {}.",
    "Your new password: {}",
    "login: admin / password: {}",
    "passwd={}",
    "pwd: {}",
    "Passwort: {}",
    "Das Passwort lautet {}",
    "Kennwort: {}",
    "contraseña: {}",
    "La contraseña es {}",
    "mot de passe : {}",
    "Le mot de passe est {}",
    "senha: {}",
    "wachtwoord: {}",
    "пароль: {}",
    "密码：{}",
    "パスワード: {}",
    "| password | {} |",
    "**Password:** {}",
    "Password: `{}`",
    "<password>{}</password>",
    '<property name="password" value="{}"/>',
    "--password {}",
    "--password={} --verbose",
    "mysql -u root -p{} shop",
    "sshpass -p '{}' ssh bob@db1",
    "curl -u admin:{} https://api.example.com/",
    "postgres://app:{}@db.internal:5432/shop",
    "amqp://guest:{}@rabbit/",
    "Server=db;Database=x;User Id=sa;Password={};Timeout=30",
    "CREATE USER bob WITH PASSWORD '{}';",
    "ALTER USER 'bob'@'%' IDENTIFIED BY '{}';",
    "machine ftp.example.com login bob password {}",
    "db:\n  user: bob\n  password: {}\n",
    "- name: DB_PASSWORD\n  value: {}\n",
    "password => '{}',",
    'setPassword("{}")',
    "Password:\n{}\n",
    "passphrase: {}",
    "config.password = '{}'",
    "root_pass={}",
    'client.login(user="bob", password="{}")',
)

KEY_LINES = (
    "api_key: {}",
    'API_KEY="{}"',
    '"apiKey": "{}"',
    "api-key={}",
    "X-Api-Key: {}",
    "client_secret={}",
    '"client_secret": "{}"',
    "SECRET_KEY = '{}'",
    "access_token: {}",
    "auth_token={}",
    "Authorization: Bearer {}",
    "Authorization: Token {}",
    "authorization: {}",
    "https://api.example.com/v1/items?access_token={}",
    "https://api.example.com/v1/items?api_key={}&page=2",
    "Your API key is {}",
    "aws_secret_access_key = {}",
    "DATADOG_API_KEY={}",
    "twilio auth token: {}",
    "encryption_key: {}",
    "--token {}",
    "Cookie: session={}; theme=dark",
    "PHPSESSID={}",
    "//registry.npmjs.org/:_authToken={}",
    "signing_secret: {}",
    "private_key = '{}'",
    "bearer {}",
    "API-Schlüssel: {}",
    "webhook_secret: {}",
    "HEROKU_API_KEY: {}",
)


def labelled_secrets(seed: int = 7) -> Iterator[Labelled]:
    """Yield the labelled secrets."""
    r = Dice(seed)
    for number, (vendor, make) in enumerate(TOKENS.items()):
        if vendor == "webhook path":
            continue
        for turn in range(3):
            secret = make(r)
            around = AROUND[(3 * number + turn) % len(AROUND)]
            yield Labelled(around.format(secret), secret)
    for line in PASSWORD_LINES:
        for _ in range(2):
            secret = r.password()
            yield Labelled(line.format(secret), secret)
    for line in KEY_LINES:
        for secret in (r.w(32), r.h(32), r.w(40)):
            yield Labelled(line.format(secret), secret)
    yield from _special(r)


def _special(r: Dice) -> Iterator[Labelled]:
    secret = r.b(40)
    yield Labelled(f"AWS_SECRET_ACCESS_KEY={secret}", secret)
    secret = r.base64(64)
    yield Labelled(
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={secret};EndpointSuffix=y", secret
    )
    secret = r.w(43) + "%3D"
    yield Labelled(f"https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={secret}", secret)
    secret = r.h(64)
    yield Labelled(
        f"https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={secret}", secret
    )
    secret = base64.b64encode(f"bob:{r.password()}".encode()).decode()
    yield Labelled(f"Authorization: Basic {secret}", secret)
    yield Labelled(f'{{"auths": {{"reg": {{"auth": "{secret}"}}}}}}', secret)
    secret = f"T{r.u(8)}/B{r.u(8)}/{r.w(24)}"
    yield Labelled(f"https://hooks.slack.com/services/{secret}", secret)
    secret = f"{r.d(18)}/{r.s(68)}"
    yield Labelled(f"https://discord.com/api/webhooks/{secret}", secret)
    secret = f"{r.uuid()}@{r.uuid()}/IncomingWebhook/{r.h(32)}/{r.uuid()}"
    yield Labelled(f"https://firm.webhook.office.com/webhookb2/{secret}", secret)
    for scheme in (
        "$6$" + r.w(8) + "$" + r.w(86),
        "$2y$10$" + r.w(53),
        "$1$" + r.w(8) + "$" + r.w(22),
    ):
        yield Labelled(f"root:{scheme}:19000:0:99999:7:::", scheme)
    secret = r.base64(24)
    yield Labelled(f"apiVersion: v1\nkind: Secret\ndata:\n  key: {secret}\n", secret)
    for name in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"):
        key = r.pem(name)
        yield Labelled(f"before\n{key}\nafter", key.split("\n")[3])
        yield Labelled(f"before\n{key[:400]}", key[300:400].split("\n")[-1])
        yield Labelled('{"private_key": "' + key.replace("\n", "\\n") + '"}', key.split("\n")[9])
    secret = r.h(64)
    yield Labelled(f"deployer private key: 0x{secret}", secret)
    secret = r.base64(200)
    yield Labelled(f"PuTTY-User-Key-File-3: x\nPrivate-Lines: 4\n{secret}\nPrivate-MAC: 1", secret)
