"""Phone numbers: a pattern finds rows of digits.

What stands around them, their form and the numbering plans tell which are phone numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from bookwheel.safety.density import Allowance, Found
from bookwheel.safety.numbering_plans import (
    THOUSANDS,
    count_digits,
    countries_of,
    fits_any,
    is_phone_number,
)
from bookwheel.safety.patterns import compiled, spans_of

REGIONS = ("US", "GB", "DE", "FR", "CH", "AT", "NL", "ES", "AU", "IN")
"""Countries whose numbers are known without their country code."""

_PLUS = r"(?:\+|＋)"
_GAP = r"(?:[ ./-]|\x{a0}|\x{2009}|\x{202f}|[\x{2010}-\x{2015}]|\) ?|[ -]?\(| - )"
_AREA = rf"(?:{_PLUS} ?[0-9]{{1,3}}[ (0)]{{1,5}}[0-9]{{1,5}}|\(?0[0-9]{{1,4}})\)? / "
_CANDIDATE = (
    rf"(?:{_AREA}[0-9](?:{_GAP}?[0-9]){{3,}}|(?:{_PLUS} ?\(?|\()?[0-9](?:{_GAP}?[0-9]){{6,}})"
)
_IN_BYTES = (
    (r"\x{a0}", rb"\xc2\xa0"),
    (r"\x{2009}", rb"\xe2\x80\x89"),
    (r"\x{202f}", rb"\xe2\x80\xaf"),
    (r"[\x{2010}-\x{2015}]", rb"\xe2\x80[\x90-\x95]"),
    ("＋", rb"\xef\xbc\x8b"),
    (",}", b",}+"),  # no digit is given back
)


def _twin(pattern: str) -> re.Pattern[bytes]:
    """Return a pattern of RE2 as one of `re`: quicker where there are many finds."""
    written = pattern.encode()
    for one, other in _IN_BYTES:
        written = written.replace(one.encode(), other)
    return re.compile(rb"(?=[0-9+(\xef])(?:" + written + b")")


_CANDIDATE_TWIN = _twin(_CANDIDATE)
_SPACES = re.compile(b"\xc2\xa0|\xe2\x80[\x89\xaf]")
_DASHES = re.compile(b"\xe2\x80[\x90-\x95]")
_MOST_DIGITS = 15
_SHORT_ROW = 200
_CLEAR = frozenset(b" \t\r\n()[]{}<>\"'`:;,.|*~!?\\")
"""What may stand right before and after a number."""
_NEVER_BEFORE = frozenset(range(128)) - _CLEAR - frozenset(b"/=")
_GOES_ON = re.compile(rb"[.,:]\d|\)?\.?\d")
_BEFORE_EXTENSION = frozenset(b" ,#xXeE")
_WORD_BEFORE = (
    r"(?i)(?:\btel|\btlf|phone|\bfone?\b|\bgsm\b|\bnatel\b|mobil|\bcell\b|\bhandy|\bcall|\bdial|"
    r"\bring\b|\breach|\btext (?:me|us)|\bsms|\bfax|whatsapp|hotline|\bph\b|\bmob\b|tél|móvil|"
    r"celular|\bruf|rückruf|durchwahl|wa\.me|viber|helpline|\bappel|\bll[aá]m|\banruf|тел|电话|電話|"
    r"手机|座机|전화|☎|📞|📱)[^\n\d]{0,24}$"
)
_OTHER_WORD_BEFORE = (
    r"(?i)\b(?:case|part|order|invoice|ticket|sku|serial|article|item|model|batch|lot|ref|reference|"
    r"customer|account|contract|docket|patent|bestell\w*|rechnung\w*|artikel\w*|auftrag\w*|"
    r"kunden\w*|facture|commande|factura|pedido)"
    r"(?:[ -]?(?:no|nr|num|number|id|nummer))?[ .:#]{0,4}$"
)
"""Numbers after such words are theirs, however much they look like those of a phone."""
_BACK_TO_DIGIT = re.compile(rb"[^\n\d]*")
_BEFORE = 40
"""Bytes before a number, after another, in which a word may say what it is."""
_RIGHT_BEFORE = 8
_OTHER_THING = re.compile(
    # dates and spans of years
    rb"(?:19|20)\d\d[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:0?[1-9]|[12]\d|3[01])(?:\D.*)?|"
    rb"(?:0?[1-9]|[12]\d|3[01])[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:19|20)\d\d(?:\D.*)?|"
    rb"(?:0?[1-9]|1[0-2])[-./ ](?:0?[1-9]|[12]\d|3[01])[-./ ](?:19|20)\d\d(?:\D.*)?|"
    rb"(?:19|20)\d\d ?[-/] ?(?:19|20)\d\d(?:\D.*)?|(?:19|20)\d\d[01]\d[0-3]\d(?:[- ]\d+)?|"
    # numbers of books, addresses of machines, cards, social security, thousands, decimals
    rb"97[89][- ]?\d.*|\d{1,3}(?:\.\d{1,3}){3}|(?:\d{4}[ -]){3,}\d{1,4}|\d{3}-\d{2}-\d{4}|"
    rb"[1-9]\d{0,2}(?:[ .]\d{3})+|\d+\.\d+(?:[ /-]+\d+\.\d+)*|"
    rb"\d{1,2} ?[-/] ?\d{1,2} ?[-/] ?\d{1,4}|"
    # versions and numbers with a leading year
    rb"\d{1,2}\.\d{1,2}\.\d{1,6}(?:[.-]\d+)*|(?:19|20)\d\d[-/]\d{3,7}|\d{5}-\d{4}|"
    # pairs of bytes, spans of numbers, numbers of journals
    rb"[1-9]\d(?: \d\d)+|[1-9]\d{3,5}-\d{4,6}|\d{4}-\d{3}[\dxX]|\d \d{6,}|"
    # round numbers, pairs of frequencies
    rb"[1-9]\d{0,2}0{5,}|[1-9]\d{2,3}/\d{3,4}"
)
_IN_THREES = re.compile(rb"[6-9]\d\d \d{3} \d{3}|\d\d(?: \d\d){3}")
"""Thousands or bytes apart, or after a word for it a phone's, as in Spain, Poland and Norway."""
_PLAIN = (
    # North America, whatever the area
    rb"(?:\+?1[-. ]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[- ])[2-9]\d\d[- ]\d{4}|"
    rb"(?:\+?1[-. ])?\(?\d{3}\)?-\d{3}-\d{4}|(?:\+?1[. ])?\d{3}\.\d{3}\.\d{4}|"
    rb"(?:\+?1[-. ]?)?\(\d{3}\) ?\d{3}[-. ]?\d{4}|"
    # France with dots, East Asia, Germany; what Britain keeps for films and examples
    rb"0[1-9](?:\.\d\d){4}|0\d{1,3}-\d{3,4}-\d{4}|0[1-9]\d{1,3}(?:[ /]| / )\d{6,8}|"
    rb"01(?:5\d|6[023]|7\d)\d?(?:[ /-]| / )\d{2,4}(?:[ -]\d{1,4}){1,4}|"
    # Germany with its area in brackets, Sweden, Brazil, Russia, mobile ones of China
    rb"\(0[1-9]\d{1,3}\) ?\d{2,4}(?: \d{2,4}){1,3}|0\d{1,3}-\d{2,3}(?: \d{2,3}){2}|"
    rb"\([1-9]\d\) ?9?\d{4}-\d{4}|(?:8[ -])?\([3-9]\d\d\) ?\d{3}-\d\d-\d\d|8-\d{3}-\d{3}-\d\d-\d\d|"
    rb"1[3-9]\d(?: \d{4} \d{4}|-\d{4}-\d{4})|"
    rb"\(?0(?:1632\)? ?960 ?|1\d\d\)? ?496 ?0|7700 ?900 ?|8081 ?570 ?|3069 ?990 ?)\d{3}"
)
_PLAIN_TO_SEE = re.compile(_PLAIN)
_PLAIN_TWIN = _twin(_PLAIN.decode())
_WITH_CODE = re.compile(
    rb"\+ ?(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1-6689]\d|3[578]\d|42\d|"
    rb"5[09]\d|6[789]\d|8[05789]\d|9[679]\d)[ ().\d/-]*"
)
_NAMED_CLOSELY = re.compile(rb"(?:^|[^A-Za-z0-9_])(?:tel|fax|mob|phone|ph)$", re.IGNORECASE)
_DOI = re.compile(rb"\b10\.\d{4,9}/[^\s\"<>]{0,60}$")
"""The name of an article, of which digits are a part."""
_THOUSANDS_BEGIN = re.compile(rb"(?:^|[^\d.,-])\d{1,3},$")
_THOUSANDS_GO_ON = re.compile(rb"\d{3} \d")
"""The first three digits of a row belong to a number before it: `1,234 555 6789`."""
_EXTENSION = re.compile(
    rb"(?i),? ?(?:ext(?:ension)?\.?|x|#|durchwahl|poste|nst\.?|app\.?)[ :]?\d{1,6}\b"
)
_LIKES_ASKED = 20
"""Numbers of one shape of which none is a phone's, after which no more of them is asked about."""
_LIKES_ENOUGH = 500
"""Candidates of one look after which each more is taken for a number if all of them were."""
_LIKES_SEEN = 100
"""And so once the plans are asked no more if half of them were; for none, if none of them was."""


def find_phones(data: bytes, regions: tuple[str, ...], allowance: Allowance) -> Iterator[Found]:
    """Yield the phone numbers of a text."""
    accepts = _Judge(data, regions, allowance).accepts
    size = len(data)
    for rows in _rows_of_digits(data):
        for start, end in rows:
            if accepts(start, end):
                goes_on = end < size and data[end] in _BEFORE_EXTENSION
                extension = _EXTENSION.match(data, end) if goes_on else None
                yield start, extension.end() if extension else end, "phone"


def _rows_of_digits(data: bytes) -> Iterator[list[tuple[int, int]]]:
    for rows in spans_of(_CANDIDATE, _CANDIDATE_TWIN, data):
        if all(end - start <= _MOST_DIGITS for start, end in rows):
            yield rows
            continue
        for start, end in rows:
            if count_digits(data[start : min(end, start + 120)]) <= _MOST_DIGITS:
                yield [(start, end)]
            elif b" " not in data[start : start + 40]:
                continue  # one long number, not several in a row
            elif end - start <= _SHORT_ROW:
                yield [match.span() for match in _PLAIN_TWIN.finditer(data, start, end)]
            else:
                yield from spans_of(_PLAIN.decode(), _PLAIN_TWIN, data, start, end)


def _is_apart(data: bytes, start: int, end: int) -> bool:
    """Tell whether a row of digits stands for itself and is not a part of something else."""
    if start and data[start - 1] not in _CLEAR and data[start] != 43:
        known = data[max(0, start - 6) : start].lower().endswith((b"wa.me/", b"tel:", b"="))
        return known or data[start - 1] >= 128 or _is_named_closely(data, start)
    if _THOUSANDS_GO_ON.match(data, start) and _THOUSANDS_BEGIN.search(
        data, max(0, start - 5), start
    ):
        return False
    if end == len(data):
        return True
    following = data[end]
    if following in _CLEAR:
        return following not in b".,:)" or not _GOES_ON.match(data, end)
    return following >= 128


def _names_an_article(data: bytes, start: int) -> bool:
    """Tell whether a row of digits is a part of what an article is named by."""
    is_joined = start > 0 and data[start - 1] > 32
    return is_joined and _DOI.search(data, max(0, start - 80), start) is not None


def _is_named_closely(data: bytes, start: int) -> bool:
    """Tell whether `TEL` or the like stands right before a row of digits."""
    return _NAMED_CLOSELY.search(data, max(0, start - 8), start) is not None


def _said_before(data: bytes, start: int) -> bytes:
    """Return what stands before a row of digits: in its line, and after any other digit."""
    before = data[max(0, start - _BEFORE) : start]
    since = _BACK_TO_DIGIT.match(before[::-1]).end()  # type: ignore[union-attr]  # matches always
    return before[len(before) - since :]


def _is_announced(before: bytes) -> bool:
    """Tell whether a word such as `Tel.` stands before a row of digits."""
    return len(before) >= 3 and _announces(before)


@lru_cache(maxsize=4096)
def _announces(before: bytes) -> bool:
    return compiled(_WORD_BEFORE).search(before) is not None


def _is_of_other_things(before: bytes) -> bool:
    """Tell whether a word such as `Order` stands before a row of digits."""
    return before.rstrip(b" .:#")[-1:].isalpha() and _belongs(before)


@lru_cache(maxsize=4096)
def _belongs(before: bytes) -> bool:
    return compiled(_OTHER_WORD_BEFORE).search(before) is not None


def _is_clear(numbers: int, judged: int) -> bool:
    """Tell whether what was judged of one look says enough of the rest."""
    return not numbers or 2 * numbers >= judged


class _Judge:
    """Decides on the candidates of one text."""

    def __init__(self, data: bytes, regions: tuple[str, ...], allowance: Allowance) -> None:
        self._data = data
        self._look = data.translate(_SHAPE)
        self._regions = regions
        self._allowance = allowance
        self._shapes: dict[bytes, list[int]] = {}
        self._likes: dict[bytes, list[int]] = {}
        self._last = 0

    def accepts(self, start: int, end: int) -> bool:
        """Tell whether a candidate is a phone number; long lists are not read to their end."""
        is_tied = start and self._data[start - 1] in _NEVER_BEFORE and self._data[start] != 43
        if is_tied and not _is_named_closely(self._data, start):
            return False
        before = max(start - _BEFORE, min(self._last, start - _RIGHT_BEFORE), 0)
        self._last = end
        look = self._look[before : end + 3]
        likes = self._likes.get(look)
        if likes is None:
            likes = self._likes[look] = [0, 0]
        elif likes[1] >= _LIKES_ENOUGH and likes[0] == likes[1]:
            return True
        elif self._allowance.asks <= 0 and likes[1] >= _LIKES_SEEN and _is_clear(*likes):
            return likes[0] > 0
        is_number = self._is_number(start, end)
        likes[0] += is_number
        likes[1] += 1
        return is_number

    def _is_number(self, start: int, end: int) -> bool:
        if not _is_apart(self._data, start, end) or _names_an_article(self._data, start):
            return False
        found = self._data[start:end]
        if not found.isascii():
            found = _DASHES.sub(b"-", _SPACES.sub(b" ", found)).replace("＋".encode(), b"+")
        if found[0] == 40 and b")" not in found:
            found = found[1:]
        if found[0] == 43:
            return self._accepts_with_code(found, start)
        if _PLAIN_TO_SEE.fullmatch(found):
            return True
        is_other = _OTHER_THING.fullmatch(found) is not None
        if is_other and not _IN_THREES.fullmatch(found):
            return False
        before = _said_before(self._data, start)
        if _is_announced(before):
            return True
        if is_other:
            return False
        if found.isdigit() or _is_of_other_things(before):
            return False
        return self._ask(found)

    def _accepts_with_code(self, found: bytes, start: int) -> bool:
        digits = count_digits(found)
        if not 8 <= digits <= _MOST_DIGITS or not _WITH_CODE.fullmatch(found):
            return False
        if digits >= 10 and not THOUSANDS.fullmatch(found):
            return True
        return _is_announced(_said_before(self._data, start)) or self._ask(found)

    def _ask(self, found: bytes) -> bool:
        """Ask the numbering plans; once they were asked often, what could be a number is one.

        Unless a good many of its likes were asked about, and none of them was.
        """
        shape = found.translate(_SHAPE)
        yes_and_all = self._shapes.setdefault(shape, [0, 0])
        if self._allowance.asks <= 0:
            known_not = yes_and_all[1] >= _LIKES_ASKED and not yes_and_all[0]
            return not known_not and fits_any(found, self._regions)
        text = found.decode()
        answer = False
        for region in countries_of(found, self._regions):
            self._allowance.asks -= 1
            answer = is_phone_number(text, region)
            if answer:
                break
        yes_and_all[0] += answer
        yes_and_all[1] += 1
        return answer


_SHAPE = bytes(48 if byte in b"0123456789" else byte for byte in range(256))
