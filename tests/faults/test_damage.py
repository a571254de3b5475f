"""Damage to an index is noticed at opening or by the check, or it changes no answer."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bookwheel.errors import BookwheelError, IndexDamaged
from bookwheel.library import Library
from bookwheel.query import SearchRequest, SearchResults
from tests.engines.embedded.test_rebuild import open_library
from tests.faults.sizes import PropertyRecorder, size

WORDS = [f"w{number}ord" for number in range(120)]
QUERIES = [
    *WORDS[:60:5],
    "w1ord w2ord",
    '"w3ord w4ord"',
    "w5ord -w6ord",
    "-w7ord",
    "part 2",
    "title",
    "wq9ord",
    "w100ord w101ord w102ord",
]
Damage = Callable[[bytearray, random.Random], None]


def _truncate(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _zero(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data)) // 512 * 512
    end = min(len(data), start + 512 * chance.randint(1, 8))
    data[start:end] = bytes(end - start)


DAMAGES: tuple[Damage, ...] = (_truncate, _flip, _flip, _flip, _zero)


def _make_tree(folder: Path, chance: random.Random) -> None:
    folder.mkdir()
    for number in range(24):
        parts = [
            f"## Part {part}\n\nSee [w{part}](x.md). {' '.join(chance.choices(WORDS, k=120))}\n"
            for part in range(chance.randint(1, 4))
        ]
        text = f"# Title {number}\n\n{''.join(parts)}"
        (folder / f"{number}.md").write_text(text, encoding="utf-8")


def _answers(library: Library) -> list[SearchResults]:
    """Return the answers, but for times of files: the next update sees to those by itself."""
    answers = [library.search(SearchRequest(query, limit=5)) for query in QUERIES]
    return [
        answer._replace(hits=tuple(hit._replace(modified_ns=0) for hit in answer.hits))
        for answer in answers
    ]


def _files(index: Path) -> list[Path]:
    """Return the files of an index: the database as often as all the others together."""
    files = [
        path
        for path in sorted(index.rglob("*"))
        if path.is_file() and path.stat().st_size and not path.name.endswith((".lock", "-shm"))
    ]
    return [*files, *[index / "catalog.db"] * len(files)]


def _judge(library: Library, expected: list[SearchResults]) -> str:
    """Tell how a damage showed: refused, answered otherwise or the same, and found or not."""
    try:
        answers = _answers(library)
        if library.check():
            return "found"
    except IndexDamaged:
        return "refused as damaged"
    except BookwheelError as error:
        return f"refused: {error.message}"
    return "harmless" if answers == expected else "unnoticed"


def _damage_often(tmp_path: Path, rounds: int, *, repair_every: int) -> dict[str, int]:
    """Damage an index in as many ways; return how often it showed in which way."""
    chance = random.Random(7)
    tree, index = tmp_path / "tree", tmp_path / "index"
    _make_tree(tree, chance)
    with open_library(index, tree) as library:
        library.update()
        expected = _answers(library)
    seen: dict[str, int] = {}
    for number in range(rounds):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(index, copy)
        file = chance.choice(_files(copy))
        data = bytearray(file.read_bytes())
        damage = chance.choice(DAMAGES)
        damage(data, chance)
        file.write_bytes(data)
        with open_library(copy, tree) as library:
            said = _judge(library, expected)
            kind = said.split(":")[0]
            seen[kind] = seen.get(kind, 0) + 1
            what = f"{number}: {damage.__name__} in {file.relative_to(copy)}: {said}"
            assert kind != "unnoticed", what
            is_mended = not file.exists() or file.read_bytes() != data
            assert kind != "harmless" or damage is not _truncate or is_mended, what
            # A flipped bit may make a version that does not exist yet: refused, and rightly so.
            assert kind != "refused" or "newer Bookwheel" in said, what
            if kind != "refused" and number % repair_every == 0:
                library.repair()
                assert library.check() == [], what
                assert _answers(library) == expected, what
        shutil.rmtree(copy)
    assert {"refused as damaged", "found"} <= set(seen)
    return seen


@pytest.mark.timeout(300)
def test_f06_sixty_damages_are_noticed_or_harmless_and_repaired(tmp_path: Path) -> None:
    _damage_often(tmp_path, 60, repair_every=20)


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_f06_five_hundred_damages_are_noticed_or_harmless_and_repaired(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    damages = size("DAMAGES", 500)
    seen = _damage_often(tmp_path, damages, repair_every=5)
    shown = ", ".join(f"{number} {kind}" for kind, number in sorted(seen.items()))
    record_property("figure", f"{damages:,} damages: {shown}; 0 answered from unnoticed")
