"""Lines that look like secrets, addresses or numbers and are none."""

from __future__ import annotations

from collections.abc import Iterator

from tests.redaction.random_text import Dice

PLAIN = (
    # placeholders and code
    *(
        "password: <password>",
        "password = ${DB_PASSWORD}",
        "PASSWORD=$PASSWORD",
        "password: ********",
    ),
    *(
        "api_key: your-api-key-here",
        "api_key = YOUR_API_KEY",
        "token: xxxxxxxxxxxxxxxx",
        "pwd: None",
    ),
    *(
        "password = get_password()",
        "password = os.environ['DB_PASSWORD']",
        "password: str = Field()",
    ),
    *("password = config.password", "self.password = password", "if password is None:", "pass"),
    *("password: string", "password: required", "Password: optional", '"password": null,'),
    *("password=changeme", "password: {{ vault_password }}", "token: ${{ secrets.GITHUB_TOKEN }}"),
    *("The password is required.", "Your password must be at least 12 characters long."),
    *("Forgot your password? Reset it.", "password-protected files", "Enter your password:"),
    *('<input type="password" name="password" placeholder="Password">', "passwordField: Password"),
    *("def check_password(password: str) -> bool:", "password_hash = hash(password)", "--password"),
    *("max_tokens: 4096", "token_type: bearer", "next_page_token: abc", "eos_token: </s>"),
    *("tokenizer: bert-base-uncased", "secretName: web-tls", "secretKeyRef:", "key: value"),
    *(
        "The token expires after 3600 seconds.",
        "tokens per second: 120",
        "the secret of success is",
    ),
    *(
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Basic authentication is off",
    ),
    *("The bearer of this letter", "Set the Authorization header.", "Cookie: we use cookies."),
    *("cache_key: user_profile_v2", "primary key: id", "foreign key (user_id)", "public_key: ..."),
    *(
        "postgres://user:password@localhost/db",
        "http://localhost:8080/path",
        "ftp://files.example.com",
    ),
    *("https://example.com/?q=token&page=2", "https://example.com/?key=value", "see ?id=12345678"),
    *("The file starts with -----BEGIN PUBLIC KEY-----", "a `-----BEGIN PRIVATE KEY-----` line"),
    *(
        "sk-learn and scikit-learn",
        "sk_buff in the kernel",
        "hf_hub_download",
        "ghp_xxxxxxxxxxxxxxxxxxxx",
    ),
    *(
        "glpat-<token>",
        "npm_config_cache",
        "pypi-publish",
        "xoxb-your-token-here",
        "AKIAXXXXXXXXXXXXXXXX",
    ),
    # things with an @
    *(
        "logo@2x.png",
        "icon@3x.webp",
        "npm i react@18.2.0",
        "@types/node",
        "@app.route('/')",
        "user@host",
    ),
    *("git@github.com:owner/repo.git", "actions/checkout@v4", "getty@tty1.service", "HEAD@{1}"),
    *("1080p@59.94fps", "10 V @ 2.5 A", "java.lang.Object@6d06d69c", "@media (max-width: 600px)"),
    *("root@localhost", "price @ 3.50", "follow @bookwheel", "pkg@^1.0.0", "foo@bar", "a@b"),
    *("meet me at noon", "look at the dot", "name@", "@example", "x@2x", "docker.io/a@sha256:abc"),
    # numbers
    *("2024-01-15", "15.01.2024", "01/15/2024", "2024-01-15T10:30:45Z", "1990-2000", "20240115"),
    *("ISBN 978-0-306-40615-7", "ISBN 0-306-40615-2", "ISSN 0317-8471", "192.168.100.200", "::1"),
    *("10.0.0.1:8080", "v1.2.3", "1.2.3-rc.4+build.5", "4111 1111 1111 1111", "1,234,567.89"),
    *(
        "1 234 567",
        "12.345.678",
        "3.14159265358979",
        "40.7128, -74.0060",
        "RFC 2119",
        "ISO 8601-1:2019",
    ),
    *("order 114-3941689-8772232", "invoice 2024-0012345", "order number 4500012345", "0x12345678"),
    *(
        "1700000000",
        "12:34:56.789",
        "page 100-200",
        "SSN 123-45-6789",
        "doi:10.1000/182",
        "02139-4307",
    ),
    *(
        "arXiv:2307.00714",
        "1024 2048 4096 8192",
        "5 GHz, 100 Mbit/s",
        "00:1B:44:11:3A:B7",
        "100 200 300",
    ),
    *(
        "DE89 3704 0044 0532 0130 00",
        "build 20240115.3",
        "2 147 483 647",
        "+10 000 000",
        "-40 to +85",
    ),
    *(
        "1-2-3-4-5-6-7",
        "12 34 56 78",
        "10:30 - 11:45",
        "1e-10",
        "99.99 %",
        "1200x800",
        "§ 123 Abs. 4",
    ),
)


def lookalikes(seed: int = 10) -> Iterator[str]:
    """Yield the lines."""
    yield from PLAIN
    r = Dice(seed)
    for _ in range(12):
        yield f"commit {r.h(40)}"
        yield f"{r.h(7)} fix the build"
        yield f"md5: {r.h(32)}"
        yield f"sha256:{r.h(64)}"
        yield f"SHA-1 checksum {r.h(40)}"
        yield f'integrity="sha512-{r.base64(64)}"'
        yield f"id: {r.uuid()}"
        yield f"request {r.uuid()} took {r.d(3)} ms"
        yield f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{r.b(200)}"
        yield f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{r.b(43)}"
        yield f"![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{r.b(400)})"
        yield f"version {r.d(1)}.{r.d(2)}.{r.d(3)}"
        yield f"order no. {r.d(10)}"
        yield f"ISBN 978-{r.d(1)}-{r.d(3)}-{r.d(5)}-{r.d(1)}"
        yield f"https://example.com/{r.h(12)}/{r.w(8)}.html?page={r.d(2)}"
        yield f"[{r.d(4)}] {r.d(2)},{r.d(3)} items, {r.d(5)} bytes"
        yield f"{r.d(3)} {r.d(3)} {r.d(3)}"
        yield f"EUR {r.d(1)}.{r.d(3)},{r.d(2)}"
        yield f"{r.d(2)}.{r.d(4)}° N, {r.d(2)}.{r.d(4)}° E"
        yield f'etag: "{r.h(32)}"'
        yield f"E-{r.d(4)}-{r.d(6)}"
        yield f"-----BEGIN CERTIFICATE-----\nMIID{r.b(60)}\n-----END CERTIFICATE-----"
        yield f"| {r.d(4)} | {r.d(5)} | {r.d(3)}.{r.d(2)} |"
        yield f"0x{r.h(40)}"
        yield f"arn:aws:iam::{r.d(12)}:role/{r.low(8)}"
