"""searchFiles: what is found, how filters hold, and how pages fit together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bookwheel.library import Library
from tests.clients.assistant import Assistant, assisting
from tests.clients.files_tree import READABLE, write_tree
from tests.conftest import LONG_AGO, Shelf


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return write_tree(tmp_path_factory.mktemp("share"))


@pytest.fixture(scope="module")
def assistant(shelf: Shelf) -> Iterator[Assistant]:
    with shelf.open() as library, assisting(library, "files") as assistant:
        yield assistant


def search(assistant: Assistant, query: str, **more: Any) -> dict[str, Any]:
    answer = assistant.call("searchFiles", query=query, **more)
    assert not answer.is_error, answer.text
    assert answer.structured == answer.json
    found: dict[str, Any] = answer.json
    return found


def names(found: dict[str, Any]) -> set[str]:
    return {item["path"].rpartition("/")[2] for item in found["items"]}


@pytest.mark.requirement("R-033", "R-034", "R-037")
def test_an_item_has_these_fields(assistant: Assistant, shelf: Shelf) -> None:
    found = search(assistant, "vendor contract", k=100)

    assert len(found["items"]) > 8
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True)
    for item in found["items"]:
        assert set(item) == {"path", "pointer", "snippet", "score", "ext", "modified"}
        assert item["path"].startswith(f"{shelf.folder}/")
        assert item["path"].endswith(item["ext"])
        assert item["ext"] == item["ext"].lower()
        assert 0 <= item["score"] <= 1
        assert item["pointer"]
        assert 0 < len(item["snippet"].encode()) <= 2048
        modified = datetime.fromtimestamp(LONG_AGO // 10**9, UTC)
        assert item["modified"] == modified.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.requirement("R-005")
def test_pointers_are_those_that_people_use(assistant: Assistant) -> None:
    found = search(assistant, "vendor contract", k=100)
    kinds = {item["ext"]: re.sub(r"\d+", "N", item["pointer"]) for item in found["items"]}

    assert kinds[".pdf"] == "page N"
    assert kinds[".pptx"] == "slide N"
    assert kinds[".xlsx"].startswith("sheet 'QN'")
    assert kinds[".csv"] == "rows N-N"
    assert kinds[".txt"].startswith("line")


@pytest.mark.requirement("R-028")
@pytest.mark.parametrize("exts", [[".docx", ".pptx"], ["docx", "PPTX"], [".DOCX", "*.pptx"]])
def test_extensions_may_lack_the_dot_and_be_of_any_case(
    assistant: Assistant, exts: list[str]
) -> None:
    found = search(assistant, "vendor", exts=exts)

    assert names(found) == {"vendor_x_contract.docx", "vendor_x_summary.pptx"}


IN_2021 = {"vendor_x_summary.pptx", "plan_20210503.md", "FY2021.txt", "offer.eml"}


@pytest.mark.requirement("R-029")
def test_years_stand_in_the_name_or_in_the_text(assistant: Assistant) -> None:
    assert names(search(assistant, "vendor", years=["2021"], k=100)) == IN_2021
    assert names(search(assistant, "vendor", years=["2019", "2020"], k=100)) == {"page.html"}
    assert search(assistant, "vendor", years=["1066"])["items"] == []


@pytest.mark.requirement("R-031")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("vendor contracts from 2021 in ppt or docx", {"vendor_x_summary.pptx"}),
        ("slides about the vendor", {"vendor_x_summary.pptx"}),
        ("vendor between 2018 and 2020", {"page.html"}),
        ("vendor before 2020", {"page.html"}),
        ("vendor since 2020", IN_2021),
        ("spreadsheets about the vendor", {"figures.xlsx", "lots.csv"}),
        ("vendor contract in the finance folder in csv", {"lots.csv"}),
        ("vendor in pdf", {"agreement.pdf"}),
    ],
)
def test_filters_in_the_words_of_a_query_hold(
    assistant: Assistant, query: str, found: set[str]
) -> None:
    answer = search(assistant, query, k=100)

    assert names(answer) == found
    assert any(" taken as " in note for note in answer["notes"])


@pytest.mark.requirement("R-031")
@pytest.mark.parametrize(
    ("query", "extension"), [("ppt", ".pptx"), ("all spreadsheets", ".xlsx"), ("pdf files", ".pdf")]
)
def test_a_query_that_is_all_filters_finds_whatever_meets_them(
    assistant: Assistant, query: str, extension: str
) -> None:
    found = search(assistant, query, k=100)
    more = search(assistant, query, k=1, offset=1)

    assert extension in {item["ext"] for item in found["items"]}
    assert found["pagination"]["total_estimate"] == len(found["items"])
    assert more["items"] == found["items"][1:2]


@pytest.mark.requirement("R-031")
@pytest.mark.parametrize("path", ["mail/offer.eml", "site/page.html", "finance/lots.csv"])
def test_a_file_is_found_first_by_its_name(assistant: Assistant, shelf: Shelf, path: str) -> None:
    for query in (path, path.rpartition("/")[2], f"{shelf.folder}/{path}"):
        found = search(assistant, query)["items"]
        assert found[0]["path"] == f"{shelf.folder}/{path}"


@pytest.mark.requirement("R-031")
def test_a_root_is_a_folder_that_words_may_name(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for path in ("hr/keys.md", "shop/keys.md", "shop/old/hr/keys.md"):
        shelf.put(path, "# Keys\n\nThe keys of all lockers.\n")
    folders = [shelf.folder / "hr", shelf.folder / "shop"]
    shelf.update(*folders)
    with shelf.open(*folders) as library, assisting(library, "files") as assistant:

        def find(query: str, **more: Any) -> set[str]:
            items = search(assistant, query, **more)["items"]
            return {item["path"].removeprefix(f"{shelf.folder}/") for item in items}

        assert find("lockers in shop") == {"shop/keys.md", "shop/old/hr/keys.md"}
        assert find("lockers in the hr folder") == {"hr/keys.md", "shop/old/hr/keys.md"}
        assert find("lockers in hr", roots=[f"{folders[1]}"]) == find("lockers in shop")


@pytest.mark.requirement("R-031")
def test_filters_given_as_arguments_win(assistant: Assistant) -> None:
    found = search(assistant, "vendor from 2021 in ppt", exts=["html"], years=["2019"])

    assert names(found) == {"page.html"}


@pytest.mark.requirement("R-032", "R-038")
def test_a_filter_is_never_loosened_and_what_comes_near_is_said(
    assistant: Assistant, shelf: Shelf
) -> None:
    found = search(assistant, "vendor contract", exts=["epub"])

    assert found["items"] == []
    assert found["pagination"] == {"offset": 0, "returned": 0, "total_estimate": 0}
    assert found["hint"].startswith("Without the filters there is ")
    assert f"{shelf.folder}/" in found["hint"]


@pytest.mark.requirement("R-038")
def test_a_word_that_comes_near_is_named(assistant: Assistant) -> None:
    found = search(assistant, '"vendorr"')

    assert found["items"] == []
    assert found["hint"]


@pytest.mark.requirement("R-030")
def test_roots_and_folders_in_them_limit_a_search(assistant: Assistant, shelf: Shelf) -> None:
    root = shelf.folder
    assert names(search(assistant, "vendor", roots=[f"{root}/finance/"], k=100)) == {
        *("figures.xlsx", "lots.csv", "model.ipynb", "FY2021.txt")
    }
    assert names(search(assistant, "vendor", roots=[f"{root}/site", f"{root}/mail"])) == {
        *("page.html", "long.md", "offer.eml")
    }
    assert len(search(assistant, "vendor", roots=[str(root)], k=100)["items"]) == len(READABLE)
    assert search(assistant, "vendor", roots=[f"{root}/nothing"])["items"] == []


@pytest.mark.requirement("R-030")
@pytest.mark.parametrize("path", ["/etc", "{place}", "{root}-evil", "{root}/../index", "/"])
def test_t01_any_other_root_is_forbidden_and_nothing_is_answered(
    assistant: Assistant, shelf: Shelf, path: str
) -> None:
    other = path.format(place=shelf.place, root=shelf.folder)
    answer = assistant.call("searchFiles", query="vendor", roots=[str(shelf.folder), other])

    assert answer.is_error
    assert answer.json["error"]["code"] == "FORBIDDEN"
    assert "items" not in answer.json


@pytest.mark.requirement("R-059")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        (
            "vendor NEAR/5 contract AND (2021)",
            {"vendor_x_summary.pptx", "offer.eml", "FY2021.txt"},
        ),
        ("vendor AND spending", {"FY2021.txt"}),
        ("spending OR predicts", {"FY2021.txt", "model.ipynb"}),
        ('"vendor spending"', {"FY2021.txt"}),
        ("spending OR (vendor AND called NOT contract)", None),
    ],
)
def test_what_rewriting_writes_is_understood(
    assistant: Assistant, query: str, found: set[str] | None
) -> None:
    names_found = names(search(assistant, query, k=100))

    assert names_found == found if found else "FY2021.txt" in names_found


@pytest.mark.requirement("R-059")
@pytest.mark.parametrize(
    "query",
    ["(vendor", "vendor)", '"vendor', "AND", "NEAR/5", "vendor AND", "((", "a NEAR/x b", "\0", "-"],
)
def test_t13_no_query_is_rejected(assistant: Assistant, query: str) -> None:
    search(assistant, query)


def test_an_offset_beyond_the_end_says_so(assistant: Assistant) -> None:
    found = search(assistant, "vendor", offset=10**9)

    assert found["items"] == []
    assert found["pagination"]["offset"] == 10**9
    assert "beyond" in found["hint"]


def test_files_that_cannot_be_read_are_counted(assistant: Assistant) -> None:
    found = search(assistant, "vendor")

    assert any("could not be read" in note for note in found["notes"])


@pytest.mark.requirement("R-011")
def test_the_calls_that_clients_are_shown_work_as_they_stand(tmp_path: Path) -> None:
    shelf = write_tree(tmp_path)
    folders = [shelf.folder / "finance", shelf.folder / "contracts"]
    index = str(tmp_path / "other")
    shelf.update(*folders, index=index)
    with shelf.open(*folders, index=index) as library, assisting(library, "files") as assistant:
        assert assistant.call("listRoots").json["roots"] == [*map(str, folders)]
        found = search(assistant, "vendor x 2021 ppt docx", k=10)
        path = f"{folders[1]}/vendor_x_contract.docx"
        shown = assistant.call("openFile", path=path, pointer=found["items"][0]["pointer"])

    assert names(found) == {"vendor_x_contract.docx", "vendor_x_summary.pptx"}
    assert not shown.is_error or shown.json["error"]["code"] == "BAD_REQUEST"


@pytest.fixture(scope="module", params=["none", "static"])
def many(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Library:
    """A hundred and fifty files, many as good as others, found by words or by meaning too."""
    shelf = Shelf(tmp_path_factory.mktemp("many"))
    for n in range(150):
        words = "vendor contract" if n % 3 else "vendor"
        shelf.put(f"{n:03}.md", f"# File {n % 7}\n\n{words} {'lot ' * (n % 11)}\n")
    library = shelf.open(embedder=request.param)
    library.update()
    library.embed()
    return library


@pytest.mark.requirement("R-035", "R-034")
@pytest.mark.parametrize("query", ["vendor", "vendor contract", "vendor AND contract"])
@pytest.mark.parametrize("k", [7, 100])
def test_page_after_page_shows_each_file_once_and_misses_none(
    many: Library, query: str, k: int
) -> None:
    with assisting(many, "files") as assistant:
        seen: list[dict[str, Any]] = []
        while page := search(assistant, query, k=k, offset=len(seen))["items"]:
            seen += page
        whole = [
            item
            for offset in (0, 100)
            for item in search(assistant, query, k=100, offset=offset)["items"]
        ]
        total = search(assistant, query)["pagination"]["total_estimate"]

    assert seen == whole
    assert len({item["path"] for item in seen}) == len(seen) == total
    assert len(seen) == (150 if query == "vendor" else 100)
    scores = [item["score"] for item in seen]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.requirement("R-036")
@pytest.mark.parametrize(("embedder", "found"), [("none", set()), ("static", {"garage.md"})])
def test_words_do_where_there_is_no_model_and_both_are_used_where_there_is(
    tmp_path: Path, embedder: str, found: set[str]
) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(
        "garage.md", "# Vehicles\n\nThe automobile needs petrol; its engine must be serviced."
    )
    shelf.put("bread.md", "# Baking\n\nKnead the dough, let the yeast rise in the oven.")
    with shelf.open(embedder=embedder) as library:
        library.update()
        library.embed()
        with assisting(library, "files") as assistant:
            assert "bread.md" in names(search(assistant, "dough"))
            assert names(search(assistant, "car maintenance", k=1)) == found
