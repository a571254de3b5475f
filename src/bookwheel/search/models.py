"""The models of a library: which one reads for meaning, which one looks again, and when not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from bookwheel.errors import BadRequest, BookwheelError, IndexUnusable, Upstream
from bookwheel.query import WORDS_ALONE, SearchMode

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.engines.base import Engine, WritableEngine
    from bookwheel.search.second_look import SecondLook
    from bookwheel.settings import Settings

NONE = "none"
_OURS = ("static", "minilm")
"""Models that change only with our version or their package's."""
_RETRY_SECONDS = 30.0
_LOADING_SECONDS = 5.0
"""So long a search waits for a model that somebody else is loading."""
_FOUND_SECONDS, _MISSED_SECONDS = 30.0, 1.0
"""So long it is remembered that the model has vectors here, or none yet: counting takes time."""


class Models:
    """Loads models when they are needed first; one that cannot be loaded leaves it to words."""

    def __init__(self, engine: Engine, settings: Settings, *, version: str) -> None:
        self._engine = engine
        self._version = version
        self._settings = settings
        self._trouble: tuple[float, BookwheelError | None] = (0.0, None)
        self._loading = threading.Lock()
        self.loaded: Embedder | None = None
        self._own: tuple[str, float, bool] = ("", 0.0, False)
        self._loaded_at = 0.0
        self.on_other: Callable[[], None] = lambda: None
        """Called when another model has taken the place of the one that was loaded."""

    @property
    def embedder(self) -> Embedder | None:
        """The model that finds by meaning; None when the operator wants none."""
        from bookwheel.embedders.registry import load

        with self._loading:
            return self.loaded or self._take(load(self._settings["embedder"], self._settings))

    def _load_soon(self) -> Embedder | None:
        """Return the model for somebody who waits."""
        from bookwheel.embedders.registry import load_soon

        if not self._loading.acquire(timeout=_LOADING_SECONDS):
            raise Upstream("The model is still being loaded.")
        try:
            return self.loaded or self._take(load_soon(self._settings["embedder"], self._settings))
        finally:
            self._loading.release()

    def _take(self, embedder: Embedder | None) -> Embedder | None:
        """Keep the model until another is seen in its place."""
        from bookwheel.embedders.base import Replaceable

        if isinstance(embedder, Replaceable):
            embedder.on_replaced = partial(self._replace, embedder)
        self.loaded, self._loaded_at = embedder, time.monotonic()
        return embedder

    def _replace(self, embedder: Embedder) -> None:
        if self.loaded is embedder:
            self.loaded = None
            self.on_other()

    def unload(self) -> None:
        """Let the model be loaded anew when it is needed next, if it may be another by now."""
        if self._may_have_changed:
            self.loaded = None

    @cached_property
    def second_look(self) -> SecondLook | None:
        """The model that looks at hits again; None where it is not installed."""
        from bookwheel.search.second_look import SecondLook

        try:
            from bookwheel.embedders.minilm import MiniLMEmbedder

            model = MiniLMEmbedder()
        except ModuleNotFoundError:
            return None
        return SecondLook(model, seconds=self._settings["rerank_ms"] / 1000)

    @property
    def know_meaning(self) -> bool:
        """Tell whether anything can be found by meaning, with the model that is set."""
        return self.embedder_for(SearchMode.HYBRID)[0] is not None

    def embedder_for(self, mode: SearchMode) -> tuple[Embedder | None, str]:
        """Return the model that a search needs, if there is anything to find with it.

        Where there is none, and words must do, also what is to be said of it.
        """
        if mode is SearchMode.LEXICAL:
            return None, ""
        if mode is SearchMode.SEMANTIC:
            return self._require_embedder(), ""
        try:
            embedder = self._ready_embedder() if self._engine.has_vectors() else None
            if embedder is None or self._has_own(embedder):
                return embedder, ""
            return None, f"{WORDS_ALONE}: no document has a vector of this model yet"
        except IndexUnusable:
            raise
        except BookwheelError as error:
            return None, f"{WORDS_ALONE}: {error.message.rstrip('.')}"

    def _ready_embedder(self) -> Embedder | None:
        """Return the model; one that could not be loaded is not tried again for a while."""
        if self.loaded is not None:
            return self.loaded
        until, trouble = self._trouble
        if trouble is not None and time.monotonic() < until:
            raise trouble.with_traceback(None)
        try:
            return self._load_soon()
        except BookwheelError as error:
            self._trouble = (time.monotonic() + _RETRY_SECONDS, error)
            raise

    def _require_embedder(self) -> Embedder:
        embedder = self._ready_embedder()
        if embedder is None:
            message = "Nothing can be found by meaning: the embedder is `none`."
            raise BadRequest(message, hint="Search by words, or set another embedder.")
        if not self._has_own(embedder) and self._engine.lacks_vectors(embedder.fingerprint):
            raise BadRequest(
                "Nothing can be found by meaning: no document has a vector of this model yet.",
                hint="`bookwheel index` makes them.",
            )
        return embedder

    def _has_own(self, embedder: Embedder) -> bool:
        """Tell whether any document has a vector of the model; else it need not be asked."""
        model = embedder.fingerprint
        whose, until, found = self._own
        if whose != model or time.monotonic() >= until or not self._engine.has_vectors():
            found = self._engine.embedded(model)[0] > 0
            until = time.monotonic() + (_FOUND_SECONDS if found else _MISSED_SECONDS)
            self._own = (model, until, found)
            if not found:
                self._meet_other(embedder)
        return found

    def _meet_other(self, embedder: Embedder) -> None:
        """Load ours anew, now and then, where all vectors are by another of the same name."""
        is_new = time.monotonic() - self._loaded_at < _RETRY_SECONDS
        if is_new or not self._may_have_changed or self._engine.note("embedder") != self._name:
            return
        if self._engine.note("fingerprint") != embedder.fingerprint:
            self._replace(embedder)

    # Whether every document has its vectors

    @property
    def are_done(self) -> bool:
        """Tell, without loading a model, that every document has its vectors."""
        if self._settings["embedder"] == NONE:
            return True
        if self._engine.note("embedder") != self._name:
            return False
        loaded, done = self.loaded, self._engine.note("fingerprint")
        if done is None or (loaded is not None and done != loaded.fingerprint):
            return False
        return not self._engine.lacks_vectors(done)

    def count_unread(self) -> tuple[int, int]:
        """Return how many chunks have no vector of the model yet, and how many there are."""
        embedder = self._ready_embedder()
        if embedder is None:
            return 0, 0
        done, total = self._engine.embedded(embedder.fingerprint)
        return total - done, total

    @property
    def are_surely_done(self) -> bool:
        """Tell that every document has its vectors, loading a model that may be another by now."""
        if self.are_done and self._may_have_changed:
            _ = self.embedder
        return self.are_done

    @property
    def are_done_at_first_sight(self) -> bool:
        """Tell the same for somebody who waits, and for whom a slow model is none."""
        if self.are_done and self._may_have_changed:
            self._ready_embedder()
        return self.are_done

    @property
    def _may_have_changed(self) -> bool:
        """Tell a model that another may have taken the place of, under the same name."""
        return self._settings["embedder"] not in (NONE, *_OURS)

    def note_done(self, engine: WritableEngine, embedder: Embedder) -> None:
        """Note that every document has its vectors, if that is so.

        Only then do older ones go, but for those of the model that had all before: it may be dear,
        and whoever uses another in its place for one search must not lose what it made.
        """
        self._own = ("", 0.0, False)
        if engine.lacks_vectors(embedder.fingerprint):  # those of other indexers included
            return
        before = engine.note("fingerprint")
        if before is not None and before != embedder.fingerprint:
            engine.set_note("former", before)
            engine.keep_vectors(embedder.fingerprint)  # nothing may have been made just now
        engine.set_note("fingerprint", embedder.fingerprint)
        engine.set_note("embedder", self._name)
        former = engine.note("former")
        engine.drop_vectors([embedder.fingerprint, *([former] if former else [])])

    @property
    def _name(self) -> str:
        """What is set, and our version: another one may give other vectors."""
        names = ("embedder", "embedding_url", "embedding_model", "embedding_dimensions")
        stated = [str(self._settings[name]) for name in names if self._settings[name]]
        return " ".join([self._version, *stated])
