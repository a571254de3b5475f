"""Filters in the words of a query: what is taken for one, and what stays a word."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.query import Filters
from bookwheel.search.wishes import Wishes, add_wishes, filters_in_words, guess_filters

TODAY = date(2026, 6, 1)
FOLDERS = ["finance", "finance/reports", "team/minutes", "old/minutes", "C++"]
PLACES = [("shelf", ""), *(("shelf", folder) for folder in FOLDERS)]
SLIDES = (".pptx", ".ppt", ".odp")
SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
MAIL = (".eml", ".msg")
MARKDOWN = (".md", ".markdown", ".mdx")
HTML = (".html", ".htm")


def read(query: str) -> Wishes:
    return filters_in_words(query, TODAY, PLACES)


@pytest.mark.parametrize(
    ("query", "types", "text"),
    [
        (
            "contracts about vendor X in ppt or docx",
            (".pptx", ".ppt", ".docx"),
            "contracts about vendor X",
        ),
        ("vendor x ppt docx", (".pptx", ".ppt", ".docx"), "vendor x"),
        ("ppt slides about budget", (".pptx", ".ppt"), "budget"),
        ("slides about budget", SLIDES, "budget"),
        ("find all presentations on safety", SLIDES, "safety"),
        ("show me the slide decks regarding hiring", SLIDES, "hiring"),
        ("deck about hiring", SLIDES, "hiring"),
        ("spreadsheets mentioning rent", (*SHEETS, ".csv"), "rent"),
        ("rent spreadsheets", (*SHEETS, ".csv"), "rent"),
        ("rent spreadsheet", (*SHEETS, ".csv"), "rent"),
        ("vendor list excel file", SHEETS, "vendor list"),
        ("kickoff slide deck", SLIDES, "kickoff"),
        ("rent word documents", (".docx", ".doc"), "rent"),
        ("excel files about rent", SHEETS, "rent"),
        ("excel sheet about rent", SHEETS, "rent"),
        ("excel files rent", SHEETS, "rent"),
        ("rent in Word or PDF", (".docx", ".doc", ".pdf"), "rent"),
        ("rent in Excel or PowerPoint", (*SHEETS, *SLIDES), "rent"),
        ("xlsx about rent", (".xlsx",), "rent"),
        ("rent in .xlsx", (".xlsx",), "rent"),
        ("rent in pdf/docx.", (".pdf", ".docx"), "rent ."),
        ("pdfs about mail.eml", (".pdf",), "mail.eml"),
        ("pdfs on gravity", (".pdf",), "gravity"),
        ("PDF files about gravity", (".pdf",), "gravity"),
        ("gravity as pdf", (".pdf",), "gravity"),
        ("gravity pdf", (".pdf",), "gravity"),
        ("gravity, pdf only", (".pdf",), "gravity,"),
        ("gravity only pdfs please", (".pdf",), "gravity please"),
        ("gravity filetype:pdf", (".pdf",), "gravity"),
        ("type:epub whales", (".epub",), "whales"),
        ("word documents about rent", (".docx", ".doc"), "rent"),
        ("word docs and pdfs about rent", (".docx", ".doc", ".pdf"), "rent"),
        ("rent in pdf, docx or csv", (".pdf", ".docx", ".csv"), "rent"),
        ("emails about rent", MAIL, "rent"),
        ("emails from anna about rent", MAIL, "from anna about rent"),
        ("rent in my emails", MAIL, "rent"),
        ("mails concerning rent", MAIL, "rent"),
        ("notebooks about pandas", (".ipynb",), "pandas"),
        ("jupyter notebook about pandas", (".ipynb",), "pandas"),
        ("ebooks about whales", (".epub",), "whales"),
        ("markdown files about vendor X", MARKDOWN, "vendor X"),
        ("find all markdown documents from anna", MARKDOWN, "from anna"),
        ("rent in markdown files", MARKDOWN, "rent"),
        ("pdfs and markdown notes about rent", (".pdf", *MARKDOWN), "rent"),
        ("html pages about rent", HTML, "rent"),
        ("show me web pages mentioning rent", HTML, "rent"),
        ("text files about rent", (".txt",), "rent"),
        ("web pages or text files about rent", (*HTML, ".txt"), "rent"),
        ("csv files about rent", (".csv",), "rent"),
        ("e-mails about rent", MAIL, "rent"),
        ("email messages about rent", MAIL, "rent"),
        ("e-books about whales", (".epub",), "whales"),
        ("excel workbooks about rent", SHEETS, "rent"),
        ("a word document about rent", (".docx", ".doc"), "rent"),
        ("a spreadsheet with rent", (*SHEETS, ".csv"), "with rent"),
    ],
)
def test_words_for_types_that_can_be_nothing_else(
    query: str, types: tuple[str, ...], text: str
) -> None:
    wishes = read(query)

    assert wishes.filters == Filters(extensions=types)
    assert wishes.text == text
    assert " or ".join(types) in wishes.notes[0]


@pytest.mark.parametrize(
    ("query", "types", "text"),
    [
        ("rent in Word", (".docx", ".doc"), "rent"),
        ("rent in Microsoft Word", (".docx", ".doc"), "rent"),
        ("rent in a Word file", (".docx", ".doc"), "rent"),
        ("rent in excel", SHEETS, "rent"),
        ("rent in Excel format", SHEETS, "rent"),
        ("rent in a spreadsheet", (*SHEETS, ".csv"), "rent"),
        ("rent in PowerPoint", SLIDES, "rent"),
        ("rent slides", SLIDES, "rent"),
        ("pdf of the lease", (".pdf",), "the lease"),
        ("a Word version of the lease", (".docx", ".doc"), "the lease"),
        ("the Excel with the rents", SHEETS, "the rents"),
        ("slide deck for the board", SLIDES, "the board"),
        ("markdown files lease", MARKDOWN, "lease"),
        ("lease markdown files", MARKDOWN, "lease"),
        ("lease web pages", HTML, "lease"),
        ("Word document lease", (".docx", ".doc"), "lease"),
        ("MS Word documents lease", (".docx", ".doc"), "lease"),
    ],
)
def test_words_that_may_be_for_a_type_are_to_be_tried(
    query: str, types: tuple[str, ...], text: str
) -> None:
    guess = guess_filters(query, TODAY, PLACES)

    assert read(query) == Wishes(Filters(), query)
    assert guess is not None
    assert (guess.filters, guess.text) == (Filters(extensions=types), text)


@pytest.mark.parametrize(
    "query",
    [
        *("word embeddings", "the word of", "word of mouth", "in a word", "in word and deed"),
        *("excel at sports", "excel", "Word", "last word", "Word 2016 macros", "excel formulas"),
        *("how to add a table in Word", "convert slides to pdf", "deck of cards", "water slide"),
        *("powerpoint.pptx with rents", "rent in Word/Excel.docx", "rent in a spreadsheet.csv"),
        *("how to lint markdown files", "rendering web pages", "web page design", "learn markdown"),
        *('"rent in Word"', "rent -slides", "in other words", "slides"),
    ],
)
def test_words_that_are_for_no_type_are_not_tried(query: str) -> None:
    assert guess_filters(query, TODAY, PLACES) is None


@pytest.mark.parametrize(
    "query",
    [
        "how to merge pdf files",
        "convert docx to pdf",
        "export to csv",
        "parse pdf",
        "pdf parser",
        "csv import fails",
        "email server configuration",
        "send email",
        "change the email address",
        "mail relay",
        "presentation of symptoms",
        "clinical presentation",
        "deck of cards",
        "how to share a spreadsheet",
        "create spreadsheets",
        "water slides",
        "marketing emails",
        "excel",
        "spreadsheet software",
        "notebook memory",
        "excel formulas",
        "freeze rows in excel",
        "word embeddings",
        "word order in german",
        "slides down the hill",
        "markdown syntax",
        "markdown in python",
        "web pages on mobile",
        "web pages with slow images",
        "broken links in web pages",
        "text files on windows",
        "null bytes in text files",
        "html pages",
        "learn html",
        "org chart",
        "the difference between doc and docx",
        "what is a pdf",
        '"slides about budget"',
        "budget -pdf",
        "docxs.py",
        "budget.xlsx",
        "mail.eml",
        "hr/mail.eml",
        "only mail.eml",
        "mail/offer",
        "hr/mail",
        "slides-2024.pptx",
        "emails-about",
        "find the presentation.final.pdf",
        "rent in mail/offer.eml",
        "notes on Word.docx",
        r"hr\mail",
        "my_pdf",
        "RFC 2023",
        "error 2019",
        "2023-05-01 minutes",
        "ran in 2000 steps",
        "from 2000 users",
        "in 2023%",
        "version 2021.3",
        "in 2021.3 we changed",
        "battle in 1945",
        "in 2150",
        "between 2021 and 2019",
        "last year's budget",
        "the year this started",
        "light years",
        "in finances",
        "in finance departments",
        "in folder absent",
        "career in nursing",
        '"in folder finance"',
        '"from 2023" rent',
        "",
        " ",
        "?",
    ],
)
def test_words_that_may_be_what_is_looked_for_stay(query: str) -> None:
    assert read(query) == Wishes(Filters(), query)


@pytest.mark.parametrize(
    ("query", "first", "last", "text"),
    [
        ("budget from 2023", "2023-01-01", "2023-12-31", "budget"),
        ("budget in 2023", "2023-01-01", "2023-12-31", "budget"),
        ("In 2023, what was the budget?", "2023-01-01", "2023-12-31", ", what was the budget?"),
        ("budget dated 2023", "2023-01-01", "2023-12-31", "budget"),
        ("budget during 2023 and later", "2023-01-01", "2023-12-31", "budget and later"),
        ("budget from 1987", "1987-01-01", "1987-12-31", "budget"),
        ("budget since 2021", "2021-01-01", None, "budget"),
        ("budget from 2021 on", "2021-01-01", None, "budget"),
        ("budget after 2021", "2022-01-01", None, "budget"),
        ("budget before 2021", None, "2020-12-31", "budget"),
        ("budget until 2021", None, "2021-12-31", "budget"),
        ("budget up to 2021", None, "2021-12-31", "budget"),
        ("budget between 2019 and 2021", "2019-01-01", "2021-12-31", "budget"),
        ("budget 2019-2021", "2019-01-01", "2021-12-31", "budget"),
        ("budget 2019 – 2021", "2019-01-01", "2021-12-31", "budget"),
        ("budget from 2019 to 2021", "2019-01-01", "2021-12-31", "budget"),
        ("budget from 2019 until 2021", "2019-01-01", "2021-12-31", "budget"),
        ("budget last year", "2025-01-01", "2025-12-31", "budget"),
        ("budget from this year", "2026-01-01", "2026-12-31", "budget"),
        ("LAST YEAR budget", "2025-01-01", "2025-12-31", "budget"),
    ],
)
def test_years(query: str, first: str | None, last: str | None, text: str) -> None:
    wishes = read(query)

    assert wishes.filters == Filters(date_from=first, date_to=last)
    assert wishes.text == text
    assert len(wishes.notes) == 1


def test_years_are_named_one_by_one_where_both_ends_are() -> None:
    assert read("budget from 2021").years == (2021,)
    assert read("budget 2019-2021").years == (2019, 2020, 2021)
    assert read("budget since 2021").years == ()
    assert read("budget").years == ()


@pytest.mark.parametrize(
    ("query", "folders", "text"),
    [
        ("budget in folder finance", ("finance",), "budget"),
        ("budget in the folder Finance", ("finance",), "budget"),
        ("in folder finance budget", ("finance",), "budget"),
        ("budget in the finance folder", ("finance",), "budget"),
        ("budget in the finance directory for rent", ("finance",), "budget for rent"),
        ("budget under finance/reports", ("finance/reports",), "budget"),
        ("budget under finance/reports/ for rent", ("finance/reports",), "budget for rent"),
        ("budget in reports", ("finance/reports",), "budget"),
        ("budget in finance", ("finance",), "budget"),
        ("budget in finance about rent", ("finance",), "budget about rent"),
        ("who came, in minutes?", ("team/minutes", "old/minutes"), "who came, ?"),
    ],
)
def test_folders_that_there_are(query: str, folders: tuple[str, ...], text: str) -> None:
    wishes = read(query)

    assert wishes.filters == Filters(folders=folders)
    assert wishes.text == text


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("lockers in hr", Filters(within=(("HR", ""),))),
        ("lockers in the hr folder", Filters(within=(("HR", ""),))),
        ("lockers under HR", Filters(within=(("HR", ""),))),
        ("lockers in finance", Filters(folders=("finance",))),
        (
            "lockers in legal",
            Filters(within=(("legal", ""), ("HR", "legal"), ("shelf", "legal"))),
        ),
        ("lockers in shelf", Filters(within=(("shelf", ""), ("HR", "old/shelf")))),
    ],
)
def test_a_collection_is_a_folder_and_either_will_do(query: str, filters: Filters) -> None:
    folders = [("HR", "legal"), ("shelf", "legal"), ("shelf", "finance"), ("HR", "old/shelf")]
    places = [("HR", ""), ("shelf", ""), ("legal", ""), *folders]

    wishes = filters_in_words(query, TODAY, places)

    assert (wishes.filters, wishes.text) == (filters, "lockers")
    assert all(name in wishes.notes[0] for name, folder in filters.within if not folder)


@pytest.mark.parametrize("query", ["lockers in hr departments", "lockers in /", '"in hr" lockers'])
def test_a_collection_is_none_where_a_folder_would_not_be(query: str) -> None:
    assert filters_in_words(query, TODAY, [("hr", "")]) == Wishes(Filters(), query)


@pytest.mark.parametrize(
    ("query", "filters", "text"),
    [
        (
            "contracts about vendor X from 2021 in ppt or docx",
            Filters(
                extensions=(".pptx", ".ppt", ".docx"),
                date_from="2021-01-01",
                date_to="2021-12-31",
            ),
            "contracts about vendor X",
        ),
        (
            "ppt slides about budget from 2023",
            Filters(extensions=(".pptx", ".ppt"), date_from="2023-01-01", date_to="2023-12-31"),
            "budget",
        ),
        (
            "slides from 2023 budget",
            Filters(extensions=SLIDES, date_from="2023-01-01", date_to="2023-12-31"),
            "budget",
        ),
        (
            "rent spreadsheets last year in finance",
            Filters(
                extensions=(*SHEETS, ".csv"),
                folders=("finance",),
                date_from="2025-01-01",
                date_to="2025-12-31",
            ),
            "rent",
        ),
        (
            '"from 2023" -pdf rent in 2022',
            Filters(date_from="2022-01-01", date_to="2022-12-31"),
            '"from 2023" -pdf rent',
        ),
    ],
)
def test_several_filters(query: str, filters: Filters, text: str) -> None:
    wishes = read(query)

    assert (wishes.filters, wishes.text) == (filters, text)


def test_a_query_of_filters_alone_keeps_its_words_to_have_something_to_look_for() -> None:
    wishes = read("spreadsheet last year in finance")

    assert wishes.text == "spreadsheet last year in finance"
    assert wishes.removed == ()
    assert wishes.filters == Filters(
        extensions=(*SHEETS, ".csv"),
        folders=("finance",),
        date_from="2025-01-01",
        date_to="2025-12-31",
    )


def test_notes_tell_each_part_and_what_it_was_taken_for() -> None:
    assert read("slides about budget from 2023 in finance").notes == (
        "'from 2023' taken as the year 2023",
        "'in finance' taken as the folder finance",
        "'slides about' taken as the type .pptx or .ppt or .odp",
    )


def test_what_is_given_wins_over_what_is_said() -> None:
    said = read("slides about budget from 2023 in finance").filters
    given = Filters(("notes",), (".md",), date_to="2020-12-31")

    assert add_wishes(Filters(), said) == said
    assert add_wishes(given, Filters()) == given
    assert add_wishes(given, said) == Filters(
        ("notes",), (".md",), ("finance",), date_to="2020-12-31"
    )


def test_a_place_that_is_given_wins_over_a_collection_in_words() -> None:
    said = Filters(within=(("hr", ""), ("notes", "old/hr")))

    assert add_wishes(Filters(), said) == said
    for own in (Filters(within=(("notes", ""),)), Filters(folders=("old",)), Filters(("shop",))):
        assert add_wishes(own, said) == own
    assert add_wishes(Filters(("notes",)), said) == Filters(
        ("notes",), within=(("notes", "old/hr"),)
    )


@pytest.mark.parametrize(
    "query",
    [
        "contracts about vendor X not from 2021",
        "vendor X except those from 2021",
        "vendor X other than from 2019 to 2021",
        "vendor X not since 2021",
        "budget, but not last year",
        "rent not in the finance folder",
        "rent not in finance or in minutes",
        "rent that isn't in finance",
        "vendor X not in ppt or docx",
        "vendor X, no slides only",
        "vendor X without spreadsheets",
        "budget not in Excel",
    ],
)
def test_what_is_not_wanted_is_no_filter(query: str) -> None:
    assert read(query) == Wishes(Filters(), query)
    assert guess_filters(query, TODAY, PLACES) is None


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what did not work from 2021", "what did not work"),
        ("not draft contracts from 2021", "not draft contracts"),
        ("vendors without contract from 2021", "vendors without contract"),
    ],
)
def test_a_negation_of_something_else_leaves_a_filter_one(query: str, text: str) -> None:
    wishes = read(query)
    assert (wishes.text, wishes.years) == (text, (2021,))


WORDS = """
find all slides ppt pptx .pdf pdfs excel files or and , / in as only from since between 2019 2021
2019-2021 last this year folder finance reports/ under the about budget rent email emails word
documents "quoted -out ' how type:pdf \x01 \x00 ２０２１ İ
"""
QUERIES = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@given(st.one_of(st.text(max_size=600), QUERIES))
def test_any_text_is_read_and_nothing_of_it_is_lost(query: str) -> None:
    wishes = read(query)
    kept = Counter(re.findall(r"\w", " ".join([wishes.text, *wishes.removed])))

    assert kept == Counter(re.findall(r"\w", query))
    assert bool(wishes.notes) == any(wishes.filters)


def test_a_type_stays_one_where_a_folder_is_called_after_it() -> None:
    places = [("shelf", "ppt"), ("shelf", "docx"), ("shelf", "pdf")]

    assert filters_in_words("vendor in ppt or docx", TODAY, places).filters == Filters(
        extensions=(".pptx", ".ppt", ".docx")
    )
    assert filters_in_words("vendor in the pdf folder", TODAY, places).filters == Filters(
        folders=("pdf",)
    )


def test_a_note_says_when_the_request_itself_names_the_types() -> None:
    wishes = read("rent in ppt since 2020")

    (years, types) = wishes.notes_beside({"types"})

    assert types.endswith("but the request itself names types")
    assert "the request" not in years
