"""The pages in docs/ say what the program does: no part stale, nothing left out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from bookwheel.cli import COMMANDS, SUBCOMMANDS
from bookwheel.errors import ERRORS
from bookwheel.formats.registry import FORMATS
from bookwheel.model import Status
from bookwheel.settings import SETTINGS, load
from tests.docs_tables import DOCS, MARKED, PARTS, refresh

GENERATED = (
    "settings.md",
    "command-line.md",
    "clients.md",
    "operations.md",
    "security.md",
    "site.md",
)

TOP = DOCS.parent
PAGES = sorted([*TOP.glob("*.md"), *DOCS.rglob("*.md")])
FENCED = re.compile(r"^(```+)[^\n]*\n.*?^\1`*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s]+)\)")


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_fresh(name: str) -> None:
    assert refresh(page(name)) == page(name), "run `make docs`"


def test_every_generated_part_stands_in_one_page() -> None:
    found = [part[2] for name in GENERATED for part in MARKED.finditer(page(name))]

    assert sorted(found) == sorted(PARTS)


def test_every_setting_is_described_with_all_its_names() -> None:
    text = page("settings.md")

    for row in SETTINGS:
        for name in (f"`{row.name}`", *(f"`{each}`" for each in (row.variable, *row.other_names))):
            assert name in text
        assert row.help in text


def test_every_command_has_its_help_page() -> None:
    described = re.findall(r"^### ([\w ]+)$", page("command-line.md"), re.MULTILINE)

    assert described == [*COMMANDS, *SUBCOMMANDS]


def test_every_error_and_its_exit_code_are_described() -> None:
    text = page("command-line.md")

    for error in ERRORS:
        assert re.search(rf"^\| {error.exit_code} \|.*`{error.__name__}`", text, re.MULTILINE)


def test_the_example_of_a_configuration_file_can_be_used(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", page("settings.md"), re.DOTALL)
    (tmp_path / "bookwheel.toml").write_text(example, encoding="utf-8")

    settings = load(config=str(tmp_path / "bookwheel.toml"), environment={})

    assert settings["index"] == str(tmp_path / "index")
    assert [each.name for each in settings.collections] == ["Handbook", "Papers"]


def test_the_example_of_a_manifest_can_be_used(tmp_path: Path) -> None:
    from bookwheel.indexing.manifest import Manifest, read_manifest
    from bookwheel.safety.opener import Root

    (example,) = re.findall(r"```json\n(.*?)```", page("settings.md"), re.DOTALL)
    (tmp_path / "manifest.json").write_text(example, encoding="utf-8")

    with Root.open(tmp_path) as root:
        assert read_manifest(root) == Manifest(
            "Handbook", "3", "How we work", ("*.md",), ("drafts/",)
        )


def anchors_of(text: str) -> set[str]:
    """Return what the headings of a page can be linked by, as GitHub names them."""
    found: Counter[str] = Counter()
    anchors = set()
    for heading in re.findall(r"^#{1,6} (.+)$", FENCED.sub("", text), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        anchors.add(f"{anchor}-{found[anchor]}" if found[anchor] else anchor)
        found[anchor] += 1
    return anchors


def leads_somewhere(target: str, page: Path) -> bool:
    path, _, anchor = target.partition("#")
    there = page.parent / path if path else page
    return there.exists() and (
        not anchor or anchor in anchors_of(there.read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("file", PAGES, ids=[str(each.relative_to(TOP)) for each in PAGES])
def test_links_between_pages_lead_somewhere(file: Path) -> None:
    text = CODE.sub("", FENCED.sub("", file.read_text(encoding="utf-8")))

    assert [target for target in LINK.findall(text) if not leads_somewhere(target, file)] == []


def test_what_the_figures_at_a_glance_say_stands_in_their_sections() -> None:
    sections = {
        anchor: text
        for text in re.split(r"^(?=#{2,3} )", page("benchmarks.md"), flags=re.MULTILINE)
        for anchor in anchors_of(text)
    }
    glance = sections["the-figures-that-matter-at-a-glance"]
    rows = re.findall(r"^\| (\[.+?\]\(#(\S+)\).*?) \| (.+?) \|", glance, re.MULTILINE)
    assert len(rows) > 10
    for row, anchor, measured in rows:
        for figure in NUMBER.findall(f"{row} {measured}"):
            assert figure in NUMBER.findall(sections[anchor]), (row, figure)


def test_every_threat_is_shown_by_tests_or_said_to_be_unmet() -> None:
    text = page("security.md")
    rows = {row[0]: row[1] for row in re.findall(r"^\| (T\d\d) \|(.*)$", text, re.MULTILINE)}
    shown = re.findall(r"^### (T\d\d)$", text, re.MULTILINE)

    assert list(rows) == [f"T{number:02}" for number in range(1, 32)]
    assert {name for name in rows if "Not promised" not in rows[name]} == set(shown)
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text):
        assert f"def {name}(" in (DOCS.parent / file).read_text(encoding="utf-8")


def test_every_format_and_every_status_is_described() -> None:
    text = page("formats.md")

    for row in FORMATS:
        assert all(re.search(rf"[` ]\{each}[` ]", text) for each in row.extensions)
    assert [each for each in Status if f"| `{each}` |" not in text and each is not Status.OK] == []


def test_the_example_of_judged_queries_can_be_used(tmp_path: Path) -> None:
    from bookwheel.evaluation.judged import Judged, read_judged

    (example,) = re.findall(r"```toml\n(.*?)```", page("evaluation.md"), re.DOTALL)
    (tmp_path / "judged.toml").write_text(example, encoding="utf-8")

    assert read_judged(tmp_path / "judged.toml") == [
        Judged(
            "what do I do when the signing key has leaked?",
            {"policies/leaks.md": 1, "runbooks/keys.md": 2},
        )
    ]
