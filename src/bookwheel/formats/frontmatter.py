"""The block of properties at the head of a Markdown file: YAML between `---`, TOML between `+++`.

Refuses nothing: a broken block gives what its sound lines say.
"""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple, TypeAlias

import yaml

from bookwheel.text.cut import squeeze

Value: TypeAlias = object
"""What a property holds before it is looked at: text, number, date, list or mapping."""

MAX_BLOCK = 65_536
MAX_DEPTH = 100
MAX_TAGS = 100
MAX_ALIAS = 500

_YAML_OPEN = re.compile(r"---[ \t]*\n(?![ \t]*\n)")
_YAML_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.M)
_TOML_OPEN = re.compile(r"\+\+\+[ \t]*\n")
_TOML_CLOSE = re.compile(r"^\+\+\+[ \t]*$", re.M)
_PROPERTY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*[:=](?:[ \t]+(.*))?$")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.*)$")
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s*,\]}]")
_ANCHOR = re.compile(r"(?:^|[\s\[{,:-])&[^\s&,\]}]")
_LADDER = re.compile(r"(?:[-?:][ \t]+){50}")
_PLAIN = (
    r"(?:[A-Za-z0-9/<(._$+](?:[ !\"$-9;-~]|:(?=[!-~])|(?<=[!-~])#)*"
    r"|\"[ !#-\[\]-~]*\" *|'[ -&(-~]*' *)"
)
_PLAIN_BLOCK = re.compile(rf"(?:[A-Za-z_][\w-]*:(?: {_PLAIN}\n|\n(?:(?:  )?- {_PLAIN}\n)+))+", re.A)
_NAMED = ("aliases", "alias", "slug", "permalink", "redirect_from")
_ARXIV = ("arxiv", "arxiv_id", "eprint")
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


class FrontMatter(NamedTuple):
    """The properties that a document may have, and where its body begins."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    date: str | None = None
    language: str | None = None
    source: str | None = None
    url: str | None = None
    aliases: tuple[str, ...] = ()
    body: int = 0
    """Characters before the body."""
    span: tuple[int, int] | None = None
    """Bytes of the block with its marks, None where there is no block."""


_NONE = FrontMatter()


def read_front_matter(text: str) -> FrontMatter:
    """Return the properties at the head of the text, or empty ones."""
    if text.startswith("---"):
        return _read_block(text, _YAML_OPEN, _YAML_CLOSE)
    if text.startswith("+++"):
        return _read_block(text, _TOML_OPEN, _TOML_CLOSE)
    return _NONE


def _read_block(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> FrontMatter:
    opened = opening.match(text)
    closed = closing.search(text, opened.end()) if opened else None
    if opened is None or closed is None:
        return _NONE
    block = text[opened.end() : closed.start()]
    values = _load_toml(block) if opening is _TOML_OPEN else _load_yaml(block)
    if values is None:
        return _NONE
    body = closed.end() + 1 if closed.end() < len(text) else closed.end()
    return _properties(values, body, len(text[:body].encode()))


def _properties(values: dict[str, Value], body: int, size: int) -> FrontMatter:
    source = _first(values, "source")
    link = _first(values, "url", "source_url", "canonical", "canonical_url")
    if link is None and source is not None and source.startswith(("http://", "https://")):
        link = source
    return FrontMatter(
        title=_first(values, "title"),
        description=_first(values, "description"),
        tags=_tags(values.get("tags")),
        date=_first(values, "date", "published", "created", "updated"),
        language=_first(values, "lang", "language"),
        source=source,
        url=link,
        aliases=_aliases(values),
        body=body,
        span=(0, size),
    )


def _aliases(values: dict[str, Value]) -> tuple[str, ...]:
    """Return what else links may call the document by."""
    names = [name for each in _NAMED for name in _listed(values.get(each))]
    names += [f"doi:{name}" for name in _listed(values.get("doi"))]
    names += [f"arxiv:{name}" for each in _ARXIV for name in _listed(values.get(each))]
    return tuple(dict.fromkeys(names))[:MAX_TAGS]


def _listed(value: Value) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts = [squeeze(str(each)) for each in values if isinstance(each, str | int | float)]
    return [text for text in texts if text not in _NOTHING and len(text) <= MAX_ALIAS]


def _first(values: dict[str, Value], *names: str) -> str | None:
    for name in names:
        value = values.get(name)
        if value is None or isinstance(value, list | dict | tuple):
            continue
        text = squeeze(str(value))
        if text not in _NOTHING:
            return text
    return None


def _tags(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",") if value not in _NOTHING else []
    if not isinstance(value, list):
        return ()
    names = [squeeze(str(tag)) for tag in value if not isinstance(tag, list | dict)]
    return tuple(dict.fromkeys(name for name in names if name))[:MAX_TAGS]


def _load_yaml(block: str) -> dict[str, Value] | None:
    """Return the mapping in the block; None when the block is prose between two rules."""
    # Most blocks hold only plain scalars, where reading line by line says the same sooner.
    if _PLAIN_BLOCK.fullmatch(block):
        return _salvage(block)
    loaded: Value = None
    if not _is_dangerous(block):
        try:
            # Every scalar stays text: "1.10", "no" and dates are as the author wrote them.
            loaded = yaml.load(block, Loader=yaml.CBaseLoader)
            if loaded is None or loaded == "":
                return {}
        except (yaml.YAMLError, ValueError, RecursionError):
            loaded = None
    if isinstance(loaded, dict):
        return {key.lower(): value for key, value in loaded.items() if isinstance(key, str)}
    return _salvage(block) or None


def _load_toml(block: str) -> dict[str, Value] | None:
    if len(block) <= MAX_BLOCK and _depth(block) <= MAX_DEPTH:
        try:
            return {key.lower(): value for key, value in tomllib.loads(block).items()}
        except (tomllib.TOMLDecodeError, ValueError, RecursionError):
            pass
    return _salvage(block) or None


def _is_dangerous(block: str) -> bool:
    """Tell whether the C loader could exhaust stack or memory on the block."""
    if len(block) > MAX_BLOCK or _depth(block) > MAX_DEPTH or _LADDER.search(block):
        return True
    return "&" in block and bool(_ANCHOR.search(block)) and bool(_ALIAS.search(block))


def _depth(block: str) -> int:
    if block.count("[") + block.count("{") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for letter in block:
        if letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "]}":
            depth -= 1
    return deepest


def _salvage(block: str) -> dict[str, Value]:
    """Return what the plain `name: value` and `- entry` lines of a broken block say."""
    values: dict[str, Value] = {}
    entries: list[str] = []
    for line in block[:MAX_BLOCK].split("\n"):
        found = _PROPERTY.match(line)
        if found:
            entries = []
            written = (found[2] or "").strip()
            if written.startswith(("[", "{")) and not written.endswith(("]", "}")):
                continue  # a list or map that never ends says nothing
            values[found[1].lower()] = _inline(written) if written else entries
        elif entry := _ENTRY.match(line):
            entries.append(_unquote(entry[1]))
    return values


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def _inline(text: str) -> str | list[str]:
    if text.startswith("[") and text.endswith("]"):
        return [_unquote(entry) for entry in text[1:-1].split(",")]
    return _unquote(text)
