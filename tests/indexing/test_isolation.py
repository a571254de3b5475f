"""Hostile and broken files through the real pipeline: each costs itself and nothing else."""

from __future__ import annotations

import logging
import os

import pytest

from bookwheel.indexing import indexer
from bookwheel.model import Status
from bookwheel.query import SearchRequest
from tests.conftest import LONG_AGO, Shelf, timeless
from tests.formats.hostile import HOSTILE

QUICK = (
    *("zeros.docx", "laughs.docx", "outside.docx", "tables.docx", "flagged.docx", "password.docx"),
    *("cut.docx", "image.docx", "text.docx", "sparse.xlsx", "laughs.xlsx", "groups.pptx"),
    *("spaces.odt", "self.pdf", "head.pdf", "deep.html", "brackets.md", "yaml.md", "aliases.md"),
    *("nested.ipynb", "parts.eml", "nested.eml", "laughs.epub", "rubbish.doc", "rubbish.msg"),
)
EMPTY = ("empty.eml", "empty.md")
GOOD = {"a.md": "zebra", "m/n.txt": "zebra", "z.html": "<p>zebra"}
NOTHING = ("empty.docx", "empty.pdf", "empty.xlsx")
EXPECTED = {
    **dict.fromkeys(NOTHING, Status.NO_TEXT),
    "zeros.docx": Status.TOO_LARGE,
    "laughs.docx": Status.UNREADABLE,
    "outside.docx": Status.UNREADABLE,
    "flagged.docx": Status.ENCRYPTED,
    "password.docx": Status.ENCRYPTED,
    "cut.docx": Status.UNREADABLE,
    "image.docx": Status.UNREADABLE,
    "text.docx": Status.UNREADABLE,
    "head.pdf": Status.UNREADABLE,
    "nested.ipynb": Status.UNREADABLE,
}
"""Those whose fate is certain; of the others a reader may find some text, or none."""


def fill(shelf: Shelf) -> None:
    for path, text in GOOD.items():
        shelf.put(path, text)
    for name in QUICK:
        shelf.put(f"bad/{name}", HOSTILE[name]())
    for name in (*EMPTY, *NOTHING):
        shelf.put(f"bad/{name}", b"")


@pytest.mark.timeout(300)
@pytest.mark.requirement("X-029")
def test_t18_every_hostile_file_gets_a_status_and_good_neighbours_are_indexed(shelf: Shelf) -> None:
    fill(shelf)
    with shelf.open(workers=2) as library:
        (report,) = library.update()
        ledger = {each.path: each for each in library.ledger()}
        paths = set(library.paths("notes"))
        found = library.search(SearchRequest("zebra", fuzzy=False))
        (again,) = library.update()

    assert {hit.document for hit in found.hits} == set(GOOD)
    assert set(GOOD) | {f"bad/{name}" for name in EMPTY} <= paths
    assert paths | set(ledger) == set(GOOD) | {f"bad/{name}" for name in (*QUICK, *EMPTY, *NOTHING)}
    assert (report.indexed, report.unreadable) == (len(paths), len(ledger))
    assert {name: ledger[f"bad/{name}"].status for name in EXPECTED} == EXPECTED
    assert all(each.reason for each in ledger.values())
    assert (found.unreadable, found.files) == (len(ledger), len(paths) + len(ledger))
    # What crashed, hung or was refused is remembered: nothing is read a second time.
    assert (again.indexed, again.unreadable, again.unchanged) == (0, 0, found.files)


@pytest.fixture
def crashing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A folder with a file that kills its reader, and a good one."""
    marker = shelf.place / "reads"
    code = (
        "import os\nfrom bookwheel.formats import text\n_read = text.read\n"
        "def read(data, path):\n"
        "    if data.startswith(b'CRASH'):\n"
        f"        open({str(marker)!r}, 'a').write(path + chr(10))\n"
        "        os.abort()\n"
        "    return _read(data, path)\n"
        "text.read = read\n"
    )
    site = shelf.place / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    shelf.put("bad.txt", "CRASH")
    shelf.put("good.txt", "zebra")
    return shelf


def count_reads(shelf: Shelf) -> int:
    """Return how often the file that kills its reader was tried; in a batch, then alone."""
    marker = shelf.place / "reads"
    return len(marker.read_text(encoding="utf-8").split()) if marker.exists() else 0


def failed(shelf: Shelf) -> dict[str, tuple[str, str]]:
    with shelf.open() as library:
        return {each.path: (str(each.status), each.reason) for each in library.ledger()}


def test_a_file_that_crashed_its_reader_is_not_tried_again_until_it_changes(
    crashing: Shelf, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    (first,) = crashing.update()
    assert (first.indexed, first.unreadable) == (1, 1)
    assert failed(crashing) == {
        "bad.txt": ("failed", "its reader crashed (the worker was killed by SIGABRT)")
    }
    assert "bad.txt: crash: the worker was killed by SIGABRT" in caplog.text
    tried = count_reads(crashing)
    assert tried > 0

    (second,) = crashing.update()
    assert (second.unchanged, count_reads(crashing)) == (2, tried)

    crashing.put("bad.txt", "CRASH", at=LONG_AGO + 1)  # as if written anew
    (third,) = crashing.update()
    assert (third.unreadable, third.unchanged) == (1, 1)
    assert count_reads(crashing) > tried

    tried = count_reads(crashing)
    monkeypatch.setattr(indexer, "READERS_VERSION", "of tomorrow")
    (fourth,) = crashing.update()
    assert (fourth.indexed, fourth.unchanged) == (1, 1)  # tried again in vain
    assert count_reads(crashing) > tried

    crashing.put("bad.txt", "zebra", at=LONG_AGO + 2)
    assert timeless(crashing.update()[0]).indexed == 1
    assert failed(crashing) == {}
