"""What the binding of tantivy wants to be handled with care: its errors, opening and ending."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import tantivy

from bookwheel.engines.embedded.leave import OWN_TABLE, share
from bookwheel.engines.embedded.word_entries import schema_of


class WordsFailed(Exception):
    """The binding refused or broke off an operation; the message is for the log."""

    @property
    def is_passing(self) -> bool:
        """Tell a want of room, memory or descriptors from a broken index."""
        return any(f"os error {number})" in str(self) for number in _PASSING)

    @property
    def is_denied(self) -> bool:
        """Tell whether a file may not be read, or might not a moment ago."""
        return any(words in str(self) for words in _DENIED)


_DENIED = (f"os error {errno.EACCES})", "kind: PermissionDenied")
_PASSING = (errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.ENOSPC, errno.EDQUOT)


class guarded:  # noqa: N801 - used as a function; a generator would cost more than what it guards
    """Turn whatever the binding raises into one error; its panics are no Exceptions."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (ValueError, OSError)):
            number = getattr(error, "errno", None)
            raise WordsFailed(f"{error} (os error {number})" if number else str(error)) from error
        if error is not None and type(error).__name__ == "PanicException":
            raise WordsFailed(str(error)) from error


_OF_WRITERS = (".lock", OWN_TABLE)


@contextmanager
def shadowing(paths: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Give a writable folder of links for each index: the binding makes lock files even to read.

    Once open the files are mapped, so that nothing of it needs to stay; what a thread of the
    binding still makes there meanwhile does no harm.
    """
    import tempfile

    made = tempfile.TemporaryDirectory(prefix="bookwheel-", ignore_cleanup_errors=True)
    with made as name, guarded():
        shadows = {kind: Path(name, kind) for kind in paths}
        for kind, shadow in shadows.items():
            shadow.mkdir()
            for file in paths[kind].iterdir():
                if not file.name.endswith(_OF_WRITERS):
                    (shadow / file.name).symlink_to(file.absolute())
        yield shadows


def open_index(kind: str, path: Path) -> tantivy.Index:
    """Open an index, or make one where there is none."""
    if (path / "meta.json").exists():
        return open_again(path)
    path.mkdir(parents=True, exist_ok=True)
    index = _prepared(tantivy.Index(schema_of(kind), path=str(path)))
    share(path)
    return index


def open_again(path: Path) -> tantivy.Index:
    """Open what is there; where another process is making it anew, make nothing in its place."""
    return _prepared(tantivy.Index.open(str(path)))


def _prepared(index: tantivy.Index) -> tantivy.Index:
    # A tokenizer is not stored with the index and must be named again at each opening.
    terms = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("terms", terms)
    index.config_reader(reload_policy="manual")
    return index


def end_writer(writer: tantivy.IndexWriter) -> None:
    """Let a writer finish its merges; in a thread, since the binding itself hears no Ctrl-C."""

    def wait() -> None:
        with suppress(WordsFailed), guarded():
            writer.wait_merging_threads()

    waiting = threading.Thread(target=wait, name="bookwheel-merge", daemon=True)
    waiting.start()
    waiting.join()
