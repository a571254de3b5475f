"""Secrets and phone numbers in the columns of a table whose head names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator

from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.values import is_key, is_password
from bookwheel.safety.words import ABBREVIATED, PASSWORDS

Judge = Callable[[bytes], bool]

_KEYS = (
    *("secret", "token", "api key", "apikey", "access key", "secret key", "secret access key"),
    *("private key", "client secret", "access token", "auth token", "api token", "credential"),
)
_PHONES = (
    *("phone", "telephone", "tel", "tel.", "mobile", "cell", "fax", "phone number", "telefon"),
    *("mobil", "handy", "telefonnummer", "téléphone", "teléfono", "telefono", "telefone", "тел"),
    *("电话", "手机", "fono", "celular", "móvil", "portable", "gsm", "telefax"),
    *("telefoon", "mobile phone", "work phone", "home phone", "cell phone", "telephone number"),
)
_PASSWORD_NAMES = frozenset((*PASSWORDS, *ABBREVIATED, "pass", "pw", "clave"))
_KEY_NAMES = frozenset(_KEYS)
_PHONE_NAMES = frozenset(_PHONES)
_ASIDE = re.compile(r"(?<!\s)\s*\([^()]*\)$")  # from the first blank on: many cost no square
HEAD = (
    r"(?i:pass|pw|psw|pswd|secret|token|key|credential|wort|woord|contrase|senha|clave|mdp|has[lł]o|"
    r"heslo|parola|phone|fono|fone|tel|mob|cell|fax|handy|парол|密码|密碼|口令|パスワード|тел|电话|手机)"
)
_CELL = r"[\pL\pN_ \"'.()/-]"
_RULED = (  # as in Markdown, in a box, as psql draws it, in a wiki
    rf"(?m)^[ \t]*\|[^\n]*{HEAD}[^\n]*\|[ \t\r]*\n[ \t]*(?:\|?[ \t]*:?-|\+[-=])|"
    rf"^[^\n]*{HEAD}[^\n]*\n[ \t]*-+\+-|"
    rf"^[ \t]*\|\|[^\n]*{HEAD}[^\n]*\|\|[ \t\r]*\n[ \t]*\|"
)
_BOXED = rf"(?m)^[ \t]*│[^\n]*{HEAD}[^\n]*│[ \t\r]*\n[ \t]*[├╞╟╠]"
_SEPARATED = (
    rf"(?m)^{_CELL}+(?:[,;\t]{_CELL}+)*[,;\t]{_CELL}*{HEAD}(?:{_CELL}|[,;\t])*$|"
    rf"^{_CELL}*{HEAD}{_CELL}*(?:[,;\t]{_CELL}+)+$"
)
_RULE = re.compile(rb"[ \t|:+]*[-=][ \t|:+=-]*\r?$|[ \t]*(?:\xe2[\x94\x95]..?)+[ \t]*\r?$")
_NUMBER = re.compile(rb"[+(]?\d[\d ().\-/]{5,20}\d")
_BAR = "│".encode()
_DRAWN = (b"|", _BAR)
"""What parts the cells of tables that have rules between their rows."""
_LONGEST_HEAD = 2000
_SHORTEST = 4
_JUDGED_CELLS = 4000
"""Cells of one table that are judged; after that every cell below a word for a secret goes."""


def find_in_columns(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield what stands below a head such as `password` or `phone`."""
    dense = Stretches(allowance)
    done = 0
    for match in places(_RULED, data, dense):
        if match.start() >= done:
            done = yield from _below(data, match.start(), b"|")
    if _BAR in data:
        done = 0
        for match in places(_BOXED, data, dense):
            if match.start() >= done:
                done = yield from _below(data, match.start(), _BAR)
    done = 0
    for match in places(_SEPARATED, data, dense):
        if match.start() >= done:
            separator = next(each for each in (b"\t", b";", b",") if each in match.group())
            done = yield from _below(data, match.start(), separator)
    yield from dense.let_go()


def _below(data: bytes, at: int, separator: bytes) -> Generator[Found, None, int]:
    """Yield the secrets of one table; return where it ends."""
    end = _end_of_line(data, at)
    head = data[at:end]
    if head.lstrip().startswith(b"||"):
        head = head.replace(b"||", b"|")
    judges = judges_of(head[:_LONGEST_HEAD].split(separator))
    least = 1 if separator in _DRAWN else max(1, head.count(separator))
    at = end + 1
    judged = 0
    while judges and at < len(data):
        end = _end_of_line(data, at)
        line = data[at:end]
        cells = line.split(separator)
        is_rule = separator in _DRAWN and _RULE.fullmatch(line) is not None
        if len(cells) <= least and not is_rule:
            break
        if not is_rule:
            yield from _in_row(cells, at, judges)
            if judged <= _JUDGED_CELLS < judged + len(judges):
                # What stands in so long a column is what its head says.
                judges = {number: (kind, _LENIENT[kind]) for number, (kind, _) in judges.items()}
            judged += len(judges)
        at = end + 1
    return at


def _end_of_line(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return end if end >= 0 else len(data)


def judges_of(cells: Iterable[bytes]) -> dict[int, tuple[str, Judge]]:
    """Return how the cells below each of the heads of a table are judged, where one names it."""
    judges: dict[int, tuple[str, Judge]] = {}
    for number, cell in enumerate(cells):
        name = cell.decode("utf-8", "replace").strip(" \t\r\n\"'`*_").lower().replace("_", " ")
        name = _ASIDE.sub("", name)
        last = name.rpartition(" ")[2]
        if not _PASSWORD_NAMES.isdisjoint((name, last)):
            judges[number] = ("password", _is_chosen)
        elif not _KEY_NAMES.isdisjoint((name, last)):
            judges[number] = ("api key", _is_token)
        elif not _PHONE_NAMES.isdisjoint((name, last)):
            judges[number] = ("phone", _is_number)
    return judges


def _in_row(cells: list[bytes], at: int, judges: dict[int, tuple[str, Judge]]) -> Iterator[Found]:
    done = 0
    for number, (kind, judge) in judges.items():
        if number >= len(cells):
            break
        if number > done:
            at += sum(map(len, cells[done:number])) + number - done
            done = number
        cell = cells[number]
        value = cell.strip(b" \t\r\"'`*")
        if value and judge(value):
            start = at + cell.index(value) if len(value) < len(cell) else at
            yield start, start + len(value), kind


def _is_long(value: bytes) -> bool:
    return len(value) >= _SHORTEST


def _is_chosen(value: bytes) -> bool:
    return is_password(value.decode("utf-8", "replace"), marked=True)


def _is_token(value: bytes) -> bool:
    return is_key(value.decode("utf-8", "replace"), marked=True)


def _is_number(value: bytes) -> bool:
    return _NUMBER.fullmatch(value) is not None


_LENIENT: dict[str, Judge] = {"password": _is_long, "api key": _is_long, "phone": _is_number}
