"""Snippets: the best stretch of a passage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bookwheel.text.matching import Finder
from bookwheel.text.plain import plain
from bookwheel.text.snippets import Cutting, cut_snippet, mark_words


def cut(text: str, words: dict[str, float], length: int = 60) -> Cutting:
    return cut_snippet(text, Finder(words, "en"), words, length)


def marked(cutting: Cutting) -> list[str]:
    return [cutting.text[start:end] for start, end in cutting.marks]


def test_the_stretch_with_the_most_telling_words_is_chosen() -> None:
    text = f"common {'filler ' * 40} rare common word here {'filler ' * 40} common"
    cutting = cut(text, {"common": 1.0, "rare": 5.0})
    assert marked(cutting) == ["rare common"]
    assert (cutting.cut_before, cutting.cut_after) == (True, True)


def test_ends_fall_between_words() -> None:
    text = (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron target pi"
    )
    cutting = cut(text, {"target": 1.0}, 40)
    assert all(word in text.split() for word in cutting.text.split())
    assert len(cutting.text) <= 40


def test_a_short_text_is_shown_whole() -> None:
    assert cut("Only this.", {"absent": 1.0}) == Cutting(
        "Only this.", (), False, False, frozenset()
    )


def test_without_any_match_the_beginning_is_shown() -> None:
    cutting = cut("word " * 100, {"absent": 1.0})
    assert cutting.text.startswith("word word")
    assert (cutting.cut_before, cutting.cut_after) == (False, True)


def test_inflected_words_are_marked_as_they_stand() -> None:
    assert marked(cut("They were Running home.", {"run": 1.0})) == ["Running"]


def test_adjoining_words_share_one_mark() -> None:
    words = {"tab": 1.0, "get": 1.0, "exit": 1.0, "code": 1.0}
    assert marked(cut("Call tabs.get() for the exit code.", words)) == ["tabs.get", "exit code"]


def test_words_that_say_little_are_marked_between_others_only() -> None:
    words = {"feed": 1.0, "the": 0.1, "walrus": 1.0}
    text = "The walrus, the seal: feed the walrus the fish, or the walrus feeds."
    finder = Finder(words, "en", frozenset(("the",)))
    assert marked(cut_snippet(text, finder, words, 80)) == [
        *("walrus", "feed the walrus", "walrus feeds"),
    ]
    assert mark_words("The feed of the walrus", finder) == ((4, 8), (16, 22))


def test_markdown_that_only_steers_the_look_is_left_out() -> None:
    text = (
        "## Heading {#id}\n\n<!-- hidden -->> see [the guide](https://x.org/a_(b)) and\n"
        "```js\nlet x\n```\n---\nend"
    )
    assert plain(text) == "Heading · see the guide and let x end"


def test_text_without_spaces_is_cut_too() -> None:
    text = "検索" * 200
    cutting = cut(text, {"検索": 1.0}, 50)
    assert 0 < len(cutting.text) <= 50


@given(
    st.text(max_size=400),
    st.lists(st.text(min_size=1, max_size=8), max_size=4),
    st.integers(1, 120),
)
def test_marks_lie_in_the_snippet_apart_and_in_order(
    text: str, words: list[str], length: int
) -> None:
    cutting = cut(text, dict.fromkeys(words, 1.0), length)
    edges = [edge for span in cutting.marks for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(cutting.text) for edge in edges)
    assert cutting.text in plain(text)


def test_a_match_longer_than_the_snippet_is_cut() -> None:
    word = "supercalifragilisticexpialidociousandevenmore"
    cutting = cut(f"{'filler ' * 20}{word} {'filler ' * 20}", {word: 1.0}, 40)
    assert cutting.text == word[:40]


def test_a_snippet_does_not_begin_or_end_inside_a_word() -> None:
    text = f'{"x" * 60}("Specifying_named_grid_areas", {"y" * 60}) and more words follow here'
    cutting = cut(text, {"grid": 1.0}, 50)
    assert cutting.text.startswith("grid")


def test_a_stretch_does_not_begin_or_end_with_what_parts_a_heading_from_its_text() -> None:
    text = f"## {'word ' * 30}\n\nzebra stripes {'after ' * 60}"
    for length in range(20, 100):
        shown = cut(text, {"zebra": 1.0}, length).text
        assert shown.strip("·") == shown
