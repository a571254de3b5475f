"""The tools of the `files` toolset that a language model may help with.

A model is sent snippets that stand in the index, as it redacts them, and the question; never what
a caller wrote instead, never a name or a place of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field

from bookwheel.contracts.files_answers import Rewritten, Summary, reply_with, shown
from bookwheel.contracts.files_arguments import Path
from bookwheel.contracts.tool import NOT_A_FLAG, Arguments, Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BadRequest, NotFound, Upstream
from bookwheel.llm.answers import read_object, without_addresses
from bookwheel.llm.base import Completion, Message, Model, estimate_tokens
from bookwheel.llm.choice import HOW_TO, choose_model
from bookwheel.llm.prompts import ask_for_rewrite, ask_for_summary
from bookwheel.model import Document, SafeText
from bookwheel.search.rewrite import LONGEST_EXPRESSION, rewrite, tidy
from bookwheel.view import View

MOST_RESULTS = 50
LONGEST_SNIPPET = 800
"""Characters of one snippet that are used."""
LONGEST_OF_ONE = 2000
"""Characters that are used of one document."""
_LEAST_TOKENS, _MOST_TOKENS = 16, 4000
_REWRITE_TOKENS = 300
_MOST_FILTERS = 30
_LONGEST_NOTE = 300
_CHARACTERS_PER_TOKEN = 4
_LONGEST_GIVEN = 20_000

Question = Annotated[str, Field(min_length=1, max_length=1000)]


class Result(Arguments):
    """One item of searchFiles; what else it has is not needed."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    path: Path = Field(description="Absolute path, as searchFiles gives it")
    snippet: str = Field(max_length=_LONGEST_GIVEN, description="Snippet, as searchFiles gives it")


class SummarizeResults(Arguments):
    """What to summarize, and how."""

    query: Question = Field(description="What was looked for")
    results: list[Result] = Field(
        min_length=1, max_length=MOST_RESULTS, description="Items of searchFiles, 1 to 50"
    )
    style: Literal["bullets", "paragraph", "table"] = Field(
        "bullets", description="What the summary looks like"
    )
    max_tokens: Annotated[int, Field(ge=_LEAST_TOKENS, le=_MOST_TOKENS), NOT_A_FLAG] = Field(
        400, description="Length of the summary at most, 16 to 4000"
    )


class RewriteQuery(Arguments):
    """What to rewrite."""

    query: Question = Field(description="A question, with file types and years as one says them")


class Excerpt(NamedTuple):
    """A snippet as the index has it."""

    path: str
    text: SafeText
    language: str


def summarize_results(work: Work, asked: SummarizeResults) -> Reply:
    """Answer a summary of snippets, by a model or by the sentences that say most."""
    view = shown(work.library)
    documents = [_locate(view, each.path) for each in asked.results]
    model = _writer(work, view)
    excerpts, notes = _find_excerpts(view, asked.results, documents)
    if not excerpts:
        raise BadRequest(
            "None of the snippets stands in its document.",
            hint="Give path and snippet of items as searchFiles answers them.",
        )
    if model is None:
        answer = _extract(view, asked, excerpts)
    else:
        answer, said = _ask(view, model, asked, excerpts)
        notes += said
    noted = {"notes": " ".join(notes)} if notes else {}
    return reply_with(answer | noted, results=len(answer["sources"]))


def rewrite_query(work: Work, asked: RewriteQuery) -> Reply:
    """Answer a question as an expression with filters, by a model or by rules."""
    if not any(map(str.isalnum, asked.query)):
        raise BadRequest("The query has no words.", hint='As "vendor contracts from 2021 in docx".')
    view = shown(work.library)
    model = choose_model(view.settings, work.sample, work.go_on)
    if model is not None:
        completion = model.complete(ask_for_rewrite(view.hide(asked.query)), _REWRITE_TOKENS)
        return reply_with(_checked(view, read_object(completion.text)))
    made = rewrite(asked.query, date.today(), view.settings["language"] or "en")
    filters = {"exts": [*made.extensions], "years": [*made.years]}
    notes = ". ".join(f"{note[0].upper()}{note[1:]}" for note in made.notes)
    return reply_with({"fts": made.expression, "filters": filters, "notes": notes})


def _writer(work: Work, view: View) -> Model | None:
    """Return the model that is to summarize; None where sentences are to be picked."""
    way = view.settings["summaries"]
    if way == "extractive":
        return None
    model = choose_model(view.settings, work.sample, work.go_on)
    if model is None and way == "model":
        hint = f'{HOW_TO} summaries = "extractive" picks sentences without a model.'
        raise Upstream("There is no language model to summarize with.", hint=hint)
    return model


def _locate(view: View, path: str) -> Document | None:
    """Return the document of an absolute path; None where there is none; Forbidden outside."""
    try:
        return view.file(path)
    except NotFound:
        return None


def _find_excerpts(
    view: View, results: Sequence[Result], documents: Sequence[Document | None]
) -> tuple[list[Excerpt], list[str]]:
    """Return the snippets that stand in their documents, once each, and what was left out."""
    found: dict[tuple[str, str], Excerpt] = {}
    used: dict[int, int] = {}
    unknown = too_much = 0
    for result, document in zip(results, documents, strict=True):
        text = None
        if document is not None:
            text = view.quote(document, result.snippet, longest=LONGEST_SNIPPET)
        if document is None or text is None:
            unknown += 1
            continue
        used[document.key] = used.get(document.key, 0) + len(text)
        if used[document.key] > LONGEST_OF_ONE:
            too_much += 1
            continue
        found.setdefault((result.path, text), Excerpt(result.path, text, document.language))
    notes = []
    if unknown:
        notes.append(f"Left out {_snippets(unknown)} that no indexed document has.")
    if too_much:
        notes.append(f"Left out {_snippets(too_much)} of documents with many.")
    return [*found.values()], notes


def _ask(
    view: View, model: Model, asked: SummarizeResults, excerpts: Sequence[Excerpt]
) -> tuple[dict[str, Any], list[str]]:
    texts = [each.text for each in excerpts]
    messages, count = ask_for_summary(
        view.hide(asked.query), texts, style=asked.style, max_tokens=asked.max_tokens
    )
    completion = model.complete(messages, asked.max_tokens)
    summary = view.hide(without_addresses(completion.text, texts[:count]))
    notes = []
    if count < len(excerpts):
        notes.append(f"Left out {_snippets(len(excerpts) - count)}: there is room for {count}.")
    if completion.is_cut:
        notes.append("The summary ends where max_tokens did.")
    answer = {
        "summary": summary,
        "tokens_used": _tokens(completion, messages),
        "sources": _sources(excerpts[:count]),
    }
    return answer, notes


def _extract(view: View, asked: SummarizeResults, excerpts: Sequence[Excerpt]) -> dict[str, Any]:
    from bookwheel.text.extract import pick_sentences

    languages = [each.language for each in excerpts if each.language] or ["en"]
    picked = pick_sentences(
        [each.text for each in excerpts],
        asked.query,
        max(languages, key=languages.count),
        longest=asked.max_tokens * _CHARACTERS_PER_TOKEN,
    )
    lines = [(each.text, each.source + 1) for each in picked]
    if asked.style == "paragraph":
        summary = " ".join(f"{text} [{number}]" for text, number in lines)
    elif asked.style == "table":
        rows = [f"| {text.replace('|', chr(92) + '|')} | [{number}] |" for text, number in lines]
        summary = "\n".join(["| Statement | Source |", "|---|---|", *rows])
    else:
        summary = "\n".join(f"- {text} [{number}]" for text, number in lines)
    none_used = {"prompt": 0, "completion": 0}
    return {
        "summary": view.hide(summary),
        "tokens_used": none_used,
        "sources": _sources(excerpts),
    }


def _sources(excerpts: Sequence[Excerpt]) -> list[dict[str, Any]]:
    return [{"ref": number, "path": each.path} for number, each in enumerate(excerpts, 1)]


def _tokens(completion: Completion, messages: Sequence[Message]) -> dict[str, int]:
    """Return what the model says that it took, else about what it must have taken."""
    prompt, written = completion.prompt_tokens, completion.completion_tokens
    if prompt is None:
        prompt = sum(estimate_tokens(each.text) for each in messages)
    return {
        "prompt": prompt,
        "completion": estimate_tokens(completion.text) if written is None else written,
    }


def _checked(view: View, said: dict[str, Any]) -> dict[str, Any]:
    """Return what a model made of a query, as far as a search can use it."""
    expression = said.get("fts")
    filters = said.get("filters")
    stated = said | filters if isinstance(filters, dict) else said
    if not isinstance(expression, str) or not any(map(str.isalnum, expression)):
        raise Upstream("The model's answer holds no query.")
    notes = said.get("notes")
    return {
        "fts": view.hide(tidy(expression[: 2 * LONGEST_EXPRESSION])),
        "filters": {"exts": _extensions(stated.get("exts")), "years": _years(stated.get("years"))},
        "notes": view.hide(notes[:_LONGEST_NOTE]) if isinstance(notes, str) else "",
    }


def _extensions(stated: object) -> list[str]:
    """Return those of some extensions that there can be documents of."""
    from bookwheel.formats.registry import FORMATS

    known = {extension for row in FORMATS for extension in row.extensions}
    return [each for each in (f".{word.lstrip('.')}" for word in _words(stated)) if each in known]


def _years(stated: object) -> list[str]:
    return [word for word in _words(stated) if len(word) == 4 and "1900" <= word <= "2199"]


def _words(stated: object) -> list[str]:
    """Return the short words of what should be a list of them."""
    listed = stated if isinstance(stated, list) else []
    words = [str(each).strip().lower() for each in listed if isinstance(each, (str, int))]
    return list(dict.fromkeys(word for word in words if word.isascii() and 0 < len(word) < 16))[
        :_MOST_FILTERS
    ]


def _snippets(count: int) -> str:
    return f"{count} snippet{'s' if count > 1 else ''}"


SUMMARIZE_RESULTS = Tool(
    "summarizeResults",
    "Summarize results",
    "Summarize snippets that searchFiles found, as bullets, a paragraph or a table. Give its items "
    "with path and snippet; only snippets that stand in the index are used. [1] in the summary is "
    "the first of `sources`. Use openFile to read on in one file.",
    SummarizeResults,
    summarize_results,
    example='{"query": "vendor x contracts", "results": [{"path": "/mnt/shared/contract.docx", '
    '"snippet": "Vendor X agrees to"}], "style": "bullets"}',
    answer=Summary,
    waits=True,
    per_minute=20,
)
REWRITE_QUERY = Tool(
    "rewriteQuery",
    "Rewrite a query",
    "Turn a question into an expression (AND, OR, NOT, NEAR/5, quotes) with file types and years. "
    "Give `fts` to searchFiles as query, and `exts` and `years` from filters beside it.",
    RewriteQuery,
    rewrite_query,
    example='{"query": "Find vendor X contracts from 2021 in ppt or docx"}',
    answer=Rewritten,
    waits=True,
)
