"""The default model: a vector per piece of a word, out of a wheel; a text is their mean.

Nothing is downloaded and no model runs. The table is mapped from its file, so that processes
share it and only rows that are used are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from os import SEEK_END
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np

from bookwheel.embedders.base import unit_rows
from bookwheel.embedders.pieces import WORD_START, Pieces
from bookwheel.errors import BadRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bookwheel.embedders.base import Vectors

_PREPARATION = "1"
"""Raised when the same text would get another vector: all are then made anew."""
_WHEEL = "wordllama"
_TABLE = "weights/l2_supercat_256.safetensors"
_VOCABULARY = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_FIRST_PIECE = 259
"""Before it come marks and single bytes, which texts do not name."""
_ENDS = 1 << 16
_WORD_DIMENSIONS = 64
_PIECE_BYTES = 2
_MAX_TOKENS = 1024
_MAX_CHARACTERS = 8 * _MAX_TOKENS
_BATCH = 256
_CAPITALS, _SMALL = ascii_uppercase.encode(), ascii_lowercase.encode()
_WORD = re.compile(
    r"[^\s!-/:-@\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2010-\u2027"
    r"\u2030-\u205e\u2190-\u2bff\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
"""Anything but spaces, punctuation and symbols: marks of Indic scripts belong to words."""
_UNREAD = re.compile("[\u0530-\u10ff\u1200-\u1dff\u2c00-\u2dff\ua980-\uabff]+")
"""Scripts between the European and the East Asian ones: words alone find better in them."""
_OTHER_LETTERS = re.compile(r"[^\x00-\x7f]+")


class StaticEmbedder:
    """Means of piece vectors."""

    name = "static"
    weight = 0.3
    unrelated = 0.4

    def __init__(self) -> None:
        table, vocabulary = _files()
        self._table = map_tensor(table, _TENSOR)
        self._pieces = Pieces(read_vocabulary(vocabulary))
        self.dimensions = self._table.shape[1]
        self.fingerprint = f"{_WHEEL}-{_mark(table)}-{_PREPARATION}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _BATCH):
            self._fill(rows[start : start + _BATCH], texts[start : start + _BATCH])
        return unit_rows(rows)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries; zeros for those in scripts that the model cannot read."""
        rows = self.embed(texts)
        rows[[not can_read(text) for text in texts]] = 0
        return rows

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query; zeros in a script that the model cannot read."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def embed_words(self, words: Sequence[str]) -> Vectors:
        """Return one row per word by itself, in fewer dimensions; the first are the best."""
        pieces = list(map(self._pieces.__getitem__, words))
        counts = np.array([len(each) // _PIECE_BYTES for each in pieces], np.intp)
        numbers = np.frombuffer(b"".join(pieces), np.uint16)
        vectors = self._table[:, :_WORD_DIMENSIONS][numbers].astype(np.float32)
        rows = np.zeros((len(words), _WORD_DIMENSIONS), np.float32)
        if len(numbers):
            starts = np.cumsum(counts) - counts
            rows[counts > 0] = np.add.reduceat(vectors, starts[counts > 0])
        return unit_rows(rows)

    def is_word(self, word: str) -> bool:
        """Tell a word that the model knows whole, as it does common ones, from a slip or a name."""
        return len(self._pieces[word]) == _PIECE_BYTES

    def _fill(self, rows: Vectors, texts: Sequence[str]) -> None:
        """Add up the vectors of each text's pieces; each piece of the batch is read once."""
        found = [self._numbers(text) for text in texts]
        used, places = np.unique(np.concatenate(found), return_inverse=True)
        vectors = self._table[used].astype(np.float32)
        end = 0
        for row, numbers in zip(rows, found, strict=True):
            start, end = end, end + len(numbers)
            vectors[places[start:end]].sum(axis=0, out=row)

    def _numbers(self, text: str) -> NDArray[np.uint16]:
        words = _WORD.findall(lower_shouting(text[:_MAX_CHARACTERS]))
        pieces = b"".join(map(self._pieces.__getitem__, words))
        return np.frombuffer(pieces, np.uint16)[:_MAX_TOKENS]


def can_read(text: str) -> bool:
    """Tell whether most letters are of scripts of which the vocabulary has more than bytes."""
    letters = sum(map(str.isalpha, text))
    return 2 * sum(map(len, _UNREAD.findall(text))) <= letters


def lower_shouting(text: str) -> str:
    """Lower-case a text that is mostly capitals: the model hardly knows words in capitals."""
    plain = text.encode("ascii", "ignore")
    capitals = len(plain) - len(plain.translate(None, _CAPITALS))
    small = len(plain) - len(plain.translate(None, _SMALL))
    if len(plain) < len(text):
        others = "".join(_OTHER_LETTERS.findall(text))
        capitals += sum(map(str.isupper, others))
        small += sum(map(str.islower, others))
    return text.lower() if capitals > 0.6 * (capitals + small) else text


def read_vocabulary(path: Path) -> dict[str, int]:
    """Return the pieces of words with their numbers, without marks and bytes."""
    known: dict[str, int] = json.loads(path.read_bytes())["model"]["vocab"]
    del known[WORD_START]
    return {piece: number for piece, number in known.items() if number >= _FIRST_PIECE}


def map_tensor(path: Path, name: str) -> NDArray[np.float16]:
    """Map one tensor of a safetensors file, which begins with where each of them lies."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        tensor = json.loads(file.read(length))[name]
    if tensor["dtype"] != "F16":
        raise BadRequest(f"{path} holds {tensor['dtype']}, not F16.")
    begin = 8 + length + tensor["data_offsets"][0]
    return np.memmap(path, np.float16, "r", begin, tuple(tensor["shape"]))


def _files() -> tuple[Path, Path]:
    """Return where the wheel was installed; none of its code is imported."""
    wheel = find_spec(_WHEEL)
    if wheel is None or wheel.origin is None:
        raise ModuleNotFoundError(f"No module named {_WHEEL!r}", name=_WHEEL)
    folder = Path(wheel.origin).parent
    return folder / _TABLE, folder / _VOCABULARY


def _mark(path: Path) -> str:
    """Tell one table from another by its size and both its ends: all of it would take too long."""
    size = path.stat().st_size
    with path.open("rb") as file:
        ends = file.read(_ENDS)
        file.seek(-min(_ENDS, size), SEEK_END)
        return sha256(b"%d %b %b" % (size, ends, file.read())).hexdigest()[:12]
