"""Looking through an audit: which lines were changed, taken out, moved or put in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bookwheel.errors import BadRequest, NotFound
from bookwheel.telemetry.audit import files_of, head_of, key_of
from bookwheel.telemetry.chain import START, Head, Line, read_head, read_key, read_line

_SPOILT = 0
"""Stands for the number of a line whose seal is wrong."""


class Finding(NamedTuple):
    """Something wrong with an audit; `where` is a file and a line in it."""

    where: str
    what: str


class Verdict(NamedTuple):
    """What a look through an audit gave."""

    lines: int
    findings: list[Finding]


class _Seen(NamedTuple):
    where: str
    line: Line | None


def verify(audit: Path, key: Path | None = None) -> Verdict:
    """Look through all files of an audit; NotFound if there are none."""
    files = files_of(audit)
    if not files:
        raise NotFound(f"There is no audit {audit}.")
    try:
        secret = read_key(key or key_of(audit))
        seen = [
            _Seen(f"{file.name}:{place}", read_line(secret, text))
            for file in files
            for place, text in enumerate(_lines(file), 1)
        ]
    except OSError as error:
        raise BadRequest(f"{error.filename} cannot be read: {error.strerror}.") from None
    try:
        head = read_head(secret, head_of(audit).read_bytes())
    except OSError:
        head = None
    findings = [*_find_in_lines(seen), *_find_at_ends(seen, head, audit)]
    return Verdict(len(seen), findings)


def _lines(file: Path) -> Sequence[str]:
    text = file.read_bytes().decode("ascii", "replace")  # line ends as they are
    return text.removesuffix("\n").split("\n") if text else []


def _find_in_lines(seen: Sequence[_Seen]) -> Iterator[Finding]:
    """Give what is wrong between the first line and the last."""
    there = {each.line.number for each in seen if each.line}
    met = set[int]()
    last: Line | None = None
    broken: list[str] = []
    for where, line in seen:
        if line is None:
            broken.append(where)
        elif line.number in met:
            yield Finding(where, f"was put in: it is line {line.number} a second time")
        elif last is not None and line.number < last.number:
            yield Finding(where, f"was moved: line {line.number} stands behind line {last.number}")
        else:
            # What came before the first line was put aside; nobody counts that again.
            first = last.number + 1 if last else line.number
            gap = [number for number in range(first, line.number) if number not in there]
            yield from _find_before(where, line, last, gap, broken)
            last, broken = line, []
        if line is not None:
            met.add(line.number)
    yield from (Finding(where, "was changed or put in: its seal is wrong") for where in broken)


def _find_before(
    where: str, line: Line, last: Line | None, gap: Sequence[int], broken: Sequence[str]
) -> Iterator[Finding]:
    """Give what is wrong between one line and the one that must follow it."""
    how = "changed" if gap or last is None else "put in"
    yield from (Finding(each, f"was {how}: its seal is wrong") for each in broken)
    if len(gap) > len(broken):
        yield Finding(where, f"follows a gap: {_tell_gap(gap, len(gap) - len(broken))}")
    if last is not None and line.number == last.number + 1 and line.before != last.seal:
        yield Finding(
            where, "does not follow from the line before: one of them is of another audit"
        )
    if line.number == 1 and line.before != START:
        yield Finding(where, "does not begin an audit")


def _tell_gap(gap: Sequence[int], gone: int) -> str:
    if len(gap) == 1:
        return f"line {gap[0]} was taken out"
    some = "" if gone == len(gap) else f"{gone} of "
    return f"{some}lines {gap[0]} to {gap[-1]} {'was' if gone == 1 else 'were'} taken out"


def _find_at_ends(seen: Sequence[_Seen], head: Head | None, audit: Path) -> Iterator[Finding]:
    """Give what the head says that the lines do not."""
    name = head_of(audit).name
    if head is None:
        yield Finding(name, "is missing or was changed: lines at the end may be gone unseen")
        return
    numbers = [each.line.number if each.line else _SPOILT for each in seen]
    good = [number for number in numbers if number != _SPOILT]
    lowest, highest = (min(good), max(good)) if good else (head.first, head.first - 1)
    # A spoilt line stands for one that is missing only if it is where that one was.
    first = numbers.index(lowest) if good else 0
    last = len(numbers) - 1 - numbers[::-1].index(highest) if good else -1
    spoilt_before, spoilt_after = (
        part.count(_SPOILT) for part in (numbers[:first], numbers[last + 1 :])
    )
    if lowest - head.first > spoilt_before:
        yield Finding(name, f"says that the audit begins at line {head.first}, not at {lowest}")
    gone = head.last - highest
    if gone > spoilt_after:
        were = "was" if gone == 1 else "were"
        yield Finding(name, f"says that the audit ends at line {head.last}: {gone} {were} cut off")
    elif highest > head.last + 1:
        yield Finding(name, f"is older than the lines: it ends at line {head.last}")
