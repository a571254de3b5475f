"""Named tokens of HTTP clients: kept as hashes, found in constant time, taken up as they change."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.errors import BadRequest, Conflict, NotFound
from bookwheel.settings import Rate, Settings, read_rate

_PREFIX = "bw_"
_SECRET_BYTES = 32
_NAME = re.compile(r"(?!(?:stdio|unknown)$)[A-Za-z][A-Za-z0-9_-]{0,63}")
"""Never what a caller without a token goes by: an address, or one of two words."""
_LARGEST_FILE = 4 * 1024 * 1024


class Token(NamedTuple):
    """What is kept of a token: never the token itself."""

    name: str
    digest: str
    roots: tuple[str, ...] = ()
    """Collections, or folders of them, that its bearer may see; with none, all."""
    rate: str = ""
    """How often its bearer may ask, as 60/minute; empty: as others may."""
    created: str = ""
    expires: str = ""
    """The first day, as 2031-12-31, on which it is no good any more; empty: never."""

    @property
    def allowance(self) -> Rate | None:
        return read_rate(self.rate) if self.rate else None

    def is_valid(self, today: str) -> bool:
        """Tell whether it may still be used."""
        return not self.expires or today < self.expires


def today() -> str:
    """Return the day by which tokens end, as 2031-12-31, everywhere the same."""
    return time.strftime("%Y-%m-%d", time.gmtime())


def tokens_path(settings: Settings) -> Path:
    """Return the file of the tokens."""
    if settings["tokens"]:
        return Path(settings["tokens"])
    from platformdirs import user_config_path

    return user_config_path("bookwheel") / "tokens.json"


class TokenFile:
    """The tokens in a file, read again whenever it has changed."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._reading = threading.Lock()
        self._stamp: tuple[int, ...] | None = None
        self._tokens: tuple[Token, ...] = ()
        self._was_used = False

    @property
    def was_used(self) -> bool:
        """Tell whether tokens were ever made: then nobody is served without one.

        Who asked once asks for ever: the last token may be revoked, and then none is good.
        """
        self._was_used = self._was_used or self.file.exists()
        return self._was_used

    def load(self) -> tuple[Token, ...]:
        """Return the tokens; BadRequest if the file cannot be read, for then none is good."""
        with self._reading:
            stamp = self._look()
            if stamp != self._stamp:
                self._tokens = _read(self.file) if stamp else ()
                self._stamp = stamp
            return self._tokens

    def find(self, secret: str) -> Token | None:
        """Return the token that a client sent; every one is compared, in constant time."""
        digest = _digest(secret)
        day = today()
        found = None
        for token in self.load():
            if hmac.compare_digest(token.digest, digest) and token.is_valid(day):
                found = token
        return found

    def add(self, name: str, roots: Sequence[str], rate: str, expires: str) -> str:
        """Make a token and return it, this once."""
        expires = _check(name, roots, rate, expires)
        secret = _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        token = Token(name, _digest(secret), tuple(roots), rate, created, expires)
        with self._writing():
            known = self.load()
            if any(each.name == name for each in known):
                hint = f"`bookwheel token revoke {name}` takes it away first."
                raise Conflict(f"There is a token {name!r} already.", hint=hint)
            self._write((*known, token))
        return secret

    def revoke(self, name: str) -> None:
        """Take a token away; servers that run know it no more from their next request on."""
        with self._writing():
            known = self.load()
            rest = tuple(token for token in known if token.name != name)
            if rest == known:
                names = ", ".join(token.name for token in known) or "none"
                raise NotFound(f"There is no token {name!r}.", hint=f"There are: {names}.")
            self._write(rest)

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadRequest(f"{self.file} cannot be read: {error.strerror}.") from None
        return found.st_mtime_ns, found.st_size, found.st_ino

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let one process at a time change the file."""
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self.file.parent, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise BadRequest(f"{self.file.parent} cannot be used: {error.strerror}.") from None
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _write(self, tokens: Sequence[Token]) -> None:
        making = self.file.with_name(self.file.name + ".making")
        text = json.dumps({"tokens": [token._asdict() for token in tokens]}, indent=2) + "\n"
        try:
            making.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(making, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            making.replace(self.file)
        except OSError as error:
            raise BadRequest(f"{self.file} cannot be written: {error.strerror}.") from None


def _digest(secret: str) -> str:
    # A token is 256 random bits: nothing is gained by a slow hash.
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _check(name: str, roots: Sequence[str], rate: str, expires: str) -> str:
    """Refuse what cannot be kept; return the day in one way of writing it."""
    if not _NAME.fullmatch(name):
        raise BadRequest(
            f"{name!r} is no name for a token.",
            hint="It begins with a letter; up to 63 letters, digits, - and _ follow.",
        )
    if not all(root.strip() for root in roots):
        raise BadRequest("A root is empty.", hint="Without --roots a token opens everything.")
    try:
        read_rate(rate or "1/minute")
    except ValueError as error:
        raise BadRequest(f"The rate {rate!r} {error}.") from None
    try:
        return date.fromisoformat(expires).isoformat() if expires else ""
    except ValueError:
        raise BadRequest(f"{expires!r} is no day such as 2031-12-31.") from None


def _read(file: Path) -> tuple[Token, ...]:
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            entries = json.loads(opened.read(_LARGEST_FILE))["tokens"]
        if mode & 0o022:
            hint = f"Say `chmod 600 {file}`."
            raise BadRequest(f"Others may write the tokens in {file}.", hint=hint)
        return tuple(_token(entry) for entry in entries)
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadRequest(f"{file} is no file of tokens.") from None


def _token(entry: dict[str, Any]) -> Token:
    token = Token(**{**entry, "roots": tuple(map(str, entry["roots"]))})
    if token.rate:
        read_rate(token.rate)
    if not token.digest.isascii():  # could be compared with none
        raise ValueError
    return token
