"""Every setting: default, bounds, help, the names it goes by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bookwheel.errors import BadRequest
from bookwheel.model import Access, Redact
from bookwheel.query import Rerank
from bookwheel.settings import forms

CONFIG_NAME = "bookwheel.toml"


class Row(NamedTuple):
    """One setting: how it is written, checked and explained."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    help: str
    other_names: tuple[str, ...] = ()
    """Environment names besides our own, kept for clients of older servers."""
    secret: bool = False
    """Never shown, only whether it is set."""
    reaches_out: Callable[[str], bool] | None = None
    """Tells values by which texts would leave the machine, others be let in or a model come to
    it: those must be the operator's own word, not that of a file that lay in the start folder."""

    @property
    def variable(self) -> str:
        return f"BOOKWHEEL_{self.name.upper()}"


SETTINGS: tuple[Row, ...] = (
    Row("index", forms.path, None, "Folder that holds the index. Wins over the two below."),
    Row(
        "search_db_path",
        forms.path,
        None,
        "File that holds the index; what is derived from it lies beside it.",
        ("SEARCH_DB_PATH",),
    ),
    Row(
        "cache_root",
        forms.path,
        None,
        "Folder below which indexes are kept, one for each set of folders. "
        "Default: the user's cache folder.",
        ("CACHE_ROOT",),
    ),
    Row(
        "engine",
        forms.engine,
        None,
        "Cluster that holds the index instead of a file: "
        "opensearch+https://user:password@host:9200,other:9200/prefix. Texts are sent there.",
        secret=True,
        reaches_out=forms.always,
    ),
    Row(
        "engine_key",
        forms.text,
        None,
        "API key, or `Bearer TOKEN`, for the cluster instead of a password.",
        secret=True,
        reaches_out=forms.always,
    ),
    Row(
        "docs_root",
        forms.path,
        None,
        "Folder to use when none is named. Default: the current folder.",
        ("DOCS_ROOT",),
    ),
    Row(
        "language", forms.text, None, "Language of the documents (en, de, ...) instead of a guess."
    ),
    Row(
        "workers",
        forms.whole(1, 64),
        None,
        "Processes that read files. Default: one per core, up to 4.",
    ),
    Row("max_file_mb", forms.whole(1, 2000), 50, "Largest file that is read, in megabytes."),
    Row(
        "snippet_length",
        forms.whole(40, 2000),
        200,
        "About how many characters a snippet has.",
        ("MCP_SNIPPET_LENGTH",),
    ),
    Row(
        "max_search_results",
        forms.whole(1, 50),
        None,
        "How many results `search_docs` gives without a `limit`, and at most. "
        "Default: 10, and 50 at most.",
        ("MCP_MAX_SEARCH_RESULTS",),
    ),
    Row(
        "index_answer_seconds",
        forms.whole(0, 3600),
        25,
        "How long `indexFolder` waits for its work; after that it answers that the work goes on.",
    ),
    Row(
        "reconcile_seconds",
        forms.whole(1, 86400),
        60,
        "How often a watched folder is looked through.",
    ),
    Row(
        "embedder",
        forms.embedder,
        "static",
        "Model that finds texts by meaning: static, minilm, http, model2vec:MODEL, "
        "fastembed:MODEL, sentence-transformers:MODEL; none: words alone.",
        reaches_out=forms.names_a_service,
    ),
    Row(
        "embedding_url",
        forms.address,
        None,
        "Where the http embedder asks: an OpenAI-compatible address up to /embeddings, such as "
        "http://localhost:11434/v1. Texts are sent there.",
        reaches_out=forms.always,
    ),
    Row(
        "embedding_model",
        forms.text,
        None,
        "Model that the http embedder asks for.",
        reaches_out=forms.always,
    ),
    Row(
        "embedding_key",
        forms.text,
        None,
        "Key that the http embedder sends.",
        secret=True,
        reaches_out=forms.always,
    ),
    Row(
        "embedding_dimensions",
        forms.whole(1, 65536),
        None,
        "Dimensions that the http embedder asks for. Default: what the model gives.",
    ),
    Row(
        "embedding_batch", forms.whole(1, 2048), 64, "Texts that the http embedder sends at a time."
    ),
    Row("embedding_timeout", forms.whole(1, 3600), 60, "Seconds that its answer may take."),
    Row(
        "redact",
        forms.one_of(*Redact),
        Redact.OFF.value,
        "What is taken out of every text before anyone is shown it: off; secrets: keys, tokens, "
        "passwords; all: e-mail addresses and phone numbers too. A collection may ask for more.",
    ),
    Row(
        "redact_regions",
        forms.regions,
        None,
        "Countries whose phone numbers are known without a country code, such as US,GB,DE. "
        "Default: ten of them, see the page on redaction.",
        reaches_out=forms.always,
    ),
    Row(
        "access",
        forms.one_of(*Access),
        None,
        "How much of a document may be read: full, or preview: short redacted stretches. "
        "Default: full; preview where files is the only toolset served.",
    ),
    Row(
        "rerank",
        forms.one_of(*Rerank),
        Rerank.NONE.value,
        "Model that puts the first hits of every search into a better order, which takes time.",
    ),
    Row("rerank_ms", forms.whole(1, 600_000), 1500, "Milliseconds that it may take."),
    Row(
        "llm_url",
        forms.address,
        None,
        "Where a language model is asked for summaries: an OpenAI-compatible address up to "
        "/chat/completions, such as http://localhost:11434/v1. Redacted snippets are sent there.",
        ("OPENAI_BASE_URL",),
        reaches_out=forms.always,
    ),
    Row(
        "llm_model", forms.text, "gpt-4.1-mini", "Model to ask for there.", reaches_out=forms.always
    ),
    Row(
        "llm_key",
        forms.text,
        None,
        "Key to send there. One from OPENAI_API_KEY is sent to OpenAI, or to an address from "
        "OPENAI_BASE_URL, and nowhere else.",
        ("OPENAI_API_KEY",),
        secret=True,
        reaches_out=forms.always,
    ),
    Row("llm_timeout", forms.whole(1, 600), 30, "Seconds that a language model may take in all."),
    Row(
        "llm_order",
        forms.order,
        "endpoint,client",
        "Whose model is asked first: endpoint is that of llm_url, client the connected client's "
        "own; none: no model.",
    ),
    Row(
        "summaries",
        forms.one_of("model", "extractive", "either"),
        "model",
        "How summaries are made: by a model; extractive: from sentences of the results; either: "
        "by a model where there is one, else from sentences.",
    ),
    Row(
        "toolsets",
        forms.text,
        None,
        "Toolsets to serve, such as pages,folder, or all. Default: documents.",
    ),
    Row(
        "readers",
        forms.whole(0, 64),
        None,
        "Processes that help to answer HTTP clients when many call at once; 0: none. "
        "Default: one per core, up to 4.",
    ),
    Row("read_only", forms.flag, False, "Serve no tool that changes anything."),
    Row(
        "token",
        forms.sendable,
        None,
        "Token that HTTP clients must send as a bearer.",
        secret=True,
        reaches_out=forms.always,
    ),
    Row(
        "hosts",
        forms.text,
        None,
        "Names by which HTTP clients may call the server besides its own address, such as "
        "docs.example.org or docs.example.org:8443.",
        reaches_out=forms.always,
    ),
    Row(
        "trusted_proxies",
        forms.networks,
        None,
        "Proxies whose X-Forwarded-For tells the client's address, as addresses or networks: "
        "10.0.0.5,10.1.0.0/16.",
        reaches_out=forms.always,
    ),
    Row(
        "public",
        forms.flag,
        False,
        "Let other machines connect over HTTP, even without a token.",
        reaches_out=forms.always,
    ),
    Row("site_title", forms.text, None, "Name of the site. Default: that of the only collection."),
    Row(
        "custom_css",
        forms.path,
        None,
        "File of styles that every page of the site loads last.",
        reaches_out=forms.always,  # whoever names a file here shows it to everybody
    ),
    Row("mcp_enabled", forms.flag, True, "Whether /mcp answers over HTTP.", ("MCP_ENABLED",)),
    Row(
        "rate_limit_requests",
        forms.whole(0, 1_000_000),
        120,
        "Requests that one HTTP client may make in a window; 0 means any number.",
        ("MCP_RATE_LIMIT_REQUESTS",),
    ),
    Row(
        "rate_limit_window",
        forms.whole(1, 86400),
        60,
        "Length of that window in seconds.",
        ("MCP_RATE_LIMIT_WINDOW",),
    ),
    Row(
        "tool_limits",
        forms.tool_limits,
        None,
        "How often one client may call a tool, where that differs from its own limit: "
        "NAME=60/minute,OTHER=5/second; off: no tool has a limit.",
    ),
    Row("call_seconds", forms.whole(1, 3600), 30, "Seconds after which a call is ended."),
    Row(
        "max_calls",
        forms.whole(1, 100_000),
        128,
        "Calls that may run or wait at one time; one more is refused at once.",
    ),
    Row(
        "tokens",
        forms.path,
        None,
        "File that holds the named tokens, which `bookwheel token new` makes. "
        "Default: tokens.json in the user's configuration folder.",
        reaches_out=forms.always,
    ),
    Row(
        "base_path",
        forms.base_path,
        "",
        "Path below which everything is served, such as /docs, behind a proxy that passes it on.",
    ),
    Row(
        "audit",
        forms.audit,
        None,
        "File that gets a line for each call. Default: catalog.db.audit.jsonl beside the index; "
        "off: none.",
        reaches_out=forms.always,
    ),
    Row(
        "audit_key",
        forms.path,
        None,
        "File that holds the key that seals audit lines; made if there is none. "
        "Default: beside the audit.",
        reaches_out=forms.always,
    ),
    Row(
        "audit_queries",
        forms.one_of("text", "hash", "none"),
        "text",
        "What an audit line holds of a call's arguments: all, a keyed hash of them, or nothing.",
    ),
    Row(
        "audit_mb",
        forms.whole(1, 100_000),
        20,
        "Size in megabytes at which an audit file is put aside; four older ones are kept.",
    ),
    Row(
        "log_format",
        forms.one_of("text", "json"),
        "text",
        "How the server's log is written: as text for people, or one JSON object per line.",
    ),
    Row(
        "debug",
        forms.flag,
        False,
        "Rebuild the index at each start, and show details in errors.",
        ("DEBUG",),
    ),
)
_ROWS = {row.name: row for row in SETTINGS}


def describe(name: str) -> Row:
    """Return the row of a setting."""
    return _ROWS[name]


def stated_text(row: Row, value: Any) -> str:
    """Return a value of a configuration file as a flag would have it."""
    if isinstance(value, (str, int, float)):
        return str(value)
    raise BadRequest(f"{row.name} must be {row.parse.__doc__}, not a list or table.", hint=row.help)


def parse(row: Row, text: str, name: str) -> Any:
    """Read a value; raises BadRequest with the name under which it was given."""
    try:
        return row.parse(text)
    except ValueError as error:
        why = str(error) if str(error).startswith(("must", "holds")) else ""
        expected = why or f"must be {row.parse.__doc__}"
        value = "set" if row.secret else repr(text)
        raise BadRequest(f"{name} is {value}, but it {expected}.", hint=row.help) from None
