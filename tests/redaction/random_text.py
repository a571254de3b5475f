"""Random parts that secrets are made of; nothing that looks alive is written down."""

from __future__ import annotations

import base64
import random
import string

WORD = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL = WORD + "-_"
BASE64 = WORD + "+/"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Dice:
    """Draws random texts from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """Return so many characters of an alphabet."""
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def w(self, length: int) -> str:
        return self.of(WORD, length)

    def h(self, length: int) -> str:
        return self.of(HEX, length)

    def u(self, length: int) -> str:
        return self.of(UPPER, length)

    def low(self, length: int) -> str:
        return self.of(LOWER, length)

    def s(self, length: int) -> str:
        return self.of(WORD, 1) + self.of(URL, length - 2) + self.of(WORD, 1)

    def b(self, length: int) -> str:
        return self.of(BASE64, length)

    def d(self, length: int) -> str:
        return self.of(string.digits[1:], 1) + self.of(string.digits, length - 1)

    def uuid(self) -> str:
        return "-".join(self.h(length) for length in (8, 4, 4, 4, 12))

    def base64(self, length: int) -> str:
        return base64.b64encode(self.random.randbytes(length)).decode()

    def base64url(self, text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def jwt(self) -> str:
        head = self.base64url('{"alg":"HS256","typ":"JWT"}')
        body = self.base64url('{"sub":"' + self.d(10) + '","name":"' + self.w(6) + '"}')
        return f"{head}.{body}.{self.s(43)}"

    def password(self) -> str:
        """Return a password as people and generators choose them."""
        words = (
            "Sommer",
            "tiger",
            "Blue",
            "monkey",
            "Dragon",
            "winter",
            "secure",
            "Katze",
            "soleil",
        )
        chosen = self.random.choice(words)
        return self.random.choice(
            (
                f"{chosen}{self.d(2)}!",
                f"{chosen}{self.d(4)}",
                f"{chosen.capitalize()}#{self.d(3)}",
                f"{self.w(5)}{self.d(2)}{self.of('!@#$%^*', 1)}{self.w(5)}",
                f"{self.w(10)}{self.d(2)}",
                f"{self.s(14)}{self.d(2)}",
            )
        )

    def pem(self, name: str = "RSA PRIVATE KEY", lines: int = 12) -> str:
        body = "\n".join(self.base64(48) for _ in range(lines))
        return f"-----BEGIN {name}-----\n{body}\n{self.base64(20)}\n-----END {name}-----"
