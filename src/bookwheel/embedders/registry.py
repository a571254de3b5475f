"""Finds an embedder by the name that the setting gives; imports only the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.settings import Settings

NONE = "none"


def load(name: str, settings: Settings) -> Embedder | None:
    """Return the embedder of that name, ready to use; None where the operator wants none."""
    kind, _, model = name.partition(":")
    if name == NONE:
        return None
    if kind not in _LOADERS or bool(model) != (kind in _BY_MODEL):
        raise BadRequest(f"There is no embedder {name!r}.", hint=f"Known are {_known()}.")
    try:
        return _LOADERS[kind](model, settings)
    except ModuleNotFoundError as error:  # PackageNotFoundError, of data packages, is one too
        extra = "" if kind in _WITHOUT_EXTRA else f"[{kind}]"
        raise BadRequest(
            f"The embedder {name!r} needs {error.name}, which is not installed.",
            hint=f"Run pip install 'bookwheel{extra}', or set the embedder to {NONE}.",
        ) from None


def _static(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _minilm(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.minilm import MiniLMEmbedder

    return MiniLMEmbedder()


def _http(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.http import Endpoint, HttpEmbedder

    return HttpEmbedder(
        Endpoint(
            url=settings["embedding_url"] or "",
            model=settings["embedding_model"] or "",
            key=settings["embedding_key"],
            dimensions=settings["embedding_dimensions"],
            batch=settings["embedding_batch"],
            timeout=settings["embedding_timeout"],
        )
    )


def _model2vec(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.installed import load_model2vec

    return load_model2vec(model)


def _fastembed(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.installed import load_fastembed

    return load_fastembed(model)


def _sentence_transformers(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.installed import load_sentence_transformers

    return load_sentence_transformers(model)


_LOADERS: dict[str, Callable[[str, Settings], Embedder]] = {
    "static": _static,
    "minilm": _minilm,
    "http": _http,
    "model2vec": _model2vec,
    "fastembed": _fastembed,
    "sentence-transformers": _sentence_transformers,
}
_BY_MODEL = frozenset({"model2vec", "fastembed", "sentence-transformers"})
"""Those that are followed by a colon and the model's name."""
_WITHOUT_EXTRA = frozenset({"static", "http"})


def _known() -> str:
    names = [f"{kind}:MODEL" if kind in _BY_MODEL else kind for kind in _LOADERS]
    return ", ".join([*names, NONE])
