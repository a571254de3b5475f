"""How large the long runs are: as large as promised, unless the environment says otherwise.

`BOOKWHEEL_TEST_KILLS=100 make faults` runs a tenth of the kills, and so for the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable

PropertyRecorder = Callable[[str, object], None]
"""What pytest's `record_property` is; a property `figure` stands in the table of `make faults`."""


def size(name: str, full: int) -> int:
    """Return how often something is done: so often, or as BOOKWHEEL_TEST_<name> says."""
    return int(os.environ.get(f"BOOKWHEEL_TEST_{name}", full))
