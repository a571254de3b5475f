"""The one door for calls: which tools are found, what is said of wrong calls, what stays inside."""

from __future__ import annotations

import logging
import re
from typing import Any, Literal, NoReturn

import pytest
from pydantic import field_validator

from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.tool import Arguments, Contract, Reply, RpcError, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError, NotFound
from bookwheel.library import Library
from bookwheel.serve.toolsets import load_contracts
from tests.conftest import Shelf


class Order(Arguments):
    """The arguments of the tools below."""

    drink: Literal["coffee", "tea"] = "tea"
    cups: int

    @field_validator("cups")
    @classmethod
    def _some(cls, value: int) -> int:
        if value < 1:
            raise ValueError("must be at least 1")
        return value


def shape(error: BookwheelError, arguments: dict[str, Any]) -> Reply:
    return Reply(f"{error.code}: {error.message} {sorted(arguments)}", is_error=True)


def serve(_: Work, order: Order) -> Reply:
    return Reply(f"{order.cups} of {order.drink}", results=order.cups)


def break_down(_: Work, order: Order) -> NoReturn:
    raise ValueError(f"secret of the house: {order.cups}")


def run_out(_: Work, order: Order) -> NoReturn:
    raise NotFound("No water.")


def answer_in_protocol(_: Work, order: Order) -> NoReturn:
    raise RpcError(-32000, "Closed", {"retryAfter": 3})


def tool(name: str, run: Any) -> Tool:
    return Tool(name, name, "A tool", Order, run)


BAR = Contract(
    "bar",
    (
        tool("serve", serve),
        tool("break_down", break_down),
        tool("run_out", run_out),
        tool("answer_in_protocol", answer_in_protocol),
    ),
    shape,
)
KITCHEN = Contract("kitchen", (tool("cook", serve),), shape)


@pytest.fixture
def library(shelf: Shelf) -> Library:
    return shelf.open()


def ask(library: Library, name: str, **arguments: Any) -> Reply:
    return call(Work(library), Offered((BAR,), (BAR,), (KITCHEN,)), name, arguments)


def test_a_call_runs_the_tool_with_its_arguments(library: Library) -> None:
    assert ask(library, "serve", cups=2) == Reply("2 of tea", results=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Argument 'cups' is missing."),
        ({"cups": 0}, "Argument 'cups': must be at least 1."),
        (
            {"cups": 1, "drink": "coffe"},
            "Argument 'drink': input should be 'coffee' or 'tea' (did you mean 'coffee'?).",
        ),
        (
            {"cups": 1, "drink": ["x"]},
            "Argument 'drink': input should be 'coffee' or 'tea'.",
        ),
        ({"cup": 1, "cups": 1}, "Unknown argument 'cup': did you mean 'cups'?"),
        ({"zzz": 1, "cups": 1}, "Unknown argument 'zzz': known are drink, cups."),
        (
            {"cup": 1},
            "Argument 'cups' is missing. Unknown argument 'cup': did you mean 'cups'?",
        ),
    ],
)
def test_wrong_arguments_are_named_with_the_rule_and_the_nearest_name(
    library: Library, arguments: dict[str, Any], message: str
) -> None:
    reply = ask(library, "serve", **arguments)

    text = f"BAD_REQUEST: {message} {sorted(arguments)}"
    assert reply == Reply(text, is_error=True, code="BAD_REQUEST")


def test_an_endless_argument_name_is_not_sent_back_whole(library: Library) -> None:
    reply = ask(library, "serve", **{"x" * 10_000 + "\n": 1, "cups": 1})

    assert f"Unknown argument '{'x' * 100}': known are" in reply.text.split("[")[0]


def test_a_tool_that_is_not_there_is_a_protocol_error_with_the_nearest_name(
    library: Library,
) -> None:
    with pytest.raises(RpcError) as caught:
        ask(library, "serv")

    error = caught.value
    assert (error.code, error.message, error.data) == (
        -32602,
        "There is no tool 'serv'. Did you mean 'serve'?",
        {"tool": "serv"},
    )


def test_a_tool_of_a_toolset_that_is_not_served_is_refused_with_the_way_to_it(
    library: Library,
) -> None:
    with pytest.raises(RpcError) as caught:
        ask(library, "cook", cups=1)

    assert caught.value.code == -32602
    assert "'kitchen'" in caught.value.message
    assert "--toolsets kitchen" in caught.value.message
    assert "/mcp/kitchen" in caught.value.message
    assert caught.value.data == {"tool": "cook", "toolset": "kitchen"}


def test_a_callable_contract_need_not_be_listed(library: Library) -> None:
    offered = Offered((KITCHEN,), (KITCHEN, BAR))

    assert [each.name for each in offered.tools()] == ["cook"]
    assert call(Work(library), offered, "serve", {"cups": 1}).text == "1 of tea"


def test_an_error_of_the_library_takes_the_shape_of_the_contract(library: Library) -> None:
    text = "NOT_FOUND: No water. ['cups']"
    assert ask(library, "run_out", cups=1) == Reply(text, is_error=True, code="NOT_FOUND")


def test_an_answer_in_terms_of_the_protocol_passes_as_it_is(library: Library) -> None:
    with pytest.raises(RpcError) as caught:
        ask(library, "answer_in_protocol", cups=1)

    assert (caught.value.code, caught.value.data) == (-32000, {"retryAfter": 3})


def test_a_defect_says_nothing_but_a_reference_that_the_log_has_too(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        reply = ask(library, "break_down", cups=1)

    found = re.fullmatch(
        r"INTERNAL_ERROR: Something went wrong inside \(reference ([0-9a-f]{12})\)\. \['cups'\]",
        reply.text,
    )
    assert found
    assert reply.is_error
    assert f"defect {found[1]} in break_down" in caplog.text
    assert "secret of the house: 1" in caplog.text
    assert ask(library, "serve", cups=2).text == "2 of tea"


class Tray(Arguments):
    orders: list[Order]


class Nothing(Arguments):
    pass


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (Tray, {"orders": [{"cup": 1, "cups": 1}]}, "'orders.0.cup': did you mean 'cups'?"),
        (Nothing, {"zzz": 1}, "'zzz': there are none."),
    ],
)
def test_an_unknown_name_is_compared_with_those_of_its_own_place(
    library: Library, arguments: type[Arguments], given: dict[str, Any], said: str
) -> None:
    contract = Contract("x", (Tool("x", "x", "x", arguments, serve),), shape)

    reply = call(Work(library), Offered((contract,), (contract,)), "x", given)

    assert f"Unknown argument {said}" in reply.text


@pytest.mark.parametrize(
    "each", [tool for contract in load_contracts().values() for tool in contract.tools]
)
def test_every_example_is_made_of_arguments_that_the_tool_takes(each: Tool) -> None:
    if each.example:
        each.arguments.model_validate_json(each.example)
    else:
        assert each.name == "search_documents"  # which shows one with every error
