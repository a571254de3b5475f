"""`search --understand`: filters in the words of a query, said in the answer."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Call
from tests.conftest import Shelf


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    shelf = Shelf(tmp_path_factory.mktemp("understand").resolve())
    shelf.put("finance/plan.md", "---\ndate: 2023-04-05\n---\nBudget of the club in finance.")
    shelf.put("finance/old/plan.md", "---\ndate: 2019-04-05\n---\nBudget of the club.")
    shelf.put("plan.csv", "name,amount\nBudget,7\n")
    shelf.put("plan.txt", "Budget from 2023 in finance.")
    shelf.put("contracts/vendor_x_2021.md", "Contract with vendor X, 2021.")
    shelf.put("lease.md", "Rent of the shed.", at=1_500_000_000_000_000_000)
    return [str(shelf.folder), "--index", str(shelf.place / "index"), "--json"]


def test_filters_in_words_hold_and_are_said(call: Call, here: list[str]) -> None:
    answer = call("search", "budget from 2023 in finance", *here, "--understand").value

    assert [hit["document"] for hit in answer["results"]] == ["finance/plan.md"]
    assert answer["query"] == "budget from 2023 in finance"
    assert answer["remarks"] == [
        "'from 2023' taken as the year 2023",
        "'in finance' taken as the folder finance",
    ]


def test_without_it_every_word_is_a_word(call: Call, here: list[str]) -> None:
    answer = call("search", "budget from 2023 in finance", *here).value

    assert "plan.txt" in [hit["document"] for hit in answer["results"]]
    assert "remarks" not in answer


def test_options_win_over_words(call: Call, here: list[str]) -> None:
    answer = call(
        "search", "budget from 2023", *here, "--understand", "--since", "2019", "--until", "2019"
    ).value

    assert [hit["document"] for hit in answer["results"]] == ["finance/old/plan.md"]


def test_folders_at_any_depth_are_known(call: Call, here: list[str]) -> None:
    answer = call("search", "budget in folder old", *here, "--understand").value

    assert [hit["document"] for hit in answer["results"]] == ["finance/old/plan.md"]


def test_years_are_those_in_the_name_or_text_of_a_file(call: Call, here: list[str]) -> None:
    query = "contracts about vendor X from 2021 in md or docx"
    answer = call("search", query, *here, "--understand").value

    assert [hit["document"] for hit in answer["results"]] == ["contracts/vendor_x_2021.md"]
    assert "'from 2021' taken as the year 2021" in answer["remarks"]


def test_where_no_file_has_the_year_written_its_date_counts(call: Call, here: list[str]) -> None:
    answer = call("search", "rent from 2017", *here, "--understand").value

    assert [hit["document"] for hit in answer["results"]] == ["lease.md"]
    assert answer["remarks"] == [
        "'from 2017' taken as the year 2017",
        "no name or text of a match has such a year, so its date counts",
    ]
