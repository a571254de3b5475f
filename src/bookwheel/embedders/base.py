"""What every embedder offers, and the arithmetic that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


class Embedder(Protocol):
    """A model that gives each text a vector of unit length; near in meaning is near in angle."""

    name: str
    """As the setting names it."""
    dimensions: int
    fingerprint: str
    """Names exactly these vectors: model, its version, our preparation. Others never mix in."""
    weight: float
    """The model's own share when its scores are fused with those of words, 0 to 1."""
    unrelated: float
    """The cosine up to which two texts have nothing to do with each other."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a text in which the model knows nothing gets zeros."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query; some models make them otherwise than those of texts."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the vector, one-dimensional, of what somebody asks."""
        ...


@runtime_checkable
class Replaceable(Protocol):
    """A model that another may take the place of while it is in use, under the same name."""

    on_replaced: Callable[[], None]
    """Called when that is seen; this embedder is then of no more use."""


def unit_rows(rows: Vectors) -> Vectors:
    """Scale each row to length one, in place; zeros stay zeros."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None].astype(np.float32)
    return rows
