"""Tests of a Markdown file's title, description and tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.formats import base
from bookwheel.formats.markdown import read
from bookwheel.formats.registry import read as read_any
from bookwheel.model import Status


def described(text: str) -> str:
    return read(text.encode(), "a.md").description


@pytest.mark.requirement("F-003")
def test_the_front_matter_title_wins_over_the_heading() -> None:
    assert read(b"---\ntitle: Front\n---\n# Heading\n", "file.md").title == "Front"


@pytest.mark.requirement("F-003")
def test_a_byte_order_mark_and_crlf_do_not_hide_the_front_matter() -> None:
    parsed = read(b"\xef\xbb\xbf---\r\ntitle: Front\r\n---\r\n# Heading\r\n", "file.md")
    assert parsed.title == "Front"
    assert parsed.quiet == ((0, 21),)
    assert parsed.sections[0].start_line == 4


@pytest.mark.requirement("F-004")
@pytest.mark.parametrize(
    "text",
    ["## Two\n# First `code`\n# Second", "First `code`\n===", "---\ntitle: [x]\n---\n# First code"],
)
def test_the_first_level_1_heading_is_the_title_as_plain_text(text: str) -> None:
    assert read(text.encode(), "file.md").title == "First code"


@pytest.mark.requirement("F-005")
@pytest.mark.parametrize("text", ["Just text", "## Only level two", "```\n# code\n```", "#"])
def test_without_either_the_file_name_is_the_title(text: str) -> None:
    assert read(text.encode(), "guides/getting-started.md").title == "getting-started"


def test_an_h1_written_as_html_is_a_title_before_the_file_name() -> None:
    text = b'<h1 align="center">\n  <img src="x"> My <b>Tool</b> &amp; more\n</h1>\n\nText'
    assert read(text, "readme.md").title == "My Tool & more"


@pytest.mark.requirement("F-006")
def test_the_front_matter_description_wins() -> None:
    assert described("---\ndescription: >\n  Front\n  text\n---\nBody") == "Front text"


@pytest.mark.requirement("F-007")
@pytest.mark.parametrize(
    "text",
    [
        "# T\n\nThe text.\n\nMore.",
        "# T\nThe\ntext.",
        "# T\n\n[![build](b.svg)](ci) ![x](y)\n\nThe text.",
        "# T\n\n<p>html</p>\n\nThe text.",
        "# T\n\n<!-- comment -->\n\nThe text.",
        "| a | b |\n|---|---|\n| c | d |\n\nThe text.",
        "```\ncode\n```\n\n    code\n\nThe text.",
        "> [!NOTE]\n> A note.\n\nThe text.",
        "::: warning\n\nThe text.\n",
        ":::note Title\nThe text.\n:::",
        "!!! note\n\nThe text.",
        "import X from 'x'\n\nexport const a = 1\n\n<X a={['b', 1]}>\n\nThe text.\n\n</X>",
        "export default {\n  a: 1\n}\n\nThe text.",
        "{/* comment */}\n\nThe text.",
        '{{APIRef("DOM")}}{{SeeCompatTable}}\n\nThe text.',
        "{% include x.html %}\n\nThe text.",
        "[[_TOC_]]\n\nThe text.",
        "[TOC]\n\nThe text.",
        "---\n\nThe text.\n\n---\n",
        "- a list first\n\nThe text.",
        "The *text*.",
        "[The](x) `text`.",
        "***\n\n[x]: http://y\n\nThe text.",
    ],
)
def test_the_description_is_the_first_text_written_for_people(text: str) -> None:
    assert described(text) == "The text."


def test_a_paragraph_about_imports_is_no_import() -> None:
    assert described("import statements come first.") == "import statements come first."


@pytest.mark.parametrize("text", ["- The text.\n- More", "> The text.", "> [!TIP]\n> The text."])
def test_lists_and_quotes_describe_when_nothing_else_does(text: str) -> None:
    assert described(text) == "The text."


@pytest.mark.parametrize("text", ["", "# T", "```\nx\n```", "| a |\n|---|\n| b |", "<p>x</p>"])
def test_without_text_there_is_no_description(text: str) -> None:
    assert described(text) == ""


@pytest.mark.requirement("F-016")
@pytest.mark.parametrize("text", ["{}", "---\ndescription: {}\n---\n"])
def test_a_long_description_is_cut_at_a_word(text: str) -> None:
    found = described(text.format("lorem ipsum " * 50))
    assert 140 <= len(found) <= 150
    assert found.endswith(("lorem…", "ipsum…"))


@pytest.mark.requirement("F-008")
def test_without_front_matter_tags_are_empty() -> None:
    assert read(b"# T\n", "a.md").tags == ()
    assert read(b"---\ntags: [x, y]\n---\n", "a.md").tags == ("x", "y")


def test_the_text_is_the_file_with_its_front_matter_which_is_quiet() -> None:
    text = "---\ntitle: ü\n---\nText\n"
    parsed = read(text.encode(), "a.md")
    assert parsed.text == text
    assert parsed.text.encode()[slice(*parsed.quiet[0])].decode() == "---\ntitle: ü\n---\n"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_a_file_with_too_much_text_is_refused_rather_than_cut(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MAX_TEXT", 1000)

    assert "word word" in read_any(b"word " * 199, name).text
    with pytest.raises(base.Unreadable) as caught:
        read_any(b"word " * 201, name)

    assert caught.value.status is Status.TOO_LARGE
    assert caught.value.reason == "more than 1,000 characters of text"


@pytest.mark.parametrize(
    "bomb",
    [
        "[" * 50_000,
        "*a_ " * 30_000,
        "> " * 5_000 + "x",
        "- " * 5_000 + "x",
        "`" * 50_000,
        "[[" * 20_000,
    ],
)
def test_t18_pathological_markup_is_read_in_time(bomb: str) -> None:
    assert read(bomb.encode(), "a.md").text == bomb


@given(st.text(alphabet="ab{}%<>!:[]#*/ \n'\"_.", max_size=80))
def test_any_markup_gives_one_short_line_of_description(text: str) -> None:
    found = described(text)
    assert len(found) <= 150
    assert "\n" not in found


def test_what_mdx_fetches_is_not_read() -> None:
    text = (
        "---\ntitle: '`x` of **y**'\n---\nimport A from 'a';\nimport {\n  B,\n} from \"b\";\n\n"
        "export const c = 1;\n\nThe text ä.\n\n```js\nimport C from 'c';\n```\n\n"
        "import this and that\n"
    )
    parsed = read(text.encode(), "page.mdx")
    quiet = [parsed.text.encode()[start:end].decode() for start, end in parsed.quiet]
    assert quiet[1:] == ["import A from 'a';", 'import {\n  B,\n} from "b";', "export const c = 1;"]
    assert (parsed.title, parsed.description) == ("x of y", "The text ä.")


def test_a_quote_before_all_other_text_is_the_description() -> None:
    assert read(b"# A\n\n> quote *first*\n\ntext", "a.md").description == "quote first"
    assert read(b"> - item\n\ntext", "a.md").description == "text"
