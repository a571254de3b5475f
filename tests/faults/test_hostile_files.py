"""Hostile and randomly changed files of every format through the real worker pool.

Whatever becomes of a worker, the process that gave it the files lives on, waits no longer than the
deadlines allow, and has one outcome for each file. `-s` shows how many there were of each.
"""

from __future__ import annotations

import os
import random
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pytest

from bookwheel.formats.registry import SUPPORTED
from bookwheel.indexing.prepare import MAX_FILE_BYTES
from bookwheel.indexing.wire import unpack
from bookwheel.indexing.worker import Limits, Task, WorkerPool
from bookwheel.model import Draft
from tests.faults.sizes import PropertyRecorder, size
from tests.formats import hostile, making_word
from tests.formats.making_msg import ole_file, properties, wide
from tests.formats.making_office import (
    label,
    number,
    old_slide,
    opendocument,
    ppt,
    text_atoms,
    text_shape,
    xls,
)
from tests.formats.making_zips import make_zip

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3_600)]

MUTATED = size("FILES", 5_000)
STEP = 500
LIMITS = Limits()
HANDLER = "bookwheel.indexing.prepare:make_prepare"
_SLIDE = old_slide(text_shape(text_atoms(1, "hello")))
MADE = {
    "a.docx": hostile.word("<w:p><w:r><w:t>hello</w:t></w:r></w:p>" * 20),
    "a.xlsx": hostile.sheet(hostile.rows_of_cells(9, 4)),
    "a.pptx": hostile.slides(hostile._SHAPE * 3),
    "a.odt": hostile.open_document("text", "<office:text><text:p>hello</text:p></office:text>"),
    "a.epub": hostile.book(),
    "a.pdf": hostile.pdf(hostile.page(hostile.stream(b"BT /F 9 Tf 9 9 Td (hello) Tj ET"))),
    "a.eml": hostile.mail_of_parts(3),
    "a.ipynb": hostile.notebook({"cell_type": "code", "source": "x = 1"}),
    "a.rtf": rb"{\rtf1\ansi hello {\b world}\par}",
    "a.md": b"---\ntitle: x\n---\n# Hello\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a.html": b"<html><h1>Hello</h1><table><tr><td>1</table>",
    "a.csv": b'a,b\n1,"two\nlines"\n',
    "a.tsv": b"a\tb\n1\ttwo\n",
    "a.rst": b"Hello\n=====\n\n.. note:: x\n\n+---+---+\n| a | b |\n+---+---+\n",
    "a.org": b"#+TITLE: x\n* Hello\n#+BEGIN_SRC sh\nls\n#+END_SRC\n| a | b |\n",
    "a.adoc": b"= Hello\n:key: x\n\n== One\n\n|===\n| {key} | b\n|===\n----\nls\n----\n",
    "a.doc": making_word.doc("Hello\rold world\r"),
    "a.ppt": ppt([(_SLIDE, text_atoms(1, "outline")), (_SLIDE, b"")], [_SLIDE]),
    "a.xls": xls(label(0, 0, "hello"), number(1, 1, 2.5)),
    "a.msg": ole_file(
        {"__properties_version1.0": properties(32), **wide(x0037="Hello", x1000="A mail.")}
    ),
    "a.ods": opendocument(
        "spreadsheet",
        "<office:body><office:spreadsheet><table:table table:name='One'><table:table-row>"
        "<table:table-cell office:value-type='string'><text:p>hello</text:p></table:table-cell>"
        "</table:table-row></table:table></office:spreadsheet></office:body>",
    ),
    "a.odp": opendocument(
        "presentation",
        "<office:body><office:presentation><draw:page><draw:frame><draw:text-box>"
        "<text:p>hello</text:p></draw:text-box></draw:frame></draw:page>"
        "</office:presentation></office:body>",
    ),
}
"""What is changed where no folder of real files is named by BOOKWHEEL_TEST_FORMATS."""


def test_t18_hostile_files_cost_only_themselves(tmp_path: Path) -> None:
    assert len(hostile.HOSTILE) >= 50
    files = ((name, make()) for name, make in hostile.HOSTILE.items())
    count(run(tmp_path, files), len(hostile.HOSTILE))


def test_t18_changed_files_cost_only_themselves(
    tmp_path: Path, record_property: PropertyRecorder
) -> None:
    outcomes: list[tuple[str, str]] = []
    files = mutations(read_originals(), random.Random(38))
    for _ in range(MUTATED // STEP):  # by steps, so that the folder stays small
        outcomes += run(tmp_path, (next(files) for _ in range(STEP)))
    count(outcomes, MUTATED)
    kinds = Counter(said.partition(": ")[0] for _, said in outcomes)
    shown = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    record_property("figure", f"{MUTATED:,} changed files of {len(MADE)} formats: {shown}")


def read_originals() -> dict[str, bytes]:
    named = os.environ.get("BOOKWHEEL_TEST_FORMATS")
    if not named:
        return MADE
    paths = sorted(path for path in Path(named).rglob("*") if path.suffix.lower() in SUPPORTED)
    return {path.name: path.read_bytes() for path in paths if path.stat().st_size < 300_000}


def mutations(originals: dict[str, bytes], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Give each file in turn with bytes changed, cut off, put in or repeated."""
    number = 0
    while True:
        for name, data in originals.items():
            number += 1
            changed = mutate_inside(data, chance) if chance.random() < 0.5 else None
            yield f"{number:06}-{name}", changed or mutate(data, chance)


def mutate_inside(data: bytes, chance: random.Random) -> bytes | None:
    """Change a member of a package whose sums are right again; nothing for other files."""
    try:
        with ZipFile(BytesIO(data)) as package:
            members = {name: package.read(name) for name in package.namelist()}
    except (BadZipFile, RuntimeError, ValueError, zlib.error):
        return None
    name = chance.choice([*members]) if members else ""
    return make_zip(members | {name: mutate(members[name], chance)}) if name else None


def mutate(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        at = chance.randrange(len(made) + 1)
        kind = chance.randrange(5)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(made):
            made[at : at + 4] = chance.choice((b"\xff" * 4, bytes(4), b"\x7f\xff\xff\xff"))
        elif kind == 2:
            made[at:at] = chance.randbytes(chance.randrange(1, 40))
        elif kind == 3:
            made[at:at] = made[at : at + chance.randrange(1, 2_000)]
        elif chance.random() < 0.3:
            del made[at:]
        else:
            del made[at : at + chance.randrange(1, 200)]
    return bytes(made)


def run(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """Return extension and outcome of each file, within the time that the pool allows."""
    weights: list[tuple[str, int]] = []
    for name, data in files:
        (folder / name).write_bytes(data)
        weights.append((name, len(data)))
    tasks = [Task(number, (name, b""), size) for number, (name, size) in enumerate(weights)]
    setup = ("hostile", str(folder), None, None, MAX_FILE_BYTES)
    outcomes: list[tuple[str, str]] = []
    began = time.monotonic()
    with WorkerPool(HANDLER, setup, workers=2, limits=LIMITS) as pool:
        for outcome in pool.run(tasks):
            name = weights[outcome.task.key][0]
            if outcome.failure is None:
                draft = unpack(outcome.result)
                assert isinstance(draft, Draft)
                assert draft.status == "ok" or draft.reason
                said = str(draft.status)
            else:
                said = f"failed: {outcome.failure.kind}"
                print(f"{name}: {outcome.failure}")  # noqa: T201 - what the run is for
                if outcome.failure.kind == "error":
                    said += f": {outcome.failure.detail[:60]}"
            outcomes.append((Path(name).suffix, said))
    longest = sum(LIMITS.allow_seconds(size) + 5 for _, size in weights)
    assert time.monotonic() - began < longest + LIMITS.start_seconds
    for name, _ in weights:
        (folder / name).unlink()
    return outcomes


def count(outcomes: list[tuple[str, str]], expected: int) -> None:
    """Print how many there were of each kind; every file has one."""
    for (extension, said), times in sorted(Counter(outcomes).items()):
        print(f"{extension:8} {times:6,}  {said}")  # noqa: T201 - what the run is for
    for said, times in Counter(said.partition(": ")[0] for _, said in outcomes).most_common():
        print(f"all      {times:6,}  {said}")  # noqa: T201 - what the run is for
    assert len(outcomes) == expected
    assert [said for _, said in outcomes if said.startswith("failed: error")] == []
