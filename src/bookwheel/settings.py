"""Every setting: default, bounds, help, the names it goes by; the only reader of the environment.

A value comes from a flag, else the environment, else the configuration file, else the default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel.errors import BadRequest, NotFound
from bookwheel.model import Access, Collection, Redact
from bookwheel.query import Rerank

CONFIG_NAME = "bookwheel.toml"
ENDPOINT, CLIENT, NO_MODEL = "endpoint", "client", "none"
"""Where a language model may be asked."""


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


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"must lie between {low} and {high}")
        return number

    parse.__doc__ = f"a whole number from {low} to {high}"
    return parse


def _one_of(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    parse.__doc__ = " or ".join(names)
    return parse


def _networks(text: str) -> str:
    """IP addresses or networks, by commas"""
    from ipaddress import ip_network

    for each in text.split(","):
        ip_network(each.strip())
    return text


def _regions(text: str) -> str:
    """countries by their two letters, by commas"""
    regions = [each.strip().upper() for each in text.split(",")]
    if not all(len(each) == 2 and each.isascii() and each.isalpha() for each in regions):
        raise ValueError("must be countries by their two letters, as US,GB,DE")
    return ",".join(regions)


def _flag(text: str) -> bool:
    """true or false"""
    lowered = text.strip().lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("must be true or false")


def _text(text: str) -> str:
    """a text"""
    return text


def _embedder(text: str) -> str:
    """static, minilm, http, none, or a kind and a model"""
    kinds = ("model2vec:", "fastembed:", "sentence-transformers:")
    if text not in ("static", "minilm", "http", "none") and not text.startswith(kinds):
        raise ValueError("must be static, minilm, http, none, or a kind such as model2vec:MODEL")
    return text


def _address(text: str) -> str:
    """an address that begins with http:// or https://"""
    if not text.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return text


def _engine(text: str) -> str:
    """an address that begins with opensearch+https:// or opensearch+http://"""
    if not text.startswith(("opensearch+https://", "opensearch+http://")):
        raise ValueError("must begin with opensearch+https:// or opensearch+http://")
    return text


def _order(text: str) -> str:
    """endpoint and client, by commas, or none"""
    names = [name.strip() for name in text.split(",")]
    if names != [NO_MODEL] and (not {*names} <= {ENDPOINT, CLIENT} or len({*names}) < len(names)):
        raise ValueError("must be endpoint, client, both in either order by a comma, or none")
    return ",".join(names)


def _path(text: str) -> str:
    """a path"""
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        return str(Path(text).expanduser())
    except RuntimeError:
        raise ValueError("must not begin with the home folder of an unknown user") from None


def _audit(text: str) -> str:
    """a path, or off"""
    return text if text == "off" else _path(text)


class Rate(NamedTuple):
    """So many in so many seconds; 0 means any number."""

    number: int
    seconds: int


_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


def read_rate(text: str) -> Rate:
    """Return a rate that is written as 60/minute; ValueError for anything else."""
    number, _, unit = text.partition("/")
    if not number.strip().isdecimal() or unit.strip() not in _UNITS or len(number) > 9:
        raise ValueError(f"must be written as 60/minute, by {', '.join(_UNITS)}")
    return Rate(int(number), _UNITS[unit.strip()])


def read_rates(text: str) -> dict[str, Rate] | None:
    """Return the rates of tools by their names; None for `off`."""
    if text.strip().lower() == "off":
        return None
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    return {name.strip(): read_rate(rate) for name, _, rate in pairs}


def _tool_limits(text: str) -> str:
    """off, or rates such as NAME=60/minute,OTHER=5/second"""
    read_rates(text)
    return text


def _base_path(text: str) -> str:
    """a path that begins with /"""
    from urllib.parse import quote

    steps = {".", ".."} & set(text.split("/"))
    if not text.startswith("/") or quote(text) != text or "//" in text or steps:
        raise ValueError("must begin with / and hold plain characters only")
    return text.rstrip("/")


def _always(_: str) -> bool:
    return True


def _names_a_service(embedder: str) -> bool:
    return embedder == "http" or ":" in embedder


SETTINGS: tuple[Row, ...] = (
    Row("index", _path, None, "Folder that holds the index. Wins over the two below."),
    Row(
        "search_db_path",
        _path,
        None,
        "File that holds the index; what is derived from it lies beside it.",
        ("SEARCH_DB_PATH",),
    ),
    Row(
        "cache_root",
        _path,
        None,
        "Folder below which indexes are kept, one for each set of folders. "
        "Default: the user's cache folder.",
        ("CACHE_ROOT",),
    ),
    Row(
        "engine",
        _engine,
        None,
        "Cluster that holds the index instead of a file: "
        "opensearch+https://user:password@host:9200,other:9200/prefix. Texts are sent there.",
        secret=True,
        reaches_out=_always,
    ),
    Row(
        "engine_key",
        _text,
        None,
        "API key that the cluster is asked with instead of a user and password.",
        secret=True,
        reaches_out=_always,
    ),
    Row(
        "docs_root",
        _path,
        None,
        "Folder to use when none is named. Default: the current folder.",
        ("DOCS_ROOT",),
    ),
    Row("language", _text, None, "Language of the documents (en, de, ...) instead of a guess."),
    Row(
        "workers", _whole(1, 64), None, "Processes that read files. Default: one per core, up to 4."
    ),
    Row("max_file_mb", _whole(1, 2000), 50, "Largest file that is read, in megabytes."),
    Row(
        "snippet_length",
        _whole(40, 2000),
        200,
        "Length of a snippet in characters, about.",
        ("MCP_SNIPPET_LENGTH",),
    ),
    Row(
        "max_search_results",
        _whole(1, 50),
        None,
        "Results of `search_docs` where its `limit` is left out, and the most it gives. "
        "Default: 10, and 50 at most.",
        ("MCP_MAX_SEARCH_RESULTS",),
    ),
    Row(
        "index_answer_seconds",
        _whole(0, 3600),
        25,
        "How long `indexFolder` waits for the end of its work; then it answers that it goes on.",
    ),
    Row("reconcile_seconds", _whole(1, 86400), 60, "How often a watched folder is looked through."),
    Row(
        "embedder",
        _embedder,
        "static",
        "Model that finds texts by meaning: static, minilm, http, model2vec:MODEL, "
        "fastembed:MODEL, sentence-transformers:MODEL; none: words alone.",
        reaches_out=_names_a_service,
    ),
    Row(
        "embedding_url",
        _address,
        None,
        "Where the http embedder asks: an OpenAI-compatible address up to /embeddings, as "
        "http://localhost:11434/v1. Texts are sent there.",
        reaches_out=_always,
    ),
    Row(
        "embedding_model",
        _text,
        None,
        "Model that the http embedder asks for.",
        reaches_out=_always,
    ),
    Row(
        "embedding_key",
        _text,
        None,
        "Key that the http embedder sends.",
        secret=True,
        reaches_out=_always,
    ),
    Row(
        "embedding_dimensions",
        _whole(1, 65536),
        None,
        "Dimensions that the http embedder asks for. Default: what the model gives.",
    ),
    Row("embedding_batch", _whole(1, 2048), 64, "Texts that the http embedder sends at a time."),
    Row("embedding_timeout", _whole(1, 3600), 60, "Seconds that an answer to it may take."),
    Row(
        "redact",
        _one_of(*Redact),
        Redact.OFF.value,
        "What is taken out of every text before anyone is shown it: off; secrets: keys, tokens, "
        "passwords; all: e-mail addresses and phone numbers too. A collection may ask for more.",
    ),
    Row(
        "redact_regions",
        _regions,
        None,
        "Countries, as US,GB,DE, whose phone numbers are known without a country code. "
        "Default: ten of them, see the page on redaction.",
        reaches_out=_always,
    ),
    Row(
        "access",
        _one_of(*Access),
        None,
        "How much of a document may be read: full, or preview: short redacted stretches. "
        "Default: full; preview where files is the only toolset served.",
    ),
    Row(
        "rerank",
        _one_of(*Rerank),
        Rerank.NONE.value,
        "Model that looks at the first hits of every search again: slower, better order.",
    ),
    Row("rerank_ms", _whole(1, 600_000), 1500, "Milliseconds that such a look may take."),
    Row(
        "llm_url",
        _address,
        None,
        "Where a language model is asked for summaries: an OpenAI-compatible address up to "
        "/chat/completions, as http://localhost:11434/v1. Redacted snippets are sent there.",
        ("OPENAI_BASE_URL",),
        reaches_out=_always,
    ),
    Row("llm_model", _text, "gpt-4.1-mini", "Model to ask for there.", reaches_out=_always),
    Row(
        "llm_key",
        _text,
        None,
        "Key to send there. One from OPENAI_API_KEY is sent to OpenAI, or to an address from "
        "OPENAI_BASE_URL, and nowhere else.",
        ("OPENAI_API_KEY",),
        secret=True,
        reaches_out=_always,
    ),
    Row("llm_timeout", _whole(1, 600), 30, "Seconds that a language model may take in all."),
    Row(
        "llm_order",
        _order,
        "endpoint,client",
        "Whose model is asked, the first that there is: that of llm_url, the connected client's "
        "own; none: no model.",
    ),
    Row(
        "summaries",
        _one_of("model", "extractive", "either"),
        "model",
        "Who summarizes: a model; extractive: nobody, sentences of the results are picked; either: "
        "a model where there is one, else sentences.",
    ),
    Row("toolsets", _text, None, "Toolsets to serve, as pages,folder, or all. Default: documents."),
    Row(
        "readers",
        _whole(0, 64),
        None,
        "Processes that answer HTTP clients once many call at a time; 0: none. "
        "Default: one per core, up to 4.",
    ),
    Row("read_only", _flag, False, "Serve no tool that changes anything."),
    Row(
        "token",
        _text,
        None,
        "Token that HTTP clients must send as a bearer.",
        secret=True,
        reaches_out=_always,
    ),
    Row(
        "hosts",
        _text,
        None,
        "Names, as docs.example.org or docs.example.org:8443, by which HTTP clients may call "
        "the server besides its own address.",
        reaches_out=_always,
    ),
    Row(
        "trusted_proxies",
        _networks,
        None,
        "Addresses or networks, as 10.0.0.5,10.1.0.0/16, of proxies whose X-Forwarded-For "
        "tells the client's address.",
        reaches_out=_always,
    ),
    Row(
        "public",
        _flag,
        False,
        "Let other machines connect over HTTP, even without a token.",
        reaches_out=_always,
    ),
    Row("site_title", _text, None, "Name of the site. Default: that of the only collection."),
    Row(
        "custom_css",
        _path,
        None,
        "File of styles that every page of the site loads last.",
        reaches_out=_always,  # whoever names a file here shows it to everybody
    ),
    Row("mcp_enabled", _flag, True, "Whether /mcp answers over HTTP.", ("MCP_ENABLED",)),
    Row(
        "rate_limit_requests",
        _whole(0, 1_000_000),
        120,
        "Requests that one HTTP client may make in a window; 0 means any number.",
        ("MCP_RATE_LIMIT_REQUESTS",),
    ),
    Row(
        "rate_limit_window",
        _whole(1, 86400),
        60,
        "Length of that window in seconds.",
        ("MCP_RATE_LIMIT_WINDOW",),
    ),
    Row(
        "tool_limits",
        _tool_limits,
        None,
        "How often one client may call a tool, as NAME=60/minute,OTHER=5/second, for tools that "
        "shall have another limit than their own; off: none has any.",
    ),
    Row("call_seconds", _whole(1, 3600), 30, "Seconds that a call may take; then it is ended."),
    Row(
        "max_calls",
        _whole(1, 100_000),
        128,
        "Calls that may be at work or wait at one time; one more is refused at once.",
    ),
    Row(
        "tokens",
        _path,
        None,
        "File that holds the named tokens, which `bookwheel token new` makes. "
        "Default: tokens.json in the user's configuration folder.",
        reaches_out=_always,
    ),
    Row(
        "base_path",
        _base_path,
        "",
        "Path below which everything is served, as /docs, where a proxy passes it on.",
    ),
    Row(
        "audit",
        _audit,
        None,
        "File that gets a line for each call. Default: audit.jsonl beside the index; off: none.",
        reaches_out=_always,
    ),
    Row(
        "audit_key",
        _path,
        None,
        "File that holds the key by which audit lines are sealed; made if there is none. "
        "Default: beside the audit.",
        reaches_out=_always,
    ),
    Row(
        "audit_queries",
        _one_of("text", "hash", "none"),
        "text",
        "What an audit line holds of a call's arguments: all, a keyed hash of them, or nothing.",
    ),
    Row(
        "audit_mb",
        _whole(1, 100_000),
        20,
        "Megabytes of an audit file; then it is put aside, and four older ones are kept.",
    ),
    Row(
        "log_format",
        _one_of("text", "json"),
        "text",
        "How the server's log is written: lines for people, or a JSON object a line.",
    ),
    Row("debug", _flag, False, "Rebuild the index at each start; details in errors.", ("DEBUG",)),
)
_ROWS = {row.name: row for row in SETTINGS}


def describe(name: str) -> Row:
    """Return the row of a setting."""
    return _ROWS[name]


@dataclass(frozen=True)
class Settings:
    """The resolved values, each with where it came from."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    collections: tuple[Collection, ...] = ()
    config: str | None = None
    remarks: tuple[str, ...] = ()
    redaction: tuple[tuple[str, str, str], ...] = ()
    """The operator's own rules of redaction: name, kind, pattern."""

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    config: str | None = None,
    use_start_folder: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Resolve every setting; raises BadRequest naming the one that cannot be used."""
    env = os.environ if environment is None else environment
    named = config or env.get("BOOKWHEEL_CONFIG")
    file = find_config(named, use_start_folder=use_start_folder)
    stated = _from_folder(file.parent, read_config(file)) if file else {}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    remarks: list[str] = []
    if file is not None and not named and file == Path(CONFIG_NAME).absolute():
        stated = _without_reach(stated, file, remarks)
    for row in SETTINGS:
        values[row.name], origins[row.name] = _resolve(row, flags or {}, env, stated, remarks)
    _refuse_unknown(stated, file)
    collections = _collections(stated.get("collections", []), file) if file else ()
    rules = _redaction(stated.get("redaction", []), file) if file else ()
    named_file = str(file) if file else None
    return Settings(values, origins, collections, named_file, tuple(remarks), rules)


def _resolve(
    row: Row,
    flags: Mapping[str, Any],
    env: Mapping[str, str],
    stated: Mapping[str, Any],
    remarks: list[str],
) -> tuple[Any, str]:
    if flags.get(row.name) is not None:
        return _parse(row, str(flags[row.name]), f"--{row.name.replace('_', '-')}"), "flag"
    named = [name for name in (row.variable, *row.other_names) if env.get(name)]
    if len(named) > 1:
        remarks.append(f"{named[0]} and {named[1]} are both set; {named[0]} is used.")
    if named:
        return _parse(row, env[named[0]], named[0]), named[0]
    if row.name in stated:
        return _parse(row, _stated_text(row, stated[row.name]), row.name), CONFIG_NAME
    return row.default, "default"


def _without_reach(stated: Mapping[str, Any], file: Path, remarks: list[str]) -> dict[str, Any]:
    """Leave out what only the operator may say, since whoever made the folder made this file."""
    kept = dict(stated)
    for row in SETTINGS:
        if (
            row.reaches_out is not None
            and row.name in kept
            and row.reaches_out(str(kept[row.name]))
        ):
            del kept[row.name]
            remarks.append(
                f"{row.name} in {file} is not used: the file only lay in the start folder. "
                f"Name the file with --config, or set {row.variable}."
            )
    return kept


def _stated_text(row: Row, value: Any) -> str:
    if isinstance(value, (str, int, float)):
        return str(value)
    raise BadRequest(f"{row.name} must be {row.parse.__doc__}, not a list or table.", hint=row.help)


def _parse(row: Row, text: str, name: str) -> Any:
    try:
        return row.parse(text)
    except ValueError as error:
        why = str(error) if str(error).startswith(("must", "holds")) else ""
        expected = why or f"must be {row.parse.__doc__}"
        value = "set" if row.secret else repr(text)
        raise BadRequest(f"{name} is {value}, but it {expected}.", hint=row.help) from None


def _from_folder(folder: Path, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Take the paths in a configuration file as relative to where the file lies."""
    paths = {row.name for row in SETTINGS if row.parse is _path}
    return {
        name: str(folder / _path(value)) if name in paths and _is_plain_path(value) else value
        for name, value in stated.items()
    }


def _is_plain_path(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value and value[0] != "~"


def folder_of(variable: str, default: str) -> Path:
    """Return the folder that another program is told of by a variable, or its default."""
    return Path(os.environ.get(variable) or default).expanduser()


def find_config(named: str | None, *, use_start_folder: bool) -> Path | None:
    """Return the operator's configuration file, if there is one."""
    if named:
        try:
            path = Path(named).expanduser()
            if path.is_file():
                return path.absolute()
        except (OSError, RuntimeError):  # a name that is too long, the home of an unknown user
            pass
        raise NotFound(f"There is no configuration file {named}.")
    start = Path(CONFIG_NAME)
    if use_start_folder and start.is_file():
        return start.absolute()
    from platformdirs import user_config_path

    own = user_config_path("bookwheel") / CONFIG_NAME
    return own if own.is_file() else None


def read_config(path: Path) -> dict[str, Any]:
    """Return what a configuration file states."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} is not valid TOML: {error}.") from None
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error.strerror}.") from None


def _refuse_unknown(stated: Mapping[str, Any], file: Path | None) -> None:
    known = [*_ROWS, "collections", "redaction", *sorted(_MANIFEST_KEYS)]
    unknown = sorted(set(stated) - set(known))
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], known, n=1)
        raise BadRequest(
            f"{file} has an unknown setting {unknown[0]!r}.",
            hint=f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}.",
        )


_MANIFEST_KEYS = {"name", "version", "description", "include", "exclude"}
_COLLECTION_KEYS = _MANIFEST_KEYS | {"path", "alias", "source", "language", "access", "redact"}
_COLLECTION_PATH = Row("path", _path, None, "Folder of documents, from where the file lies.")


def _collections(stated: Any, file: Path) -> tuple[Collection, ...]:
    if not isinstance(stated, list) or not all(isinstance(entry, dict) for entry in stated):
        raise BadRequest(f"{file}: collections must be written as [[collections]] tables.")
    return tuple(_collection(entry, file) for entry in stated)


def _collection(entry: Mapping[str, Any], file: Path) -> Collection:
    unknown = sorted(set(entry) - _COLLECTION_KEYS)
    if unknown:
        raise BadRequest(
            f"{file}: a collection has an unknown key {unknown[0]!r}.",
            hint=f"Known are {', '.join(sorted(_COLLECTION_KEYS))}.",
        )
    path = entry.get("path")
    if not isinstance(path, str) or not path:
        raise BadRequest(f"{file}: a collection lacks its path.")
    path = _parse(_COLLECTION_PATH, path, f"{file}: the path of a collection")
    for key in ("include", "exclude"):
        if not _is_list_of_text(entry.get(key, [])):
            raise BadRequest(f"{file}: {key} must be a list of patterns.")
    texts = {
        key: str(entry[key])
        for key in _COLLECTION_KEYS - {"path", "include", "exclude"}
        if key in entry
    }
    for key, choices in (("access", Access), ("redact", Redact)):
        if texts.get(key, next(iter(choices))) not in list(choices):
            named = ", ".join(choices)
            raise BadRequest(f"{file}: {key} is {texts[key]!r}, but it must be one of {named}.")
    return Collection(
        name=texts.pop("name", ""),
        path=str((file.parent / path).absolute()),
        include=tuple(entry.get("include", ())),
        exclude=tuple(entry.get("exclude", ())),
        **texts,
    )


def _redaction(stated: Any, file: Path) -> tuple[tuple[str, str, str], ...]:
    """Return the operator's own rules of redaction; their patterns are checked where used."""
    if not isinstance(stated, list) or not all(isinstance(entry, dict) for entry in stated):
        raise BadRequest(f"{file}: redaction must be written as [[redaction]] tables.")
    keys = ("name", "kind", "pattern")
    for entry in stated:
        if set(entry) != set(keys) or not all(isinstance(entry[key], str) for key in keys):
            raise BadRequest(
                f"{file}: a redaction rule must have a name, a kind and a pattern, all texts.",
                hint="As: name = 'badge numbers', kind = 'badge', pattern = '\\bB-[0-9]{6}\\b'.",
            )
    return tuple((entry["name"], entry["kind"], entry["pattern"]) for entry in stated)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
