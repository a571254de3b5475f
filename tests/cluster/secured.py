"""A node that speaks TLS and asks who calls: users with passwords, and signed tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import ssl
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import trustme
from cryptography.hazmat.primitives import serialization

from tests.cluster import parts
from tests.cluster.nodes import Node, free_port

_START_SECONDS = 300
_SIGNING_KEY = b"a key that only this test and its node know, forty bytes"
ADMIN = ("admin", "admin")
"""The operator that the plugin's own example has."""
_FILES = ("node.pem", "node.key", "ca.pem")
_TLS = [
    f"plugins.security.ssl.{where}.{what}_filepath: {file}"
    for where in ("transport", "http")
    for what, file in zip(("pemcert", "pemkey", "pemtrustedcas"), _FILES, strict=True)
]
_SETTINGS = (
    *_TLS,
    "plugins.security.ssl.http.enabled: true",
    "plugins.security.ssl.transport.enforce_hostname_verification: false",
    "plugins.security.allow_default_init_securityindex: true",
    'plugins.security.authcz.admin_dn: ["CN=nobody"]',
    'plugins.security.restapi.roles_enabled: ["all_access"]',
)


class SecuredNode:
    """One node; `ca` is the file of the authority that signed its certificate."""

    def __init__(self) -> None:
        self._home = parts.secured_server()
        self._place = Path(tempfile.mkdtemp(prefix="bookwheel-secured-"))
        self._place.chmod(0o755)
        self.ca = self._place / "ca.pem"
        self.other_ca = self._place / "other.pem"
        place = self._place / "one"
        place.mkdir()
        self._node = Node("one", place, http=free_port(), transport=free_port())
        seeds = [f"127.0.0.1:{self._node.transport}"]
        self._node.configure(self._home, seeds, leads=True, more=_SETTINGS)
        self._certify(place / "config")
        self._admit(place / "config" / "opensearch-security")

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._node.http}"

    def _certify(self, config: Path) -> None:
        authority = trustme.CA()
        issued = authority.issue_cert("127.0.0.1", "localhost")
        authority.cert_pem.write_to_path(self.ca)
        trustme.CA().cert_pem.write_to_path(self.other_ca)
        authority.cert_pem.write_to_path(config / "ca.pem")
        for number, part in enumerate(issued.cert_chain_pems):
            part.write_to_path(config / "node.pem", append=number > 0)
        key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
        (config / "node.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

    def _admit(self, config: Path) -> None:
        """Let in whoever knows a password, or brings a token that is signed by us."""
        shutil.copytree(self._home / "plugins" / "opensearch-security" / "config", config)
        signed = {"signing_key": base64.b64encode(_SIGNING_KEY).decode(), "roles_key": "roles"}
        bearer = {"type": "jwt", "challenge": False, "config": signed}
        password = {"type": "basic", "challenge": True}
        ways = {
            "token": _way(0, bearer, "noop"),
            "password": _way(1, password, "intern"),
        }
        about = {"_meta": {"type": "config", "config_version": 2}}
        whole = {**about, "config": {"dynamic": {"http": {}, "authc": ways}}}
        (config / "config.yml").write_text(json.dumps(whole), encoding="utf-8")

    def token(self, user: str, *roles: str) -> str:
        """Return a token for a user with some roles, good for an hour."""
        claims = {"sub": user, "roles": ",".join(roles), "exp": int(time.time()) + 3600}
        parts_ = [_encoded({"alg": "HS256", "typ": "JWT"}), _encoded(claims)]
        mark = hmac.new(_SIGNING_KEY, ".".join(parts_).encode(), hashlib.sha256).digest()
        return ".".join([*parts_, base64.urlsafe_b64encode(mark).rstrip(b"=").decode()])

    def start(self) -> None:
        self._node.start(self._home)
        until = time.monotonic() + _START_SECONDS
        while not self._answers():
            if not self._node.runs or time.monotonic() > until:
                raise parts.Missing(f"the secured node did not start: {self._node.log}")
            time.sleep(0.5)

    def _answers(self) -> bool:
        try:
            return bool(self.ask("GET", "/")["version"])
        except (urllib.error.URLError, OSError, ValueError):
            return False

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask as the operator."""
        login = base64.b64encode(":".join(ADMIN).encode()).decode()
        headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"https://{self.host}{path}", data, headers, method=method)
        trust = ssl.create_default_context(cafile=str(self.ca))
        with urllib.request.urlopen(request, timeout=60, context=trust) as answer:
            return json.load(answer)

    def stop(self) -> None:
        self._node.stop()
        shutil.rmtree(self._place, ignore_errors=True)


def _way(order: int, how: dict[str, Any], whom: str) -> dict[str, Any]:
    return {
        "http_enabled": True,
        "transport_enabled": True,
        "order": order,
        "http_authenticator": how,
        "authentication_backend": {"type": whom},
    }


def _encoded(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
