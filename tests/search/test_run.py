"""Searching: what is found, in which order, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.query import Filters, SearchIn, SearchRequest
from bookwheel.search import run
from bookwheel.search.highlight import highlight
from tests.search.shelf import Shelf

GUIDES = {
    "guides/deploy.md": "# Deploying the service\n\nRun the installer on every node.\n\n"
    "## Rolling back\n\nUse the previous image when a release misbehaves.\n",
    "guides/backup.md": "---\ntags: [Ops, storage]\ndate: 2023-04-01\n---\n# Backups\n\n"
    "The nightly backup copies the database to cold storage.\n",
    "notes/keys.txt": "Rotating signing keys\nKeys are rotated each quarter by security.\n",
    "notes/web.html": "<html><head><title>Web console</title></head><body>"
    "<nav>navigational chaff</nav><p>The console shows deployments.</p></body></html>",
    "api/tabs.md": "# tabs.get()\n\nReturns one tab. See also `C++` bindings and snake_case names, "
    "DEC-0054, v1.2.3 and @custom-media.\n",
    "api/media.md": "# getUserMedia\n\nAsks for a camera.\n",
}


@pytest.fixture(scope="module")
def guides(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A shelf that no test changes."""
    shelf = Shelf(tmp_path_factory.mktemp("guides"))
    shelf.put(GUIDES)
    return shelf


# Names of files


@pytest.mark.parametrize(
    "question", ["budget forecast", '"budget forecast"', "forecasts budgets", "budgt forecast"]
)
@pytest.mark.parametrize("name", ["budget-forecast-2024.md", "old/budget_forecast.md"])
def test_a_file_is_found_by_the_words_of_its_name(shelf: Shelf, name: str, question: str) -> None:
    shelf.put({name: "# Figures of the board\n\nLess than last year.\n", **GUIDES})
    assert shelf.find(question)[:1] == [name]


def test_a_title_ranks_above_the_name_of_a_file(shelf: Shelf) -> None:
    titled = "# Budget forecast\n\nLess than last year.\n"
    shelf.put({"budget-forecast.md": titled.replace("Budget forecast", "Plan"), "plan.md": titled})
    assert shelf.find("budget forecast") == ["plan.md", "budget-forecast.md"]


NAMED = {
    "hr/mail.eml": "Subject: Lockers\n\nThe key hangs at the door.\n",
    "hr/long.txt": "A walrus.\n",
    "site/index.html": "<title>Welcome</title><p>Come in.</p>",
    "finance/Jahresübersicht 2024.CSV": "name,amount\nrent,7\n",
    "guide.md": "# Guide\n\n" + "The long txt, a mail as eml, an index in html. " * 20,
}
MANY = {f"many/{n}.md": f"# Part {n}\n\nlong txt mail eml index html csv\n" for n in range(70)}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("mail.eml", "hr/mail.eml"),
        ("LONG.txt", "hr/long.txt"),
        ("index.html", "site/index.html"),
        ("jahresubersicht 2024.csv", "finance/Jahresübersicht 2024.CSV"),
        ("hr/long.txt", "hr/long.txt"),
        ("/srv/share/hr/long.txt", "hr/long.txt"),
    ],
)
@pytest.mark.parametrize("others", [{}, MANY], ids=["few", "many"])
def test_a_file_comes_first_whose_name_is_the_query(
    shelf: Shelf, others: dict[str, str], question: str, path: str
) -> None:
    shelf.put({**others, **NAMED})
    first, *more = shelf.ask(question).hits
    assert (first.document, first.score) == (path, 1.0)
    assert all(hit.score < 1 for hit in more)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("b/plan.md", "b/plan.md"),
        ("old/b/plan.md", "old/b/plan.md"),
        ("/srv/docs/shelf/plan.md", "plan.md"),
        ("shelf/a/plan.md", "a/plan.md"),
    ],
)
def test_of_files_of_one_name_that_comes_first_whose_path_is_the_query(
    shelf: Shelf, question: str, first: str
) -> None:
    paths = ("plan.md", "a/plan.md", "b/plan.md", "old/b/plan.md", "z/plan.md")
    shelf.put({path: f"# {n}\n\n{'plan ' * n}\n" for n, path in enumerate(paths)})
    assert shelf.find(question)[0] == first


def test_a_name_that_very_many_files_have_leaves_it_to_words_and_path(shelf: Shelf) -> None:
    paths = [f"many/{n}/index.md" for n in range(90)]
    shelf.put({path: f"# Page {n}\n\nSome of many.\n" for n, path in enumerate(paths)})
    shelf.put({"zoo/walrus/index.md": "# Walrus\n\nIt swims.\n"})
    assert shelf.find("zoo/walrus/index.md") == ["zoo/walrus/index.md"]
    assert shelf.find("walrus/index.md") == ["zoo/walrus/index.md"]


def test_the_name_of_a_file_without_its_extension_is_no_title(shelf: Shelf) -> None:
    shelf.put({"plan.txt": "Something else\n\nA walrus.\n", "b.md": "# Plan\n\nOf the walrus.\n"})
    assert shelf.find("plan") == ["b.md", "plan.txt"]


def test_filters_and_phrases_hold_for_the_name_of_a_file(shelf: Shelf) -> None:
    shelf.put(NAMED)
    asked = SearchRequest("long.txt", filters=Filters(extensions=(".md",)))
    assert shelf.find(asked) == ["guide.md"]
    assert shelf.find('"long.txt"') == ["guide.md"]
    assert shelf.find(SearchRequest("long.txt", search_in=SearchIn.CONTENT)) == ["guide.md"]


# Typos and relaxation


@pytest.mark.parametrize(
    "typo", ["depoy", "deeploy", "delpoy", "deplou", "xeploy", "eploy", "bakcup", "signnig"]
)
def test_a_slip_of_any_kind_still_finds_the_page(guides: Shelf, typo: str) -> None:
    results = guides.ask(typo)
    assert results.hits
    assert typo in results.relaxed[0]


def test_without_fuzzy_a_misspelt_word_finds_nothing(guides: Shelf) -> None:
    results = guides.ask(SearchRequest("bakcup", fuzzy=False))
    assert results.hits == ()
    assert results.relaxed == ("no document has 'bakcup'",)


def test_a_misspelt_title_is_found_first(guides: Shelf) -> None:
    assert guides.find("Rotatnig signing keys")[0] == "notes/keys.txt"


def test_an_exact_match_ranks_above_a_respelt_one(shelf: Shelf) -> None:
    shelf.put({f"many{n}.md": f"# Colour {n}\n\ncolour" for n in range(30)} | {"one.md": "colou"})
    assert shelf.find("colou")[0] == "one.md"


def test_pages_with_every_word_come_before_pages_with_some(shelf: Shelf) -> None:
    shelf.put(
        {
            "some.md": "# Alpha alpha alpha\n\nalpha alpha",
            "every.md": "# Nothing\n\nalpha in a long text about beta and other matters " * 3,
        }
    )
    assert shelf.find("alpha beta") == ["every.md", "some.md"]


@pytest.mark.requirement("X-034")
def test_an_empty_answer_says_what_was_tried_and_what_is_near(guides: Shelf) -> None:
    results = guides.ask(SearchRequest("deploying qqqqqqqq", filters=Filters(folders=("nowhere",))))
    assert results.hits == ()
    assert "no document has 'qqqqqqqq'" in results.relaxed
    near = guides.ask(SearchRequest('"backup nightly" bakcup'))
    assert near.hits == ()
    assert 'no document has "backup nightly" as a phrase' in near.relaxed


@pytest.mark.parametrize(
    ("query", "filters", "reason"),
    [
        ("backup", Filters(extensions=(".txt",)), "documents match, but none of type .txt"),
        ("backup", Filters(folders=("api",)), "documents match, but none below api"),
        ("backup", Filters(date_from="2030-01-01"), "documents match, but none from 2030-01-01 on"),
        (
            '"nightly database" backup',
            Filters(),
            'no document has "nightly database" as a phrase',
        ),
        ("backup -nightly", Filters(), "every match has an excluded word"),
        ("backup -nightly", Filters(folders=("api",)), "every match has an excluded word"),
        ('"nightly backup" -cold', Filters(), "every match has an excluded word"),
    ],
)
def test_an_empty_answer_names_what_stands_in_the_way(
    guides: Shelf, query: str, filters: Filters, reason: str
) -> None:
    results = guides.ask(SearchRequest(query, filters=filters))
    assert results.hits == ()
    assert reason in results.relaxed


def test_an_offset_beyond_the_end_is_told_apart_from_no_match(guides: Shelf) -> None:
    results = guides.ask(SearchRequest("backup", offset=50))
    assert results.relaxed == ("the offset lies beyond the last of 1 matches",)


def test_an_offset_beyond_what_is_ranked_is_told_apart_from_no_match(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MOST_RESULTS", 5)
    shelf.put({f"{number}.md": f"# {number}\n\nzebra" for number in range(60)})

    results = shelf.ask(SearchRequest("zebra", offset=55))

    assert (results.hits, results.total, results.suggestions) == ((), 60, ())
    assert results.relaxed == (
        "the offset lies beyond the best 50 of 60 matches, which alone are ranked",
    )


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("STATIC_COPY", "STATIC_COPY"),
        ("static_copy", "STATIC_COPY"),
        ("static.copy()", "static.copy()"),
        ("staticCopy", "staticCopy"),
    ],
)
def test_a_page_with_the_identifier_itself_comes_before_pages_of_its_parts(
    shelf: Shelf, query: str, written: str
) -> None:
    constants = " ".join(f"CONSTANT_{number} stands for {number}." for number in range(400))
    shelf.put({f"{name}.md": f"# A {name}\n\nOther words.\n" for name in ("road", "lake", "hill")})
    shelf.put({"static.md": "# Static copy of a static copy\n\nA static method; copy it.\n"})
    shelf.put({"copy.md": "# The copy method\n\nCopy, then copy again, a copy.\n"})
    shelf.put({"long.md": f"# Constants\n\n{constants}\n\nAnd {written} is among them.\n"})
    hits = shelf.ask(query).hits
    assert hits[0].document == "long.md"
    assert written in hits[0].snippet.text
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["nightly backup", "tabs.get()", "snake_case"])
def test_a_page_with_every_word_is_not_said_to_lack_some(guides: Shelf, query: str) -> None:
    results = guides.ask(SearchRequest(query, limit=1))
    assert results.relaxed == ()


def test_words_that_no_page_has_are_named_and_the_rest_is_found(guides: Shelf) -> None:
    results = guides.ask("backup qqqqqqqq")
    assert [hit.document for hit in results.hits] == ["guides/backup.md"]
    assert results.relaxed == ("no document has 'qqqqqqqq'",)


def test_question_words_need_not_stand_in_the_answer(guides: Shelf) -> None:
    results = guides.ask("how do I deploy the service?")
    assert results.hits[0].document == "guides/deploy.md"
    assert "no document has 'how'" not in results.relaxed


# Identifiers, scripts, case


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("tabs.get()", "api/tabs.md"),
        ("tabs.get", "api/tabs.md"),
        ("C++", "api/tabs.md"),
        ("snake_case", "api/tabs.md"),
        ("snake case", "api/tabs.md"),
        ("DEC-0054", "api/tabs.md"),
        ("0054", "api/tabs.md"),
        ("v1.2.3", "api/tabs.md"),
        ("@custom-media", "api/tabs.md"),
        ("getusermedia", "api/media.md"),
        ("user media", "api/media.md"),
        ("getUserMedai", "api/media.md"),
    ],
)
def test_identifiers_are_found_whole_and_by_part(guides: Shelf, query: str, document: str) -> None:
    assert guides.find(query)[0] == document


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("検索エンジンを作る", "エンジン"),
        ("黒猫がいる", "猫"),
        ("การค้นหาเอกสาร", "ค้นหา"),
        ("हिन्दी में खोज करें", "हिन्दी"),
        ("Die Häuser am Fluss", "haus fluss"),
        ("Der große Straßenlärm", "STRASSENLÄRM"),
        ("naïve café", "naive cafe"),
    ],
)
def test_every_script_is_searched_by_its_words(shelf: Shelf, text: str, query: str) -> None:
    shelf.put({"a.md": text + "\n\n" + text, "b.md": "something else"})
    assert shelf.find(query)[:1] == ["a.md"]


@pytest.mark.requirement("P-016")
@pytest.mark.parametrize("query", ["NIGHTLY BACKUP", "nightly backup", "NiGhTlY bAcKuP"])
def test_letter_case_makes_no_difference(guides: Shelf, query: str) -> None:
    assert guides.find(query) == guides.find("nightly backup")
    assert guides.find(query)[0] == "guides/backup.md"


# Phrases, exclusions, filters


def test_a_phrase_must_stand_as_written(guides: Shelf) -> None:
    assert guides.find('"previous image"') == ["guides/deploy.md"]
    assert guides.find('"image previous"') == []
    assert guides.find('"keys"') == ["notes/keys.txt"]


def test_a_phrase_does_not_run_from_the_title_into_the_text(shelf: Shelf) -> None:
    shelf.put({"a.md": "# Foo bar\n\nbaz", "b.txt": "one two", "RED_BLUE.md": "alpha"})
    assert [shelf.find(f'"{phrase}"') for phrase in ("bar foo", "two one", "blue alpha")] == [
        []
    ] * 3
    assert shelf.find('"foo bar baz"') == ["a.md"]


def test_an_excluded_word_or_phrase_leaves_pages_out(guides: Shelf) -> None:
    assert "notes/web.html" in guides.find("deploy")
    assert "notes/web.html" not in guides.find("deploy -console")
    assert guides.find('deploy -"previous image"') == ["notes/web.html"]


def test_exclusions_alone_find_everything_else(guides: Shelf) -> None:
    assert set(guides.find("-deploy")) == set(GUIDES) - {"guides/deploy.md", "notes/web.html"}


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        (Filters(extensions=(".txt",)), ["notes/keys.txt"]),
        (
            Filters(folders=("notes",), extensions=(".html", ".txt")),
            ["notes/keys.txt", "notes/web.html"],
        ),
        (Filters(folders=("note",)), []),
        (Filters(tags=("ops",)), ["guides/backup.md"]),
        (Filters(date_from="2023-01-01", date_to="2023-10-31"), ["guides/backup.md"]),
        (Filters(collections=("elsewhere",)), []),
    ],
)
def test_filters_are_never_relaxed(guides: Shelf, filters: Filters, documents: list[str]) -> None:
    request = SearchRequest("the keys console backup", filters=filters)
    assert sorted(guides.find(request)) == documents


def test_an_unknown_word_under_a_filter_finds_nothing(guides: Shelf) -> None:
    assert guides.find(SearchRequest("qqqqqqqq", filters=Filters(extensions=(".md",)))) == []


def test_a_word_of_a_filtered_out_page_is_not_suggested(guides: Shelf) -> None:
    results = guides.ask(SearchRequest("nightyl", filters=Filters(folders=("api",))))
    assert (results.hits, results.suggestions) == ((), ())


def test_navigation_counts_for_nothing(guides: Shelf) -> None:
    assert guides.find(SearchRequest("chaff", fuzzy=False)) == []


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (SearchIn.TITLE, ["guides/deploy.md"]),
        (SearchIn.CONTENT, ["guides/deploy.md", "notes/web.html"]),
    ],
)
def test_title_or_content_alone_can_be_searched(
    guides: Shelf, where: SearchIn, found: list[str]
) -> None:
    assert sorted(guides.find(SearchRequest("deploying", search_in=where))) == found


def test_a_word_only_in_a_title_is_in_no_content(shelf: Shelf) -> None:
    shelf.put(
        {"title.md": "---\ntitle: Zebra crossing\n---\nStripes.", "text.md": "# Horses\n\nA zebra."}
    )
    assert shelf.find(SearchRequest("zebra", search_in=SearchIn.CONTENT)) == ["text.md"]
    assert shelf.find(SearchRequest("crossing", search_in=SearchIn.CONTENT)) == []
    assert shelf.ask(SearchRequest("crossing", search_in=SearchIn.CONTENT)).total == 0


def test_a_word_only_in_texts_is_in_no_title(guides: Shelf) -> None:
    assert guides.find(SearchRequest("camera", search_in=SearchIn.TITLE)) == []


# Order, paging, scores


def test_the_page_whose_title_is_the_query_comes_first(shelf: Shelf) -> None:
    shelf.put(
        {f"{n}.md": f"# Array map {n}\n\n" + "array map " * 50 for n in range(20)}
        | {"exact.md": "# Map\n\nOne line."}
    )
    assert shelf.find("map")[0] == "exact.md"


@pytest.mark.requirement("P-017")
def test_title_outranks_heading_which_outranks_text(shelf: Shelf) -> None:
    filler = "Other matters are told here at some length, with plain words. " * 4
    for collection in ("one", "two"):
        shelf.put(
            {
                "title.md": f"# The kestrel\n\n{filler}",
                "heading.md": f"# Birds\n\n{filler}\n\n## The kestrel\n\n{filler}",
                "text.md": f"# Animals\n\n{filler} A kestrel. {filler}",
            },
            collection=collection,
        )
    for collection in ("one", "two"):
        request = SearchRequest("kestrel", filters=Filters(collections=(collection,)))
        assert shelf.find(request) == ["title.md", "heading.md", "text.md"]


def test_pages_of_an_answer_neither_repeat_nor_skip(shelf: Shelf) -> None:
    shelf.put({f"{n:02}.md": f"# Page {n}\n\nshared word number {n}" for n in range(25)})
    request = SearchRequest("shared word", limit=25)
    whole = shelf.find(request)
    parts = [
        document
        for offset in range(0, 25, 4)
        for document in shelf.find(request._replace(limit=4, offset=offset))
    ]
    assert parts == whole
    assert sorted(whole) == [f"{n:02}.md" for n in range(25)]
    assert shelf.ask(request).total == 25


def test_scores_lie_between_0_and_1_and_never_rise(guides: Shelf) -> None:
    for query in ("deploy the service", "backup", "keys tab console", "camera", "tabs.get()"):
        scores = [hit.score for hit in guides.ask(query).hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


def test_a_perfect_match_scores_near_1_and_a_poor_one_low(guides: Shelf) -> None:
    assert guides.ask("Backups").hits[0].score == 1.0
    assert guides.ask("camera qqqqqq zzzzzz wwwwww").hits[0].score < 0.5


PODS = {"pods.md": "# Pods\n\nA pod that is managed by a daemon set takes vitamin A and a letter."}


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("is a pod managed by a daemon set", ["pod", "managed by a daemon set"]),
        ("pod IS managed", ["pod", "managed"]),
        ("vitamin is a pod", ["pod", "vitamin"]),
        ('pod "vitamin a"', ["A pod", "a", "vitamin A", "a"]),
        ('pod AND "vitamin a"', ["A pod", "a", "vitamin A", "a"]),
        ("is that a", ["A", "that is", "a", "A", "a"]),
        ("that qqqqqq", ["that"]),
    ],
)
def test_words_such_as_a_are_marked_between_others_in_quotes_or_where_nothing_else_is_asked(
    tmp_path: Path, query: str, marked: list[str]
) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(PODS)
    snippet = shelf.ask(SearchRequest(query)).hits[0].snippet

    marks = [snippet.text[start:end] for start, end in snippet.marks]
    assert [each for each in marks if each != "Pods"] == marked
    shelf.close()


def test_highlights_mark_every_word_that_matched(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(PODS)
    request = SearchRequest("is a pod managed")
    (highlights,) = highlight(shelf.engine, request, shelf.ask(request).hits)

    (content,) = highlights.content
    marks = [content.text[start:end] for start, end in content.marks]
    assert [each for each in marks if each != "Pods"] == ["A pod", "is managed", "a", "A", "a"]
    shelf.close()


def test_a_hit_says_where_it_is(guides: Shelf) -> None:
    hit = guides.ask("release misbehaves").hits[0]
    assert (hit.title, hit.document) == ("Deploying the service", "guides/deploy.md")
    assert (hit.start_line, hit.end_line, hit.pointer) == (1, 7, "lines 1-7")
    assert "release misbehaves" in hit.snippet.text
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.marks] == ["release misbehaves"]
    assert (hit.chunk, hit.chunks, hit.matched_in) == (1, 1, SearchIn.CONTENT)


def test_the_snippet_comes_from_the_passage_that_matches(shelf: Shelf) -> None:
    filler = "Plain words fill this section so that it stands alone as one passage. " * 10
    sections = "".join(f"## Part {n}\n\n{filler}\n\n" for n in range(5))
    shelf.put({"long.md": f"# Long\n\n{sections}## Target\n\n{filler} The needle. {filler}"})
    hit = shelf.ask("needle").hits[0]
    assert hit.heading == "Target"
    assert "needle" in hit.snippet.text


def test_one_document_is_one_hit(shelf: Shelf) -> None:
    text = "".join(f"## Part {n}\n\n" + "apple " * 140 + "\n\n" for n in range(6))
    shelf.put({"a.md": text, "b.md": "apple pie"})
    assert sorted(shelf.find("apple")) == ["a.md", "b.md"]


def test_in_long_pages_the_passage_counts_more(shelf: Shelf) -> None:
    """Words scattered over a long page do not outweigh the same words in one place of another."""
    filler = "Plain sentences fill this part so that it stands alone as one passage here. " * 10
    words = ["otter", "river", "winter", "fish"]
    scattered = [f"## Part {n}\n\n{filler} {words[n % 4]}\n\n" for n in range(24)]
    together = [f"## Part {n}\n\n{filler}\n\n" for n in range(23)]
    together.append(f"## Last\n\n{filler} {' '.join(words)}\n")
    shelf.put({"scattered.md": "".join(scattered), "together.md": "".join(together)})
    shelf.put({f"short{n}.md": f"# Short {n}\n\nAn {word} swims." for n, word in enumerate(words)})
    assert shelf.find("otter river winter fish")[:2] == ["together.md", "scattered.md"]


def test_unreadable_files_in_scope_are_counted(shelf: Shelf, tmp_path: Path) -> None:
    from bookwheel.indexing.prepare import refused
    from bookwheel.model import Status

    shelf.put({"a.md": "apple"})
    shelf.engine.begin_writing()
    shelf.engine.write([refused("shelf", "x/bad.txt", Status.BINARY, "a PNG image")])
    shelf.engine.commit()
    shelf.engine.end_writing()
    results = shelf.ask("apple")
    assert (results.unreadable, results.files) == (1, 2)
    assert results.caution == "1 of 2 files in scope could not be read."
    elsewhere = shelf.ask(SearchRequest("apple", filters=Filters(folders=("y",))))
    assert (elsewhere.unreadable, elsewhere.files, elsewhere.caution) == (0, 0, "")


# Any text is a query

HOSTILE = [
    "C++ [x]", '"unclosed', "a:b", "field:*", "NEAR/3", "(((", "*", "^2~1", "\\", "a AND", "\0x",
    "\ud800", "\u202e", "😀" * 300, "AND " * 500, "-" * 500, '"' * 501, "x" * 100_000,
    "'; DROP TABLE documents;--", "a " * 50_000, "[" * 5000, "ab\n" * 999, "%s{}$(x)`y`",
]  # fmt: skip


@pytest.mark.requirement("X-015")
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_t13_hostile_text_is_an_ordinary_query(guides: Shelf, number: int) -> None:
    results = guides.ask(HOSTILE[number])
    assert results.query == HOSTILE[number]
    assert results.hits or results.relaxed


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_t13_any_text_whatsoever_is_answered(guides: Shelf, text: str) -> None:
    scores = [hit.score for hit in guides.ask(text).hits]
    assert scores == sorted(scores, reverse=True)


def test_a_phrase_is_found_beside_a_word_that_no_page_has(guides: Shelf) -> None:
    results = guides.ask('"previous image" qqqqqqqq')
    assert [hit.document for hit in results.hits] == ["guides/deploy.md"]
    assert results.relaxed == ("no document has 'qqqqqqqq'",)
