"""Schemas of arguments: as plain as the contracts write them."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from bookwheel.contracts.tool import NOT_A_FLAG, Arguments, make_schema


class Range(BaseModel):
    """A nested model, with a text of its own."""

    first: int
    last: int | None = None


class Everything(Arguments):
    """This text must not reach a client."""

    words: str = Field(description="Words")
    many: list[Range] | None = Field(None, description="Ranges")
    most: Annotated[int, Field(ge=1, le=9), NOT_A_FLAG] | None = Field(None)
    plain: bool = False


def test_a_schema_has_no_titles_no_null_branches_and_nested_models_written_out() -> None:
    assert make_schema(Everything) == {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "Words"},
            "many": {
                "type": "array",
                "items": {
                    "type": "object",
                    "description": "A nested model, with a text of its own.",
                    "properties": {"first": {"type": "integer"}, "last": {"type": "integer"}},
                    "required": ["first"],
                },
                "description": "Ranges",
            },
            "most": {"type": "integer", "minimum": 1, "maximum": 9},
            "plain": {"type": "boolean", "default": False},
        },
        "required": ["words"],
    }


def test_properties_stand_in_the_order_of_the_model() -> None:
    assert list(make_schema(Everything)["properties"]) == ["words", "many", "most", "plain"]


@pytest.mark.parametrize("value", [True, False, 1.5, "one", 0, 10])
def test_a_number_is_neither_a_flag_nor_a_fraction_nor_out_of_bounds(value: object) -> None:
    with pytest.raises(ValidationError):
        Everything.model_validate({"words": "x", "most": value})


@pytest.mark.parametrize(("value", "number"), [(3, 3), (3.0, 3), (None, None)])
def test_a_whole_number_may_be_written_with_a_point_or_be_absent(
    value: object, number: int | None
) -> None:
    assert Everything.model_validate({"words": "x", "most": value}).most == number
