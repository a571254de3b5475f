"""A process that indexes the words of one folder, and prints the most memory that it held.

python -m tests.indexing.one_folder FOLDER INDEX
"""

from __future__ import annotations

import sys

from bookwheel.library import Library
from bookwheel.settings import load
from tests.clients.large_reader import memory


def main(folder: str, index: str) -> None:
    settings = load({"index": index, "workers": "1"}, use_start_folder=False, environment={})
    with Library.open(settings, [folder]) as library:
        reports = library.update()
    indexed = sum(report.indexed for report in reports)
    sys.stdout.write(f"{memory('VmHWM')} {indexed}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
