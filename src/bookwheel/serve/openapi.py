"""The description of the JSON API in OpenAPI 3.1, made from its table."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bookwheel import __version__
from bookwheel.serve.api import OPERATIONS, Operation
from bookwheel.serve.api_models import ErrorAnswer

_REFERENCE = "#/components/schemas/{model}"
_PROBLEMS = {
    "400": "A parameter cannot be used",
    "401": "The token is missing or wrong",
    "403": "Only previews of this may be seen",
    "404": "There is no such collection, document or section",
    "429": "The server has more to do than it can take; Retry-After says when to ask again",
    "502": "A model elsewhere does not answer",
    "503": "There is no index to read just now; Retry-After says when to ask again",
}


@cache
def describe_api() -> dict[str, Any]:
    """Return the whole description."""
    answers = [operation.answer for operation in OPERATIONS]
    models: list[type[BaseModel]] = [*answers, ErrorAnswer]
    names, definitions = models_json_schema(
        [(model, "serialization") for model in models],
        ref_template=_REFERENCE,
    )
    references = {model: schema for (model, _), schema in names.items()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bookwheel",
            "version": __version__,
            "description": "Search and read what is indexed here. Everything is read by GET.",
        },
        "paths": {
            each.path: {"get": _describe(each, references[each.answer], references[ErrorAnswer])}
            for each in OPERATIONS
        },
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _describe(operation: Operation, good: Any, bad: Any) -> dict[str, Any]:
    responses = {"200": _response("What was asked for", good)}
    responses |= {status: _response(meaning, bad) for status, meaning in _PROBLEMS.items()}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters_of(operation),
        "responses": responses,
    }


def _response(meaning: str, schema: Any) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


def parameters_of(operation: Operation) -> list[dict[str, Any]]:
    """Return the parameters of an operation as OpenAPI describes them."""
    schema = operation.asked.model_json_schema()
    required = schema.get("required", [])
    definitions = schema.get("$defs", {})
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": described.get("description", ""),
            "schema": _plain(described, definitions),
        }
        for name, described in schema.get("properties", {}).items()
    ]


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one parameter: one that is left out is null in no query."""
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    if "$ref" in kept:
        kept |= definitions[kept.pop("$ref").rsplit("/", 1)[-1]]
    for choice in kept.pop("anyOf", []):
        kept |= choice if choice.get("type") != "null" else {}
    return {
        key: value
        for key, value in kept.items()
        if key not in ("title", "description") and not (key == "default" and value is None)
    }
