"""What is hidden from a caller cannot be asked for, by a word, a phrase, a count or its absence.

Every question is put twice: to documents that hide something, and to the same without it. Who sees
neither must not be able to tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bookwheel.engines.base import (
    Engine,
    Every,
    Field,
    Holds,
    InOrder,
    Match,
    Some,
    Term,
    Without,
    WritableEngine,
)
from bookwheel.engines.sight import Policy, guard
from bookwheel.model import Redact
from bookwheel.query import Filters, Scope, SearchIn, SearchRequest
from bookwheel.safety.finding import OWN_RULES
from bookwheel.search.run import search
from tests.engines.conftest import Make
from tests.engines.drafts import NOTES, PAPERS, draft

SECRET = "tuskWlrs77qz"
MAIL = "jane.penguin@example.com"
PHRASE = "passphrase: quiet otter paints lemon"
PAGES = {
    "door.md": f"# Door\n\nThe heron waits. password: {SECRET}\n\n## Below\n\nA quiet place.\n",
    "post.md": f"# Post\n\nThe heron writes to {MAIL} in 2024.\n\nCall +49 30 901820 1987.\n",
    "note.md": f"# Note\n\n{PHRASE}\n\nAn otter paints. Lemon trees. A heron. Quiet water.\n",
    "plain.md": "# Plain\n\nThe heron eats a penguin and an example.\n",
}
BARE = {
    "door.md": "# Door\n\nThe heron waits. password:\n\n## Below\n\nA quiet place.\n",
    "post.md": "# Post\n\nThe heron writes to in 2024.\n\nCall.\n",
    "note.md": "# Note\n\npassphrase:\n\nAn otter paints. Lemon trees. A heron. Quiet water.\n",
    "plain.md": "# Plain\n\nThe heron eats a penguin and an example.\n",
}
QUESTIONS = (
    *(SECRET, "tuskwlrs77qx", "tuskwlrs", MAIL, "jane", "jane heron", '"jane penguin"', "901820"),
    *(f"heron -{SECRET}", "heron -jane", 'heron -"jane penguin"', "heron NOT jane", "NOT jane"),
    *("heron AND jane", f"heron OR {SECRET}", "heron NEAR/5 jane", '"otter paints lemon"'),
    *('"paints lemon"', '"quiet otter"', 'heron -"quiet otter"', "1987", "penguin", "quiet"),
)


def fill(engine: WritableEngine, pages: Mapping[str, str], collection: str = "notes") -> None:
    engine.begin_writing()
    engine.declare([NOTES, PAPERS])
    engine.write([draft(path, text, collection=collection) for path, text in pages.items()])
    engine.commit()
    engine.end_writing()


def seen(engine: WritableEngine, scope: Scope, **levels: Redact) -> Engine:
    policies = {name: Policy(redact=level) for name, level in levels.items()}
    return guard(engine, scope, policies, lambda: OWN_RULES)


def told(engine: Engine, text: str, **named: Any) -> tuple[Any, ...]:
    """Return all that the answer to a question tells, but for how well a page fits."""
    results = search(engine, SearchRequest(text, **named))
    hits = sorted((hit.document, hit.pointer) for hit in results.hits)
    return hits, results.total, results.relaxed, results.suggestions


@pytest.fixture
def both(make: Make, tmp_path: Path) -> tuple[Engine, Engine]:
    """Give documents that hide something and the same without, as seen by whoever sees none."""
    hiding, bare = make(tmp_path / "hiding"), make(tmp_path / "bare")
    fill(hiding, PAGES)
    fill(bare, BARE)
    everything = Scope(redact=Redact.ALL)
    return seen(hiding, everything), seen(bare, everything)


@pytest.mark.parametrize(
    "named", [{}, {"exacting": True}, {"fuzzy": False}, {"search_in": SearchIn.CONTENT}]
)
def test_t26_no_answer_tells_whether_something_hidden_is_there(
    both: tuple[Engine, Engine], named: dict[str, Any]
) -> None:
    hiding, bare = both
    for question in QUESTIONS:
        assert told(hiding, question, **named) == told(bare, question, **named), question


def test_t26_no_year_of_a_hidden_number_is_filtered_by(both: tuple[Engine, Engine]) -> None:
    for year in ("1987", "2024"):
        filters = Filters(years=(year,))
        assert told(both[0], "heron", filters=filters) == told(both[1], "heron", filters=filters)


def test_t26_how_often_a_word_stands_is_counted_without_what_is_hidden(
    both: tuple[Engine, Engine],
) -> None:
    for field in (Field.EXACT, Field.BODY):
        for word in ("jane", "penguin", SECRET.lower(), "quiet", "heron"):
            assert both[0].frequency(field, word) == both[1].frequency(field, word), word


def test_whoever_may_see_all_finds_all(make: Make, tmp_path: Path) -> None:
    engine = make(tmp_path)
    fill(engine, PAGES)
    for question in (SECRET, '"jane penguin"', "901820"):
        assert told(engine, question)[0], question
    assert [hit.document for hit in search(engine, SearchRequest("heron -jane")).hits].count(
        "post.md"
    ) == 0


def test_what_a_level_leaves_in_sight_is_found(make: Make, tmp_path: Path) -> None:
    engine = make(tmp_path)
    fill(engine, PAGES)
    view = seen(engine, Scope(redact=Redact.SECRETS))
    assert told(view, MAIL)[0]
    assert not told(view, SECRET)[0]


def test_each_collection_hides_what_its_own_policy_says(make: Make, tmp_path: Path) -> None:
    engine = make(tmp_path)
    fill(engine, PAGES)
    fill(engine, PAGES, "papers")
    view = seen(engine, Scope(), notes=Redact.ALL)
    for words in (SECRET, '"jane penguin"', "heron AND jane"):
        hits = search(view, SearchRequest(words)).hits
        assert [hit.collection for hit in hits] == ["papers"], words
    assert view.frequency(Field.EXACT, "jane") == 1
    kept = {hit.collection for hit in search(view, SearchRequest("writes -jane")).hits}
    assert kept == {"notes"}


def test_t26_the_place_of_a_hit_is_where_its_word_can_be_read(make: Make, tmp_path: Path) -> None:
    long = "Some more of it. " * 200
    text = f"# Two\n\npassword: {SECRET}\n\n{long}\n\n## Open\n\nWhy {SECRET} is a bad choice.\n"
    engine = make(tmp_path)
    fill(engine, {"two.md": text})
    (hit,) = search(seen(engine, Scope(redact=Redact.ALL)), SearchRequest(SECRET)).hits
    assert (hit.chunk, "bad choice" in hit.passage) == (hit.chunks, True)


def test_t26_titles_and_tags_that_hide_something_are_not_asked_for(
    make: Make, tmp_path: Path
) -> None:
    engine = make(tmp_path)
    fill(engine, {"a.md": f"---\ntitle: Mail of {MAIL}\ntags: ['{MAIL}', good]\n---\nA heron.\n"})
    view = seen(engine, Scope(redact=Redact.ALL))
    assert told(view, f"Mail of {MAIL}")[0] == told(view, "Mail of nobody@example.com")[0]
    assert told(view, "jane", search_in=SearchIn.TITLE)[0] == []
    for tag in (MAIL, "jane penguin example com"):
        assert told(view, "heron", filters=Filters(tags=(tag,)))[0] == []
    assert told(view, "heron", filters=Filters(tags=("good",)))[0]


def test_t26_no_folder_whose_name_hides_something_is_filtered_by(
    make: Make, tmp_path: Path
) -> None:
    engine = make(tmp_path)
    fill(engine, {f"people/{MAIL}/a.md": "A heron.\n", "people/b.md": "A heron.\n"})
    view = seen(engine, Scope(redact=Redact.ALL))
    asked = Filters(folders=(f"people/{MAIL}",))
    assert told(view, "heron", filters=asked)[0] == []
    assert view.status_counts(asked) == {}
    assert len(told(view, "heron", filters=Filters(folders=("people",)))[0]) == 2
    assert told(engine, "heron", filters=asked)[0]


def test_t26_no_file_is_found_by_words_of_its_name_that_are_hidden(
    make: Make, tmp_path: Path
) -> None:
    engine = make(tmp_path)
    fill(engine, {f"letters {MAIL}.md": "# One\n\nA heron.\n", "jane.md": "# Two\n\nA heron.\n"})
    for view in (engine, seen(engine, Scope(redact=Redact.ALL))):
        assert len(told(view, "letters")[0]) == 1
        assert [name for name, _ in told(view, "jane")[0]] == ["jane.md"]


def test_t26_no_file_is_lifted_by_a_name_of_which_a_part_is_hidden(
    make: Make, tmp_path: Path
) -> None:
    engine = make(tmp_path)
    names = (f"letters {MAIL}.md", f"letters of {MAIL}/open.md")
    fill(engine, {name: f"# {n}\n\nA heron. Letters.\n" for n, name in enumerate(names)})
    for asked, path in ((names[0], None), (names[1], names[1]), ("open.md", names[1])):
        hits = search(engine, SearchRequest(asked)).hits
        assert [hit.document for hit in hits if hit.score == 1] == [path] * bool(path)


def test_conditions_are_not_met_by_what_is_hidden(both: tuple[Engine, Engine]) -> None:
    jane, heron = (Holds((Term(Field.EXACT, word, 1.0),)) for word in ("jane", "heron"))
    ordered = InOrder(("jane", "penguin"))
    for condition, pages in (
        (Every((heron, jane)), 0),
        (Some((ordered, InOrder(("writes", "jane"), 5))), 0),
        (Every((heron, Without(jane), Without(ordered))), 4),
    ):
        matches = [Match((), required=condition)]
        assert [each.total for each in both[0].match_each(matches, 9, count=True)] == [pages]
