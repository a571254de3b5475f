"""The arguments of the `files` tools, with their defaults and bounds."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from bookwheel.contracts.tool import NOT_A_FLAG, NOT_BLANK, Arguments

MOST_RESULTS = 100
MOST_FILTERED = 100
LONGEST_PATH = 4096
LONGEST_QUERY = 10_000
_EXTENSION = re.compile(r"[\w.+-]{1,40}")
_YEAR = re.compile("[12][0-9]{3}")


def _few(names: list[str]) -> list[str]:
    if len(names) > MOST_FILTERED:
        raise ValueError(f"must hold at most {MOST_FILTERED} entries")
    return list(dict.fromkeys(names))


def _extensions(names: list[str]) -> list[str]:
    bare = [name.strip().lstrip("*").lstrip(".").lower() for name in names]
    if not all(map(_EXTENSION.fullmatch, bare)):
        raise ValueError("must hold file extensions such as '.docx' or 'pdf'")
    return _few([f".{name}" for name in bare])


def _years(names: list[str]) -> list[str]:
    years = [name.strip() for name in names]
    if not all(map(_YEAR.fullmatch, years)):
        raise ValueError("must hold years of four digits from 1000 to 2999, such as '2021'")
    return _few(years)


Count = Annotated[int, Field(ge=1, le=MOST_RESULTS), NOT_A_FLAG]
FromZero = Annotated[int, Field(ge=0), NOT_A_FLAG]
Path = Annotated[str, Field(min_length=1, max_length=LONGEST_PATH)]


class ListRoots(Arguments):
    """The tool takes none."""


class SearchFiles(Arguments):
    """What to look for, and where."""

    query: Annotated[str, Field(max_length=LONGEST_QUERY), NOT_BLANK] = Field(
        description="What to look for, in words. File types, years and folders stated in it count "
        'as filters ("contracts from 2021 in ppt or docx"). AND, OR, NOT, NEAR/5, parentheses '
        'and "quotes" are understood'
    )
    k: Count = Field(10, description="Maximum results, 1 to 100")
    offset: FromZero = Field(0, description="Results to skip, to go on from an earlier answer")
    exts: Annotated[list[str], AfterValidator(_extensions)] | None = Field(
        None, description="Only files with these extensions, such as .pptx"
    )
    years: Annotated[list[str], AfterValidator(_years)] | None = Field(
        None, description="Only files with one of these years in their name or text"
    )
    roots: Annotated[list[Path], AfterValidator(_few)] | None = Field(
        None, description="Only files in these roots, or in these folders of roots"
    )


class OpenFile(Arguments):
    """Which file to look into, and where."""

    path: Path = Field(description="Absolute path of the file, as searchFiles gives it")
    pointer: Annotated[str, Field(max_length=1000)] | None = Field(
        None,
        description="Place in the file, as searchFiles gives it: page 3, slide 7, sheet 'Q2', "
        "lines 73-84. Without one, the beginning is shown",
    )
    before: FromZero = Field(200, description="Characters to show before the place")
    after: FromZero = Field(200, description="Characters to show after the place")
