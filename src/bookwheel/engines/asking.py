"""What entries and questions have in common, whichever engine keeps them."""

from __future__ import annotations

from collections.abc import Container, Iterable

from bookwheel.engines.base import Field, InOrder, Match, Phrase
from bookwheel.text.entries import file_name
from bookwheel.text.words import normal_title


def askable(text: str) -> str:
    """Return a text that can be asked for; half characters, which nothing here has, become marks.

    Names of files in a foreign encoding reach us with such halves from the command line.
    """
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def day_number(date: str) -> int:
    """Return a date of the form YYYY-MM-DD as one comparable number; 0 for none."""
    digits = date[:10].replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isascii() and digits.isdigit() else 0


def folder_terms(path: str) -> list[str]:
    """Return a term for every folder above a path."""
    ends = [at for at, letter in enumerate(path) if letter == "/"]
    return [path[:end] for end in ends]


def same_titles(title: str, path: str, private: Container[str]) -> list[str]:
    """Return what a page is called, so that who asks for just that finds it first.

    That is its title, and the name of its file, as far as nothing is redacted in them.
    """
    called = dict.fromkeys(map(normal_title, (title, file_name(path))))
    return [name for name in called if name and name not in private]


def without_titles(match: Match) -> Match:
    """Return what of a match chunks can meet: they hold no titles, and looking costs as much."""
    return match._replace(
        clauses=tuple(
            tuple(term for term in clause if term.field is not Field.TITLE)
            for clause in match.clauses
        ),
        bonus=tuple(term for term in match.bonus if term.field is not Field.TITLE),
    )


def in_order(phrases: Iterable[Phrase]) -> list[InOrder]:
    """Return phrases as conditions; one without words asks for nothing."""
    return [each if isinstance(each, InOrder) else InOrder(each) for each in phrases if each]
