"""Tests of the block of properties at the head of a file."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.formats.frontmatter import FrontMatter, read_front_matter


def yaml_block(block: str) -> FrontMatter:
    return read_front_matter(f"---\n{block}---\nBody\n")


def test_a_block_gives_its_properties_as_text_and_its_span_in_bytes() -> None:
    text = (
        "---\ntitle: 'Über uns'\ndescription: Kurz\ntags: [a, b]\ndate: 2025-05-20\nlang: de\n"
        "source: research\ncanonical: https://x.org/a\n---\nText\n"
    )
    head = text[: -len("Text\n")]
    assert read_front_matter(text) == FrontMatter(
        title="Über uns",
        description="Kurz",
        tags=("a", "b"),
        date="2025-05-20",
        language="de",
        source="research",
        url="https://x.org/a",
        body=len(head),
        span=(0, len(head.encode())),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "--",
        "---",
        "---\n",
        "---\ntitle: never closed\n\nText",
        "---\n\nA rule on line 1, then text\n\n---\n",
        "---\n  \ntitle: x\n---\n",
        "---\nProse between two rules.\n---\n",
        "----\ntitle: x\n----\n",
        "--- \ttitle: x\n---\n",
        " ---\ntitle: x\n---\n",
        "\n---\ntitle: x\n---\n",
        "---\n- a list\n- of things\n---\n",
        "---\ntitle: x\n----\n",
        "+++\ntitle = 'x'\n---\n",
    ],
)
def test_what_only_looks_like_a_block_is_text(text: str) -> None:
    assert read_front_matter(text) == FrontMatter()


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\ntitle: x\n...\nB", "B"),
        ("---  \ntitle: x\n---\t\nB", "B"),
        ("---\ntitle: x\n---", ""),
        ("+++\ntitle = 'x'\n+++\nB", "B"),
    ],
)
def test_blocks_end_where_they_should(text: str, body: str) -> None:
    front = read_front_matter(text)
    assert front.title == "x"
    assert text[front.body :] == body


def test_an_empty_block_is_a_block() -> None:
    assert read_front_matter("---\n---\nText").span == (0, 8)


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("title: 1.10", "1.10"),
        ("title: no", "no"),
        ("title: 2025-01-01", "2025-01-01"),
        ("title: 'it''s'", "it's"),
        ('title: "a\\u00e9"', "aé"),
        ("title: >\n  folded\n  text", "folded text"),
        ("title: a # comment", "a"),
        ("Title: upper case key", "upper case key"),
        ("title: first\ntitle: second", "second"),
        ("title: !!python/object/apply:os.system [ls]", None),
        ("title: !!python/name:os.system", None),
        ("title: [a, b]", None),
        ("title: {a: b}", None),
        ("title:", None),
        ("title: ~", None),
        ("title: null", None),
        ("title: ''", None),
        ("title: Part 2: the rest", "Part 2: the rest"),
        ("title: 'unclosed\nfoo: bar", "'unclosed"),
        ("title: @home", "@home"),
        ("title: `code`", "`code`"),
        ("title: x\n\tbad: tab", "x"),
        ("title: \x07bell", "\x07bell"),
        ("a: &x 1\nb: *x\ntitle: aliases are refused", "aliases are refused"),
        ("? [complex]\n: key\ntitle: kept", "kept"),
    ],
)
def test_titles_of_every_kind(written: str, title: str | None) -> None:
    assert yaml_block(written + "\n").title == title


@pytest.mark.requirement("F-008")
@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [a, 'b c', 3]", ("a", "b c", "3")),
        ("tags:\n  - a\n  - b", ("a", "b")),
        ("tags:\n- a\n- b\nx: y", ("a", "b")),
        ("tags: a, b", ("a", "b")),
        ("tags: a", ("a",)),
        ("tags: [a, a, [b], {c: d}, '']", ("a",)),
        ("tags: {a: b}", ()),
        ("tags:", ()),
        ("tags: null", ()),
        ("x: y", ()),
        ('title: Part 2: x\ntags:\n  - a\n  - "b"', ("a", "b")),
        ("title: Part 2: x\ntags: [a, 'b']", ("a", "b")),
        ('tags: "[a, b]"', ("[a", "b]")),
    ],
)
def test_tags_are_a_list_whatever_was_written(written: str, tags: tuple[str, ...]) -> None:
    assert yaml_block(written + "\n").tags == tags


def test_toml_gives_text_for_dates_numbers_and_lists() -> None:
    front = read_front_matter(
        "+++\ntitle = 7\ndate = 2024-02-03\ntags = ['a', 'b']\n[extra]\nx = 1\n+++\nB"
    )
    assert (front.title, front.date, front.tags) == ("7", "2024-02-03", ("a", "b"))


def test_broken_toml_is_salvaged() -> None:
    assert read_front_matter("+++\ntitle = 'x'\nbroken = [\n+++\n").title == "x"


def test_a_source_that_is_an_address_is_also_the_url() -> None:
    assert yaml_block("source: https://x.org/1\n").url == "https://x.org/1"


@pytest.mark.parametrize(
    "bomb",
    [
        "a: " + "[" * 50_000,
        "a: " + "{" * 50_000,
        "- " * 30_000,
        "a: " + "- " * 30_000,
        "? " * 30_000,
        "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(50)),
        "x: " + "y" * 100_000,
        "\n".join(" " * n + "k:" for n in range(300)),
    ],
)
def test_t18_hostile_blocks_neither_crash_nor_hide_the_title(bomb: str) -> None:
    assert yaml_block(f"title: safe\n{bomb}\n").title == "safe"


PLAIN = st.text("ab:#' \"-1/<[.,", min_size=0, max_size=8)


@given(
    st.lists(st.tuples(st.sampled_from(["title", "lang", "tags"]), PLAIN), min_size=1, max_size=3),
    st.lists(PLAIN, max_size=3),
)
def test_reading_plain_blocks_line_by_line_says_what_yaml_says(
    pairs: list[tuple[str, str]], entries: list[str]
) -> None:
    block = "".join(f"{key}: {value}\n" for key, value in pairs)
    block += "date:\n" + "".join(f"  - {entry}\n" for entry in entries)
    try:
        loaded = yaml.load(block, Loader=yaml.CBaseLoader)
    except yaml.YAMLError:
        return
    title = loaded.get("title")
    expected = " ".join(title.split()) if isinstance(title, str) else None
    assert yaml_block(block).title == (expected if expected not in ("", "~", "null") else None)


@given(st.text("-+.\n: ab[]'\"", max_size=60))
def test_any_text_gives_a_body_within_it(text: str) -> None:
    front = read_front_matter(text)
    assert 0 <= front.body <= len(text)
    assert (front.span is None) == (front.body == 0)
