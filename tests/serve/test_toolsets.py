"""Which tools a client is offered."""

from __future__ import annotations

import pytest

from bookwheel.contracts.dispatch import Offered
from bookwheel.errors import BadRequest
from bookwheel.serve.toolsets import choose, load_contracts, without_changes
from tests.serve.conftest import SMALL

KNOWN = {name: SMALL._replace(name=name) for name in ("documents", "folder", "pages")}
DOCUMENTS, FOLDER, PAGES = KNOWN.values()


@pytest.mark.parametrize("wanted", [None, "", " , "])
def test_without_a_choice_documents_are_listed_and_all_can_be_called(wanted: str | None) -> None:
    assert choose(KNOWN, wanted) == Offered((DOCUMENTS,), (DOCUMENTS, FOLDER, PAGES))


@pytest.mark.parametrize("wanted", ["pages,folder", " folder , pages"])
def test_a_choice_serves_just_that_in_a_steady_order(wanted: str) -> None:
    chosen = (FOLDER, PAGES)
    assert choose(KNOWN, wanted) == Offered(chosen, chosen, (DOCUMENTS,), wanted)


def test_all_is_all() -> None:
    every = (DOCUMENTS, FOLDER, PAGES)
    assert choose(KNOWN, "all") == Offered(every, every, (), "all")


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadRequest) as caught:
        choose(KNOWN, "folder,nonsense")

    assert caught.value.message == "There is no toolset 'nonsense'."
    assert caught.value.hint == "There are documents, folder, pages, and all for all of them."


def test_no_two_contracts_share_a_tool() -> None:
    names = [tool.name for contract in load_contracts().values() for tool in contract.tools]

    assert len(names) == len(set(names))


def test_reading_only_drops_the_tools_that_change_anything() -> None:
    changing = SMALL.tools[0]._replace(name="change", read_only=False)

    kept = without_changes(SMALL._replace(tools=(changing, *SMALL.tools)))

    assert kept == SMALL
    assert all(
        tool.read_only
        for contract in load_contracts(read_only=True).values()
        for tool in contract.tools
    )
