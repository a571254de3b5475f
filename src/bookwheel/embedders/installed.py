"""Models of libraries that somebody installed beside us, by the names that those give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwheel.embedders.base import unit_rows
from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from bookwheel.embedders.base import Vectors

_PREPARATION = "1"
_MAX_CHARACTERS = 16_000
_SAMPLES, _SAMPLE = 64, 1 << 12
"""So many pieces of a model's file, of so many bytes, tell its weights from those of another."""

Encode = Callable[[list[str]], Iterable[Any]]


class InstalledEmbedder:
    """A library's model behind our interface."""

    weight = 0.4
    unrelated = 0.3

    def __init__(self, library: str, model: str, encode: Encode, encode_query: Encode) -> None:
        self.name = f"{library}:{model}"
        self._encode, self._encode_query = encode, encode_query
        self.dimensions = len(self._rows(encode, ["dimensions"])[0])
        parts = (self.name, version(library), self.dimensions, _PREPARATION)
        self.fingerprint = "-".join(map(str, (*parts, *mark_folder(Path(model)))))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        return self._fill(self._encode, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, which some models make otherwise than those of texts."""
        return self._fill(self._encode_query, texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def _fill(self, encode: Encode, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        places = [at for at, text in enumerate(texts) if text.strip()]
        if places:
            rows[places] = self._rows(encode, [texts[at] for at in places])
        return unit_rows(rows)

    def _rows(self, encode: Encode, texts: list[str]) -> Vectors:
        found = encode([text[:_MAX_CHARACTERS] for text in texts])
        return np.array(list(found), np.float32)


def mark_folder(folder: Path) -> tuple[str, ...]:
    """Tell what a model's folder holds from what another one of its name held; nothing if none.

    Times are left out, since a copy is the same model, and so is what describes it to people.
    Pieces must do of large files: to read all of them would take longer than to load the model.
    """
    if not folder.is_dir():
        return ()
    held = sha256()
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if name.startswith(".") or file.suffix == ".md" or not file.is_file():
            continue
        size = file.stat().st_size
        held.update(f"{name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as content:
            for at in _places(size):
                content.seek(at)
                held.update(content.read(_SAMPLE))
    return (held.hexdigest()[:12],)


def _places(size: int) -> Iterable[int]:
    """Return where pieces are read: side by side in a small file, evenly spread in a large one."""
    if size <= _SAMPLES * _SAMPLE:
        return range(0, size, _SAMPLE)
    return ((size - _SAMPLE) * number // (_SAMPLES - 1) for number in range(_SAMPLES))


def load_model2vec(model: str) -> InstalledEmbedder:
    """Load a static model by its name or its folder."""
    from model2vec import StaticModel

    with _loading(model):
        encode = StaticModel.from_pretrained(model).encode
    return InstalledEmbedder("model2vec", model, encode, encode)


def load_fastembed(model: str) -> InstalledEmbedder:
    """Load a model of fastembed by its name."""
    from fastembed import TextEmbedding

    with _loading(model):
        loaded = TextEmbedding(model)
    return InstalledEmbedder("fastembed", model, loaded.embed, loaded.query_embed)


def load_sentence_transformers(model: str) -> InstalledEmbedder:
    """Load a model of sentence-transformers by its name or its folder."""
    from sentence_transformers import SentenceTransformer

    with _loading(model):
        loaded = SentenceTransformer(model)
    return InstalledEmbedder(
        "sentence-transformers", model, loaded.encode_document, loaded.encode_query
    )


@contextmanager
def _loading(model: str) -> Iterator[None]:
    """Say which model cannot be loaded; those that are not on this machine are downloaded."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())  # libraries give whole paragraphs
        raise BadRequest(
            f"The model {model!r} cannot be loaded: {reason}",
            hint="Name a folder that holds it, or let this machine download it once.",
        ) from None
