"""Manifest and tests agree: nothing is built untested, nothing is tested unlisted.

Marks are read from the source of the tests, not from a run: the answer is the same under `-k` and
with xdist. `python -m tests.test_requirements` prints what is built and what is waiting for what.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MANIFEST = TESTS / "requirements.tsv"

HEADER = ("id", "toolset", "requirement", "state")
LEAST_ROWS = 367
TOOLSETS = {
    "F": "folder",
    "P": "pages",
    "D": "documents",
    "R": "files",
    "A": "archives",
    "X": "all",
}
"""The letter of an id names its toolset; the letters follow each other in this order."""

TOPICS = (
    "library",
    "benchmarks",
    "server",
    "folder",
    "pages",
    "documents",
    "files",
    "archives",
    "formats",
    "meaning",
    "operators",
    "site",
)
"""What a requirement may be waiting for."""

ID = re.compile(r"[FPDRAX]-[0-9]{3}")

IDLE = frozenset(f"pytest.mark.{name}" for name in ("skip", "xfail", "faults", "corpus"))
"""A test with one of these marks does not run, or need not pass, in `make check`: no proof."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the manifest."""

    id: str
    toolset: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One requirement id on one test."""

    id: str
    test: str
    proves: bool


# ------------------------------------------------------------------------------------ the readers


def read_manifest(path: Path) -> list[Requirement]:
    """Read the rows; a wrong header or width is an error that names the line."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    rows = [tuple(line.split("\t")) for line in lines]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(HEADER) or (number == 1) != (row == HEADER):
            raise ValueError(f"{path.name}:{number}: expected the columns {', '.join(HEADER)}")
    return [Requirement(*row) for row in rows[1:]]


def read_marks(folder: Path) -> list[Mark]:
    """Read the requirement marks of every test that pytest would collect below `folder`."""
    files = sorted({*folder.rglob("test_*.py"), *folder.rglob("*_test.py")})
    marks: list[Mark] = []
    for path in files:
        name = path.relative_to(folder).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        marks.extend(_marks_in(tree, (), name))
    return marks


def _marks_in(
    scope: ast.Module | ast.ClassDef, inherited: tuple[ast.expr, ...], name: str
) -> Iterator[Mark]:
    shared = (*inherited, *(part for node in scope.body for part in _pytestmark(node)))
    for node in scope.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("test"):
                expressions = (*shared, *node.decorator_list)
                proves = not any(_name(expression) in IDLE for expression in expressions)
                for id_ in _ids_in(expressions, f"{name}:{node.lineno}"):
                    yield Mark(id_, f"{name}::{node.name}", proves)
            case ast.ClassDef() if node.name.startswith("Test"):
                yield from _marks_in(node, (*shared, *node.decorator_list), name)


def _pytestmark(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=ast.List(elts=marks)):
            return marks
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=mark):
            return [mark]
    return []


def _ids_in(expressions: tuple[ast.expr, ...], place: str) -> Iterator[str]:
    """Yield the ids of all requirement marks, those on single cases (`pytest.param`) included."""
    for node in (node for expression in expressions for node in ast.walk(expression)):
        if not isinstance(node, ast.Call) or _name(node) != "pytest.mark.requirement":
            continue
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise ValueError(f"{place}: write requirement ids as plain strings")
            yield argument.value


def _name(expression: ast.expr) -> str:
    return ast.unparse(expression.func if isinstance(expression, ast.Call) else expression)


# ------------------------------------------------------------------------------------ the checker


def find_faults(rows: list[Requirement]) -> list[str]:
    """Say what is wrong with the manifest by itself."""
    return [
        *(f"{row.id}: {fault}" for row in rows for fault in _faults_of(row)),
        *(
            f"{after.id}: out of order or twice, after {before.id}"
            for before, after in pairwise(rows)
            if not _follows(before.id, after.id)
        ),
    ]


def _faults_of(row: Requirement) -> Iterator[str]:
    if not ID.fullmatch(row.id):
        yield "an id is one of F P D R A X, a hyphen and three digits"
    elif TOOLSETS[row.id[0]] != row.toolset:
        yield f"toolset is {row.toolset!r}, expected {TOOLSETS[row.id[0]]!r}"
    if not row.text.strip() or row.text != row.text.strip():
        yield "the requirement has no text, or blanks around it"
    if row.state != "built" and topic_of(row) not in TOPICS:
        yield f"state {row.state!r} is neither 'built' nor 'waiting: ' and a known topic"


def _follows(before: str, after: str) -> bool:
    """Within a letter numbers rise by one; the next letter begins at 001."""
    if not (ID.fullmatch(before) and ID.fullmatch(after)):
        return False
    letters = list(TOOLSETS)
    if before[0] == after[0]:
        return after[1:] == f"-{int(before[2:]) + 1:03}"
    return after[1:] == "-001" and letters.index(after[0]) == letters.index(before[0]) + 1


def find_gaps(rows: list[Requirement], marks: list[Mark]) -> list[str]:
    """Say where manifest and tests disagree, in both directions."""
    proven = {mark.id for mark in marks if mark.proves}
    states = {row.id: row.state for row in rows}
    untested = [
        f"{row.id} is built, but no test that runs in `make check` carries it: {row.text}"
        for row in rows
        if row.state == "built" and row.id not in proven
    ]
    unlisted = [
        f"{mark.id} is carried by {mark.test}, but is not in the manifest"
        for mark in marks
        if mark.id not in states
    ]
    unflipped = [
        f"{mark.id} is carried by {mark.test}, but still '{states[mark.id]}': make it 'built'"
        for mark in marks
        if mark.proves and states.get(mark.id, "built") != "built"
    ]
    return [*untested, *unlisted, *unflipped]


def topic_of(row: Requirement) -> str:
    """Return what the requirement is waiting for, or nothing."""
    return row.state.removeprefix("waiting: ") if row.state.startswith("waiting: ") else ""


def summarise(rows: list[Requirement]) -> str:
    """Tell in a few lines how many are built and how many wait for what."""
    waiting = Counter(topic_of(row) for row in rows if row.state != "built")
    lines = [f"{len(rows)} requirements, {len(rows) - waiting.total()} built"]
    lines += [f"{waiting[topic]:5} waiting: {topic}" for topic in TOPICS if waiting[topic]]
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------- the tests


def test_the_manifest_is_well_formed() -> None:
    rows = read_manifest(MANIFEST)
    assert find_faults(rows) == []
    assert len(rows) >= LEAST_ROWS


def test_manifest_and_tests_agree_in_both_directions() -> None:
    gaps = find_gaps(read_manifest(MANIFEST), read_marks(TESTS))
    assert not gaps, "\n".join(["", *gaps])


def test_every_waiting_requirement_is_counted_under_its_topic() -> None:
    rows = read_manifest(MANIFEST)
    counts = [int(line.split()[0]) for line in summarise(rows).splitlines()[1:]]
    assert sum(counts) == sum(row.state != "built" for row in rows), summarise(rows)


# A made-up project, on which each disagreement can be shown.


def manifest(*states: str) -> list[Requirement]:
    return [Requirement(f"F-{n:03}", "folder", "Text.", s) for n, s in enumerate(states, start=1)]


def marks_of(tmp_path: Path, source: str, name: str = "test_made_up.py") -> list[Mark]:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("import pytest\n" + textwrap.dedent(source), encoding="utf-8")
    return read_marks(tmp_path)


def test_a_built_requirement_without_a_test_is_reported(tmp_path: Path) -> None:
    marks = marks_of(tmp_path, "def test_a(): ...")
    assert find_gaps(manifest("built"), marks) == [
        "F-001 is built, but no test that runs in `make check` carries it: Text."
    ]


def test_an_id_that_the_manifest_lacks_is_reported(tmp_path: Path) -> None:
    marks = marks_of(tmp_path, "@pytest.mark.requirement('F-009')\ndef test_a(): ...")
    assert find_gaps(manifest("waiting: site"), marks) == [
        "F-009 is carried by test_made_up.py::test_a, but is not in the manifest"
    ]


def test_a_waiting_requirement_with_a_test_is_reported(tmp_path: Path) -> None:
    marks = marks_of(tmp_path, "@pytest.mark.requirement('F-001')\ndef test_a(): ...")
    assert find_gaps(manifest("waiting: site"), marks) == [
        "F-001 is carried by test_made_up.py::test_a, but still 'waiting: site': make it 'built'"
    ]


def test_a_made_up_project_in_agreement_has_no_gaps(tmp_path: Path) -> None:
    marks = marks_of(tmp_path, "@pytest.mark.requirement('F-001')\ndef test_a(): ...")
    assert find_gaps(manifest("built", "waiting: site"), marks) == []


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.requirement('F-001', 'F-002')\ndef test_a(): ...",
        "@pytest.mark.requirement('F-001')\n@pytest.mark.requirement('F-002')\ndef test_a(): ...",
        "@pytest.mark.requirement('F-001', 'F-002')\nasync def test_a(): ...",
        "pytestmark = pytest.mark.requirement('F-001', 'F-002')\ndef test_a(): ...",
        """
        pytestmark = [pytest.mark.requirement('F-001'), pytest.mark.requirement('F-002')]
        class TestA:
            def test_a(self): ...
        """,
        """
        @pytest.mark.requirement('F-001')
        class TestA:
            pytestmark = pytest.mark.requirement('F-002')
            def test_a(self): ...
        """,
        """
        @pytest.mark.parametrize("a", [
            pytest.param(1, marks=pytest.mark.requirement('F-001')),
            pytest.param(2, marks=[pytest.mark.requirement('F-002')]),
        ])
        def test_a(a): ...
        """,
    ],
)
def test_marks_are_found_wherever_pytest_accepts_them(tmp_path: Path, source: str) -> None:
    assert sorted({mark.id for mark in marks_of(tmp_path, source)}) == ["F-001", "F-002"]


def test_marks_are_found_in_folders_and_named_by_their_test(tmp_path: Path) -> None:
    source = "@pytest.mark.requirement('F-001')\ndef test_a(): ..."
    assert marks_of(tmp_path, source, "text/test_words.py") == [
        Mark("F-001", "text/test_words.py::test_a", True)
    ]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("@pytest.mark.requirement('F-001')\ndef check_a(): ...", "test_made_up.py"),
        ("@pytest.mark.requirement('F-001')\ndef test_a(): ...", "made_up.py"),
        ("pytestmark = pytest.mark.requirement('F-001')", "test_made_up.py"),
        ("# @pytest.mark.requirement('F-001')\ndef test_a(): ...", "test_made_up.py"),
        ("A = '''@pytest.mark.requirement('F-001')'''\ndef test_a(): ...", "test_made_up.py"),
    ],
)
def test_a_mark_on_what_pytest_does_not_run_is_none(tmp_path: Path, source: str, name: str) -> None:
    assert marks_of(tmp_path, source, name) == []


@pytest.mark.parametrize("idle", ["skip", "skip('later')", "xfail", "faults", "corpus"])
def test_a_test_that_does_not_run_in_make_check_proves_nothing(tmp_path: Path, idle: str) -> None:
    source = f"@pytest.mark.{idle}\n@pytest.mark.requirement('F-001')\ndef test_a(): ..."
    marks = marks_of(tmp_path, source)
    assert [mark.proves for mark in marks] == [False]
    assert len(find_gaps(manifest("built"), marks)) == 1
    assert find_gaps(manifest("waiting: site"), marks) == []


def test_an_id_that_is_not_written_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"test_made_up\.py:4: write requirement ids as plain"):
        marks_of(tmp_path, "ID = 'F-001'\n@pytest.mark.requirement(ID)\ndef test_a(): ...")


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (Requirement("F-01", "folder", "Text.", "built"), "an id is"),
        (Requirement("Q-001", "folder", "Text.", "built"), "an id is"),
        (Requirement("F-001", "pages", "Text.", "built"), "toolset is 'pages'"),
        (Requirement("F-001", "folder", " ", "built"), "no text"),
        (Requirement("F-001", "folder", "Text.", ""), "state ''"),
        (Requirement("F-001", "folder", "Text.", "waiting"), "state 'waiting'"),
        (Requirement("F-001", "folder", "Text.", "waiting: godot"), "state 'waiting: godot'"),
        (Requirement("F-001", "folder", "Text.", "done"), "state 'done'"),
    ],
)
def test_a_malformed_row_is_reported(row: Requirement, fault: str) -> None:
    faults = find_faults([row])
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("F-001", "F-001"),
        ("F-002", "F-001"),
        ("F-001", "F-003"),
        ("F-001", "P-002"),
        ("F-001", "D-001"),
        ("P-001", "F-001"),
    ],
)
def test_ids_that_repeat_skip_or_go_back_are_reported(before: str, after: str) -> None:
    rows = [Requirement(id_, TOOLSETS[id_[0]], "Text.", "built") for id_ in (before, after)]
    assert find_faults(rows) == [f"{after}: out of order or twice, after {before}"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id\ttoolset\trequirement\n",
        "id\ttoolset\trequirement\tstate\nF-001\tfolder\tText.\n",
        "id\ttoolset\trequirement\tstate\n\n",
        "id\ttoolset\trequirement\tstate\nid\ttoolset\trequirement\tstate\n",
    ],
)
def test_a_manifest_with_other_columns_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "requirements.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"requirements\.tsv:[12]: expected the columns"):
        read_manifest(tmp_path / "requirements.tsv")


def test_the_summary_counts_what_waits_for_what() -> None:
    assert summarise(manifest("built", "waiting: site", "waiting: server", "waiting: site")) == (
        "4 requirements, 1 built\n    1 waiting: server\n    2 waiting: site"
    )


if __name__ == "__main__":
    sys.stdout.write(summarise(read_manifest(MANIFEST)) + "\n")
