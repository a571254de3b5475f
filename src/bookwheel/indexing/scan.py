"""What lies in a collection: every file that may be a document, by name, size and time only.

Reads no content but that of ignore files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.formats.registry import extension_of
from bookwheel.indexing.ignore import IGNORE_FILES, judge_path, top_rules
from bookwheel.indexing.names import Skip
from bookwheel.safety.opener import OpenRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bookwheel.indexing.ignore import CollectionRules, FolderRules, Verdict
    from bookwheel.safety.opener import FolderEntry, Root

FOLDER = "/"
"""Stands for an extension where a whole folder was passed over."""

MAX_EXTENSION = 12
OTHER = "(other)"
"""Stands for endings that are no extension anyone knows, so that they do not fill the table."""


class FoundFile(NamedTuple):
    """A file that may be a document; `path` is relative, with `/`."""

    path: str
    size: int
    modified_ns: int


@dataclass
class Scan:
    """What one walk through a collection saw, and what it could not see."""

    files: list[FoundFile] = field(default_factory=list)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many were passed over, by reason and extension."""
    unread: list[tuple[str, str]] = field(default_factory=list)
    """Folders (`""` is the root) and files that could not be looked at, with the reason."""
    stopped: bool = False

    def covers(self, path: str) -> bool:
        """Tell whether the absence of a path from `files` means that it is gone."""
        return not self.stopped and not self._blind.intersection(path_and_folders(path))

    @cached_property
    def _blind(self) -> frozenset[str]:
        return frozenset(path for path, _ in self.unread)


def path_and_folders(path: str) -> Iterator[str]:
    """Give a path, every folder above it, and the root."""
    yield path
    while path:
        path = path.rpartition("/")[0]
        yield path


def scan(
    root: Root,
    rules: CollectionRules,
    *,
    supported: frozenset[str],
    should_stop: Callable[[], bool] = lambda: False,
    below: str = "",
) -> Scan:
    """Walk through a collection, or a folder in it; `should_stop` is asked before every folder."""
    result = Scan()
    waiting = enter(root, top_rules(rules), below, supported, result)
    while waiting:
        if should_stop():
            result.stopped = True
            break
        folder = waiting.pop()
        try:
            entries = root.list_folder(folder.path)
            present = [entry.name for entry in entries if entry.name in IGNORE_FILES]
            if present:
                folder = folder.read_ignore_files(root, present)
        except OpenRefused as refused:
            result.unread.append((folder.path, refused.reason))
            continue
        waiting.extend(look_through(folder, entries, supported, result))
    result.files.sort()
    result.unread.sort()
    return result


def enter(
    root: Root, top: FolderRules, below: str, supported: frozenset[str], result: Scan
) -> list[FolderRules]:
    """Return the rules of a folder, as those above it make them; none if it is passed over."""
    folder = top
    try:
        for name in below.split("/") if below else ():
            folder, verdict = judge_path(root, folder, name, supported)
            if verdict is not None:
                result.skipped[reason_of(verdict), FOLDER] += 1
                return []
            folder = folder.enter(name)
    except OpenRefused as refused:
        result.unread.append((below, refused.reason))
        return []
    return [folder]


def look_through(
    folder: FolderRules, entries: list[FolderEntry], supported: frozenset[str], result: Scan
) -> list[FolderRules]:
    """Sort the names of one folder into the result and return the folders to look into."""
    below: list[FolderRules] = []
    for entry in entries:
        verdict = folder.judge(entry.name, entry.kind, supported)
        if verdict is not None:
            result.skipped[reason_of(verdict), shown_extension(entry)] += 1
        elif entry.kind == "folder":
            below.append(folder.enter(entry.name))
        else:
            path = f"{folder.path}/{entry.name}" if folder.path else entry.name
            if entry.size < 0:
                result.unread.append((path, "its size and time cannot be read"))
            else:
                result.files.append(FoundFile(path, entry.size, entry.modified_ns))
    return below


def reason_of(verdict: Verdict) -> str:
    """Name the kind of reason: a pattern each would make as many rows as a folder has patterns."""
    return (verdict.skip or Skip.UNSUPPORTED).value


def shown_extension(entry: FolderEntry) -> str:
    """Return what to count a passed-over name under."""
    if entry.kind == "folder":
        return FOLDER
    extension = extension_of(entry.name)
    plain = extension[1:].isalnum() and extension.isascii() and len(extension) <= MAX_EXTENSION
    return extension if plain or not extension else OTHER
