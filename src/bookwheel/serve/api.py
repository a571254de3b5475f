"""The JSON API: one row for each address, from which the routes and their description come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bookwheel.contracts.resources import is_alone
from bookwheel.errors import BadRequest
from bookwheel.serve import api_models as models
from bookwheel.serve.api_answers import (
    entry_fields,
    make_request,
    read_graph,
    show_facets,
    show_graph,
    show_hit,
    show_results,
    show_status,
)
from bookwheel.serve.web import Web, base_of, with_etag
from bookwheel.view import View

Run = Callable[["Asking", Any], BaseModel]


class Asking(NamedTuple):
    """What answers a request: the library, and whatever of the request is no parameter."""

    web: Web
    library: View
    base: str


class Operation(NamedTuple):
    """One address of the API."""

    name: str
    summary: str
    asked: type[models.Asked]
    answer: type[models.Answer]
    run: Run

    @property
    def path(self) -> str:
        return f"/api/{self.name}"


def search(asking: Asking, asked: models.PageOfHitsAsked) -> models.SearchAnswer:
    """Find documents."""
    library = asking.library
    results = library.search(make_request(asked, limit=asked.limit, offset=asked.offset))
    remark = asking.web.calls.remark
    return show_results(results, base=asking.base, alone=is_alone(library), remark=remark)


def facets(asking: Asking, asked: models.SearchAsked) -> models.FacetsAnswer:
    """Count what filters would leave."""
    return show_facets(asking.library.facets(make_request(asked)))


def documents(asking: Asking, asked: models.DocumentsAsked) -> models.DocumentsAnswer:
    """List documents."""
    library = asking.library
    page = library.list_documents(
        asked.collection, folder=asked.folder, limit=asked.limit, offset=asked.offset
    )
    alone = is_alone(library)
    return models.DocumentsAnswer(
        documents=[
            models.DocumentEntry(**entry_fields(each, base=asking.base, alone=alone))
            for each in page.documents
        ],
        total=page.total,
        next_offset=page.offset + len(page.documents) if page.has_more else None,
    )


def document(asking: Asking, asked: models.TextAsked) -> models.TextAnswer:
    """Read a document."""
    library = asking.library
    found = library.document(asked.document, asked.collection)
    part = library.text(found, offset=asked.offset, length=asked.length)
    return models.TextAnswer(
        **entry_fields(found, base=asking.base, alone=is_alone(library)),
        text=part.text,
        offset=part.offset,
        total_characters=part.total,
        next_offset=part.next_offset,
    )


def outline(asking: Asking, asked: models.OutlineAsked) -> models.OutlineAnswer:
    """Read the headings of a document."""
    found = asking.library.document(asked.document, asked.collection)
    return models.OutlineAnswer(
        collection=found.collection,
        document=found.path,
        title=found.title,
        headings=[
            models.HeadingAnswer(level=each.level, text=each.text, line=each.line)
            for each in asking.library.outline(found, depth=asked.depth)
        ],
    )


def section(asking: Asking, asked: models.SectionAsked) -> models.SectionAnswer:
    """Read one section of a document."""
    found = asking.library.document(asked.document, asked.collection)
    part = asking.library.section(found, asked.heading, subsections=asked.subsections)
    return models.SectionAnswer(
        collection=found.collection,
        document=found.path,
        heading=part.heading,
        level=part.level,
        text=part.text,
        start_line=part.start_line,
        end_line=part.end_line,
        others=list(part.others),
    )


def related(asking: Asking, asked: models.RelatedAsked) -> models.RelatedAnswer:
    """Find documents like one."""
    found = asking.library.document(asked.document, asked.collection)
    hits = asking.library.find_related(found, limit=asked.limit)
    alone = is_alone(asking.library)
    return models.RelatedAnswer(
        related=[show_hit(hit, base=asking.base, alone=alone) for hit in hits]
    )


def graph(asking: Asking, asked: models.GraphAsked) -> models.GraphAnswer:
    """Show who cites whom."""
    return show_graph(read_graph(asking.library, asked), base=asking.base)


def status(asking: Asking, _: models.NothingAsked) -> models.StatusAnswer:
    """Tell how the server and its collections are."""
    web = asking.web
    return show_status(asking.library, state=web.state(), toolsets=web.toolsets)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "search",
        "Find documents by words and by meaning",
        models.PageOfHitsAsked,
        models.SearchAnswer,
        search,
    ),
    Operation(
        "facets",
        "Count what a question finds by collection, type, year and folder",
        models.SearchAsked,
        models.FacetsAnswer,
        facets,
    ),
    Operation(
        "documents",
        "List the documents of a collection or folder",
        models.DocumentsAsked,
        models.DocumentsAnswer,
        documents,
    ),
    Operation(
        "document",
        "Read a document as Markdown, part by part",
        models.TextAsked,
        models.TextAnswer,
        document,
    ),
    Operation(
        "outline",
        "Read the headings of a document",
        models.OutlineAsked,
        models.OutlineAnswer,
        outline,
    ),
    Operation(
        "section",
        "Read one section of a document",
        models.SectionAsked,
        models.SectionAnswer,
        section,
    ),
    Operation(
        "related",
        "Find documents that are like one",
        models.RelatedAsked,
        models.RelatedAnswer,
        related,
    ),
    Operation(
        "graph",
        "Show who cites whom around a document, around what words find, or in all",
        models.GraphAsked,
        models.GraphAnswer,
        graph,
    ),
    Operation(
        "status",
        "Tell how the server and its collections are",
        models.NothingAsked,
        models.StatusAnswer,
        status,
    ),
)


def make_api_routes(web: Web) -> list[Route]:
    """Return the routes of all operations."""
    return [
        Route(each.path, _endpoint(web, each), methods=["GET"], name=f"api_{each.name}")
        for each in OPERATIONS
    ]


def _endpoint(web: Web, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            asked = read_query(request, operation.asked)
            base = base_of(request)
            made = await web.ask(
                request, lambda library: operation.run(Asking(web, library, base), asked)
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, a program is told in JSON
            return tell_problem(web, error)
        return with_etag(request, _json(made))

    return answer


def tell_problem(web: Web, error: Exception) -> Response:
    """Return the answer that tells a program what went wrong."""
    problem = web.explain(error)
    body = models.ErrorBody(code=problem.code, message=problem.message, hint=problem.hint)
    return _json(models.ErrorAnswer(error=body), problem.status, problem.headers)


def _json(
    model: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    text = model.model_dump_json(by_alias=True)
    return Response(text, status, headers, media_type="application/json")


def read_query(request: Request, model: type[BaseModel]) -> Any:
    """Return the parameters of a request; those that may be several are repeated."""
    several = {
        name for name, field in model.model_fields.items() if isinstance(field.default, tuple)
    }
    given: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in request.query_params.multi_items()):
        values = request.query_params.getlist(name)
        if name not in several and len(values) > 1:
            raise BadRequest(f"{name!a} is given {len(values)} times, but it takes one value.")
        given[name] = tuple(values) if name in several else values[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        known = ", ".join(model.model_fields) or "none"
        said = {
            "missing": f"The parameter {name!a} is required.",
            "extra_forbidden": f"There is no parameter {name!a}.",
        }.get(first["type"], f"The parameter {name!a} cannot be used: {message}.")
        raise BadRequest(said, hint=f"There are {known}.") from None
