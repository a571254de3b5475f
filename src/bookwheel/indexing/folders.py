"""Which folders make up the library, and under which names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bookwheel.errors import BadRequest, BookwheelError
from bookwheel.model import Collection

_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\\ud800-\udfff]+")


def from_paths(paths: Iterable[str]) -> list[Collection]:
    """Return a nameless collection for each folder given, each folder once."""
    unique: dict[str, Collection] = {}
    for path in paths:
        resolved = _resolve(path)
        unique.setdefault(resolved, Collection("", resolved, root=_spell(path, resolved)))
    return [*unique.values()]


def _spell(path: str, resolved: str) -> str:
    """Return a path as it was written, made absolute; empty where that is the resolved one."""
    written = os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - without following links
    return written if written != resolved and os.path.realpath(written) == resolved else ""


def _resolve(path: str) -> str:
    try:
        resolved = str(Path(path).expanduser().resolve())
        resolved.encode()
    except UnicodeEncodeError:
        raise BadRequest(
            f"The path {path!r} is not UTF-8.", hint="Rename the folder, or name a link to it."
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise BadRequest(f"{path!r} is not a folder: {error}") from None
    return resolved


def complete(
    collections: Iterable[Collection], *, remembered: Callable[[], Sequence[Collection]] = tuple
) -> tuple[list[Collection], list[str]]:
    """Fill in what the manifests say and give distinct names; return them with remarks.

    A folder that is gone is taken as the index remembers it: a share may be away for a while.
    """
    remarks: list[str] = []
    filled: list[Collection] = []
    gone: list[Collection] = []
    for each in collections:
        path = _resolve(each.path)
        given = each._replace(path=path, root=each.root or _spell(each.path, path))
        try:
            filled.append(_fill_in(given, remarks))
        except BookwheelError as error:
            known = next((old for old in remembered() if old.path == given.path), None)
            if known is None:
                raise
            remarks.append(f"{error.message} Its documents are kept as they were.")
            gone.append(known._replace(root=given.root))
            filled.append(gone[-1])
    done: list[Collection] = []
    for each in filled:
        done.append(each if each in gone else _with_free_name(each, [*gone, *done], remarks))
    done = _with_free_aliases(done, remarks)
    remarks += [
        f"{inner.path} lies inside {outer.path}: its documents are found twice."
        for outer in done
        for inner in done
        if inner is not outer and Path(inner.path).is_relative_to(outer.path)
    ]
    return done, remarks


def _fill_in(given: Collection, remarks: list[str]) -> Collection:
    """Add what the folder says of itself; what the operator stated wins."""
    from bookwheel.indexing.manifest import read_manifest
    from bookwheel.safety.opener import Root

    with Root.open(given.path) as root:
        manifest = read_manifest(root)
    if manifest.problem:
        remarks.append(f"{given.path}: {manifest.problem}.")
    return given._replace(
        name=given.name or manifest.name or Path(given.path).name or "root",
        version=given.version or manifest.version,
        description=given.description or manifest.description,
        include=given.include or manifest.include,
        exclude=given.exclude + manifest.exclude,
        stated=(given.include, given.exclude),
    )


def _with_free_name(
    collection: Collection, taken: list[Collection], remarks: list[str]
) -> Collection:
    wanted = _UNFIT.sub("-", collection.name).strip()[:100] or "folder"
    names = {other.name for other in taken}
    name, number = wanted, 2
    while name in names:
        name, number = f"{wanted}-{number}", number + 1
    if name != wanted:
        remarks.append(f"{collection.path} is called {name!r}, since {wanted!r} is taken.")
    return collection._replace(name=name)


def _with_free_aliases(collections: list[Collection], remarks: list[str]) -> list[Collection]:
    """Drop an alias that another collection goes by, since it could mean either."""
    names = {each.name for each in collections}
    done = []
    for each in collections:
        if each.alias and each.alias != each.name and each.alias in names:
            remarks.append(f"{each.name!r} goes without its alias {each.alias!r}, which is taken.")
            each = each._replace(alias=None)
        names.add(each.alias or each.name)
        done.append(each)
    return done
