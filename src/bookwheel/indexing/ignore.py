"""Which names are never looked at, and why.

Four voices in this order, the first that speaks decides: what Bookwheel never opens, the
collection's exclude patterns, the ignore files (the nearest folder first, and in one folder
`.bookwheelignore` before `.gitignore`), the collection's include patterns.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.errors import BadRequest
from bookwheel.formats.registry import extension_of
from bookwheel.indexing.names import ARCHIVES, OWN_AT_TOP, Skip, skip_kind, skip_name
from bookwheel.indexing.patterns import RuleSet, parse_rules
from bookwheel.model import Status
from bookwheel.safety.opener import PATH_LIMIT, OpenRefused, check_path

if TYPE_CHECKING:
    from collections.abc import Collection as Some
    from collections.abc import Iterator

    from bookwheel.indexing.patterns import Rule
    from bookwheel.model import Collection
    from bookwheel.safety.opener import Kind, Root

IGNORE_FILES = (".gitignore", ".bookwheelignore")
"""In the order they are read: the later one has the last word."""

MAX_IGNORE_FILE = 256 * 1024


class Verdict(NamedTuple):
    """Whether a path is passed over, with the reason for people and its kind for counting."""

    ignored: bool
    reason: str
    skip: Skip | None = None


class CollectionRules(NamedTuple):
    """What the operator said about one collection; `own` are our files in it, relative."""

    include: RuleSet | None = None
    exclude: RuleSet | None = None
    own: frozenset[str] = frozenset()


class FolderRules(NamedTuple):
    """The rules that hold in one folder: those of the collection and of the folders above."""

    collection: CollectionRules
    path: str = ""
    ignore: tuple[RuleSet, ...] = ()
    """The nearest first."""
    included: bool = True

    def judge(self, name: str, kind: Kind, supported: Some[str]) -> Verdict | None:
        """Say why a name in this folder is passed over, or nothing if it is looked at."""
        path = f"{self.path}/{name}" if self.path else name
        is_folder = kind == "folder"
        skip = skip_name(name, is_folder=is_folder) or self._skip_path(path) or skip_kind(kind)
        if skip is not None:
            return Verdict(True, skip.value, skip=skip)
        verdict = self._ask_patterns(path, name, is_folder=is_folder)
        if verdict is not None or is_folder:
            return verdict
        if not self._includes(path, name, is_folder=False):
            return Verdict(True, Skip.NOT_INCLUDED.value, skip=Skip.NOT_INCLUDED)
        extension = extension_of(name)
        if extension in supported or self._asks_for(path, name, extension):
            return None
        if extension in ARCHIVES:
            return Verdict(True, f"{Skip.ARCHIVE}: {extension}", skip=Skip.ARCHIVE)
        reason = f"{Skip.UNSUPPORTED}: {extension}" if extension else "no extension"
        return Verdict(True, reason, skip=Skip.UNSUPPORTED)

    def _asks_for(self, path: str, name: str, extension: str) -> bool:
        """Tell whether an include pattern names this kind of file: `*.py` does, `src/` does not."""
        include = self.collection.include
        if include is None or extension in ARCHIVES:
            return False
        return any(
            _names_kind(rule, name, extension) and rule.matches(path, name, is_folder=False)
            for rule in include.rules
            if not rule.negated
        )

    def enter(self, name: str) -> FolderRules:
        """Return the rules for a folder below, before its own ignore files are read."""
        path = f"{self.path}/{name}" if self.path else name
        included = self._includes(path, name, is_folder=True)
        return FolderRules(self.collection, path, self.ignore, included)

    def read_ignore_files(self, root: Root, present: Some[str]) -> FolderRules:
        """Add the ignore files of this folder.

        One that is there but cannot be read raises OpenRefused, so that the folder is left alone:
        without it nobody knows what was meant to stay unread.
        """
        ignore = self.ignore
        base = len(self.path) + 1 if self.path else 0
        for name in IGNORE_FILES:
            if name in present:
                path = f"{self.path}/{name}" if self.path else name
                rules = read_ignore_file(root, path)
                ignore = (RuleSet(rules, path, base), *ignore) if rules else ignore
        return FolderRules(self.collection, self.path, ignore, self.included)

    def _skip_path(self, path: str) -> Skip | None:
        if path in self.collection.own or path in OWN_AT_TOP:
            return Skip.OWN
        try:
            too_long = len(path) > 1000 and len(path.encode()) >= PATH_LIMIT
            if not path.isascii():
                path.encode()
        except UnicodeEncodeError:
            return Skip.NAME
        return Skip.LONG if too_long else None

    def _ask_patterns(self, path: str, name: str, *, is_folder: bool) -> Verdict | None:
        exclude = self.collection.exclude
        rule = exclude.find(path, name, is_folder=is_folder) if exclude else None
        if rule is not None and not rule.negated:
            return judged_by(rule, "the collection", Skip.EXCLUDED)
        for rules in self.ignore:
            rule = rules.find(path, name, is_folder=is_folder)
            if rule is not None:
                return None if rule.negated else judged_by(rule, rules.origin, Skip.IGNORED)
        return None

    def _includes(self, path: str, name: str, *, is_folder: bool) -> bool:
        include = self.collection.include
        rule = include.find(path, name, is_folder=is_folder) if include else None
        return self.included if rule is None else not rule.negated


def rules_for(collection: Collection, *, own: Some[str] = ()) -> CollectionRules:
    """Read a collection's patterns; `own` names our index and logs, absolute or within it."""
    return CollectionRules(
        include=rules_from(collection.include, "include"),
        exclude=rules_from(collection.exclude, "exclude"),
        own=frozenset(own_within(collection.path, own)),
    )


def own_within(folder: str, own: Some[str]) -> Iterator[str]:
    """Give those of our own paths that lie in a folder, relative to it, links resolved."""
    top = Path(folder).resolve()
    for path in own:
        full = (top / path).resolve()  # an absolute path stays as it is
        if full != top and full.is_relative_to(top):
            yield full.relative_to(top).as_posix()


def rules_from(patterns: tuple[str, ...], origin: str) -> RuleSet | None:
    """Read the operator's gitignore-style patterns; none at all is no rule set."""
    if not patterns:
        return None
    lines = "\n".join(pattern.replace("\n", " ") for pattern in patterns)
    return RuleSet(parse_rules(lines.encode("utf-8", "surrogateescape")), origin)


def top_rules(rules: CollectionRules) -> FolderRules:
    """Return the rules for the collection's own folder, before its ignore files are read."""
    return FolderRules(rules, included=rules.include is None)


def _names_kind(rule: Rule, name: str, extension: str) -> bool:
    asked = rule.text.rpartition("/")[2].lower()
    return asked.endswith(extension) if extension else asked == name.lower()


def judged_by(rule: Rule, origin: str, skip: Skip) -> Verdict:
    """Name the pattern that decided."""
    verb = "excluded" if skip is Skip.EXCLUDED else "ignored"
    return Verdict(True, f"{verb} by {origin}: `{rule.text}`", skip)


def read_ignore_file(root: Root, path: str) -> tuple[Rule, ...]:
    """Read an ignore file; a link or a special file is no ignore file, as in git."""
    try:
        if root.stat_file(path).kind != "file":
            return ()
        return parse_rules(root.read_file(path, max_bytes=MAX_IGNORE_FILE).data)
    except OpenRefused as refused:
        if refused.status is Status.VANISHED:
            return ()
        reason = f"its {path.rpartition('/')[2]} cannot be used: {refused.reason}"
        raise OpenRefused(Status.UNREADABLE, reason) from None
    except BadRequest as error:
        reason = f"its {path.rpartition('/')[2]} cannot be used: {error.message}"
        raise OpenRefused(Status.UNREADABLE, reason) from None


def explain(root: Root, rules: CollectionRules, relative: str, supported: Some[str]) -> Verdict:
    """Say whether a path would be indexed and why not, walking down to it from the top."""
    folder = top_rules(rules)
    path = relative.removesuffix("/")
    try:
        check_path(path)
        *parents, name = path.split("/")
        for parent in parents:
            folder, verdict = judge_path(root, folder, parent, supported)
            if verdict is not None:
                return verdict
            folder = folder.enter(parent)
        _, verdict = judge_path(root, folder, name, supported)
        return verdict or try_opening(root, path)
    except OpenRefused as refused:
        return Verdict(True, refused.reason)


def judge_path(
    root: Root, folder: FolderRules, name: str, supported: Some[str]
) -> tuple[FolderRules, Verdict | None]:
    """Judge one name on the way down by what really stands there; also return the rules used."""
    path = f"{folder.path}/{name}" if folder.path else name
    folder = folder.read_ignore_files(root, IGNORE_FILES)
    return folder, folder.judge(name, root.stat_file(path).kind, supported)


def try_opening(root: Root, path: str) -> Verdict:
    """Answer for a path that no rule passes over: it may still be unreadable."""
    if root.stat_file(path).kind == "folder":
        root.list_folder(path)
        return Verdict(False, "a folder that is looked into")
    os.close(root.open_file(path))
    return Verdict(False, "looked at")
