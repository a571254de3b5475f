"""The configuration file: where it is, what it states, the collections and rules in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bookwheel.errors import BadRequest, NotFound
from bookwheel.model import Access, Collection, Redact
from bookwheel.settings import forms
from bookwheel.settings.table import CONFIG_NAME, SETTINGS, Row, parse

_MANIFEST_KEYS = {"name", "version", "description", "include", "exclude"}
_COLLECTION_KEYS = _MANIFEST_KEYS | {"path", "alias", "source", "language", "access", "redact"}
_COLLECTION_PATH = Row("path", forms.path, None, "Folder of documents, from where the file lies.")


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
    try:
        if use_start_folder and start.is_file():
            return start.absolute()
    except PermissionError:  # who may not enter the folder, as after `sudo -u`, has no file there
        pass
    return _find_own_config()


def _find_own_config() -> Path | None:
    """Return the file in the user's configuration folder, if there is one."""
    from platformdirs import user_config_path

    own = user_config_path("bookwheel") / CONFIG_NAME
    try:
        return own if own.is_file() else None
    except PermissionError:  # what it may hide must not be shown for want of it
        hint = "Let its folder be entered, set HOME, or name another file with --config."
        raise BadRequest(f"{own} may not be looked for.", hint=hint) from None


def read_own_config() -> dict[str, Any]:
    """Return what the user's own configuration file states; nothing where there is none."""
    own = _find_own_config()
    return read_config(own) if own else {}


def read_config(path: Path) -> dict[str, Any]:
    """Return what a configuration file states."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} is not valid TOML: {error}.") from None
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error.strerror}.") from None


def from_folder(folder: Path, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Take the paths in a configuration file as relative to where the file lies."""
    paths = {row.name for row in SETTINGS if row.parse is forms.path}
    return {
        name: str(folder / forms.path(value)) if name in paths and _is_plain_path(value) else value
        for name, value in stated.items()
    }


def _is_plain_path(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value and value[0] != "~"


def add_stricter(stated: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file states, with what the user's own one hides beyond it.

    So a file that lay in a folder hides more than the user wants, but never less.
    """
    kept = dict(stated)
    for name, choices in (("access", [*Access]), ("redact", [*Redact])):
        wanted = own.get(name)
        if wanted in choices[1:] and kept.get(name, choices[0]) in choices[: choices.index(wanted)]:
            kept[name] = wanted
    rules = own.get("redaction", [])
    if isinstance(rules, list) and rules and isinstance(kept.get("redaction", []), list):
        kept["redaction"] = [*rules, *kept.get("redaction", [])]
    return kept


def refuse_unknown(stated: Mapping[str, Any], file: Path | None) -> None:
    """Raise BadRequest for a name that means nothing, with the nearest that does."""
    known = [*(row.name for row in SETTINGS), "collections", "redaction", *sorted(_MANIFEST_KEYS)]
    unknown = sorted(set(stated) - set(known))
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], known, n=1)
        raise BadRequest(
            f"{file} has an unknown setting {unknown[0]!r}.",
            hint=f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}.",
        )


def read_collections(stated: Any, file: Path) -> tuple[Collection, ...]:
    """Return the collections that a file states."""
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
    path = parse(_COLLECTION_PATH, path, f"{file}: the path of a collection")
    for key in ("include", "exclude"):
        if not _is_list_of_text(entry.get(key, [])):
            raise BadRequest(f"{file}: {key} must be a list of patterns.")
    texts: dict[str, Any] = {
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


def read_redaction(stated: Any, file: Path) -> tuple[tuple[str, str, str], ...]:
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
