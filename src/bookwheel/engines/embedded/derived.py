"""The word index as derived from the catalogue: opened, kept in step, made anew when it is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import apsw

from bookwheel.engines.embedded import catalog, contents, files, lexical
from bookwheel.engines.embedded.binding import WordsFailed, guarded
from bookwheel.engines.embedded.database import IndexFiles
from bookwheel.engines.embedded.leave import find_closed, share
from bookwheel.engines.embedded.lexical import KINDS, WordIndex
from bookwheel.engines.embedded.verified import VerifiedFiles
from bookwheel.engines.embedded.word_entries import Entry
from bookwheel.model import Status
from bookwheel.text.words import ANALYSIS_VERSION

_REPLAY_STEP = 500
_REPLAY_COMMIT = 10
"""After so many steps what was replayed can be found, and is not lost if the process is killed."""

Reading = Callable[[], AbstractContextManager[apsw.Connection]]


class DerivedWords:
    """The word index of one place. All its methods raise WordsFailed when it lets them down."""

    def __init__(self, place: IndexFiles, reading: Reading) -> None:
        self._place = place
        self._reading = reading
        self._words: WordIndex | None = None
        self._verified = VerifiedFiles(place.lexical)
        self._opening = threading.RLock()
        self._verifying = threading.Lock()
        self._is_in_vain = False
        """Whether what looks untidy was tidied and looks so still."""

    def open(self, *, readonly: bool = False) -> WordIndex:
        """Return the word index as it is."""
        with self._opening:
            if self._words is None:
                if WordIndex.exists(self._place.lexical):
                    self._verify(None)
                self._words = WordIndex(self._place.lexical, readonly=readonly)
            return self._words

    def refresh(self) -> bool:
        """Look at the newest commits, and whether all files look as ever; tell of any commits."""
        words = self.open()
        is_new = words.reload()
        if is_new or not self._verified.are_alike():
            with self._verifying:  # of many who ask at once one reads, and the others wait for it
                if is_new or not self._verified.are_alike():
                    self._verify(words)
        return is_new

    def _verify(self, words: WordIndex | None) -> None:
        """Read what was not read yet: nothing is answered from a file that is damaged."""
        damage = self._verified.find_damage()
        if damage:
            self._let_go(words)  # else the next question would be answered from what is loaded
            raise WordsFailed(", ".join(damage))

    def _let_go(self, words: WordIndex | None) -> None:
        """Close what was found damaged, but not what another thread makes in its place."""
        with self._opening:
            if words is not None and words is self._words and not words.is_writing:
                self.close()

    @property
    def is_doubtful(self) -> bool:
        """Tell whether it is not known who wrote its tables of contents: a killed writer, maybe."""
        return WordIndex.exists(self._place.lexical) and self._verified.is_doubtful

    def settle(self) -> None:
        """Note that what is there is whole; only the holder of the writer lock may do so.

        What is not is let go of: whoever opens it next finds that out, and makes it anew.
        """
        if not WordIndex.exists(self._place.lexical):
            return
        for kind in KINDS:  # a writer that was killed has not come to it
            share(self._place.lexical / kind)
        if self._verified.find_damage():
            self.close()
        else:
            self._verified.note()

    def close(self) -> None:
        """Close it; what was not committed is replayed at the next start."""
        with self._opening:
            if self._words is not None:
                self._words.close()
                self._words = None

    def start(self) -> WordIndex:
        """Return it ready for writing and in step with the catalogue."""
        if self._words is not None and self._words.is_writing:
            return self._words
        # Opened anew, because the binding would forget files that another process has written.
        self.close()
        with guarded():
            files.sweep(self._place.lexical)
        self._mend()
        self.open().start_writing()
        self._replay()
        return self.open()

    def stop(self) -> None:
        """Let the writers go, and what was not committed with them."""
        if self._words is not None:
            self._words.stop_writing()

    def tidy(self) -> None:
        """Merge what waits to be merged, once the writers are let go.

        A process that was killed leaves such, and a merge is lost when the same commit that begins
        it empties one of its segments, as happens to a file that is changed again and again. The
        next would begin it anew and lose it again.
        """
        words = self._words
        if words is None or self._is_in_vain or not files.is_crowded(self._place.lexical):
            return
        with suppress(WordsFailed):
            words.start_writing()
            words.commit(words.generation())
        words.stop_writing()
        with suppress(WordsFailed):
            words.reload()
        self._is_in_vain = files.is_crowded(self._place.lexical)

    def is_current(self) -> bool:
        """Tell whether what is on disk was made from this catalogue by this version."""
        try:
            made_from = json.loads(self._place.stamp.read_bytes())
            return bool(made_from == self._made_from())
        except (OSError, ValueError):
            return False

    def is_in_step(self, *, readonly: bool = False) -> bool:
        """Tell whether it holds the catalogue as it is now."""
        # Read before the catalogue, which is always written first.
        words = self.open(readonly=readonly)
        self.refresh()
        return words.generation() == self._generation()

    def find_closed(self) -> Path | None:
        """Return a file of it that may not be read, or a folder of it that may not be entered."""
        return find_closed((self._place.stamp, *files.list_needed(self._place.lexical)))

    def find_damage(self) -> list[str]:
        """Name each file that is not as it was written."""
        return files.find_damage(self._place.lexical)

    def reset(self) -> None:
        """Drop it and begin an empty one."""
        with self._opening, guarded():
            self.close()
            lexical.discard(self._place.lexical)
            self._verified.forget()
            self.open()
            self._place.stamp.write_text(json.dumps(self._made_from()), encoding="utf-8")

    def _mend(self) -> None:
        """Begin anew when what is there cannot be used: it is derived and disposable."""
        if not self.is_current():
            self.reset()
            return
        try:
            self.open().generation()
        except WordsFailed as error:
            if error.is_passing:
                raise
            self.reset()

    def _made_from(self) -> list[object]:
        with self._reading() as connection:
            identity = catalog.read_meta(connection, "id")
        schemas = files.schema_sum(self._place.lexical)
        return [identity, lexical.LAYOUT_VERSION, ANALYSIS_VERSION, schemas]

    def _generation(self) -> int:
        with self._reading() as connection:
            return catalog.read_generation(connection)

    def _replay(self) -> None:
        """Bring in what the catalogue has and the word index has not."""
        mark, generation = self.open().generation(), self._generation()
        if mark > generation:
            self.reset()
            self.open().start_writing()
            mark = -1
        if mark == generation:
            return
        with self._reading() as connection:
            written, removed = catalog.changed_since(connection, mark)
        words = self.open()
        words.delete(removed)
        for step, done in enumerate(range(0, len(written), _REPLAY_STEP)):
            if step and step % _REPLAY_COMMIT == 0:
                words.commit(written[done][1] - 1)  # what comes next is all that is lacking
            keys = [key for key, _ in written[done : done + _REPLAY_STEP]]
            self._replay_documents(words, keys)
        words.commit(generation)
        words.reload()

    def _replay_documents(self, words: WordIndex, keys: Sequence[int]) -> None:
        from bookwheel.engines.hiding import stored_terms  # what makes terms no search needs

        words.delete(keys)
        with self._reading() as connection:
            for document in catalog.read_documents(connection, keys).values():
                if document.status is not Status.OK:
                    continue
                text = contents.read_text(connection, document.key)
                chunks = contents.read_chunks(connection, document.key)
                headings = [s.heading for s in contents.read_sections(connection, document.key)]
                spans = contents.read_redactions(connection, [document.key])[document.key].spans
                terms = stored_terms(document, text, chunks=chunks, headings=headings, spans=spans)
                words.add(
                    Entry(
                        document.key,
                        document.collection,
                        document.path,
                        document.extension,
                        document.title,
                        document.tags,
                        document.date,
                        terms,
                    )
                )
