"""Where the nodes of a drawing go: near what they are tied to, and never over one another.

Connected nodes keep distances like those in the graph (stress is majorised step by step); boxes
that overlap are pushed apart; parts without ties stand side by side. No chance is involved: the
same graph always looks the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

TIE = 130.0
"""The length of a tie, if nothing is in its way."""
_STEPS = 120
_PUSHES = 400
_GAP = 10.0
_BETWEEN = 50.0
_FILLED = 0.3
_WIDER = 1.25
"""Labels lie, so that nodes need more room beside than above one another."""
_SHAPE = 1.5
"""Width to height, about."""


class Box(NamedTuple):
    """What a node takes up around its place: half its width, and how far up and down it goes."""

    half: float
    up: float
    down: float


def lay_out(boxes: Sequence[Box], ties: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return the place of each node; no two boxes overlap."""
    places = [(0.0, 0.0)] * len(boxes)
    parts = []
    for members in _parts(len(boxes), ties):
        number = {node: at for at, node in enumerate(members)}
        own = [(number[a], number[b]) for a, b in ties if a in number]
        spots = _spread([boxes[node] for node in members], own)
        parts.append((members, spots))
    for (members, spots), (left, top) in zip(parts, _pack(boxes, parts), strict=True):
        for node, (x, y) in zip(members, spots, strict=True):
            places[node] = (x + left, y + top)
    return places


def _parts(count: int, ties: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the nodes that hang together, the largest part first."""
    near: list[list[int]] = [[] for _ in range(count)]
    for one, other in ties:
        near[one].append(other)
        near[other].append(one)
    parts: list[list[int]] = []
    seen: set[int] = set()
    for start in range(count):
        if start in seen:
            continue
        part = [start]
        seen.add(start)
        for node in part:
            new = [each for each in near[node] if each not in seen]
            seen.update(new)
            part += dict.fromkeys(new)
        parts.append(part)
    return sorted(parts, key=len, reverse=True)


def _spread(boxes: Sequence[Box], ties: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    import numpy as np

    count = len(boxes)
    if count == 1:
        return [(0.0, 0.0)]
    wanted = _distances(count, ties) * TIE
    spots = _majorise(_first_guess(wanted), wanted)
    spots = _push_apart(spots, boxes)
    centred = spots - np.median(spots, axis=0)
    return [(float(x), float(y)) for x, y in centred]


def _distances(count: int, ties: Sequence[tuple[int, int]]) -> Matrix:
    """Return how many ties lie between each two nodes of one part."""
    import numpy as np

    tied = np.eye(count, dtype=bool)
    for one, other in ties:
        tied[one, other] = tied[other, one] = True
    found = np.where(np.eye(count, dtype=bool), 0.0, np.inf)
    reached = np.eye(count, dtype=bool)
    steps = 0
    while not reached.all():
        steps += 1
        wider = (reached.astype(np.float32) @ tied.astype(np.float32)) > 0
        found[wider & ~reached] = steps
        reached = wider
    return found


def _first_guess(wanted: Matrix) -> Matrix:
    """Return the two directions in which the distances differ most, slightly wound.

    Nodes that are alike to all others would fall together.
    """
    import numpy as np

    count = len(wanted)
    squares = wanted**2
    middle = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-middle / 2)
    sizes = np.sqrt(np.maximum(values[-2:][::-1], 0.0))
    spots = vectors[:, -2:][:, ::-1] * sizes
    spots *= np.sign(spots[np.abs(spots).argmax(axis=0), [0, 1]] + 1e-12)  # mirrors are alike
    turns = np.arange(count) * 2.399963
    circle = np.column_stack((np.cos(turns), np.sin(turns)))
    return np.asarray(spots + circle * np.sqrt(np.arange(count) + 1.0)[:, None] * TIE / 20)


def _majorise(spots: Matrix, wanted: Matrix) -> Matrix:
    """Move all nodes, step by step, to where their distances are nearer to those wanted."""
    import numpy as np

    weights = 1 / np.maximum(wanted, 1.0) ** 2
    np.fill_diagonal(weights, 0.0)
    total, strength = weights.sum(axis=1)[:, None], weights * wanted
    for _ in range(_STEPS):
        squares = _apart(spots[:, 0]) ** 2 + _apart(spots[:, 1]) ** 2
        pulls = strength / np.sqrt(np.maximum(squares, 1e-18))
        pulled = pulls.sum(axis=1)[:, None] * spots - pulls @ spots
        spots = (weights @ spots + pulled) / total
    return spots


def _apart(along: Matrix) -> Matrix:
    """Return how far each is from each other in one direction."""
    return along[:, None] - along[None, :]


def _push_apart(spots: Matrix, boxes: Sequence[Box]) -> Matrix:
    """Return places at which no two boxes overlap, as like the given ones as can be."""
    import numpy as np

    half = np.array([box.half + _GAP / 2 for box in boxes])
    tall = np.array([(box.up + box.down + _GAP) / 2 for box in boxes])
    shift = np.array([(box.down - box.up) / 2 for box in boxes])
    centres = _make_room(spots, half, tall) + np.column_stack((np.zeros(len(boxes)), shift))
    widths, heights = half[:, None] + half[None, :], tall[:, None] + tall[None, :]
    order = np.sign(_apart(np.arange(len(boxes), dtype=np.float64)))
    for step in range(_PUSHES):
        apart_x, apart_y = _apart(centres[:, 0]), _apart(centres[:, 1])
        over_x, over_y = widths - np.abs(apart_x), heights - np.abs(apart_y)
        over = (over_x > 0) & (over_y > 0)
        np.fill_diagonal(over, False)
        if not over.any():
            break
        sideways = over_x / widths < over_y / heights
        push_x = np.where(over & sideways, over_x * _signs(apart_x, order), 0.0).sum(axis=1)
        push_y = np.where(over & ~sideways, over_y * _signs(apart_y, order), 0.0).sum(axis=1)
        centres = centres + np.column_stack((push_x, push_y)) * 0.3
        if step % 25 == 24:
            centres = centres * 1.08
    else:
        while _overlap(centres, widths, heights):
            centres = centres * 1.15
    return np.asarray(centres - np.column_stack((np.zeros(len(boxes)), shift)))


def _make_room(spots: Matrix, half: Matrix, tall: Matrix) -> Matrix:
    """Return places scaled so that boxes fill no more than their share of the whole."""
    import numpy as np

    size = np.ptp(spots, axis=0) + np.array([half.max(), tall.max()]) * 2
    filled = float((4 * half * tall).sum() / (size[0] * size[1]))
    grow = max(1.0, (filled / _FILLED) ** 0.5)
    return np.asarray(spots * np.array([grow * _WIDER, grow]))


def _signs(apart: Matrix, order: Matrix) -> Matrix:
    """Return to which side each is moved from each other; of two at one place, by their order."""
    import numpy as np

    return np.where(np.abs(apart) < 1e-9, order, np.sign(apart))


def _overlap(centres: Matrix, widths: Matrix, heights: Matrix) -> bool:
    import numpy as np

    apart = np.abs(centres[:, None, :] - centres[None, :, :])
    over = (apart[:, :, 0] < widths) & (apart[:, :, 1] < heights)
    np.fill_diagonal(over, False)
    return bool(over.any())


_Part = tuple[list[int], list[tuple[float, float]]]


def _pack(boxes: Sequence[Box], parts: Sequence[_Part]) -> list[tuple[float, float]]:
    """Return how far each part is moved so that all stand in rows beside one another."""
    frames = [_frame(boxes, part) for part in parts]
    area = sum(
        (right - left + _BETWEEN) * (low - top + _BETWEEN) for left, top, right, low in frames
    )
    widest = max([(area * _SHAPE) ** 0.5, *(right - left for left, _, right, _ in frames)])
    moves: list[tuple[float, float]] = []
    x = y = row = 0.0
    for left, top, right, low in frames:
        too_low = (low - top) * 3 < row  # beside a large part it would leave a hole
        if x and (too_low or x + right - left > widest):
            x, y, row = 0.0, y + row + _BETWEEN, 0.0
        moves.append((x - left, y - top))
        x += right - left + _BETWEEN
        row = max(row, low - top)
    return moves


def _frame(boxes: Sequence[Box], part: _Part) -> tuple[float, float, float, float]:
    """Return the edges of all that a part takes up: left, top, right, bottom."""
    both = [(boxes[node], spot) for node, spot in zip(*part, strict=True)]
    return (
        min(x - box.half for box, (x, _) in both),
        min(y - box.up for box, (_, y) in both),
        max(x + box.half for box, (x, _) in both),
        max(y + box.down for box, (_, y) in both),
    )
